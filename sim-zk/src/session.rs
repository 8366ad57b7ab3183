//! A client's session machine, as the real client libraries have it (`ClientCnxn`).
//!
//! * Requests go out in call order; those called while there is no connection wait for one, and fail with the next
//!   attempt that fails. A disconnect fails every outstanding and waiting request, in order, *before* the state changes
//!   for the user.
//! * A ping leaves after a third of the timeout without a request; two thirds without a byte from the server end the
//!   connection.
//! * `last_zxid` is that of the last ordinary reply: notifications, pings and connects do not count.
//! * A watch is registered when the reply comes, and registered again after each reconnect, with `last_zxid`.
//! * Expiry is learnt from a server only, on reconnect.

use crate::message::{Answer, Ask, Down, Refusal, Table, Tag, Up};
use crate::paths::PathId;
use crate::server::ConnId;
use std::collections::{BTreeMap, VecDeque};
use zk_recipes::zk::{Event, EventKind, Over, SessionId, State, Status};

/// What the machine asks of those around it.
#[derive(Clone, Debug)]
pub(crate) enum Out {
    /// Send a packet on a connection.
    Send(ConnId, Up),
    /// The request of a ticket is answered.
    Answered(u32, Result<Answer, Failure>, Tag, Option<i64>),
    /// A watch fired, or ends with the session.
    Fired(u32, Result<(EventKind, PathId), Over>),
    /// A notification arrived (whoever waits for it).
    Noticed(EventKind, PathId),
    /// The status changed.
    Changed(Status),
    /// Give the connection up.
    Close(ConnId),
    /// Open a connection, and then call `attempt`.
    Attempt,
    /// Say when to try again, by `retry_at`.
    Retry,
}

/// Why a request came to nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    Refused(Refusal),
    ConnectionLoss,
    Over(Over),
}

#[derive(Clone, Debug)]
struct Pending {
    ticket: Option<u32>,
    watch: Option<u32>,
    xid: i32,
    ask: Ask,
    tag: Tag,
    sent: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Phase {
    /// Between two attempts.
    Waiting { until: u64 },
    /// A `Connect` is under way.
    Connecting { conn: ConnId, until: u64, sent: u64 },
    /// Connected.
    Up { conn: ConnId },
    /// Over.
    Over,
}

#[derive(Clone, Debug, Default)]
struct Watchers {
    ids: Vec<u32>,
    /// Requests on their way that will arm it.
    arming: u32,
    /// Armed on an absent znode.
    exist: bool,
}

/// One session, from the client's side.
#[derive(Clone, Debug)]
pub(crate) struct ClientSession {
    phase: Phase,
    pub status: Status,
    pub session: SessionId,
    asked_timeout: u64,
    timeout: u64,
    least_timeout: u64,
    last_zxid: i64,
    last_heard: u64,
    last_sent: u64,
    /// The send time of the last request or ping that was answered.
    pub safe_from: u64,
    pings: VecDeque<u64>,
    waiting: VecDeque<Pending>,
    outstanding: VecDeque<Pending>,
    watches: BTreeMap<(Table, PathId), Watchers>,
    next_xid: i32,
    servers: u64,
    /// The user has closed the session, and its end is on its way: nothing more is sent, and no connection follows.
    closing: bool,
}

impl ClientSession {
    pub(crate) fn new(asked_timeout: u64, servers: usize, now: u64) -> Self {
        ClientSession {
            phase: Phase::Waiting { until: now },
            status: Status { state: State::Suspended, connection: 0, changes: 0 },
            session: SessionId(0),
            asked_timeout,
            timeout: asked_timeout,
            least_timeout: asked_timeout,
            last_zxid: 0,
            last_heard: now,
            last_sent: now,
            safe_from: 0,
            pings: VecDeque::new(),
            waiting: VecDeque::new(),
            outstanding: VecDeque::new(),
            watches: BTreeMap::new(),
            next_xid: 1,
            servers: servers as u64,
            closing: false,
        }
    }

    /// The smaller of the timeout first negotiated and the one negotiated last.
    pub(crate) fn sound_timeout(&self) -> u64 {
        self.least_timeout
    }

    /// Whether nothing of the user's is on its way.
    pub(crate) fn is_idle(&self) -> bool {
        match self.phase {
            Phase::Over => true,
            Phase::Up { .. } => self.waiting.is_empty() && self.outstanding.is_empty(),
            _ => false,
        }
    }

    pub(crate) fn is_over(&self) -> bool {
        self.phase == Phase::Over
    }

