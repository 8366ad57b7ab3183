//! Packets from and to clients, and the network faults that affect them.

use super::{Front, Timer};
use crate::clients::{ClientId, Fate, InFlight};
use crate::figures::letters;
use crate::memory::Held;
use crate::network::{Missed, Request, Strike};
use sim_zk::fault::Fault;
use sim_zk::message::{Answer, Ask, ConnId, Down, Tag, Up};
use sim_zk::observer::Kind;
use sim_zk::wire::password;
use sim_zk::world::World;
use std::collections::BTreeSet;
use zk_checker::history::{Code, Conn, OpId, ReqId, SessionState, Victim, What, Who};
use zk_harness::journal::{self, fault_kind, notify};
use zk_protocol::wire::number;
use zk_recipes::zk::SessionId;

/// The fate of a request.
enum Next {
    /// It is sent.
    Goes,
    /// It is sent, and then the connection breaks.
    Last,
    /// The connection breaks, and the request is lost.
    Lost,
}

impl Front {
    // ── from clients ──

    /// Handles the first packet of a connection.
    pub(super) fn greet(&mut self, number: usize, hello: Up) {
        let Some(server) = self.connections[number].as_ref().map(|connection| connection.server) else {
            return;
        };
        let Up::Connect { session, password: shown, .. } = hello else {
            // The server closes the connection.
            let conn = self.raw.connect(server, hello);
            return self.opened(number, conn);
        };
        // A connect request with a wrong password comes from a new client.
        let known = self.clients.of(session).filter(|_| shown == password(session));
        let client = known.unwrap_or_else(|| self.begin());
        let Some(connection) = &mut self.connections[number] else { return };
        connection.client = Some(client);
        let of = self.clients.get_mut(client);
        of.connection = Some(number);
        let until = of.muted.max(of.deafened);
        connection.early.push_back(hello);
        if until > self.raw.now() {
            self.timers.insert((until, Timer::Release(number)));
        } else {
            self.let_up(number);
        }
    }

    /// Adds a new client.
    fn begin(&mut self) -> ClientId {
        if self.clients.are_many() {
            let connected = self.connections.iter().flatten().filter_map(|connection| connection.client);
            let connected: BTreeSet<ClientId> = connected.collect();
            let world = self.raw.world();
            self.clients.forget(|id, client| !connected.contains(&id) && !world.lives(client.session));
        }
        let id = self.clients.begin();
        self.recorder.begins(id.0);
        let at = self.raw.now();
        self.recorder.write(|journal| {
            journal.name_client(id.0 as u16, &self.clients.get(id).name);
            journal.note(at, Who::World, OpId(0), What::Start { client: id.0 as u16 });
        });
        id
    }

    fn opened(&mut self, number: usize, conn: ConnId) {
        self.by_conn.insert(conn, number);
        self.recorder.opens(conn.0);
        if let Some(connection) = &mut self.connections[number] {
            connection.conn = Some(conn);
        }
    }

    /// Sends a packet that needs that many bytes together with its answer. Returns whether others may follow; otherwise
    /// the connection breaks.
    pub(super) fn sets_out(
        &mut self,
        number: usize,
        packet: &mut Up,
        bytes: usize,
        leaving: &mut Vec<Up>,
    ) -> bool {
        let next = match packet {
            Up::Request { ask: Ask::Ping, .. } => {
                if let Some(connection) = &mut self.connections[number] {
                    connection.pings += 1;
                }
                Next::Goes
            }
            Up::Request { xid, ask, tag } => self.ask(number, *xid, ask, tag, bytes),
            _ => Next::Goes,
        };
        if !matches!(next, Next::Lost) {
            leaving.push(std::mem::replace(packet, Up::Fin));
        }
        matches!(next, Next::Goes)
    }

