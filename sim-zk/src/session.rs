//! A client's session machine, as the real client libraries have it (`ClientCnxn`).
//!
//! * Requests go out in call order; those called while there is no connection wait for one, and fail with the next
//!   attempt that fails. A disconnect fails every outstanding and waiting request, in order, *before* the state changes
//!   for the user.
//! * A ping leaves after a third of the timeout without a request; two thirds without a byte from the server end the
//!   connection.
//! * `last_zxid` is that of the last ordinary reply: notifications, pings and connects do not count.
//! * A watch is registered when the reply comes, and registered again after each reconnect, with `last_zxid`. Those that
//!   stay are told of the reconnect first, since what they missed nobody tells them.
//! * Expiry is learnt from a server only, on reconnect.

mod digest;
mod servers;
#[cfg(test)]
mod tests;
mod watches;

use crate::message::{Answer, Ask, Down, Password, Refusal, Table, Tag, Up};
use crate::paths::{PathId, Paths};
use crate::quirk::Quirk;
use crate::server::ConnId;
pub(crate) use servers::Servers;
use std::collections::VecDeque;
use watches::Watches;
use zk_recipes::zk::{Event, EventKind, Over, SessionId, State, Status};

/// What the machine asks of those around it.
#[derive(Clone, Debug)]
pub(crate) enum Out {
    /// Send a packet on a connection.
    Send(ConnId, Up),
    /// A request is answered.
    Answered(Answered),
    /// A watch is told something.
    Fired(u32, Told),
    /// A notification arrived (whoever waits for it): `dispatch` it.
    Noticed(ConnId, EventKind, PathId),
    /// A watch on that path is not registered again: nobody waits for it any more.
    Forgot(Table, PathId),
    /// The status changed.
    Changed(Status),
    /// Give the connection up.
    Close(ConnId),
    /// Open a connection with that server, and then call `attempt`.
    Attempt { server: u8 },
    /// Say when to try again, by `retry_at`: after the usual wait and that pause. `lost`: there was a connection until now.
    Retry { pause: u64, lost: bool },
}

/// What a watch is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    /// It fired.
    Event(EventKind, PathId),
    /// It stays, and may have missed something.
    Gap,
    /// It ends with the session.
    Over(Over),
}

/// What became of a request.
#[derive(Clone, Debug)]
pub(crate) struct Answered {
    pub ticket: u32,
    pub result: Result<Answer, Failure>,
    pub tag: Tag,
    /// Of the answer, if there was one: the header's zxid, and the connection it came by.
    pub zxid: Option<i64>,
    pub conn: Option<ConnId>,
}

impl Out {
    /// A request came to nothing.
    fn failed(ticket: u32, why: Failure, tag: Tag) -> Out {
        Out::Answered(Answered { ticket, result: Err(why), tag, zxid: None, conn: None })
    }
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
    watches: Watches,
    next_xid: i32,
    servers: Servers,
    server: u8,
    password: Password,
    /// The user has closed the session, and its end is on its way: nothing more is sent, and no connection follows.
    closing: bool,
    /// What is wrong with it on purpose, and a notification that is kept back for it.
    quirk: Option<Quirk>,
    kept_back: Vec<(EventKind, PathId)>,
}

