//! The leader: it orders writes, refused or not, proposes them, commits what a quorum has logged, and tracks sessions
//! (`Leader`, `LearnerHandler`, `PrepRequestProcessor`).

mod timers;

use super::intake::Waiting;
use super::packet::{Write, WriteBody};
use super::stages::{Item, WaitingSync, Withheld};
use super::tracker::Tracker;
use super::{Env, Member, Packet, Role};
use crate::injected_bug::InjectedBug;
use crate::message::{Ask, AskOp, Code, Refusal};
use crate::observer::{Kind, SimEvent};
use crate::paths::UsedPaths;
use crate::server::{Prep, kind_of, refused_for_session};
use crate::txn::{Body, Origin, Txn};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use zk_recipes::zk::SessionId;

/// A transaction that is not yet committed.
#[derive(Clone, Debug)]
struct Proposal {
    txn: Arc<Txn>,
    /// The servers that have logged it, one bit each.
    acks: u64,
    since: u64,
    /// Syncs whose replies follow its commit.
    syncs: Vec<WaitingSync>,
}

/// The state of a follower at the leader.
#[derive(Clone, Copy, Debug)]
struct Follower {
    /// The last tick in which it counts towards the quorum (`LearnerHandler.synced`).
    counts_until: u64,
    /// The time at which the connection is closed if the follower stays silent.
    silent_at: u64,
}