    /// When the machine acts by itself next.
    pub(crate) fn next_timer(&self) -> Option<u64> {
        match self.phase {
            Phase::Waiting { until } | Phase::Connecting { until, .. } => Some(until),
            Phase::Up { .. } => {
                // Java pings a second early once it is idle for a while; a third of the timeout is what counts.
                let ping = self.last_sent + self.timeout / 3;
                let give_up = self.last_heard + self.timeout * 2 / 3;
                Some(ping.min(give_up))
            }
            Phase::Over => None,
        }
    }

    /// The user asks for something.
    #[allow(clippy::too_many_arguments, reason = "a request and its two receipts")]
    pub(crate) fn ask(
        &mut self,
        now: u64,
        ask: Ask,
        tag: Tag,
        ticket: Option<u32>,
        watch: Option<u32>,
        out: &mut Vec<Out>,
    ) {
        let over = match self.status.state {
            State::Over(why) => Some(why),
            _ => self.closing.then_some(Over::Closed),
        };
        if let Some(why) = over {
            if let Some(ticket) = ticket {
                out.push(Out::Answered(ticket, Err(Failure::Over(why)), tag, None));
            }
            return;
        }
        self.closing = ask == Ask::CloseSession;
        let pending = Pending { ticket, watch, xid: 0, ask, tag, sent: 0 };
        match self.phase {
            Phase::Up { conn } => self.send(now, conn, pending, out),
            _ => self.waiting.push_back(pending),
        }
    }

    fn send(&mut self, now: u64, conn: ConnId, mut pending: Pending, out: &mut Vec<Out>) {
        pending.xid = self.next_xid;
        pending.sent = now;
        self.next_xid += 1;
        self.last_sent = now;
        if let Some(key) = pending.ask.arms() {
            self.watches.entry(key).or_default().arming += 1;
        }
        out.push(Out::Send(
            conn,
            Up::Request { xid: pending.xid, ask: pending.ask.clone(), tag: pending.tag },
        ));
        self.outstanding.push_back(pending);
    }

    /// The user no longer waits for a watch.
    pub(crate) fn drop_watch(&mut self, now: u64, id: u32, tag: Tag, out: &mut Vec<Out>) {
        let Some((key, watchers)) = self.watches.iter_mut().find(|(_, watchers)| watchers.ids.contains(&id))
        else {
            return;
        };
        watchers.ids.retain(|held| *held != id);
        if !watchers.ids.is_empty() || watchers.arming > 0 {
            return;
        }
        let (table, path) = *key;
        self.watches.remove(&(table, path));
        if let Phase::Up { conn } = self.phase
            && !self.closing
        {
            let ask = Ask::RemoveWatches { path, table };
            self.send(now, conn, Pending { ticket: None, watch: None, xid: 0, ask, tag, sent: 0 }, out);
        }
    }

    /// Whether dropping this watch would send a request.
    pub(crate) fn drop_sends(&self, id: u32) -> bool {
        matches!(self.phase, Phase::Up { .. })
            && !self.closing
            && self.watches.values().any(|w| w.arming == 0 && w.ids.as_slice() == [id])
    }

    /// A timer of the machine is due.
    pub(crate) fn timer(&mut self, now: u64, out: &mut Vec<Out>) {
        match self.phase {
            Phase::Waiting { .. } => out.push(Out::Attempt),
            Phase::Connecting { conn, .. } => {
                out.push(Out::Close(conn));
                self.lost(out);
            }
            Phase::Up { conn } if now >= self.last_heard + self.timeout * 2 / 3 => {
                out.push(Out::Close(conn));
                self.lost(out);
            }
            Phase::Up { conn } => {
                self.last_sent = now;
                self.pings.push_back(now);
                out.push(Out::Send(conn, Up::Request { xid: -2, ask: Ask::Ping, tag: Tag::default() }));
            }
            Phase::Over => {}
        }
    }

    /// A connection was opened for the attempt.
    pub(crate) fn attempt(&mut self, now: u64, conn: ConnId, out: &mut Vec<Out>) {
        self.phase = Phase::Connecting { conn, until: now + self.timeout / self.servers, sent: now };
        self.last_sent = now;
        let (session, last_zxid, timeout) = (self.session, self.last_zxid, self.asked_timeout);
        out.push(Out::Send(conn, Up::Connect { session, last_zxid, timeout }));
    }

