//! A sans-IO client session machine, with the behaviour of the real client libraries (`ClientCnxn`) and without sockets,
//! clocks or threads.
//!
//! Requests, packets and timers go in, and actions come out ([`Out`]). The simulation drives the machine in simulated time;
//! the client for a real ensemble drives the same code over TCP. The [`Protocol`] defines paths, requests and answers,
//! which are opaque to the machine.
//!
//! * Requests go out in call order. Requests that are called without a connection wait for one, and fail with the next
//!   attempt that fails. A disconnect fails every outstanding and waiting request, in order, *before* the state changes
//!   for the user.
//! * A ping is sent after a third of the timeout without a request. Two thirds of the timeout without a byte from the
//!   server end the connection: a part of a packet counts, if the driver says so ([`ClientSession::heard`]).
//! * The session is safe until one timeout after the send time of the last request *or ping* that was answered.
//! * `last_zxid` is that of the last ordinary reply: notifications, pings and connects do not count.
//! * A watch is registered when the reply comes, and again after each reconnect, with `last_zxid`, in requests of limited
//!   size. Persistent watches are told of the reconnect first, since the server does not report what they missed.
//! * A session learns of its expiry from a server only: on reconnect, or by any answer about the session
//!   ([`SessionError`]), be it to a request, to one of several operations, to a ping, or to a request of the machine. What
//!   callers are told of the session is what the machine does: it ends, or it leaves a server that does not serve it.
//! * An ensemble that has lost what the client has seen turns it away for ever; then a probe asks whether the session is
//!   known at all: see `probe`.
//!
//! | module | content |
//! |---|---|
//! | `protocol` | what a machine and its driver tell each other |
//! | `servers` | the order in which a client tries its servers |
//! | `slots` | what the futures of a driver wait for |
//! | `lists` | the lists of watches that a client keeps, and what it tells a server of them |
//! | `watches` | which watches the client believes to be armed |
//! | `probe` | how a client learns that an ensemble has forgotten its session |
//! | `fingerprint` | a fingerprint of the state, for searches of a state space |

mod endings;
mod fingerprint;
mod lists;
mod probe;
mod protocol;
mod servers;
mod slots;
mod watches;

pub use endings::Endings;
pub use fingerprint::Fingerprint;
pub use lists::{List, Table, Watching};
pub use protocol::{
    Answered, Failure, Flaw, Flaws, Incoming, Out, Outgoing, Password, Protocol, SessionError, WatchItem,
};
pub use servers::Servers;
pub use slots::{Slot, Slots};

use self::probe::Probes;
use crate::wire::number::PING_XID;
use std::collections::VecDeque;
use watches::Watches;
use zk_recipes::zk::{EventKind, Over, PINGS_PER_TIMEOUT, SessionId, State, Status};

/// A request in flight, or waiting for a connection.
#[derive(Clone, Debug)]
struct Pending<P: Protocol> {
    ticket: Option<u32>,
    watch: Option<u32>,
    xid: i32,
    ask: P::Ask,
    tag: P::Tag,
    sent: u64,
    purpose: Purpose<P::Path>,
}

/// The origin of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Purpose<Path> {
    /// The user asked.
    User,
    /// To register watches again.
    Rewatch,
    /// Removes the watches of that kind on that path.
    Removal(Path, i32),
}

