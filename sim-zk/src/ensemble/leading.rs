//! The leader's part: order writes, refused or not; propose; commit what a quorum has logged; keep sessions alive or
//! end them (`Leader`, `LearnerHandler`, `PrepRequestProcessor`).

use super::intake::Waiting;
use super::packet::{Write, WriteBody};
use super::stages::{Item, WaitingSync, Withheld};
use super::tracker::Tracker;
use super::{Env, Member, Packet, Role};
use crate::choose::Point;
use crate::injected_bug::InjectedBug;
use crate::message::{Ask, AskOp, Code, Refusal, Tag};
use crate::observer::{Kind, SimEvent};
use crate::server::{Prep, kind_of, refused_for_session};
use crate::txn::{Body, Origin, Txn};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use zk_recipes::zk::SessionId;

/// A transaction that is not yet committed.
#[derive(Clone, Debug)]
struct Proposal {
    txn: Arc<Txn>,
    /// Who has logged it, a bit a server.
    acks: u64,
    since: u64,
    /// Syncs that are answered behind its commit.
    syncs: Vec<WaitingSync>,
}

/// What a leader knows of a follower.
#[derive(Clone, Copy, Debug)]
struct Follower {
    /// Until which tick it counts as one of the quorum (`LearnerHandler.synced`).
    counts_until: u64,
    /// Nothing heard of it until then: the connection is closed.
    silent_at: u64,
}

/// What a server keeps while it leads.
#[derive(Clone, Debug)]
pub(crate) struct Leading {
    pub tracker: Tracker,
    /// The last zxid given out, and that of the last transaction: an epoch begins with a zxid that belongs to none.
    zxid: i64,
    last: i64,
    pub committed: i64,
    prep: Prep,
    proposals: VecDeque<Proposal>,
    /// Connected followers.
    followers: BTreeMap<u8, Follower>,
    /// Who waits for the leader's lock, which is held while a commit is withheld.
    blocked: VecDeque<(u8, Packet)>,
    /// Full ticks since it leads, and whether the next beat is a half one.
    ticks: u64,
    half: bool,
    beat_at: Option<u64>,
    reap_at: Option<u64>,
}

impl Leading {
    pub(super) fn new(
        zxid: i64,
        last: i64,
        env: &Env<'_>,
        sessions: impl Iterator<Item = (SessionId, u64)>,
    ) -> Self {
        Leading {
            tracker: Tracker::new(env.config.tick, env.now, sessions),
            zxid,
            last,
            committed: zxid,
            prep: Prep::with(env.config.injected_bug),
            proposals: VecDeque::new(),
            followers: BTreeMap::new(),
            blocked: VecDeque::new(),
            ticks: 0,
            half: false,
            // A server alone has nobody to ask.
            beat_at: (env.config.servers > 1).then(|| env.now + env.config.tick / 2),
            reap_at: env.config.reap_every.map(|every| env.now + every),
        }
    }

    /// Whether it has a connection with that follower.
    pub(super) fn hears(&self, follower: u8) -> bool {
        self.followers.contains_key(&follower)
    }

    pub(crate) fn followers(&self) -> impl Iterator<Item = u8> {
        self.followers.keys().copied()
    }

    /// The leader has applied a transaction.
    pub(super) fn applied(&mut self, txn: &Txn) {
        self.prep.applied(txn.zxid);
        if let Body::Close { .. } = txn.body {
            self.tracker.remove(txn.session);
        }
    }

    pub(super) fn is_busy(&self) -> bool {
        !self.proposals.is_empty() || !self.blocked.is_empty()
    }

    /// A follower was heard of.
    fn heard(&mut self, follower: u8, env: &Env<'_>) {
        let counts_until = self.ticks + env.config.sync_limit;
        let silent_at = env.now + env.config.patience();
        self.followers.insert(follower, Follower { counts_until, silent_at });
    }

    /// Nobody counts as silent before that time.
    pub(super) fn hear_out(&mut self, not_before: u64) {
        for follower in self.followers.values_mut() {
            follower.silent_at = follower.silent_at.max(not_before);
        }
    }

    /// When it acts next; `mortals`: whether there is anything that could be reaped.
    pub(super) fn next_timer(&self, mortals: bool) -> Option<u64> {
        let silent_at = self.followers.values().map(|follower| follower.silent_at).min();
        let reap_at = self.reap_at.filter(|_| mortals);
        [self.beat_at, reap_at, self.tracker.next(), silent_at].into_iter().flatten().min()
    }

