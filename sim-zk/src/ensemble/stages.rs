//! The disk and the apply stage of a server (`SyncRequestProcessor`, `CommitProcessor`, `FinalRequestProcessor`):
//! logging, applying, and replying.

use super::intake::{Read, Waiting};
use super::{Env, Member, Packet, Role};
use crate::choose::Point;
use crate::injected_bug::InjectedBug;
use crate::message::{Answer, Ask, Code, ConnId, Down, Refusal, Tag};
use crate::observer::{Kind, SimEvent};
use crate::txn::{Body, Change, Txn};
use std::collections::VecDeque;
use std::sync::Arc;
use zk_recipes::zk::SessionId;

/// An item of the apply stage, in the order of commits.
#[derive(Clone, Debug)]
pub(super) enum Item {
    /// A transaction.
    Txn(Arc<Txn>),
    /// The reply of the leader to a sync.
    Synced { session: SessionId, number: u64 },
}

/// A transaction that the leader has committed but not passed to its own apply stage.
#[derive(Clone, Debug)]
pub(super) struct Withheld {
    pub txn: Arc<Txn>,
    pub syncs: Vec<WaitingSync>,
}

/// A sync at a follower that waits for a commit: the follower, the session and the number at the follower.
pub(super) type WaitingSync = (u8, SessionId, u64);

impl Member {
    /// Writes a proposal to the disk.
    pub(super) fn write(&mut self, txn: Arc<Txn>, env: &mut Env<'_>) {
        if self.disk_stops == 0 && self.disk_lag == 0 && self.disk.is_empty() {
            self.written(txn, env);
        } else {
            let due = (env.now + self.disk_lag).max(self.disk.back().map_or(0, |(due, _)| *due));
            self.disk.push_back((due, txn));
        }
    }

    fn written(&mut self, txn: Arc<Txn>, env: &mut Env<'_>) {
        let zxid = txn.zxid;
        if env.config.settings.dies_of_long_closes
            && txn.is_unreadable()
            && matches!(self.role, Role::Following(_))
        {
            // A follower cannot read the proposal.
            return self.crash(env);
        }
        self.log.append(txn);
        match &self.role {
            Role::Leading(_) => self.acknowledged(self.id, zxid, env),
            Role::Following(following) => env.post.push((following.leader, Packet::Ack(zxid))),
            Role::Down | Role::Looking => {}
        }
    }

    pub(super) fn work_off_disk(&mut self, env: &mut Env<'_>) {
        while self.disk_stops == 0
            && let Some((_, txn)) = self.disk.pop_front_if(|(due, _)| *due <= env.now)
        {
            self.written(txn, env);
        }
    }

    /// Passes a committed item to the apply stage.
    pub(super) fn commit(&mut self, item: Item, env: &mut Env<'_>) {
        if self.apply_stops == 0 && self.apply_lag == 0 && self.stage.is_empty() {
            self.pass(item, env);
        } else {
            if let Item::Txn(txn) = &item
                && env.config.has(InjectedBug::FiresEarly)
                && txn.zxid <= env.counters.newest
            {
                self.replica.fire_early(txn, &mut env.replica_env(self.id, false));
            }
            let due = (env.now + self.apply_lag).max(self.stage.back().map_or(0, |(due, _)| *due));
            self.stage.push_back((due, item));
        }
    }

    pub(super) fn work_off_stage(&mut self, env: &mut Env<'_>) {
        while self.apply_stops == 0
            && let Some((_, item)) = self.stage.pop_front_if(|(due, _)| *due <= env.now)
        {
            self.take_turns(&item, env);
            self.pass(item, env);
        }
    }

    /// Answers reads of a session before the commit of its own later write, even if they arrived during an apply
    /// stall: the commit waits until the write has left the request queue (`queuedWriteRequests`).
    fn take_turns(&mut self, item: &Item, env: &mut Env<'_>) {
        if self.stalled.is_empty() {
            return;
        }
        let session = match item {
            Item::Txn(txn) if txn.origin.member != self.id => return,
            Item::Txn(txn) => txn.session,
            Item::Synced { session, .. } => *session,
        };
        let stalled = std::mem::take(&mut self.stalled);
        let (own, others) =
            stalled.into_iter().partition(|(read, _)| self.replica.session_of(read.conn) == Some(session));
        self.stalled = others;
        let own: VecDeque<(Read, bool)> = own;
        for (Read { conn, xid, ask, tag }, _) in own {
            self.answer(conn, xid, &ask, tag, env);
        }
    }

    /// Resumes the apply stage. Requests that arrived during the stall are handled before commits, up to the first
    /// request that waits for a commit (`CommitProcessor.run`).
    pub(crate) fn resume_applying(&mut self, env: &mut Env<'_>) {
        if self.apply_stops > 0 {
            return;
        }
        while let Some(pending) = self.stalled.front().map(|(_, pending)| *pending) {
            if pending || env.chooser.choose(Point::Race, 16) == 15 {
                self.work_off_stage(env);
            }
            // The stage may have answered it already.
            if let Some((Read { conn, xid, ask, tag }, _)) = self.stalled.pop_front() {
                self.answer(conn, xid, &ask, tag, env);
            }
        }
    }

    fn pass(&mut self, item: Item, env: &mut Env<'_>) {
        match item {
            Item::Txn(txn) if env.config.has(InjectedBug::SkipsWrites) && self.may_skip(&txn) => {}
            Item::Txn(txn) => self.apply(&txn, env),
            Item::Synced { session, number } => {
                let Some(queue) = self.queues.get_mut(&session) else { return };
                let own = |waiting: &mut Waiting| matches!(waiting, Waiting::Sync { number: of, .. } if *of == number);
                if let Some(Waiting::Sync { conn, xid, path, .. }) = queue.pop_front_if(own) {
                    self.reply(conn, xid, Ok(Answer::Path(path)), env);
                    self.drain(session, env);
                }
            }
        }
    }