    /// The connection is gone, or the attempt has failed.
    fn lost(&mut self, out: &mut Vec<Out>) {
        self.pings.clear();
        for pending in self.outstanding.drain(..).chain(self.waiting.drain(..)) {
            if let Some(ticket) = pending.ticket {
                out.push(Out::Answered(ticket, Err(Failure::ConnectionLoss), pending.tag, None));
            }
        }
        if self.closing {
            // The library lets go of a session that its user has closed, whether or not the end has arrived: it is not
            // connected again, and expires at the latest.
            self.end(Over::Closed, out);
            return;
        }
        self.phase = Phase::Waiting { until: u64::MAX };
        out.push(Out::Retry);
        // A request that was to arm a watch has failed; one that nobody holds any more is not registered again.
        self.watches.retain(|_, watchers| {
            watchers.arming = 0;
            !watchers.ids.is_empty()
        });
        if self.status.state == State::Connected {
            self.change(State::Suspended, out);
        }
    }

    /// When to try again.
    pub(crate) fn retry_at(&mut self, until: u64) {
        if matches!(self.phase, Phase::Waiting { .. }) {
            self.phase = Phase::Waiting { until };
        }
    }

    fn change(&mut self, state: State, out: &mut Vec<Out>) {
        self.status.state = state;
        self.status.changes += 1;
        if state == State::Connected {
            self.status.connection += 1;
        }
        out.push(Out::Changed(self.status));
    }

    fn end(&mut self, why: Over, out: &mut Vec<Out>) {
        self.phase = Phase::Over;
        for pending in self.outstanding.drain(..).chain(self.waiting.drain(..)) {
            if let Some(ticket) = pending.ticket {
                out.push(Out::Answered(ticket, Err(Failure::Over(why)), pending.tag, None));
            }
        }
        self.change(State::Over(why), out);
        for watchers in std::mem::take(&mut self.watches).into_values() {
            for id in watchers.ids {
                out.push(Out::Fired(id, Err(why)));
            }
        }
    }

    /// The user closes a session that is not connected: nothing is sent.
    pub(crate) fn close_unconnected(&mut self, out: &mut Vec<Out>) -> bool {
        if matches!(self.phase, Phase::Up { .. } | Phase::Over) {
            return false;
        }
        if let Phase::Connecting { conn, .. } = self.phase {
            out.push(Out::Close(conn));
        }
        self.end(Over::Closed, out);
        true
    }

    /// A packet arrives.
    pub(crate) fn receive(&mut self, now: u64, conn: ConnId, packet: Down, out: &mut Vec<Out>) {
        let current = match self.phase {
            Phase::Connecting { conn, .. } | Phase::Up { conn } => Some(conn),
            _ => None,
        };
        if current != Some(conn) {
            return;
        }
        self.last_heard = now;
        match packet {
            Down::Connected { timeout: 0, .. } => {
                out.push(Out::Close(conn));
                self.end(Over::Expired, out);
            }
            Down::Connected { session, timeout } => self.connected(now, conn, session, timeout, out),
            Down::Reply { xid, zxid, result } => self.reply(xid, zxid, result, out),
            Down::Notify { kind, path } => self.notified(kind, path, out),
            Down::Fin => {
                out.push(Out::Close(conn));
                self.lost(out);
            }
        }
        // The server closes after the answer to closeSession; the session is over either way.
        if self.status.state == State::Over(Over::Closed) {
            out.push(Out::Close(conn));
        }
    }

    fn connected(&mut self, now: u64, conn: ConnId, session: SessionId, timeout: u64, out: &mut Vec<Out>) {
        let Phase::Connecting { sent, .. } = self.phase else { return };
        self.least_timeout =
            if self.status.connection == 0 { timeout } else { self.least_timeout.min(timeout) };
        self.session = session;
        self.timeout = timeout;
        self.safe_from = sent;
        self.phase = Phase::Up { conn };
        self.change(State::Connected, out);
        let lists = |table, exist| {
            self.watches
                .iter()
                .filter(|(key, watchers)| key.0 == table && watchers.exist == exist)
                .map(|(key, _)| key.1)
                .collect::<Vec<_>>()
        };
        if !self.watches.is_empty() {
            let ask = Ask::SetWatches {
                relative: self.last_zxid,
                data: lists(Table::Data, false),
                exist: lists(Table::Data, true),
                child: lists(Table::Child, false),
            };
            let tag = Tag { cleanup: true, ..Tag::default() };
            self.send(now, conn, Pending { ticket: None, watch: None, xid: 0, ask, tag, sent: 0 }, out);
        }
        while let Some(pending) = self.waiting.pop_front() {
            self.send(now, conn, pending, out);
        }
    }