    /// A server follows from here on: what is proposed and not yet committed is sent to it. What it had acknowledged of that
    /// before counts no more, also if that still waits for the lock: its log has been cut off after what is committed.
    fn welcome(&mut self, follower: u8, env: &mut Env<'_>) {
        self.heard(follower, env);
        self.blocked.retain(|(from, packet)| *from != follower || !matches!(packet, Packet::Ack(_)));
        for proposal in &mut self.proposals {
            proposal.acks &= !(1 << follower);
            env.post.push((follower, Packet::Proposal(proposal.txn.clone())));
        }
    }

    /// The connection with a follower is closed.
    fn dismiss(&mut self, follower: u8, env: &mut Env<'_>) {
        self.followers.remove(&follower);
        env.post.push((follower, Packet::Fin));
    }
}

impl Member {
    fn leading_mut(&mut self) -> &mut Leading {
        match &mut self.role {
            Role::Leading(leading) => leading,
            _ => unreachable!("only a leader orders, commits and expires"),
        }
    }

    /// A server follows from here on.
    pub(crate) fn welcome(&mut self, follower: u8, env: &mut Env<'_>) {
        self.leading_mut().welcome(follower, env);
    }

    /// A follower has sent something.
    pub(super) fn lead_packet(&mut self, from: u8, packet: Packet, env: &mut Env<'_>) {
        let leading = self.leading_mut();
        leading.heard(from, env);
        match packet {
            Packet::Write(write) => {
                // A read of the session here must not overtake it.
                let waiting = Waiting::Remote { number: write.number };
                self.queues.entry(write.session).or_default().push_back(waiting);
                self.locked(from, Packet::Write(write), env);
            }
            Packet::Ack(_) | Packet::Sync { .. } => self.locked(from, packet, env),
            Packet::Revalidate { session, timeout, number } => {
                let valid = leading.tracker.touch(session, env.now, timeout);
                env.post.push((from, Packet::Revalidated { number, valid }));
                if valid {
                    leading.tracker.set_owner(session, from);
                    // The leader learns first that the session has left it.
                    let left: Vec<_> = self.replica.conns_of(session).collect();
                    left.into_iter().for_each(|conn| self.hang_up(conn, env));
                }
            }
            Packet::Heard(heard) => {
                for (session, timeout) in heard {
                    leading.tracker.touch(session, env.now, timeout);
                }
            }
            Packet::Fin => {
                leading.followers.remove(&from);
            }
            Packet::Proposal(_)
            | Packet::Commit(_)
            | Packet::Synced { .. }
            | Packet::Revalidated { .. }
            | Packet::Ping => unreachable!("a follower does not send what leaders send"),
        }
    }

    /// Does what needs the leader's lock (`Leader.propose`, `processAck`, `processSync`). It is held over a commit: while
    /// that is withheld all this waits, and clients of the leader read on.
    fn locked(&mut self, from: u8, packet: Packet, env: &mut Env<'_>) {
        let (id, withheld) = (self.id, self.withheld.is_some());
        let leading = self.leading_mut();
        match packet {
            // A write that comes too late does so whatever its session does until it gets its place.
            Packet::Write(mut write) if withheld => {
                write.moved = leading.tracker.check(write.session, from) == Err(Code::SessionMoved);
                leading.blocked.push_back((from, Packet::Write(write)));
            }
            _ if withheld => leading.blocked.push_back((from, packet)),
            Packet::Write(write) => self.place(*write, from, env),
            Packet::Ack(zxid) => self.count(from, zxid, env),
            Packet::Sync { session, number, req } => {
                let zxid = leading.last;
                match leading.proposals.back_mut() {
                    Some(proposal) => proposal.syncs.push((from, session, number)),
                    None => env.post.push((from, Packet::Synced { session, number })),
                }
                env.emit(SimEvent::Barrier { server: id, session, req, zxid });
            }
            _ => unreachable!("nothing else needs the lock"),
        }
    }

    /// A write of a client of the leader's own.
    pub(super) fn order(&mut self, write: Write, env: &mut Env<'_>) {
        self.locked(self.id, Packet::Write(Box::new(write)), env);
    }

    /// A server has logged a proposal.
    pub(super) fn acknowledged(&mut self, by: u8, zxid: i64, env: &mut Env<'_>) {
        self.locked(by, Packet::Ack(zxid), env);
    }

