//! Who leads, and who follows (`FastLeaderElection`, `Leader`, `Learner`).
//!
//! A server that looks for a leader looks around again and again. It joins a leader that has a quorum with it and whose epoch
//! it can agree to. Or else it and the others who look, as far as it hears them, are a quorum: then the one whose log
//! goes farthest leads them in a new epoch, and everything in its log is committed. Between finding and serving some
//! time goes by, in which everything can change again.

use super::agenda::rank;
use super::{Context, Step, World};
use crate::choose::Point;
use crate::ensemble::Env;
use crate::fault::Victim;

/// How long a server that found nobody waits before it looks around again.
const LOOK_AGAIN: u64 = 30_000;
/// From finding a quorum of like-minded to serving clients, at the least: `finalizeWait` and the exchange of logs. Measured
/// from the old leader's death on a real ensemble: 335 to 366 ms, now and then 555 to 750.
const ELECTION: u64 = 322_000;
/// From finding a leader to serving clients, at the least. Measured: 250 to 300 ms.
const JOINING: u64 = 245_000;

/// What a server that looks around finds.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Found {
    /// Somebody leads.
    Leader(u8),
    /// The first of these will lead the others.
    Quorum(Vec<u8>),
}

impl World {
    /// The ensemble begins with a leader: of servers that know nothing, the one with the highest number.
    pub(super) fn begin_with_a_leader(&mut self) {
        let last = self.config.servers - 1;
        let all = (0..=last).rev().collect();
        let context =
            &mut Context { chooser: &mut crate::choose::Calm, observer: &mut (), effects: &mut Vec::new() };
        self.establish(all, context);
    }

    /// A server begins to look for a leader.
    pub(super) fn look_for_a_leader(&mut self, id: u8, context: &mut Context<'_>) {
        if self.config.servers == 1 {
            self.establish(vec![id], context);
            return;
        }
        self.votes[usize::from(id)].found = None;
        self.draw_unheard(id, context);
        self.look_again(id, 10_000);
    }

    /// Now and then somebody's vote is not heard in a round.
    fn draw_unheard(&mut self, id: u8, context: &mut Context<'_>) {
        let drawn = context.choose(Victim::Server(id), Point::Race, 16 * u32::from(self.config.servers));
        self.votes[usize::from(id)].unheard = u8::try_from(drawn).ok().and_then(|drawn| drawn.checked_sub(1));
    }

    fn look_again(&mut self, id: u8, after: u64) {
        let due = self.now + after;
        self.votes[usize::from(id)].looks_at = due;
        self.agenda.push(due, rank::ELECTION + u64::from(id), Step::Election(id));
    }

    /// A reminder to look around comes up. Whether it holds.
    pub(super) fn election_is_due(&self, id: u8, due: u64) -> bool {
        self.members[usize::from(id)].is_looking() && self.votes[usize::from(id)].looks_at == due
    }

    /// A server looks around.
    pub(super) fn elect(&mut self, id: u8, context: &mut Context<'_>) {
        let found = self.look_around(id, self.votes[usize::from(id)].unheard);
        let before = self.votes[usize::from(id)].found.take();
        match (before, found) {
            (_, None) => {
                self.draw_unheard(id, context);
                self.look_again(id, LOOK_AGAIN);
            }
            (Some(Found::Leader(before)), Some(Found::Leader(leader))) if before == leader => {
                self.join(leader, id, context);
            }
            (Some(Found::Quorum(before)), Some(Found::Quorum(members))) if before[0] == members[0] => {
                self.establish(members, context);
            }
            (_, Some(found)) => {
                let drawn = u64::from(context.choose(Victim::Server(id), Point::Duration, 16));
                let takes = match found {
                    Found::Leader(_) => JOINING + drawn * 2_000,
                    // Now and then a round of votes is lost.
                    Found::Quorum(_) if drawn >= 12 => ELECTION + (drawn - 8) * 50_000,
                    Found::Quorum(_) => ELECTION + drawn * 3_000,
                };
                self.votes[usize::from(id)].found = Some(found);
                self.look_again(id, takes);
            }
        }
    }

    fn hear_each_other(&self, a: u8, b: u8) -> bool {
        let awake = |id: u8| self.stopped[usize::from(id)] == 0 && !self.members[usize::from(id)].is_down();
        awake(a) && awake(b) && (a == b || !self.is_held(a, b) && !self.is_held(b, a))
    }

    fn look_around(&self, id: u8, unheard: Option<u8>) -> Option<Found> {
        let me = &self.members[usize::from(id)];
        let majority = usize::from(self.config.majority());
        let leads = |leader: &&crate::ensemble::Member| {
            // Its followers say so themselves. One that stood still while they left it may still count on them.
            let follows = |follower: &u8| {
                *follower != id && self.members[usize::from(*follower)].follows(leader.id, leader.epoch)
            };
            let followed = |leading: &crate::ensemble::Leading| {
                leading.followers().filter(follows).count() + 2 >= majority
            };
            leader.leading().is_some_and(followed)
                && leader.epoch >= me.epoch
                && self.hear_each_other(id, leader.id)
        };
        if let Some(leader) = self.members.iter().filter(leads).max_by_key(|leader| leader.epoch) {
            return Some(Found::Leader(leader.id));
        }
        let heard = |other: u8| self.hear_each_other(id, other) && (unheard != Some(other) || other == id);
        let looking = |other: &u8| self.members[usize::from(*other)].is_looking();
        let heard: Vec<u8> = (0..self.config.servers).filter(|o| looking(o) && heard(*o)).collect();
        let best = heard.iter().copied().max_by_key(|id| {
            let member = &self.members[usize::from(*id)];
            (member.epoch, member.log.last(), *id)
        })?;
        let mut members: Vec<u8> =
            heard.into_iter().filter(|o| *o != best && self.hear_each_other(best, *o)).collect();
        members.insert(0, best);
        (members.len() >= majority).then_some(Found::Quorum(members))
    }

    /// The first of them leads the others.
    fn establish(&mut self, members: Vec<u8>, context: &mut Context<'_>) {
        let agreed = members.iter().map(|id| self.members[usize::from(*id)].epoch).max().unwrap_or(0);
        // A server alone has no epochs.
        let epoch = if self.config.servers == 1 { 0 } else { agreed + 1 };
        let leader = members[0];
        self.with_member(leader, context, |member, env| member.lead(epoch, env));
        for follower in &members[1..] {
            self.join(leader, *follower, context);
        }
    }

    /// A server follows a leader from here on.
    fn join(&mut self, leader: u8, follower: u8, context: &mut Context<'_>) {
        self.reset_server_links(leader, follower);
        let leads = &self.members[usize::from(leader)];
        // What a quorum has logged is committed, be the leader's own disk as slow as it may.
        let (log, epoch) = (leads.known(), leads.epoch);
        let committed = leads.leading().expect("it leads").committed;
        self.with_member(follower, context, |member, env| member.follow(leader, epoch, &log, committed, env));
        self.with_member(leader, context, |member, env: &mut Env<'_>| member.welcome(follower, env));
    }
}

/// What a server that looks for a leader has found, and when it looks again.
#[derive(Clone, Debug, Default)]
pub(super) struct Vote {
    found: Option<Found>,
    looks_at: u64,
    /// Whose vote it does not hear this time.
    unheard: Option<u8>,
}