    /// Records a request, and decides its fate.
    fn ask(&mut self, number: usize, xid: i32, ask: &mut Ask, tag: &mut Tag, bytes: usize) -> Next {
        let Some(connection) = &mut self.connections[number] else { return Next::Lost };
        let Some(client) = connection.client else { return Next::Goes };
        let (kind, path, at) = (ask.kind(), ask.path(), self.raw.now());
        let paths = self.raw.world().paths();
        let is_of_library = matches!(ask, Ask::SetWatches(_));
        let req = self.recorder.write(|journal| {
            let req = journal.next_request();
            let send = What::Send {
                req,
                kind: journal::request(kind),
                path: journal.path(path, paths),
                watch: arms_a_watch(ask),
                cleanup: is_of_library,
            };
            let who = Who::Client(client.0 as u16);
            journal.note(at, who, OpId(0), send);
            if let Some(version) = ask.expected_version() {
                journal.note(at, who, OpId(0), What::Expects { version });
            }
            req
        });
        let req = req.unwrap_or(ReqId(0));
        *tag = Tag { req: req.0, op: 0, cleanup: is_of_library };
        // A request without an answer on success is not awaited.
        if !ask.is_mute() {
            connection.awaited += bytes;
            connection.in_flight.push_back(InFlight { xid, req, kind, bytes, at, fate: None });
        }
        let of = self.clients.get_mut(client);
        of.requests += 1;
        if self.network.is_calm() {
            return Next::Goes;
        }
        let request = Request { client, ask, kind, path: paths.text(path), timeout: of.timeout };
        let Some(strike) = self.network.strikes(&request) else { return Next::Goes };
        match strike {
            Strike::Lost => {
                self.struck(client, Fault::RequestLost, 0);
                Next::Lost
            }
            Strike::Disconnect => {
                self.struck(client, Fault::Disconnect, 0);
                Next::Last
            }
            Strike::Refused(fault, code) => {
                self.struck(client, fault, 0);
                let at = self.network.refused_at(ask, code);
                let refused = std::mem::replace(ask, Ask::Ping);
                *ask = Ask::Refused(Box::new(refused), code, at);
                Next::Goes
            }
            Strike::Reply(_) if ask.is_mute() => Next::Goes,
            Strike::Reply(fate) => {
                if let Some(asked) = self.connections[number].as_mut().and_then(|of| of.in_flight.back_mut())
                {
                    asked.fate = Some(fate);
                }
                Next::Goes
            }
            Strike::Partition(fault, lasts) => {
                self.partition(client, fault, lasts);
                Next::Goes
            }
        }
    }

    /// Sends packets to the server, or holds them back while the client is partitioned.
    pub(super) fn leave(&mut self, number: usize, packets: Vec<Up>) {
        if packets.is_empty() {
            return;
        }
        let Some(connection) = &mut self.connections[number] else { return };
        let until = connection.client.map_or(0, |client| self.clients.get(client).muted);
        if until <= self.raw.now() && connection.early.is_empty() {
            if let Some(conn) = connection.conn {
                self.raw.send(conn, packets);
            }
            return;
        }
        connection.early.extend(packets);
        self.timers.insert((until, Timer::Release(number)));
    }

    /// Sends the held packets to the server.
    fn let_up(&mut self, number: usize) {
        let Some(connection) = &mut self.connections[number] else { return };
        if connection.conn.is_none()
            && let Some(hello) = connection.early.pop_front()
        {
            let conn = self.raw.connect(connection.server, hello);
            self.opened(number, conn);
        }
        let Some(connection) = &mut self.connections[number] else { return };
        let packets: Vec<Up> = connection.early.drain(..).collect();
        let is_gone = connection.is_gone;
        if let Some(conn) = connection.conn.filter(|_| !packets.is_empty()) {
            self.raw.send(conn, packets);
        }
        if is_gone {
            self.forget(number);
        }
    }