impl ClientSession {
    pub(crate) fn new(asked_timeout: u64, servers: Servers, now: u64) -> Self {
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
            watches: Watches::default(),
            next_xid: 1,
            server: servers.next,
            servers,
            password: [0; 16],
            closing: false,
            quirk: None,
            kept_back: Vec::new(),
        }
    }

    /// The same, wrong in that way.
    pub(crate) fn with(self, quirk: Option<Quirk>) -> Self {
        ClientSession { quirk, ..self }
    }

    /// The smaller of the timeout first negotiated and the one negotiated last.
    pub(crate) fn sound_timeout(&self) -> u64 {
        self.least_timeout
    }

    /// Its connection, if it has one.
    pub(crate) fn conn(&self) -> Option<ConnId> {
        match self.phase {
            Phase::Up { conn } => Some(conn),
            _ => None,
        }
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

    /// Whether a timer that is due now would only send a ping, or ask for a session for the first time.
    pub(crate) fn only_pings_or_begins(&self, now: u64) -> bool {
        match self.phase {
            Phase::Up { .. } => now < self.last_heard + self.timeout * 2 / 3,
            Phase::Waiting { .. } => self.session == SessionId(0),
            Phase::Connecting { .. } | Phase::Over => false,
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
                out.push(Out::failed(ticket, Failure::Over(why), tag));
            }
            return;
        }
        self.closing = ask == Ask::CloseSession;
        if let (Phase::Up { conn }, true, Some(ticket), Some(Quirk::ClosesSilently)) =
            (&self.phase, self.closing, ticket, self.quirk)
        {
            out.push(Out::Close(*conn));
            let result = Ok(Answer::Nothing);
            out.push(Out::Answered(Answered { ticket, result, tag, zxid: None, conn: None }));
            self.end(Over::Closed, out);
            return;
        }
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
        self.watches.sent(&pending.ask);
        out.push(Out::Send(
            conn,
            Up::Request { xid: pending.xid, ask: pending.ask.clone(), tag: pending.tag },
        ));
        self.outstanding.push_back(pending);
    }

    /// The user no longer waits for a watch.
    pub(crate) fn drop_watch(&mut self, now: u64, id: u32, tag: Tag, out: &mut Vec<Out>) {
        let removal = self.watches.removal(id);
        self.watches.drop(id);
        if let Some((path, kind)) = removal {
            self.remove_watch(now, path, kind, tag, out);
        }
    }

    fn remove_watch(&mut self, now: u64, path: PathId, kind: i32, tag: Tag, out: &mut Vec<Out>) {
        if let (Phase::Up { conn }, false) = (&self.phase, self.closing) {
            let (conn, ask) = (*conn, Ask::RemoveWatches { path, kind });
            self.send(now, conn, Pending { ticket: None, watch: None, xid: 0, ask, tag, sent: 0 }, out);
        }
    }

    /// Whether dropping this watch would send a request.
    pub(crate) fn drop_sends(&self, id: u32) -> bool {
        matches!(self.phase, Phase::Up { .. }) && !self.closing && self.watches.removal(id).is_some()
    }

    /// A timer of the machine is due.
    pub(crate) fn timer(&mut self, now: u64, out: &mut Vec<Out>) {
        match self.phase {
            Phase::Waiting { .. } => {
                self.server = self.servers.take();
                out.push(Out::Attempt { server: self.server });
            }
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
        self.phase =
            Phase::Connecting { conn, until: now + self.timeout / u64::from(self.servers.count), sent: now };
        self.last_sent = now;
        let last_zxid = if self.quirk == Some(Quirk::ForgetsZxid) { 0 } else { self.last_zxid };
        let (session, timeout) = (self.session, self.asked_timeout);
        out.push(Out::Send(conn, Up::Connect { session, last_zxid, timeout, password: self.password }));
    }

    /// The connection is gone, or the attempt has failed.
    fn lost(&mut self, out: &mut Vec<Out>) {
        self.pings.clear();
        let repeated = self.repeated();
        for pending in self.outstanding.drain(..).chain(self.waiting.drain(..)) {
            if let Some(ticket) = pending.ticket {
                out.push(Out::failed(ticket, Failure::ConnectionLoss, pending.tag));
            }
        }
        if self.closing {
            // The library lets go of a session that its user has closed, whether or not the end has arrived: it is not
            // connected again, and expires at the latest.
            self.end(Over::Closed, out);
            return;
        }
        self.waiting = repeated;
        self.kept_back.clear();
        if self.quirk == Some(Quirk::ExpiresAtLoss) && self.status.state == State::Connected {
            self.end(Over::Expired, out);
            return;
        }
        let lost = matches!(self.phase, Phase::Up { .. });
        self.phase = Phase::Waiting { until: u64::MAX };
        out.push(Out::Retry { pause: self.servers.pause(), lost });
        self.watches.lost();
        if self.status.state == State::Connected && self.quirk != Some(Quirk::HidesLoss) {
            self.change(State::Suspended, out);
        }
    }

    /// What is not failed by a lost connection: nothing, if all is right.
    fn repeated(&mut self) -> VecDeque<Pending> {
        if self.quirk != Some(Quirk::RepeatsLost) || self.closing {
            return VecDeque::new();
        }
        let all = self.outstanding.drain(..).chain(self.waiting.drain(..));
        let (writes, others) = all.partition(|pending| pending.ask.is_write() && pending.ticket.is_some());
        self.outstanding = others;
        writes
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
                out.push(Out::failed(ticket, Failure::Over(why), pending.tag));
            }
        }
        self.change(State::Over(why), out);
        out.extend(self.watches.take_all().into_iter().map(|id| Out::Fired(id, Told::Over(why))));
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
            Down::Connected { session, timeout, password } => {
                self.password = password;
                self.connected(now, conn, session, timeout, out);
            }
            Down::Reply { xid, zxid, result } => self.reply(now, conn, xid, zxid, result, out),
            Down::Notify { kind, path } if self.quirk == Some(Quirk::ReplyFirst) => {
                return self.kept_back.push((kind, path));
            }
            Down::Notify { kind, path } => out.push(Out::Noticed(conn, kind, path)),
            Down::Fin => {
                out.push(Out::Close(conn));
                self.lost(out);
            }
        }
        out.extend(self.kept_back.drain(..).map(|(kind, path)| Out::Noticed(conn, kind, path)));
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
        self.servers.connected(self.server);
        self.change(State::Connected, out);
        // Told now, so that whatever they ask for in consequence comes behind the arming.
        out.extend(self.watches.staying().map(|id| Out::Fired(id, Told::Gap)));
        out.extend(self.watches.forgotten().map(|(table, path)| Out::Forgot(table, path)));
        if let Some(believed) = self.watches.believed(self.last_zxid, self.quirk) {
            let (ask, tag) = (Ask::SetWatches(Box::new(believed)), Tag { cleanup: true, ..Tag::default() });
            self.send(now, conn, Pending { ticket: None, watch: None, xid: 0, ask, tag, sent: 0 }, out);
        }
        while let Some(pending) = self.waiting.pop_front() {
            self.send(now, conn, pending, out);
        }
    }

    fn reply(
        &mut self,
        now: u64,
        conn: ConnId,
        xid: i32,
        zxid: i64,
        result: Result<Answer, Refusal>,
        out: &mut Vec<Out>,
    ) {
        if xid == -2 {
            let sent = self.pings.pop_front().expect("a ping's answer follows a ping");
            self.safe_from = self.safe_from.max(sent);
            return;
        }
        // Answers come in the order of the requests. If one is left out, a write of ours was refused because the session
        // has moved; like the real library, we do not go on with this connection.
        if self.quirk == Some(Quirk::SwapsAnswers) {
            self.swap_answers();
        }
        let Some(pending) = self.outstanding.pop_front_if(|pending| pending.xid == xid) else {
            out.push(Out::Close(conn));
            self.lost(out);
            return;
        };
        self.safe_from = self.safe_from.max(pending.sent);
        self.last_zxid = self.last_zxid.max(zxid);
        if let Some((path, kind)) = self.watches.answered(&pending.ask, &result, pending.watch) {
            self.remove_watch(now, path, kind, Tag { cleanup: true, ..Tag::default() }, out);
        }
        let closed = pending.ask == Ask::CloseSession;
        let Some(ticket) = pending.ticket else { return };
        let result = result.map_err(Failure::Refused);
        let (tag, zxid, conn) = (pending.tag, Some(zxid), Some(conn));
        out.push(Out::Answered(Answered { ticket, result, tag, zxid, conn }));
        if closed {
            self.end(Over::Closed, out);
        }
    }

    /// Whoever waits for the next two answers, if they are of a kind, will get the other one's.
    fn swap_answers(&mut self) {
        let (front, back) = self.outstanding.as_mut_slices();
        let mut both = front.iter_mut().chain(back);
        if let (Some(one), Some(other)) = (both.next(), both.next())
            && std::mem::discriminant(&one.ask) == std::mem::discriminant(&other.ask)
            && one.tag.req < other.tag.req
        {
            std::mem::swap(&mut one.ticket, &mut other.ticket);
            std::mem::swap(&mut one.tag, &mut other.tag);
            std::mem::swap(&mut one.watch, &mut other.watch);
        }
    }

    /// Tells a notification to those whom it concerns.
    pub(crate) fn dispatch(&mut self, kind: EventKind, path: PathId, paths: &Paths, out: &mut Vec<Out>) {
        let concerned = self.watches.concerned(kind, path, paths);
        if self.quirk == Some(Quirk::KeepsFired) {
            self.watches.keep(kind, path);
        }
        out.extend(concerned.into_iter().map(|id| Out::Fired(id, Told::Event(kind, path))));
    }
}

/// The user's view of what a watch reported.
pub(crate) fn event(kind: EventKind, path: &str) -> Event {
    Event { kind, path: path.to_owned() }
}