    /// Returns whether a follower can skip a transaction without leaving a request unanswered.
    fn may_skip(&self, txn: &Txn) -> bool {
        matches!(txn.body, Body::One(Change::Set { .. }))
            && txn.origin.member != self.id
            && !self.is_leading()
    }

    /// Applies a transaction, and replies if it was requested here.
    pub(super) fn apply(&mut self, txn: &Txn, env: &mut Env<'_>) {
        let first = txn.zxid > env.counters.newest;
        env.counters.newest = env.counters.newest.max(txn.zxid);
        let result = self.replica.apply(txn, &mut env.replica_env(self.id, first));
        if let Role::Leading(leading) = &mut self.role {
            leading.applied(txn);
        }
        let asked = |waiting: &mut Waiting| match waiting {
            Waiting::Write { number, .. } => txn.origin.member == self.id && txn.origin.number == *number,
            Waiting::Remote { number } => txn.origin.member != self.id && txn.origin.number == *number,
            Waiting::Sync { .. } | Waiting::Read(_) => false,
        };
        let waited = self.queues.get_mut(&txn.session).and_then(|queue| queue.pop_front_if(asked));
        match waited {
            Some(Waiting::Write { mute: true, .. }) if result.is_ok() => {}
            Some(Waiting::Write { number, conn, xid, .. }) => {
                self.answer_write(txn, number, conn, xid, result, env);
            }
            _ => {}
        }
        if matches!(txn.body, Body::Close { .. }) {
            self.end_session(txn.session, txn.origin.number != 0, env);
        } else {
            self.drain(txn.session, env);
        }
    }

    fn answer_write(
        &mut self,
        txn: &Txn,
        number: u64,
        conn: ConnId,
        xid: i32,
        result: Result<Answer, Refusal>,
        env: &mut Env<'_>,
    ) {
        if let Body::Open { .. } = txn.body {
            self.opened(number, env);
            return;
        }
        let moved = Code::SessionMoved;
        if matches!(result, Err(Refusal::All(code) | Refusal::Multi { code, .. }) if code == moved) {
            let (server, session, zxid) = (self.id, txn.session, txn.zxid);
            env.emit(SimEvent::Moved { server, session, zxid });
            // Clients never see this code. Replies to reads behind the write may be sent before the close.
            if env.chooser.choose(Point::Race, 2) == 1 {
                self.drain(session, env);
            }
            self.hang_up(conn, env);
            return;
        }
        let result = match (env.config.injected_bug, txn.kind, result) {
            (Some(InjectedBug::FalseError), Kind::Create, Ok(_)) => Err(Code::NodeExists.into()),
            (Some(InjectedBug::FalseSuccess), Kind::Delete, Err(_)) => Ok(Answer::Nothing),
            (_, _, result) => result,
        };
        self.reply(conn, xid, result, env);
    }

    /// Closes the connections of an ended session.
    fn end_session(&mut self, session: SessionId, asked: bool, env: &mut Env<'_>) {
        self.queues.remove(&session);
        let conns: Vec<ConnId> = self.replica.conns_of(session).collect();
        // An expired client is disconnected while its notifications are still queued, so they are rarely sent.
        let own =
            |(conn, packet): &(ConnId, Down)| matches!(packet, Down::Notify { .. }) && conns.contains(conn);
        if !asked
            && let Some(first) = env.outbox.iter().position(own)
            && env.chooser.choose(Point::Race, 2) == 0
        {
            // Later packets are not sent either.
            let mut at = 0;
            env.outbox.retain(|(conn, _)| {
                at += 1;
                at <= first || !conns.contains(conn)
            });
        }
        for conn in conns {
            self.hang_up(conn, env);
        }
        for opening in self.openings.extract_if(.., |_, opening| opening.session == session) {
            env.outbox.push((opening.1.conn, Down::Fin));
        }
    }

    /// Answers the reads that waited for a write of their session.
    pub(super) fn drain(&mut self, session: SessionId, env: &mut Env<'_>) {
        while let Some(queue) = self.queues.get_mut(&session) {
            match queue.pop_front_if(|waiting| matches!(waiting, Waiting::Read(_))) {
                Some(Waiting::Read(Read { conn, xid, ask, tag })) => self.answer(conn, xid, &ask, tag, env),
                _ if queue.is_empty() => _ = self.queues.remove(&session),
                _ => return,
            }
        }
    }

    /// Replies to a read, a ping, or a sync at the leader.
    pub(super) fn answer(&mut self, conn: ConnId, xid: i32, ask: &Ask, tag: Tag, env: &mut Env<'_>) {
        if self.replica.session_of(conn).is_none() {
            return;
        }
        if env.config.has(InjectedBug::NeverStale)
            && *ask != Ask::Ping
            && self.replica.applied < env.counters.newest
        {
            return self.hang_up(conn, env);
        }
        let result = match ask {
            Ask::Ping => Ok(Answer::Nothing),
            Ask::Sync { path } => Ok(Answer::Path(*path)),
            read => self.replica.read(conn, read, tag, &mut env.replica_env(self.id, false)),
        };
        self.reply(conn, xid, result, env);
    }

    pub(super) fn reply(
        &mut self,
        conn: ConnId,
        xid: i32,
        result: Result<Answer, Refusal>,
        env: &mut Env<'_>,
    ) {
        if self.replica.session_of(conn).is_some() {
            env.outbox.push((conn, Down::Reply { xid, zxid: self.replica.applied, result }));
        }
    }
}