    /// Releases the held packets of a connection that no fault holds any more.
    pub(super) fn release(&mut self, number: usize) {
        let Some(connection) = self.connections.get(number).and_then(Option::as_ref) else { return };
        let Some(client) = connection.client else { return };
        let (of, now) = (self.clients.get(client), self.raw.now());
        let (muted, deafened) = (of.muted, of.deafened.max(connection.late_until));
        let greeted = if connection.conn.is_none() { muted.max(of.deafened) } else { muted };
        let (waits_up, waits_down) =
            (!connection.early.is_empty() || connection.is_gone, !connection.late.is_empty());
        for (waits, until) in [(waits_up, greeted), (waits_down, deafened)] {
            if waits && until > now {
                self.timers.insert((until, Timer::Release(number)));
            }
        }
        if waits_down && deafened <= now {
            while let Some(down) =
                self.connections[number].as_mut().and_then(|connection| connection.late.pop_front())
            {
                self.tell(number, down);
            }
            self.look_again(number);
            self.outgoing.push(number);
        }
        if waits_up && greeted <= now {
            self.let_up(number);
        }
    }

    // ── to clients ──

    /// Passes packets from the world to the connections.
    pub(super) fn deliver(&mut self) {
        while let Some(conn) = self.raw.first_arrival() {
            let number = self.by_conn.get(&conn).copied();
            while let Some(down) = self.raw.receive(conn) {
                if let Some(number) = number {
                    self.send_down(number, down);
                }
            }
            if let Some(number) = number {
                self.look_again(number);
                self.outgoing.push(number);
            }
        }
    }

    /// Sends a packet to a client, unless a fault prevents it.
    fn send_down(&mut self, number: usize, down: Down) {
        let Some(connection) = self.connections.get_mut(number).and_then(Option::as_mut) else { return };
        let Some(client) = connection.client else { return self.tell(number, down) };
        let now = self.raw.now();
        match &down {
            Down::Reply { xid, .. } => {
                let asked = connection.in_flight.iter_mut().find(|asked| asked.xid == *xid);
                match asked.and_then(|asked| asked.fate.take()) {
                    Some(Fate::Lost) => {
                        self.struck(client, Fault::ReplyLost, 0);
                        // Earlier packets still reach the client: they are sent before the socket is closed.
                        return self.break_off(number);
                    }
                    Some(Fate::Late(delay)) => {
                        connection.late_until = now.saturating_add(delay);
                        self.struck(client, Fault::ReplyLate, 0);
                    }
                    None => {}
                }
            }
            Down::Notify { path, .. } if !self.network.is_calm() => {
                let timeout = self.clients.get(client).timeout;
                let path = self.raw.world().paths().text(*path);
                match self.network.misses(client, path, timeout) {
                    Some(Missed::Lost) => {
                        self.struck(client, Fault::WatchLost, 0);
                        return self.break_off(number);
                    }
                    Some(Missed::Expiry(lasts)) => self.partition(client, Fault::SessionExpiry, lasts),
                    None => {}
                }
            }
            Down::Notify { .. } | Down::Connected { .. } | Down::Fin => {}
        }
        let Some(connection) = &mut self.connections[number] else { return };
        let until = connection.late_until.max(self.clients.get(client).deafened);
        if until > now || !connection.late.is_empty() {
            connection.late.push_back(down);
            self.timers.insert((until, Timer::Release(number)));
        } else {
            self.tell(number, down);
        }
    }

    /// Records a packet to a client, and queues it. The caller then calls [`look_again`](Front::look_again).
    fn tell(&mut self, number: usize, down: Down) {
        if let Some(client) = self.connections[number].as_ref().and_then(|connection| connection.client) {
            self.write_down(number, client, &down);
        }
        let Some(connection) = &mut self.connections[number] else { return };
        let now = self.raw.now();
        if connection.unsent().is_empty() {
            connection.moved = now;
        }
        let is_ping = matches!(down, Down::Reply { xid: number::PING_XID, .. });
        connection.pings = connection.pings.saturating_sub(usize::from(is_ping));
        let length = connection.queue(&down, self.raw.world().paths(), &mut self.memory);
        let figures = &mut self.figures[usize::from(connection.server)];
        if let Some(length) = length {
            figures.sent += 1;
            figures.made(length);
        }
        match down {
            Down::Connected { session, timeout, .. } if timeout > 0 => {
                connection.session = Some((session, timeout));
                let (took, zxid) =
                    (now - connection.established, self.raw.world().applied(connection.server));
                self.answered(number, letters(Kind::Connect), 0, zxid, took);
            }
            Down::Reply { xid, zxid, .. } if is_ping => {
                self.answered(number, letters(Kind::Ping), xid, zxid, 0)
            }
            _ => {}
        }
    }