    /// Gives a write its place, whether it will succeed or not.
    fn place(&mut self, write: Write, by: u8, env: &mut Env<'_>) {
        let Write { session, number, what, ids, tag, moved } = write;
        let time = self.wall_clock_ms(env.now);
        let Role::Leading(leading) = &mut self.role else { unreachable!("only a leader orders") };
        let zxid = leading.zxid + 1;
        let replica = &self.replica;
        let (kind, body) = match what {
            WriteBody::Open { timeout } => {
                leading.tracker.add(session, timeout, env.now, Some(by));
                (Kind::Connect, Body::Open { timeout })
            }
            WriteBody::Ask(Ask::CloseSession) => {
                // Whoever owns the session: its end is not checked.
                leading.tracker.close(session);
                (Kind::CloseSession, leading.prep.close(replica, zxid, session, env.paths))
            }
            WriteBody::Ask(ask) => {
                let settings = &env.config.settings;
                let moved = moved.then_some(Code::SessionMoved);
                let refused = moved.or_else(|| leading.tracker.check(session, by).err());
                let refused = refused.and_then(|code| refused_for_session(&ask, code, settings));
                let mut prepare =
                    |ask: &Ask| leading.prep.prepare(replica, zxid, session, &ids, ask, settings, env.paths);
                let body = match refused {
                    Some(refusal) => Body::Refused(refusal),
                    None => match env.config.injected_bug {
                        Some(bug) => prepare_wrongly(bug, &ask, prepare),
                        None => prepare(&ask),
                    },
                };
                (kind_of(&ask), body)
            }
        };
        if let (Body::Many(changes), true) = (&body, env.config.has(InjectedBug::TwoPartMulti))
            && let [first, rest @ ..] = changes.as_slice()
            && !rest.is_empty()
        {
            let (first, rest) = (Body::Many(vec![first.clone()]), Body::Many(rest.to_vec()));
            let origin = Origin { member: by, number: 0 };
            self.propose(Txn { zxid, time, session, origin, op: tag.op, kind, body: first }, env);
            let origin = Origin { member: by, number };
            return self
                .propose(Txn { zxid: zxid + 1, time, session, origin, op: tag.op, kind, body: rest }, env);
        }
        let origin = Origin { member: by, number };
        self.propose(Txn { zxid, time, session, origin, op: tag.op, kind, body }, env);
    }

    fn propose(&mut self, txn: Txn, env: &mut Env<'_>) {
        let txn = Arc::new(txn);
        let leading = self.leading_mut();
        (leading.zxid, leading.last) = (txn.zxid, txn.zxid);
        leading.proposals.push_back(Proposal {
            txn: txn.clone(),
            acks: 0,
            since: env.now,
            syncs: Vec::new(),
        });
        for follower in leading.followers.keys() {
            env.post.push((*follower, Packet::Proposal(txn.clone())));
        }
        self.write(txn, env);
    }

    /// Counts an acknowledgement.
    fn count(&mut self, by: u8, zxid: i64, env: &mut Env<'_>) {
        let leading = self.leading_mut();
        let Some(first) = leading.proposals.front().map(|proposal| proposal.txn.zxid) else { return };
        let Some(at) = zxid.checked_sub(first).and_then(|at| usize::try_from(at).ok()) else { return };
        let Some(proposal) = leading.proposals.get_mut(at) else { return };
        proposal.acks |= 1 << by;
        self.commit_agreed(env);
    }

    /// Commits what a quorum has logged, in the order of proposals.
    fn commit_agreed(&mut self, env: &mut Env<'_>) {
        let one = env.config.has(InjectedBug::LosesAcknowledged);
        let majority = if one { 1 } else { u32::from(env.config.majority()) };
        while self.withheld.is_none() {
            let leading = self.leading_mut();
            let agreed = |proposal: &mut Proposal| proposal.acks.count_ones() >= majority;
            let Some(Proposal { txn, syncs, .. }) = leading.proposals.pop_front_if(agreed) else { return };
            leading.committed = txn.zxid;
            for follower in leading.followers.keys() {
                env.post.push((*follower, Packet::Commit(txn.zxid)));
            }
            self.withheld = Some(Withheld { txn, syncs });
            self.resume_committing(env);
        }
    }

    /// What the followers have been told to commit the leader commits itself, if nothing keeps it from that.
    fn resume_committing(&mut self, env: &mut Env<'_>) {
        if self.commit_stops == 0
            && let Some(Withheld { txn, syncs }) = self.withheld.take()
        {
            self.commit(Item::Txn(txn), env);
            for (follower, session, number) in syncs {
                env.post.push((follower, Packet::Synced { session, number }));
            }
        }
    }

