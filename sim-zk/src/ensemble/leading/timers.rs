//! The timers of the leader: session expiry, the reaper, the pings of followers and the check of the quorum.

use super::super::packet::{Write, WriteBody};
use super::super::{Env, Member, Packet, Role};
use super::{Follower, Proposal};
use crate::choose::{Chooser, Point};
use crate::injected_bug::InjectedBug;
use crate::message::{Ask, Tag};
use crate::observer::{Kind, SimEvent};
use crate::txn::{Origin, Txn};
use zk_recipes::zk::SessionId;

impl Member {
    /// Runs the due timers of the leader.
    pub(in super::super) fn lead_timer(&mut self, env: &mut Env<'_>) {
        let now = env.now;
        let leading = self.leading_mut();
        let beats = leading.beat_at.is_some_and(|at| at <= now);
        // No timer runs while nothing can be reaped, so a missed beat of the reaper is skipped.
        let reaps = leading.reap_at == Some(now);
        if let (Some(at), Some(every)) = (leading.reap_at, env.config.reap_every)
            && at <= now
        {
            leading.reap_at = Some(at + ((now - at) / every + 1) * every);
        }
        self.expire(env);
        if reaps && self.withheld.is_none() {
            self.reap(env);
        }
        let leading = self.leading_mut();
        let silent = leading.followers.iter().filter(|(_, follower)| follower.silent_at <= now);
        let silent: Vec<u8> = silent.map(|(id, _)| *id).collect();
        silent.into_iter().for_each(|follower| leading.dismiss(follower, env));
        if beats {
            self.beat(env);
        }
    }

    /// Session expiry: closes every session whose deadline has passed.
    pub(crate) fn expire(&mut self, env: &mut Env<'_>) {
        let ahead = if env.config.has(InjectedBug::ExpiresEarly) { 2 * env.config.tick } else { 0 };
        for session in self.leading_mut().tracker.due(env.now + ahead) {
            if env.config.has(InjectedBug::NeverExpires) {
                self.leading_mut().tracker.touch_again(session, env.now);
                continue;
            }
            let server = self.id;
            let heard = self.leading_mut().tracker.close(session).expect("it was just found");
            env.emit(SimEvent::Marked { server, session, heard });
            let (what, ids) = (WriteBody::Ask(Ask::CloseSession), [].into());
            self.order(Write { session, number: 0, what, ids, tag: Tag::default(), moved: false }, env);
        }
    }

    /// Deletes empty containers and expired TTL znodes (`ContainerManager`).
    fn reap(&mut self, env: &mut Env<'_>) {
        let time = self.wall_clock_ms(env);
        for path in self.replica.reapable(time) {
            let Role::Leading(leading) = &mut self.role else { return };
            let zxid = leading.zxid + 1;
            let body = leading.prep.reap(&self.replica, zxid, path, env.paths);
            let origin = Origin { member: self.id, number: 0 };
            let session = SessionId(0);
            self.propose(Txn { zxid, time, session, origin, op: 0, kind: Kind::Reap, body }, env);
        }
    }

    /// Pings the followers every half tick, and checks every tick that a quorum still follows (`Leader.lead`).
    fn beat(&mut self, env: &mut Env<'_>) {
        let (tick, majority, patience) = (env.config.tick, env.config.majority(), env.config.patience());
        let withheld = self.withheld.is_some();
        let leading = self.leading_mut();
        leading.beat_at = Some(env.now + tick / 2);
        if withheld {
            // The beat needs the leader lock.
            return;
        }
        leading.half = !leading.half;
        if !leading.half {
            leading.ticks += 1;
            let counts = |follower: &&Follower| follower.counts_until >= leading.ticks;
            let heard = leading.followers.values().filter(counts).count();
            if heard + 1 < usize::from(majority) {
                self.cease(env);
                return;
            }
        }
        // A follower whose acknowledgement is overdue is dropped (`LearnerHandler.SyncLimitCheck`).
        let late = |proposal: &&Proposal| proposal.since + patience < env.now;
        let owed: Vec<u64> = leading.proposals.iter().filter(late).map(|proposal| proposal.acks).collect();
        let drops = |follower: &u8| owed.iter().any(|acks| acks & (1 << follower) == 0);
        let dropped: Vec<u8> = leading.followers.keys().copied().filter(drops).collect();
        dropped.into_iter().for_each(|follower| leading.dismiss(follower, env));
        for follower in leading.followers.keys() {
            env.post.push((*follower, Packet::Ping));
        }
    }

    /// Draws the lags of the disk and the apply stage.
    pub(crate) fn draw_lags(&mut self, chooser: &mut dyn Chooser) {
        self.disk_lag = match u64::from(chooser.choose(Point::Lag, 16)) {
            0..=3 => 0,
            drawn => drawn * drawn * drawn * 3,
        };
        let mut lag = || match u64::from(chooser.choose(Point::Lag, 16)) {
            0..=7 => 0,
            drawn => (drawn - 7) * (drawn - 7),
        };
        // Measured on real servers: only a stall keeps a follower from applying a commit at once, while a leader
        // commits before it applies and sometimes lags behind the reply of a follower.
        self.apply_lag = if self.is_leading() { lag().min(lag()) * 50 } else { lag() };
    }
}