/// The state of a leader.
#[derive(Clone, Debug)]
pub(crate) struct Leading {
    pub tracker: Tracker,
    /// The last zxid assigned, and the zxid of the last transaction: the first zxid of an epoch has no transaction.
    zxid: i64,
    last: i64,
    pub committed: i64,
    prep: Prep,
    proposals: VecDeque<Proposal>,
    /// Connected followers.
    followers: BTreeMap<u8, Follower>,
    /// Packets that wait for the leader lock, which is held while a commit is withheld.
    blocked: VecDeque<(u8, Packet)>,
    /// The full ticks of leadership, and whether the next beat is a half one.
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
            // A single server has no followers to ping.
            beat_at: (env.config.servers > 1).then(|| env.now + env.config.tick / 2),
            reap_at: env.config.reap_every.map(|every| env.now + every),
        }
    }

    /// Adds the paths of pending changes.
    pub(super) fn paths(&self, used: &mut UsedPaths) {
        self.prep.paths(used);
    }

    /// Returns whether that follower is connected.
    pub(super) fn hears(&self, follower: u8) -> bool {
        self.followers.contains_key(&follower)
    }

    pub(crate) fn followers(&self) -> impl Iterator<Item = u8> {
        self.followers.keys().copied()
    }

    /// Handles a transaction that the leader has applied.
    pub(super) fn applied(&mut self, txn: &Txn) {
        self.prep.applied(txn.zxid);
        if let Body::Close { .. } = txn.body {
            self.tracker.remove(txn.session);
        }
    }

    pub(super) fn is_busy(&self) -> bool {
        !self.proposals.is_empty() || !self.blocked.is_empty()
    }

    /// Records a sign of life of a follower.
    fn heard(&mut self, follower: u8, env: &Env<'_>) {
        let counts_until = self.ticks + env.config.sync_limit;
        let silent_at = env.now + env.config.patience();
        self.followers.insert(follower, Follower { counts_until, silent_at });
    }

    /// Postpones the silence timeouts of followers to that time at least.
    pub(super) fn hear_out(&mut self, not_before: u64) {
        for follower in self.followers.values_mut() {
            follower.silent_at = follower.silent_at.max(not_before);
        }
    }

    /// Returns the due time of the next timer. `mortals`: whether containers or TTL znodes exist.
    pub(super) fn next_timer(&self, mortals: bool) -> Option<u64> {
        let silent_at = self.followers.values().map(|follower| follower.silent_at).min();
        let reap_at = self.reap_at.filter(|_| mortals);
        [self.beat_at, reap_at, self.tracker.next(), silent_at].into_iter().flatten().min()
    }

    /// Adds a follower and sends it all uncommitted proposals. Its earlier acknowledgements of them no longer count,
    /// even those that wait for the lock: its log was truncated to the committed part.
    fn welcome(&mut self, follower: u8, env: &mut Env<'_>) {
        self.heard(follower, env);
        self.blocked.retain(|(from, packet)| *from != follower || !matches!(packet, Packet::Ack(_)));
        for proposal in &mut self.proposals {
            proposal.acks &= !(1 << follower);
            env.post.push((follower, Packet::Proposal(proposal.txn.clone())));
        }
    }

    /// Closes the connection to a follower.
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

    /// Adds a follower.
    pub(crate) fn welcome(&mut self, follower: u8, env: &mut Env<'_>) {
        self.leading_mut().welcome(follower, env);
    }

    /// Handles a packet of a follower.
    pub(super) fn lead_packet(&mut self, from: u8, packet: Packet, env: &mut Env<'_>) {
        let leading = self.leading_mut();
        leading.heard(from, env);
        match packet {
            Packet::Write(write) => {
                // A later read of the session at the leader must not overtake the write.
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
                    // The leader drops its own connections of a session that has moved.
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

    /// Handles a packet that needs the leader lock (`Leader.propose`, `processAck`, `processSync`). A commit holds the
    /// lock: while a commit is withheld these packets wait, and clients of the leader continue to read.
    fn locked(&mut self, from: u8, packet: Packet, env: &mut Env<'_>) {
        let (id, withheld) = (self.id, self.withheld.is_some());
        let leading = self.leading_mut();
        match packet {
            // The session owner is checked on arrival: a later move of the session does not affect this write.
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

    /// Orders a write of a client of the leader itself.
    pub(super) fn order(&mut self, write: Write, env: &mut Env<'_>) {
        self.locked(self.id, Packet::Write(Box::new(write)), env);
    }

    /// Handles the acknowledgement of a proposal by a server.
    pub(super) fn acknowledged(&mut self, by: u8, zxid: i64, env: &mut Env<'_>) {
        self.locked(by, Packet::Ack(zxid), env);
    }

    /// Assigns a zxid to a write, whether or not it succeeds.
    fn place(&mut self, write: Write, by: u8, env: &mut Env<'_>) {
        let Write { session, number, what, ids, tag, moved } = write;
        let time = self.wall_clock_ms(env);
        let Role::Leading(leading) = &mut self.role else { unreachable!("only a leader orders") };
        let zxid = leading.zxid + 1;
        let replica = &self.replica;
        let (kind, body) = match what {
            WriteBody::Open { timeout } => {
                leading.tracker.add(session, timeout, env.now, Some(by));
                (Kind::Connect, Body::Open { timeout })
            }
            WriteBody::Ask(Ask::CloseSession) => {
                // The close of a session is not subject to the owner check.
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

    /// Counts an acknowledgement towards the quorum.
    fn count(&mut self, by: u8, zxid: i64, env: &mut Env<'_>) {
        let leading = self.leading_mut();
        let Some(first) = leading.proposals.front().map(|proposal| proposal.txn.zxid) else { return };
        let Some(at) = zxid.checked_sub(first).and_then(|at| usize::try_from(at).ok()) else { return };
        let Some(proposal) = leading.proposals.get_mut(at) else { return };
        proposal.acks |= 1 << by;
        self.commit_agreed(env);
    }

    /// Commits the proposals that a quorum has logged, in order.
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

    /// Commits at the leader the transactions that its followers commit, unless a commit stall prevents it.
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

    /// Ends a commit stall: handles the withheld commit, then the packets that waited for the lock.
    pub(crate) fn unlock(&mut self, env: &mut Env<'_>) {
        self.resume_committing(env);
        while self.is_leading() && self.withheld.is_none() {
            self.commit_agreed(env);
            let Some((from, packet)) = self.leading_mut().blocked.pop_front() else { return };
            self.locked(from, packet, env);
        }
    }
}

/// Prepares a write at a leader with an injected bug.
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

/// Prepares a multi whose operations before the failed one take effect.
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