    /// Counts an answer for its connection and its server.
    fn answered(&mut self, number: usize, op: &'static str, xid: i32, zxid: i64, took: u64) {
        let now = self.raw.now();
        let Some(connection) = &mut self.connections[number] else { return };
        connection.figures.answered(op, xid, zxid, took, now);
        self.figures[usize::from(connection.server)].answered(op, xid, zxid, took, now);
    }

    fn write_down(&mut self, number: usize, client: ClientId, down: &Down) {
        let Some(connection) = &mut self.connections[number] else { return };
        let (who, at) = (Who::Client(client.0 as u16), self.raw.now());
        let conn = connection.conn.map_or(Conn(0), journal_conn);
        match down {
            Down::Connected { session, timeout, .. } => {
                let server = connection.server;
                let refused = *timeout == 0;
                if refused {
                    self.clients.get_mut(client).is_over = true;
                } else {
                    self.clients.attach(client, *session, *timeout);
                }
                let session = self.clients.get(client).session;
                if session == SessionId(0) {
                    // The server refused another client's session, or an unknown one.
                    return;
                }
                self.recorder.write(|journal| {
                    let session = journal.session(session);
                    let state = match refused {
                        true => {
                            What::State { session, state: SessionState::Expired, conn: Conn(0), server: 0 }
                        }
                        false => What::State { session, state: SessionState::Connected, conn, server },
                    };
                    journal.note(at, who, OpId(0), state);
                });
            }
            Down::Reply { xid, zxid, result } => {
                let Some(at_index) = connection.in_flight.iter().position(|asked| asked.xid == *xid) else {
                    return;
                };
                let asked = connection.in_flight.remove(at_index).expect("it was found");
                connection.awaited -= asked.bytes;
                self.answered(number, letters(asked.kind), *xid, *zxid, at - asked.at);
                let session = self.clients.get(client).session;
                let closes = asked.kind == Kind::CloseSession;
                if closes {
                    self.clients.get_mut(client).is_over = true;
                }
                if asked.req == ReqId(0) {
                    return;
                }
                let code =
                    result.as_ref().err().map_or(Code::Ok, |refusal| journal::code(Some(refusal.code())));
                let paths = self.raw.world().paths();
                self.recorder.write(|journal| {
                    let none = OpId(0);
                    journal.note(
                        at,
                        who,
                        none,
                        What::Reply { req: asked.req, code, zxid: *zxid as u64, conn },
                    );
                    let made = match result {
                        Ok(Answer::Created { path, stat }) => Some((*path, stat.czxid)),
                        Ok(Answer::Path(path)) if asked.kind == Kind::Create => Some((*path, *zxid)),
                        _ => None,
                    };
                    if let Some((path, czxid)) = made {
                        let path = journal.path(path, paths);
                        journal.note(at, who, none, What::Made { path, czxid: czxid as u64 });
                    }
                    if closes {
                        let session = journal.session(session);
                        let state = SessionState::Closed;
                        journal.note(at, who, none, What::State { session, state, conn: Conn(0), server: 0 });
                    }
                });
            }
            Down::Notify { kind, path } => {
                let session = self.clients.get(client).session;
                let paths = self.raw.world().paths();
                self.recorder.write(|journal| {
                    let (session, path) = (journal.session(session), journal.path(*path, paths));
                    let notice = What::Notice { session, kind: notify(*kind), path, conn };
                    journal.note(at, who, OpId(0), notice);
                });
            }
            Down::Fin => self.lose(number),
        }
    }

    // ── ends of connections ──

    /// The client has closed the connection. During a partition the server does not notice.
    pub fn hang_up(&mut self, number: usize) {
        self.lose(number);
        let Some(connection) = &mut self.connections[number] else { return };
        let until = connection.client.map_or(0, |client| self.clients.get(client).muted);
        if until <= self.raw.now() || connection.conn.is_none() {
            return self.forget(number);
        }
        connection.is_gone = true;
        self.timers.insert((until, Timer::Release(number)));
    }

