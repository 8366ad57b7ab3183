//! Leader election (`FastLeaderElection`, `Leader`, `Learner`).
//!
//! A server without a leader evaluates the votes repeatedly. It joins a leader that has a quorum with it and an epoch
//! that it can accept. Otherwise, if it and the other reachable servers without a leader are a quorum, the one with
//! the longest log leads them in a new epoch, and its whole log is committed. Some time passes between the decision
//! and serving, in which everything can change again.

use super::agenda::rank;
use super::{Context, Step, World};
use crate::choose::Point;
use crate::ensemble::Env;
use crate::fault::Victim;

/// The interval between two evaluations without a result.
const LOOK_AGAIN: u64 = 30_000;
/// The minimum time from finding a quorum to serving clients: `finalizeWait` and the exchange of logs. Measured on a
/// real ensemble from the death of the old leader: 335 to 366 ms, sometimes 555 to 750.
const ELECTION: u64 = 322_000;
/// The minimum time from finding a leader to serving clients. Measured: 250 to 300 ms.
const JOINING: u64 = 245_000;

/// The result of evaluating the votes.
#[derive(Clone, Debug, PartialEq, Eq)]
enum VoteResult {
    /// A leader exists.
    Leader(u8),
    /// A quorum of servers without a leader; the first will lead.
    Quorum(Vec<u8>),
}

impl World {
    /// Starts the ensemble with a leader: with empty logs, the server with the highest number.
    pub(super) fn begin_with_a_leader(&mut self) {
        let last = self.config.servers - 1;
        let all = (0..=last).rev().collect();
        let context =
            &mut Context { chooser: &mut crate::choose::Calm, observer: &mut (), effects: &mut Vec::new() };
        self.establish(all, context);
    }

    /// Starts the search of a server for a leader.
    pub(super) fn look_for_a_leader(&mut self, id: u8, context: &mut Context<'_>) {
        if self.config.servers == 1 {
            self.establish(vec![id], context);
            return;
        }
        self.votes[usize::from(id)].found = None;
        self.draw_unheard(id, context);
        self.look_again(id, 10_000);
    }

    /// Draws the server whose vote is lost in this round, if any.
    fn draw_unheard(&mut self, id: u8, context: &mut Context<'_>) {
        let drawn = context.choose(Victim::Server(id), Point::Race, 16 * u32::from(self.config.servers));
        self.votes[usize::from(id)].unheard = u8::try_from(drawn).ok().and_then(|drawn| drawn.checked_sub(1));
    }

    fn look_again(&mut self, id: u8, after: u64) {
        let due = self.now + after;
        self.votes[usize::from(id)].looks_at = due;
        self.agenda.push(due, rank::ELECTION + u64::from(id), Step::Election(id));
    }

    /// Returns whether the reminder of an election still holds.
    pub(super) fn election_is_due(&self, id: u8, due: u64) -> bool {
        self.members[usize::from(id)].is_looking() && self.votes[usize::from(id)].looks_at == due
    }

    /// Evaluates the votes for a server.
    pub(super) fn elect(&mut self, id: u8, context: &mut Context<'_>) {
        let found = self.look_around(id, self.votes[usize::from(id)].unheard);
        let before = self.votes[usize::from(id)].found.take();
        match (before, found) {
            (_, None) => {
                self.draw_unheard(id, context);
                self.look_again(id, LOOK_AGAIN);
            }
            (Some(VoteResult::Leader(before)), Some(VoteResult::Leader(leader))) if before == leader => {
                self.join(leader, id, context);
            }
            (Some(VoteResult::Quorum(before)), Some(VoteResult::Quorum(members)))
                if before[0] == members[0] =>
            {
                self.establish(members, context);
            }
            (_, Some(found)) => {
                let drawn = u64::from(context.choose(Victim::Server(id), Point::Duration, 16));
                let takes = match found {
                    VoteResult::Leader(_) => JOINING + drawn * 2_000,
                    // Sometimes a round of votes is lost.
                    VoteResult::Quorum(_) if drawn >= 12 => ELECTION + (drawn - 8) * 50_000,
                    VoteResult::Quorum(_) => ELECTION + drawn * 3_000,
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

    fn look_around(&self, id: u8, unheard: Option<u8>) -> Option<VoteResult> {
        let me = &self.members[usize::from(id)];
        let majority = usize::from(self.config.majority());
        let leads = |leader: &&crate::ensemble::Member| {
            // Followers vote for their leader. A leader that was paused while they left may still count on them.
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
            return Some(VoteResult::Leader(leader.id));
        }
        let heard = |other: u8| self.hear_each_other(id, other) && (unheard != Some(other) || other == id);
        let looking = |other: &u8| self.members[usize::from(*other)].is_looking();
        let heard: Vec<u8> = (0..self.config.servers).filter(|o| looking(o) && heard(*o)).collect();
        let best = heard.iter().copied().max_by_key(|id| {
            let member = &self.members[usize::from(*id)];
            (member.epoch, member.log.last(), *id)
        })?;
        if !self.can_read_log_of(best) {
            // No server can read its log, and the others lack some of its entries.
            return None;
        }
        let mut members: Vec<u8> =
            heard.into_iter().filter(|o| *o != best && self.hear_each_other(best, *o)).collect();
        members.insert(0, best);
        (members.len() >= majority).then_some(VoteResult::Quorum(members))
    }

    /// Makes the first server lead the others.
    fn establish(&mut self, members: Vec<u8>, context: &mut Context<'_>) {
        let agreed = members.iter().map(|id| self.members[usize::from(*id)].epoch).max().unwrap_or(0);
        // A single server has no epochs.
        let epoch = if self.config.servers == 1 { 0 } else { agreed + 1 };
        let leader = members[0];
        self.with_member(leader, context, |member, env| member.lead(epoch, env));
        for follower in &members[1..] {
            self.join(leader, *follower, context);
        }
    }

    /// Makes a server follow a leader.
    fn join(&mut self, leader: u8, follower: u8, context: &mut Context<'_>) {
        if !self.can_read_log_of(leader) {
            return self.kill(follower, context);
        }
        self.reset_server_links(leader, follower);
        let leads = &self.members[usize::from(leader)];
        // Everything that a quorum has logged is committed, even if the disk of the leader is slow.
        let (log, epoch) = (leads.known(), leads.epoch);
        let committed = leads.leading().expect("it leads").committed;
        self.with_member(follower, context, |member, env| member.follow(leader, epoch, &log, committed, env));
        self.with_member(leader, context, |member, env: &mut Env<'_>| member.welcome(follower, env));
    }
}

/// The election state of a server: the last result, and the time of the next evaluation.
#[derive(Clone, Debug, Default)]
pub(super) struct Vote {
    found: Option<VoteResult>,
    looks_at: u64,
    /// The server whose vote is lost in this round.
    unheard: Option<u8>,
}