impl<P: Protocol> Pending<P> {
    fn own(ask: P::Ask, tag: P::Tag, purpose: Purpose<P::Path>) -> Self {
        Pending { ticket: None, watch: None, xid: 0, ask, tag, sent: 0, purpose }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Phase<Conn> {
    /// Between two attempts.
    Waiting { until: u64 },
    /// A `Connect` is in flight.
    Connecting { conn: Conn, until: u64, sent: u64 },
    /// A `Connect` is in flight that only asks whether the session lives: see [`probe`].
    Probing { conn: Conn, until: u64 },
    /// Connected.
    Up { conn: Conn },
    /// Over.
    Over,
}

/// A session, from the client's side. All times are microseconds of the client's own monotonic clock.
#[derive(Clone, Debug)]
pub struct ClientSession<P: Protocol> {
    phase: Phase<P::Conn>,
    status: Status,
    session: SessionId,
    asked_timeout: u64,
    timeout: u64,
    least_timeout: u64,
    last_zxid: i64,
    last_heard: u64,
    last_sent: u64,
    safe_from: u64,
    pings: VecDeque<u64>,
    waiting: VecDeque<Pending<P>>,
    outstanding: VecDeque<Pending<P>>,
    watches: Watches<P>,
    next_xid: i32,
    servers: Servers,
    server: u8,
    password: Password,
    probes: Probes,
    /// The user has closed the session, and the close is in flight: nothing more is sent, and no connection follows.
    closing: bool,
    flaws: P::Flaws,
    /// A notification that an injected bug holds back.
    kept_back: Vec<(EventKind, P::Path)>,
}

impl<P: Protocol> ClientSession<P> {
    /// A session that is to be opened with one of these servers.
    pub fn new(asked_timeout: u64, servers: Servers, now: u64) -> Self {
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
            probes: Probes::default(),
            closing: false,
            flaws: P::Flaws::default(),
            kept_back: Vec::new(),
        }
    }

    /// The same session with injected bugs.
    #[must_use]
    pub fn with(self, flaws: P::Flaws) -> Self {
        ClientSession { flaws, ..self }
    }

    /// What the client knows of the session.
    pub fn status(&self) -> Status {
        self.status
    }

    /// The session's number; 0 before the first connection.
    pub fn session(&self) -> SessionId {
        self.session
    }

    /// The send time of the last request, ping or connect that was answered.
    pub fn safe_from(&self) -> u64 {
        self.safe_from
    }

    /// The smaller of the timeout first negotiated and the one negotiated last.
    pub fn sound_timeout(&self) -> u64 {
        self.least_timeout
    }

    /// The timeout that was asked for.
    pub fn asked_timeout(&self) -> u64 {
        self.asked_timeout
    }

    /// The timeout that was negotiated last.
    pub fn timeout(&self) -> u64 {
        self.timeout
    }

    /// The number of requests that are in flight.
    pub fn in_flight(&self) -> usize {
        self.outstanding.len()
    }

    /// The number of watches that the client believes to be armed.
    pub fn watched(&self) -> usize {
        self.watches.lists.len()
    }

    /// When the request was sent, or the ping, that is answered next.
    pub fn sent_first(&self, xid: i32) -> Option<u64> {
        match xid {
            PING_XID => self.pings.front().copied(),
            xid => self.outstanding.front().filter(|pending| pending.xid == xid).map(|pending| pending.sent),
        }
    }

    /// Its connection, if it has one.
    pub fn conn(&self) -> Option<P::Conn> {
        match self.phase {
            Phase::Up { conn } => Some(conn),
            _ => None,
        }
    }

    /// Whether no request of the user is in flight.
    pub fn is_idle(&self) -> bool {
        match self.phase {
            Phase::Over => true,
            Phase::Up { .. } => self.waiting.is_empty() && self.outstanding.is_empty(),
            _ => false,
        }
    }

    /// Whether the session has ended.
    pub fn is_over(&self) -> bool {
        self.phase == Phase::Over
    }

    /// The time of the machine's next timer.
    pub fn next_timer(&self) -> Option<u64> {
        match self.phase {
            Phase::Waiting { until } | Phase::Connecting { until, .. } | Phase::Probing { until, .. } => {
                Some(until)
            }
            Phase::Up { .. } => {
                // Java pings a second early once it is idle for a while; a third of the timeout is what matters.
                let ping = self.last_sent + self.timeout / u64::from(PINGS_PER_TIMEOUT);
                let give_up = self.last_heard + self.patience();
                Some(ping.min(give_up))
            }
            Phase::Over => None,
        }
    }

    /// Whether a timer that is due now would only send a ping, or ask for a session for the first time.
    pub fn only_pings_or_begins(&self, now: u64) -> bool {
        match self.phase {
            Phase::Up { .. } => now < self.last_heard + self.patience(),
            Phase::Waiting { .. } => self.session == SessionId(0),
            Phase::Connecting { .. } | Phase::Probing { .. } | Phase::Over => false,
        }
    }

    /// Sends a request of the user.
    #[allow(clippy::too_many_arguments, reason = "a request and its two receipts")]
    pub fn ask(
        &mut self,
        now: u64,
        ask: P::Ask,
        tag: P::Tag,
        ticket: Option<u32>,
        watch: Option<u32>,
        out: &mut Vec<Out<P>>,
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
        self.closing = P::is_close(&ask);
        let pending = Pending { ticket, watch, ..Pending::own(ask, tag, Purpose::User) };
        match self.phase {
            Phase::Up { conn } => self.send(now, conn, pending, out),
            _ => self.waiting.push_back(pending),
        }
    }

    fn send(&mut self, now: u64, conn: P::Conn, mut pending: Pending<P>, out: &mut Vec<Out<P>>) {
        pending.xid = self.next_xid;
        pending.sent = now;
        // Negative xids are reserved (ZOOKEEPER-3253).
        self.next_xid = self.next_xid.checked_add(1).unwrap_or(1);
        self.last_sent = now;
        self.watches.sent(&pending.ask);
        let (xid, ask, tag) = (pending.xid, pending.ask.clone(), pending.tag);
        out.push(Out::Send(conn, Outgoing::Request { xid, ask, tag }));
        self.outstanding.push_back(pending);
    }

    /// Drops a watch.
    pub fn drop_watch(&mut self, now: u64, id: u32, tag: P::Tag, out: &mut Vec<Out<P>>) {
        let removal = self.watches.removal(id);
        self.watches.drop(id);
        if let Some((path, kind)) = removal {
            self.remove_watch(now, path, kind, tag, out);
        }
    }

    fn remove_watch(&mut self, now: u64, path: P::Path, kind: i32, tag: P::Tag, out: &mut Vec<Out<P>>) {
        if let (Phase::Up { conn }, false) = (&self.phase, self.closing) {
            let (conn, ask) = (*conn, P::remove_watches(path.clone(), kind));
            self.send(now, conn, Pending::own(ask, tag, Purpose::Removal(path, kind)), out);
        }
    }

    /// Whether dropping this watch would send a request.
    pub fn drop_sends(&self, id: u32) -> bool {
        matches!(self.phase, Phase::Up { .. }) && !self.closing && self.watches.removal(id).is_some()
    }

    /// Handles a timer that is due.
    pub fn timer(&mut self, now: u64, out: &mut Vec<Out<P>>) {
        match self.phase {
            Phase::Waiting { .. } => {
                self.server = self.next_probe(now).unwrap_or_else(|| self.servers.take());
                out.push(Out::Attempt { server: self.server });
            }
            Phase::Connecting { conn, .. } | Phase::Probing { conn, .. } => {
                out.push(Out::Close(conn));
                self.lost(out);
            }
            Phase::Up { conn } if now >= self.last_heard + self.patience() => {
                out.push(Out::Close(conn));
                self.lost(out);
            }
            Phase::Up { conn } => {
                self.last_sent = now;
                self.pings.push_back(now);
                let (ask, tag) = (P::ping(), P::Tag::default());
                out.push(Out::Send(conn, Outgoing::Request { xid: PING_XID, ask, tag }));
                for (path, kind) in self.watches.refused() {
                    self.remove_watch(now, path, kind, P::own_tag(), out);
                }
            }
            Phase::Over => {}
        }
    }

    /// A connection was opened for the attempt.
    pub fn attempt(&mut self, now: u64, conn: P::Conn, out: &mut Vec<Out<P>>) {
        let until = now + self.timeout / u64::from(self.servers.count);
        let is_probe = std::mem::take(&mut self.probes.is_next);
        self.phase = if is_probe {
            Phase::Probing { conn, until }
        } else {
            Phase::Connecting { conn, until, sent: now }
        };
        self.last_sent = now;
        let last_zxid = if is_probe || self.flaws.has(Flaw::ForgetsZxid) { 0 } else { self.last_zxid };
        let (session, timeout) = (self.session, self.asked_timeout);
        let password = self.password;
        out.push(Out::Send(conn, Outgoing::Connect { session, last_zxid, timeout, password }));
    }

    /// The connect of an attempt was sent then, and not when the attempt began: the lease counts from there.
    pub fn connect_sent(&mut self, at: u64) {
        if let Phase::Connecting { sent, .. } = &mut self.phase {
            *sent = at.max(*sent);
        }
    }

    /// Bytes have arrived, be they a part of a packet: a sign of life that keeps the connection, and no answer.
    pub fn heard(&mut self, now: u64, conn: P::Conn) {
        if self.conn() == Some(conn) {
            self.last_heard = now;
        }
    }

    /// The silence of a server that ends a connection.
    pub fn patience(&self) -> u64 {
        self.timeout * 2 / 3
    }

    /// The connection is gone, or the attempt has failed.
    fn lost(&mut self, out: &mut Vec<Out<P>>) {
        self.pings.clear();
        let repeated = self.repeated();
        for pending in self.outstanding.drain(..).chain(self.waiting.drain(..)) {
            if let Some(ticket) = pending.ticket {
                out.push(Out::failed(ticket, Failure::ConnectionLoss, pending.tag));
            }
        }
        if self.closing {
            // Like the library, a closed session does not reconnect, whether or not the close has arrived; it expires at
            // the latest.
            self.end(Over::Closed, out);
            return;
        }
        self.waiting = repeated;
        self.kept_back.clear();
        if self.flaws.has(Flaw::ExpiresAtLoss) && self.status.state == State::Connected {
            self.end(Over::Expired, out);
            return;
        }
        let lost = matches!(self.phase, Phase::Up { .. });
        self.phase = Phase::Waiting { until: u64::MAX };
        out.push(Out::Retry { pause: self.servers.pause(), lost });
        self.watches.lost();
        if self.status.state == State::Connected && !self.flaws.has(Flaw::HidesLoss) {
            self.change(State::Suspended, out);
        }
    }

    /// Requests that survive a lost connection: none, without injected bugs.
    fn repeated(&mut self) -> VecDeque<Pending<P>> {
        if !self.flaws.has(Flaw::RepeatsLost) || self.closing {
            return VecDeque::new();
        }
        let all = self.outstanding.drain(..).chain(self.waiting.drain(..));
        let (writes, others) = all.partition(|pending| P::is_write(&pending.ask) && pending.ticket.is_some());
        self.outstanding = others;
        writes
    }

    /// Schedules the next attempt.
    pub fn retry_at(&mut self, until: u64) {
        if matches!(self.phase, Phase::Waiting { .. }) {
            self.phase = Phase::Waiting { until };
        }
    }

    fn change(&mut self, state: State, out: &mut Vec<Out<P>>) {
        self.status.state = state;
        self.status.changes += 1;
        if state == State::Connected {
            self.status.connection += 1;
        }
        out.push(Out::Changed(self.status));
    }

    /// Ends the session on this side, regardless of the ensemble. Every request and watch is notified.
    pub fn end(&mut self, why: Over, out: &mut Vec<Out<P>>) {
        if self.is_over() {
            return;
        }
        self.phase = Phase::Over;
        for pending in self.outstanding.drain(..).chain(self.waiting.drain(..)) {
            if let Some(ticket) = pending.ticket {
                out.push(Out::failed(ticket, Failure::Over(why), pending.tag));
            }
        }
        self.change(State::Over(why), out);
        out.extend(self.watches.take_all().into_iter().map(|id| Out::Fired(id, WatchItem::Over(why))));
    }

    /// The user closes a session that is not connected: nothing is sent.
    pub fn close_unconnected(&mut self, out: &mut Vec<Out<P>>) -> bool {
        if matches!(self.phase, Phase::Up { .. } | Phase::Over) {
            return false;
        }
        if let Phase::Connecting { conn, .. } | Phase::Probing { conn, .. } = self.phase {
            out.push(Out::Close(conn));
        }
        self.end(Over::Closed, out);
        true
    }

    /// Handles a packet. `bytes` is what a path takes in a request, its prefixes included, which limits the requests that
    /// register watches again.
    pub fn receive(
        &mut self,
        now: u64,
        conn: P::Conn,
        packet: Incoming<P>,
        bytes: impl Fn(&P::Path) -> usize,
        out: &mut Vec<Out<P>>,
    ) {
        let current = match self.phase {
            Phase::Connecting { conn, .. } | Phase::Probing { conn, .. } | Phase::Up { conn } => Some(conn),
            _ => None,
        };
        if current != Some(conn) {
            return;
        }
        self.last_heard = now;
        match packet {
            Incoming::Connected { timeout: 0, .. } => {
                out.push(Out::Close(conn));
                self.end(Over::Expired, out);
            }
            Incoming::Connected { timeout, .. } if matches!(self.phase, Phase::Probing { .. }) => {
                self.probes.found_alive(now, timeout);
                out.push(Out::Close(conn));
                self.lost(out);
            }
            Incoming::Connected { session, timeout, password } => {
                let Phase::Connecting { sent, .. } = self.phase else { return };
                self.password = password;
                self.negotiated(session, timeout);
                self.safe_from = sent;
                self.connected(now, conn, bytes, out);
            }
            Incoming::Reply { xid, zxid, result } => self.reply(now, conn, xid, zxid, result, out),
            Incoming::Notify { kind, path } if self.flaws.has(Flaw::ReplyFirst) => {
                return self.kept_back.push((kind, path));
            }
            Incoming::Notify { kind, path } => out.push(Out::Noticed(conn, kind, path)),
            Incoming::Fin | Incoming::Unreachable => {
                if matches!(packet, Incoming::Fin) {
                    self.turned_away();
                }
                out.push(Out::Close(conn));
                self.lost(out);
            }
        }
        out.extend(self.kept_back.drain(..).map(|(kind, path)| Out::Noticed(conn, kind, path)));
        // The server closes the connection after the reply to closeSession; the session is over either way.
        if self.status.state == State::Over(Over::Closed) {
            out.push(Out::Close(conn));
        }
    }

    fn negotiated(&mut self, session: SessionId, timeout: u64) {
        self.least_timeout =
            if self.status.connection == 0 { timeout } else { self.least_timeout.min(timeout) };
        self.session = session;
        self.timeout = timeout;
    }

    fn connected(
        &mut self,
        now: u64,
        conn: P::Conn,
        bytes: impl Fn(&P::Path) -> usize,
        out: &mut Vec<Out<P>>,
    ) {
        self.phase = Phase::Up { conn };
        self.servers.connected(self.server);
        self.probes.connected();
        self.change(State::Connected, out);
        // Reported now, so that the user's next requests come behind the arming.
        out.extend(self.watches.staying().map(|id| Out::Fired(id, WatchItem::Gap)));
        out.extend(self.watches.forgotten().map(|(table, path)| Out::Forgot(table, path)));
        for believed in self.watches.believed(self.last_zxid, self.flaws, bytes) {
            let ask = P::set_watches(believed);
            self.send(now, conn, Pending::own(ask, P::own_tag(), Purpose::Rewatch), out);
        }
        while let Some(pending) = self.waiting.pop_front() {
            self.send(now, conn, pending, out);
        }
    }

    fn reply(
        &mut self,
        now: u64,
        conn: P::Conn,
        xid: i32,
        zxid: i64,
        result: Result<P::Answer, P::Refusal>,
        out: &mut Vec<Out<P>>,
    ) {
        // A server that closes a connection may answer before it has answered earlier requests, so the number is irrelevant.
        let asked = self.outstanding.front().filter(|pending| pending.xid == xid);
        if let Some(error) = P::session_error(asked.map(|pending| &pending.ask), &result) {
            return self.disowned(error, conn, xid, zxid, out);
        }
        if xid == PING_XID {
            // A reply to a ping that was not sent proves nothing.
            if let Some(sent) = self.pings.pop_front() {
                self.safe_from = self.safe_from.max(sent);
            }
            return;
        }
        // Replies come in request order. A gap means that the server refused a write because the session has moved; like
        // the real library, the client gives up this connection.
        if self.flaws.has(Flaw::SwapsAnswers) {
            self.swap_answers();
        }
        let Some(pending) = self.outstanding.pop_front_if(|pending| pending.xid == xid) else {
            out.push(Out::Close(conn));
            self.lost(out);
            return;
        };
        self.safe_from = self.safe_from.max(pending.sent);
        self.last_zxid = self.last_zxid.max(zxid);
        match (&pending.purpose, &result) {
            // Without its watches the connection is useless: the next one registers them again.
            (Purpose::Rewatch, Err(_)) => {
                out.push(Out::Close(conn));
                self.lost(out);
                return;
            }
            (Purpose::Removal(path, kind), Err(refusal)) if P::is_busy(refusal) => {
                self.watches.removal_refused(path.clone(), *kind);
            }
            _ => {}
        }
        if let Some((path, kind)) = self.watches.answered(&pending.ask, &result, pending.watch) {
            self.remove_watch(now, path, kind, P::own_tag(), out);
        }
        let closed = P::is_close(&pending.ask);
        let Some(ticket) = pending.ticket else { return };
        let result = result.map_err(Failure::Refused);
        let (tag, zxid, conn) = (pending.tag, Some(zxid), Some(conn));
        out.push(Out::Answered(Answered { ticket, result, tag, zxid, conn }));
        if closed {
            self.end(Over::Closed, out);
        }
    }

    /// A server says that it does not serve the session (any more). No request of this connection is answered after that.
    fn disowned(&mut self, error: SessionError, conn: P::Conn, xid: i32, zxid: i64, out: &mut Vec<Out<P>>) {
        out.push(Out::Close(conn));
        let failure = match error {
            SessionError::Over(why) => Failure::Over(why),
            SessionError::NotHere => Failure::ConnectionLoss,
        };
        if let Some(pending) = self.outstanding.pop_front_if(|pending| pending.xid == xid)
            && let Some(ticket) = pending.ticket
        {
            let (tag, zxid, conn) = (pending.tag, Some(zxid), Some(conn));
            out.push(Out::Answered(Answered { ticket, result: Err(failure), tag, zxid, conn }));
        }
        match error {
            SessionError::Over(why) => self.end(why, out),
            SessionError::NotHere => self.lost(out),
        }
    }

    /// Injected bug: swaps the next two replies if they are of one kind.
    fn swap_answers(&mut self) {
        let (front, back) = self.outstanding.as_mut_slices();
        let mut both = front.iter_mut().chain(back);
        if let (Some(one), Some(other)) = (both.next(), both.next())
            && std::mem::discriminant(&one.ask) == std::mem::discriminant(&other.ask)
            && one.tag < other.tag
        {
            std::mem::swap(&mut one.ticket, &mut other.ticket);
            std::mem::swap(&mut one.tag, &mut other.tag);
            std::mem::swap(&mut one.watch, &mut other.watch);
        }
    }

    /// Dispatches a notification to its watches.
    ///
    /// `parent` is the path above a path; none above the root.
    pub fn dispatch(
        &mut self,
        kind: EventKind,
        path: P::Path,
        parent: impl Fn(&P::Path) -> Option<P::Path>,
        out: &mut Vec<Out<P>>,
    ) {
        let concerned = self.watches.concerned(kind, &path, parent);
        if self.flaws.has(Flaw::KeepsFired) {
            self.watches.keep(kind, path.clone());
        }
        out.extend(concerned.into_iter().map(|id| Out::Fired(id, WatchItem::Event(kind, path.clone()))));
    }
}