    /// A leader whose commits were held up goes on with them, and with all that has waited for its lock.
    pub(crate) fn unlock(&mut self, env: &mut Env<'_>) {
        self.resume_committing(env);
        while self.is_leading() && self.withheld.is_none() {
            self.commit_agreed(env);
            let Some((from, packet)) = self.leading_mut().blocked.pop_front() else { return };
            self.locked(from, packet, env);
        }
    }

    /// Whatever of the leader's own is due.
    pub(super) fn lead_timer(&mut self, env: &mut Env<'_>) {
        let now = env.now;
        let leading = self.leading_mut();
        let beats = leading.beat_at.is_some_and(|at| at <= now);
        // As long as there was nothing to reap nobody was reminded: then it is for the next time.
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

    /// The session tracker's turn: every session whose deadline has passed ends.
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

    /// Empty containers, and znodes whose time is over (`ContainerManager`).
    fn reap(&mut self, env: &mut Env<'_>) {
        let time = self.wall_clock_ms(env.now);
        for path in self.replica.reapable(time) {
            let Role::Leading(leading) = &mut self.role else { return };
            let zxid = leading.zxid + 1;
            let body = leading.prep.reap(&self.replica, zxid, path, env.paths);
            let origin = Origin { member: self.id, number: 0 };
            let session = SessionId(0);
            self.propose(Txn { zxid, time, session, origin, op: 0, kind: Kind::Reap, body }, env);
        }
    }

    /// Every half tick the leader asks its followers whom they have heard of; every tick it looks whether it still has a
    /// quorum (`Leader.lead`).
    fn beat(&mut self, env: &mut Env<'_>) {
        let (tick, majority, patience) = (env.config.tick, env.config.majority(), env.config.patience());
        let withheld = self.withheld.is_some();
        let leading = self.leading_mut();
        leading.beat_at = Some(env.now + tick / 2);
        if withheld {
            // It needs the lock for that.
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
        // A follower that owes an acknowledgement for too long is dropped (`LearnerHandler.SyncLimitCheck`).
        let late = |proposal: &&Proposal| proposal.since + patience < env.now;
        let owed: Vec<u64> = leading.proposals.iter().filter(late).map(|proposal| proposal.acks).collect();
        let drops = |follower: &u8| owed.iter().any(|acks| acks & (1 << follower) == 0);
        let dropped: Vec<u8> = leading.followers.keys().copied().filter(drops).collect();
        dropped.into_iter().for_each(|follower| leading.dismiss(follower, env));
        for follower in leading.followers.keys() {
            env.post.push((*follower, Packet::Ping));
        }
    }

    /// How its disk and its apply stage go from here on.
    pub(crate) fn draw_lags(&mut self, chooser: &mut dyn crate::choose::Chooser) {
        self.disk_lag = match u64::from(chooser.choose(Point::Lag, 16)) {
            0..=3 => 0,
            drawn => drawn * drawn * drawn * 3,
        };
        let mut lag = || match u64::from(chooser.choose(Point::Lag, 16)) {
            0..=7 => 0,
            drawn => (drawn - 7) * (drawn - 7),
        };
        // A follower that got to commit gets to apply: measured, only a stall kept it from that. A leader commits before it
        // applies, and was now and then seen to lag behind a follower's answer.
        self.apply_lag = if self.is_leading() { lag().min(lag()) * 50 } else { lag() };
    }
}

/// A write as a leader with that quirk lets it through.
fn prepare_wrongly(bug: InjectedBug, ask: &Ask, mut prepare: impl FnMut(&Ask) -> Body) -> Body {
    match (bug, ask) {
        (InjectedBug::IgnoresVersion, Ask::Delete { path, .. }) => {
            prepare(&Ask::Delete { path: *path, version: -1 })
        }
        (InjectedBug::IgnoresVersion, Ask::Set { path, data, .. }) => {
            prepare(&Ask::Set { path: *path, data: data.clone(), version: -1 })
        }
        (InjectedBug::HalfMulti, Ask::Multi(ops)) => half(ops, prepare),
        _ => prepare(ask),
    }
}

/// A multi, of which what stands before the operation that fails is done.
fn half(ops: &[AskOp], mut prepare: impl FnMut(&Ask) -> Body) -> Body {
    match prepare(&Ask::Multi(ops.to_vec())) {
        Body::Refused(refusal @ Refusal::Multi { index: 1.., .. }) => {
            let Refusal::Multi { index, .. } = refusal else { unreachable!("it was just found to be one") };
            match prepare(&Ask::Multi(ops[..usize::from(index)].to_vec())) {
                Body::Many(changes) => Body::Half(changes, refusal),
                body => body,
            }
        }
        body => body,
    }
}