    fn reply(&mut self, xid: i32, zxid: i64, result: Result<Answer, Refusal>, out: &mut Vec<Out>) {
        if xid == -2 {
            let sent = self.pings.pop_front().expect("a ping's answer follows a ping");
            self.safe_from = self.safe_from.max(sent);
            return;
        }
        let pending = self.outstanding.pop_front().expect("an answer follows a request");
        assert_eq!(pending.xid, xid, "answers come in the order of the requests");
        self.safe_from = self.safe_from.max(pending.sent);
        self.last_zxid = self.last_zxid.max(zxid);
        if let Some(key) = pending.ask.arms() {
            let watchers = self.watches.entry(key).or_default();
            watchers.arming = watchers.arming.saturating_sub(1);
            if let (Ok(answer), Some(watch)) = (&result, pending.watch) {
                watchers.ids.push(watch);
                watchers.exist = matches!(answer, Answer::MaybeStat(None));
            } else if watchers.ids.is_empty() && watchers.arming == 0 {
                self.watches.remove(&key);
            }
        }
        let closed = pending.ask == Ask::CloseSession;
        let Some(ticket) = pending.ticket else { return };
        let result = result.map_err(Failure::Refused);
        out.push(Out::Answered(ticket, result, pending.tag, Some(zxid)));
        if closed {
            self.end(Over::Closed, out);
        }
    }

    fn notified(&mut self, kind: EventKind, path: PathId, out: &mut Vec<Out>) {
        out.push(Out::Noticed(kind, path));
        let tables: &[Table] = match kind {
            EventKind::NodeCreated | EventKind::NodeDataChanged => &[Table::Data],
            EventKind::NodeDeleted => &[Table::Data, Table::Child],
            EventKind::NodeChildrenChanged => &[Table::Child],
        };
        for table in tables {
            let Some(watchers) = self.watches.get_mut(&(*table, path)) else { continue };
            let ids = std::mem::take(&mut watchers.ids);
            if watchers.arming == 0 {
                self.watches.remove(&(*table, path));
            }
            for id in ids {
                out.push(Out::Fired(id, Ok((kind, path))));
            }
        }
    }
}

/// The user's view of what a watch reported.
pub(crate) fn event(kind: EventKind, path: &str) -> Event {
    Event { kind, path: path.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A session over its first connection, with the timeout that it was given.
    fn connected(timeout: u64) -> ClientSession {
        let mut session = ClientSession::new(10_000_000, 1, 0);
        session.attempt(0, ConnId(0), &mut Vec::new());
        session.receive(0, ConnId(0), Down::Connected { session: SessionId(1), timeout }, &mut Vec::new());
        session
    }

    fn again(session: &mut ClientSession, timeout: u64) {
        let out = &mut Vec::new();
        let Phase::Up { conn } = session.phase else { panic!("it is connected") };
        session.receive(1, conn, Down::Fin, out);
        let next = ConnId(conn.0 + 1);
        session.attempt(2, next, out);
        session.receive(3, next, Down::Connected { session: SessionId(1), timeout }, out);
    }

    #[test]
    fn the_timeout_to_reckon_with_is_the_least_that_was_given() {
        let mut session = connected(8_000_000);
        assert_eq!(session.sound_timeout(), 8_000_000);
        again(&mut session, 6_000_000);
        assert_eq!(session.sound_timeout(), 6_000_000);
        again(&mut session, 9_000_000);
        assert_eq!(session.sound_timeout(), 6_000_000);
        assert_eq!(session.next_timer(), Some(2 + 3_000_000), "pings go by the last one");
    }

    #[test]
    fn only_answers_to_requests_move_the_last_zxid() {
        let mut session = connected(8_000_000);
        let out = &mut Vec::new();
        let sync = Ask::Sync { path: PathId::ROOT };
        session.ask(1, sync, Tag::default(), Some(1), None, out);
        session.receive(2, ConnId(0), Down::Reply { xid: 1, zxid: 53, result: Ok(Answer::Nothing) }, out);
        session.timer(3_000_000, out);
        session.receive(
            3_000_001,
            ConnId(0),
            Down::Reply { xid: -2, zxid: 999, result: Ok(Answer::Nothing) },
            out,
        );
        let kind = EventKind::NodeCreated;
        session.receive(3_000_002, ConnId(0), Down::Notify { kind, path: PathId::ROOT }, out);
        assert_eq!(session.last_zxid, 53);
    }
}