    /// The network breaks a connection. Packets already sent by the client still arrive.
    pub(super) fn break_off(&mut self, number: usize) {
        self.lose(number);
        self.forget(number);
    }

    /// Records that a client has lost a connection, with all requests in flight.
    fn lose(&mut self, number: usize) {
        let Some(connection) = &mut self.connections[number] else { return };
        let Some(client) = connection.client else { return };
        let in_flight = std::mem::take(&mut connection.in_flight);
        connection.awaited = 0;
        let of = self.clients.get_mut(client);
        let is_latest = of.connection == Some(number);
        if is_latest {
            of.connection = None;
        }
        let suspends = is_latest && !of.is_over && of.session != SessionId(0);
        let (session, at, who) = (of.session, self.raw.now(), Who::Client(client.0 as u16));
        if in_flight.is_empty() && !suspends {
            return;
        }
        self.recorder.write(|journal| {
            for asked in in_flight.iter().filter(|asked| asked.req != ReqId(0)) {
                journal.note(at, who, OpId(0), What::Lost { req: asked.req });
            }
            if suspends {
                let (session, state) = (journal.session(session), SessionState::Suspended);
                journal.note(at, who, OpId(0), What::State { session, state, conn: Conn(0), server: 0 });
            }
        });
    }

    /// Ends a connection. The world sees an end of the stream.
    fn forget(&mut self, number: usize) {
        let Some(mut connection) = self.connections[number].take() else { return };
        let mut rest = connection.take_outgoing();
        rest.detach(&mut self.memory);
        self.memory.settle(&mut connection.counted, Held::default());
        self.over.push((number, rest));
        if let Some(conn) = connection.conn {
            self.by_conn.remove(&conn);
            self.raw.cut(conn, false);
        }
    }

    // ── faults ──

    /// Records a fault of a client.
    pub(super) fn struck(&self, client: ClientId, fault: Fault, lasts: u64) {
        let (at, victim) = (self.raw.now(), Victim::Process { client: client.0 as u16 });
        let what = What::Fault { kind: fault_kind(fault), victim, lasts };
        self.recorder.write(|journal| journal.note(at, Who::World, OpId(0), what));
    }

    /// Records the end of a fault of a client's network.
    pub(super) fn mended(&self, client: ClientId, fault: Fault) {
        let (at, victim) = (self.raw.now(), Victim::Process { client: client.0 as u16 });
        let what = What::Mended { kind: fault_kind(fault), victim };
        self.recorder.write(|journal| journal.note(at, Who::World, OpId(0), what));
    }

    /// Partitions a client from its server, in one direction or both.
    pub(super) fn partition(&mut self, client: ClientId, fault: Fault, lasts: u64) {
        let until = self.raw.now().saturating_add(lasts);
        let of = self.clients.get_mut(client);
        if fault != Fault::ClientDeafened {
            of.muted = of.muted.max(until);
        }
        if fault != Fault::ClientMuted {
            of.deafened = of.deafened.max(until);
        }
        self.struck(client, fault, lasts);
        self.timers.insert((until, Timer::Mended(client.0, fault)));
    }
}

/// The number of a connection in a history; zero is kept for none.
fn journal_conn(conn: ConnId) -> Conn {
    Conn(u16::try_from(conn.0 + 1).unwrap_or(0))
}

fn arms_a_watch(ask: &Ask) -> bool {
    match ask {
        Ask::Exists { watch, .. } | Ask::Get { watch, .. } | Ask::Children { watch, .. } => *watch,
        Ask::AddWatch { .. } => true,
        _ => false,
    }
}

/// The state of a server as one word.
pub(super) fn state_of(server: u8, world: &World) -> &'static str {
    if !world.is_running(server) {
        return "down";
    }
    if world.is_stopped(server) {
        return "paused";
    }
    match world.leader_of_quorum() {
        _ if !world.following_quorum().contains(&server) => "looking",
        _ if world.config().servers == 1 => "standalone",
        Some(leader) if leader == server => "leader",
        _ => "follower",
    }
}
