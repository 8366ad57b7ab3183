//! The world: servers, clients' session machines, connections, a clock, and what could happen next.
//!
//! Sans-IO: no async, no thread, no runtime. [`World::next`] says what happens next, [`World::perform`] does it; in
//! between the users of the clients act through [`World::ask`] and its siblings. Whatever is not forced is asked of a
//! [`Chooser`], and everything that happens is told to a [`Witness`].

use crate::choose::{Chooser, Point};
use crate::fault::{Fault, Place};
use crate::message::{Answer, Ask, Down, Tag, Up};
use crate::paths::{PathId, Paths};
use crate::server::{ConnId, Leader, Scene, Server, kind_of, outcome_of};
use crate::session::{ClientSession, Failure, Out};
use crate::witness::{Happening, Outcome, SessionNews, Witness};
use std::collections::VecDeque;
use zk_recipes::zk::{EventKind, Over, SessionId, State, Status};

/// What a world is made of. All times in microseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// The servers' tick: sessions expire at multiples of it, and last 2 to 20 of them.
    pub tick: u64,
    /// One-way latency on the calm network.
    pub latency: u64,
    /// Until when faults may strike.
    pub hostile_until: u64,
    /// How many faults may strike.
    pub faults: u32,
}

impl Default for Config {
    /// ZooKeeper's default tick of two seconds, 5 ms one way, and no faults.
    fn default() -> Self {
        Config { tick: 2_000_000, latency: 5_000, hostile_until: 0, faults: 0 }
    }
}

/// Names one session of one process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HandleId(pub u16);

/// Something that can happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The next packet of a connection reaches the server.
    Up(ConnId),
    /// The next packet of a connection reaches the client.
    Down(ConnId),
    /// A client's session machine acts by itself: ping, give up, try again.
    Timer(HandleId),
    /// An alarm that a user has set goes off.
    Alarm(usize),
    /// The leader's session tracker acts.
    Expire,
    /// A fault that lasted is over.
    Mend(u8, Fault),
    /// The hostile phase is over.
    Heal,
}

/// What the users of the clients are told.
#[derive(Debug)]
pub(crate) enum Effect {
    Answered { ticket: u32, result: Result<Answer, Failure> },
    Fired { watch: u32, result: Result<(EventKind, PathId), Over> },
    Changed { handle: HandleId },
    Rang { alarm: u32 },
    Cancelled { process: u8 },
    Crashed { process: u8 },
    Paused { process: u8 },
    Resumed { process: u8 },
}

#[derive(Clone, Debug)]
struct Conn {
    handle: HandleId,
    up: VecDeque<(u64, u64, Up)>,
    down: VecDeque<(u64, u64, Down)>,
    /// Whether the client's side still sends and takes.
    client_open: bool,
    /// Whether the server's side still sends and takes.
    server_open: bool,
}

#[derive(Clone, Debug, Default)]
struct Process {
    crashed: bool,
    paused_until: Option<u64>,
    cut_until: Option<u64>,
    op: u32,
    /// A fault that a script has ordered: it strikes at the next place where it fits.
    ordered: Option<Fault>,
}

#[derive(Clone, Debug)]
struct Alarm {
    due: u64,
    process: u8,
    id: u32,
}

/// The world.
#[derive(Clone, Debug)]
pub struct World {
    now: u64,
    config: Config,
    paths: Paths,
    leader: Leader,
    servers: Vec<Server>,
    conns: Vec<Conn>,
    /// Connections on which something may still happen.
    live: Vec<ConnId>,
    sessions: Vec<(u8, ClientSession)>,
    processes: Vec<Process>,
    alarms: Vec<Alarm>,
    faults_left: u32,
    hostile: bool,
    sequence: u64,
    next_req: u32,
    steps: u64,
    out: Vec<Out>,
    outbox: Vec<(ConnId, Down)>,
}

/// Those whom the world consults and tells while it moves.
pub(crate) struct Company<'a> {
    pub chooser: &'a mut dyn Chooser,
    pub witness: &'a mut dyn Witness,
    pub effects: &'a mut Vec<Effect>,
}

impl World {
    /// A world with one server, whose clock stands at zero.
    pub fn new(config: Config) -> Self {
        let mut paths = Paths::default();
        let server = Server::new(0, &mut paths);
        World {
            now: 0,
            leader: Leader::new(config.tick),
            servers: vec![server],
            conns: Vec::new(),
            live: Vec::new(),
            sessions: Vec::new(),
            processes: Vec::new(),
            alarms: Vec::new(),
            faults_left: config.faults,
            hostile: config.faults > 0 && config.hostile_until > 0,
            sequence: 0,
            next_req: 1,
            steps: 0,
            out: Vec::new(),
            outbox: Vec::new(),
            paths,
            config,
        }
    }

    /// Microseconds since the start.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// Every path that was spoken of.
    pub fn paths(&self) -> &Paths {
        &self.paths
    }

    /// How many steps were performed.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// What the world is made of.
    pub fn config(&self) -> &Config {
        &self.config
    }

    pub(crate) fn paths_mut(&mut self) -> &mut Paths {
        &mut self.paths
    }

    /// Whether faults can still strike.
    pub fn is_hostile(&self) -> bool {
        self.hostile
    }

    /// Nothing is on its way, no session lingers whose client is gone, and no client stands still or is cut off: what
    /// is left now stays.
    pub fn is_quiet(&self) -> bool {
        let alive = |(process, session): &(u8, ClientSession)| {
            !self.processes[usize::from(*process)].crashed && !session.is_over()
        };
        let living: Vec<SessionId> =
            self.sessions.iter().filter(|s| alive(s)).map(|(_, session)| session.session).collect();
        !self.hostile
            && self.processes.iter().all(|p| p.paused_until.is_none() && p.cut_until.is_none())
            && self.sessions.iter().filter(|s| alive(s)).all(|(_, session)| session.is_idle())
            && self.leader.sessions().all(|session| living.contains(&session))
    }

    /// The znodes that exist at the leader, with their owners.
    pub fn znodes(&self) -> impl Iterator<Item = (&str, SessionId)> {
        self.servers[0].tree.iter().map(|(path, node)| (self.paths.text(path), node.owner))
    }

    /// The watches that are armed at servers, with their sessions.
    pub fn watches(&self) -> impl Iterator<Item = (&str, SessionId)> {
        self.servers[0].watches().map(|(_, path, session)| (self.paths.text(path), session))
    }

    // ── what the users of the clients do ──

    /// A client process begins. There are at most 255.
    pub(crate) fn begin(&mut self, company: &mut Company<'_>) -> u8 {
        let process = u8::try_from(self.processes.len()).expect("at most 255 client processes");
        self.processes.push(Process::default());
        self.tell(company, Happening::Began { process });
        process
    }

    /// A process opens a session.
    pub(crate) fn open(&mut self, process: u8, timeout: u64) -> HandleId {
        let handle = HandleId(u16::try_from(self.sessions.len()).expect("at most 65,535 sessions in a run"));
        self.sessions.push((process, ClientSession::new(timeout, self.servers.len(), self.now)));
        handle
    }

    /// From here on the process's requests belong to that operation.
    pub(crate) fn set_op(&mut self, process: u8, op: u32) {
        self.processes[usize::from(process)].op = op;
    }

    pub(crate) fn op(&self, process: u8) -> u32 {
        self.processes[usize::from(process)].op
    }

    pub(crate) fn is_crashed(&self, process: u8) -> bool {
        self.processes[usize::from(process)].crashed
    }

    pub(crate) fn session(&self, handle: HandleId) -> &ClientSession {
        &self.sessions[usize::from(handle.0)].1
    }

    pub(crate) fn process_of(&self, handle: HandleId) -> u8 {
        self.sessions[usize::from(handle.0)].0
    }

    /// A request leaves, or waits for a connection. `cleanup`: for that operation's clean-up, not for the present one.
    pub(crate) fn ask(
        &mut self,
        handle: HandleId,
        ask: Ask,
        cleanup: Option<u32>,
        ticket: Option<u32>,
        watch: Option<u32>,
        company: &mut Company<'_>,
    ) {
        let process = self.process_of(handle);
        if self.is_crashed(process) {
            return;
        }
        if ask == Ask::CloseSession && self.unconnected_close(handle, ticket, company) {
            return;
        }
        let tag = self.tag(process, cleanup);
        self.tell_sent(process, &ask, tag, company);
        self.with_session(handle, company, |session, now, out| session.ask(now, ask, tag, ticket, watch, out));
    }

    fn tag(&mut self, process: u8, cleanup: Option<u32>) -> Tag {
        let req = self.next_req;
        self.next_req += 1;
        Tag { req, op: cleanup.unwrap_or(self.op(process)), cleanup: cleanup.is_some() }
    }

    fn tell_sent(&mut self, process: u8, ask: &Ask, tag: Tag, company: &mut Company<'_>) {
        let Tag { req, op, cleanup } = tag;
        let watch = ask.arms().is_some();
        let sent =
            Happening::Sent { process, req, op, kind: kind_of(ask), path: ask.path(), watch, cleanup };
        self.tell(company, sent);
    }

    fn unconnected_close(
        &mut self,
        handle: HandleId,
        ticket: Option<u32>,
        company: &mut Company<'_>,
    ) -> bool {
        let mut closed = false;
        self.with_session(handle, company, |session, _, out| closed = session.close_unconnected(out));
        if closed && let Some(ticket) = ticket {
            company.effects.push(Effect::Answered { ticket, result: Err(Failure::ConnectionLoss) });
        }
        closed
    }

    /// The user no longer waits for a watch.
    pub(crate) fn drop_watch(&mut self, handle: HandleId, watch: u32, company: &mut Company<'_>) {
        let process = self.process_of(handle);
        if self.is_crashed(process) {
            return;
        }
        let op = self.op(process);
        let tag = if self.session(handle).drop_sends(watch) { self.tag(process, Some(op)) } else { Tag::default() };
        self.with_session(handle, company, |session, now, out| session.drop_watch(now, watch, tag, out));
    }

    /// The process wants to be woken at `due`.
    pub(crate) fn set_alarm(&mut self, process: u8, id: u32, due: u64) {
        self.alarms.push(Alarm { due, process, id });
    }

    pub(crate) fn drop_alarm(&mut self, id: u32) {
        self.alarms.retain(|alarm| alarm.id != id);
    }

    // ── what happens next ──

    /// What happens next, and when; `None` if nothing ever will.
    pub fn next(&self) -> Option<(u64, Step)> {
        let mut first: Option<(u64, u64, Step)> = None;
        self.each_enabled(|due, order, step| {
            if first.is_none_or(|(at, before, _)| (due, order) < (at, before)) {
                first = Some((due, order, step));
            }
        });
        first.map(|(due, _, step)| (due.max(self.now), step))
    }

    /// Everything that can happen next, with the time when it would by the clock, and its rank among equals.
    fn each_enabled(&self, mut each: impl FnMut(u64, u64, Step)) {
        for id in &self.live {
            let conn = &self.conns[id.0 as usize];
            let process = &self.processes[usize::from(self.process_of(conn.handle))];
            let cut = process.cut_until.unwrap_or(0);
            if let Some((due, order, _)) = conn.up.front() {
                each((*due).max(cut), *order, Step::Up(*id));
            }
            if let Some((due, order, _)) = conn.down.front()
                && !process.crashed
            {
                let stalled = cut.max(process.paused_until.unwrap_or(0));
                each((*due).max(stalled), *order, Step::Down(*id));
            }
        }
        // Whatever has no sequence number of its own comes after the packets of the same instant.
        let late = 1 << 63;
        for (index, (process, session)) in self.sessions.iter().enumerate() {
            let process = &self.processes[usize::from(*process)];
            if process.crashed {
                continue;
            }
            if let Some(due) = session.next_timer() {
                let due = due.max(process.paused_until.unwrap_or(0));
                each(due, late + index as u64, Step::Timer(HandleId(index as u16)));
            }
        }
        for (index, alarm) in self.alarms.iter().enumerate() {
            let process = &self.processes[usize::from(alarm.process)];
            if !process.crashed {
                let due = alarm.due.max(process.paused_until.unwrap_or(0));
                each(due, late + (1 << 32) + u64::from(alarm.id), Step::Alarm(index));
            }
        }
        if let Some(due) = self.leader.next_expiry() {
            each(due, late + (2 << 32), Step::Expire);
        }
        let mut lasting = false;
        for (process, state) in (0u8..).zip(&self.processes) {
            if let Some(due) = state.paused_until {
                lasting = true;
                each(due, 0, Step::Mend(process, Fault::ClientPause));
            }
            if let Some(due) = state.cut_until {
                lasting = true;
                each(due, 0, Step::Mend(process, Fault::SessionExpiry));
            }
        }
        if self.hostile && !lasting {
            let due = if self.faults_left == 0 { self.now } else { self.config.hostile_until };
            each(due, late + (3 << 32), Step::Heal);
        }
    }

    /// Does it.
    pub(crate) fn perform(&mut self, at: u64, step: Step, company: &mut Company<'_>) {
        assert!(at >= self.now, "time does not go back");
        self.now = at;
        self.steps += 1;
        match step {
            Step::Up(conn) => self.deliver_up(conn, company),
            Step::Down(conn) => self.deliver_down(conn, company),
            Step::Timer(handle) => {
                self.with_session(handle, company, |session, now, out| session.timer(now, out));
            }
            Step::Alarm(index) => {
                if self.strike_arrival(self.alarms[index].process, company) {
                    return;
                }
                let alarm = self.alarms.swap_remove(index);
                company.effects.push(Effect::Rang { alarm: alarm.id });
            }
            Step::Expire => self.with_server(company, |server, leader, scene| server.expire(leader, scene)),
            Step::Mend(process, fault) => self.mend(process, fault, company),
            Step::Heal => {
                self.hostile = false;
                self.tell(company, Happening::Healed);
            }
        }
    }

    fn mend(&mut self, process: u8, fault: Fault, company: &mut Company<'_>) {
        let state = &mut self.processes[usize::from(process)];
        match fault {
            Fault::ClientPause => {
                state.paused_until = None;
                company.effects.push(Effect::Resumed { process });
            }
            _ => state.cut_until = None,
        }
        self.tell(company, Happening::Mended { fault, process });
    }

    fn deliver_up(&mut self, id: ConnId, company: &mut Company<'_>) {
        let conn = &mut self.conns[id.0 as usize];
        let (_, _, packet) = conn.up.pop_front().expect("the step was enabled");
        if !conn.server_open {
            self.bury(id);
            return;
        }
        if packet == Up::Fin {
            conn.server_open = false;
        }
        self.with_server(company, |server, leader, scene| server.receive(leader, id, packet, scene));
        self.bury(id);
    }

    fn deliver_down(&mut self, id: ConnId, company: &mut Company<'_>) {
        let conn = &mut self.conns[id.0 as usize];
        let handle = conn.handle;
        let process = self.sessions[usize::from(handle.0)].0;
        let noteworthy = match conn.down.front().expect("the step was enabled").2 {
            Down::Reply { xid, .. } => xid != -2,
            Down::Notify { .. } => true,
            Down::Connected { .. } | Down::Fin => false,
        };
        if noteworthy && conn.client_open && self.strike_arrival(process, company) {
            // Whatever struck, the packet is still on its way, and comes later or never.
            return;
        }
        let conn = &mut self.conns[id.0 as usize];
        let (_, _, packet) = conn.down.pop_front().expect("the step was enabled");
        if conn.client_open {
            self.with_session(handle, company, |session, now, out| session.receive(now, id, packet, out));
        }
        self.bury(id);
    }

    /// Forgets a connection on which nothing can happen any more.
    fn bury(&mut self, id: ConnId) {
        let conn = &self.conns[id.0 as usize];
        if conn.up.is_empty() && conn.down.is_empty() && !conn.client_open && !conn.server_open {
            self.live.retain(|live| *live != id);
        }
    }

    // ── inner workings ──

    fn tell(&mut self, company: &mut Company<'_>, happening: Happening) {
        company.witness.saw(self.now, &happening, &self.paths);
    }

    fn with_server(
        &mut self,
        company: &mut Company<'_>,
        act: impl FnOnce(&mut Server, &mut Leader, &mut Scene<'_>),
    ) {
        let mut outbox = std::mem::take(&mut self.outbox);
        let mut scene = Scene {
            now: self.now,
            paths: &mut self.paths,
            witness: &mut *company.witness,
            outbox: &mut outbox,
        };
        act(&mut self.servers[0], &mut self.leader, &mut scene);
        for (conn, packet) in outbox.drain(..) {
            self.send_down(conn, packet, company);
        }
        self.outbox = outbox;
    }

    fn with_session(
        &mut self,
        handle: HandleId,
        company: &mut Company<'_>,
        act: impl FnOnce(&mut ClientSession, u64, &mut Vec<Out>),
    ) {
        let mut out = std::mem::take(&mut self.out);
        act(&mut self.sessions[usize::from(handle.0)].1, self.now, &mut out);
        let mut next = 0;
        // What is done about one thing may ask for another.
        while next < out.len() {
            let what = std::mem::replace(&mut out[next], Out::Retry);
            next += 1;
            self.carry_out(handle, what, &mut out, company);
        }
        out.clear();
        self.out = out;
    }

    fn carry_out(&mut self, handle: HandleId, what: Out, out: &mut Vec<Out>, company: &mut Company<'_>) {
        let process = self.process_of(handle);
        match what {
            Out::Send(conn, packet) => self.send_up(conn, packet, company),
            Out::Answered(ticket, result, tag, zxid) => {
                self.tell_answer(process, &result, tag, zxid, company);
                company.effects.push(Effect::Answered { ticket, result });
            }
            Out::Fired(watch, result) => company.effects.push(Effect::Fired { watch, result }),
            Out::Noticed(kind, path) => {
                let session = self.session(handle).session;
                self.tell(company, Happening::Noticed { process, session, kind, path });
            }
            Out::Changed(status) => self.tell_change(handle, status, company),
            Out::Close(conn) => self.close_from_client(conn, company),
            Out::Attempt => {
                let conn = ConnId(u32::try_from(self.conns.len()).expect("fewer than 2^32 connections"));
                self.conns.push(Conn {
                    handle,
                    up: VecDeque::new(),
                    down: VecDeque::new(),
                    client_open: true,
                    server_open: true,
                });
                self.live.push(conn);
                let now = self.now;
                self.sessions[usize::from(handle.0)].1.attempt(now, conn, out);
            }
            Out::Retry => {
                // The Java client sleeps up to a second before it tries again.
                let wait = (500 + 63 * u64::from(company.chooser.choose(Point::Duration, 16))) % 1000;
                let at = self.now + wait * 1000;
                self.sessions[usize::from(handle.0)].1.retry_at(at);
            }
        }
    }

    fn tell_answer(
        &mut self,
        process: u8,
        result: &Result<Answer, Failure>,
        tag: Tag,
        zxid: Option<i64>,
        company: &mut Company<'_>,
    ) {
        let Tag { req, op, .. } = tag;
        let outcome = match result {
            Ok(_) => Outcome::Ok,
            Err(Failure::Refused(refusal)) => outcome_of(*refusal),
            Err(Failure::ConnectionLoss) => {
                self.tell(company, Happening::Lost { process, req, op });
                return;
            }
            Err(Failure::Over(_)) => Outcome::SessionExpired,
        };
        let made = match result {
            Ok(Answer::Created { path, stat }) => Some((*path, stat.czxid)),
            _ => None,
        };
        let zxid = zxid.unwrap_or(0);
        self.tell(company, Happening::Replied { process, req, op, outcome, zxid, made });
    }

    fn tell_change(&mut self, handle: HandleId, status: Status, company: &mut Company<'_>) {
        let process = self.process_of(handle);
        let session = self.session(handle).session;
        let news = match status.state {
            State::Connected => SessionNews::Connected,
            State::Suspended => SessionNews::Suspended,
            State::Over(Over::Closed) => SessionNews::Closed,
            State::Over(_) => SessionNews::Expired,
        };
        self.tell(company, Happening::News { process, session, news });
        company.effects.push(Effect::Changed { handle });
    }

    // ── links ──

    fn latency(&self, company: &mut Company<'_>, noteworthy: bool) -> u64 {
        if !noteworthy {
            return self.config.latency;
        }
        match u64::from(company.chooser.choose(Point::Latency, 256)) {
            0 => self.config.latency,
            // From half a millisecond to some eighty, most of them short.
            drawn => 500 + drawn * drawn * 12 / 10,
        }
    }

    fn send_up(&mut self, id: ConnId, packet: Up, company: &mut Company<'_>) {
        let noteworthy = match &packet {
            Up::Request { ask, .. } => *ask != Ask::Ping,
            Up::Connect { .. } => true,
            Up::Fin => false,
        };
        let latency = self.latency(company, noteworthy);
        let handle = self.conns[id.0 as usize].handle;
        let process = self.process_of(handle);
        let struck = match &packet {
            Up::Request { ask, .. } if *ask != Ask::Ping => self.strike(Place::Request, process, company),
            _ => None,
        };
        let conn = &mut self.conns[id.0 as usize];
        if !conn.client_open {
            return;
        }
        match struck {
            Some(Fault::RequestLost) => {
                // This request and all behind it never arrive; the server learns of the break when it would have come.
                self.push_up(id, latency, Up::Fin);
                self.push_down(id, latency, Down::Fin);
            }
            Some(_) => {
                self.push_up(id, latency, packet);
                self.push_up(id, latency, Up::Fin);
                self.push_down(id, latency, Down::Fin);
            }
            None => self.push_up(id, latency, packet),
        }
    }

    fn push_up(&mut self, id: ConnId, latency: u64, packet: Up) {
        self.sequence += 1;
        let conn = &mut self.conns[id.0 as usize];
        // Behind the end of a stream there is nothing.
        if matches!(conn.up.back(), Some((_, _, Up::Fin))) {
            return;
        }
        let due = (self.now + latency).max(conn.up.back().map_or(0, |(due, _, _)| *due));
        conn.up.push_back((due, self.sequence, packet));
    }

    fn push_down(&mut self, id: ConnId, latency: u64, packet: Down) {
        self.sequence += 1;
        let conn = &mut self.conns[id.0 as usize];
        if matches!(conn.down.back(), Some((_, _, Down::Fin))) {
            return;
        }
        let due = (self.now + latency).max(conn.down.back().map_or(0, |(due, _, _)| *due));
        conn.down.push_back((due, self.sequence, packet));
    }

    fn send_down(&mut self, id: ConnId, packet: Down, company: &mut Company<'_>) {
        let (process, reply) = match &packet {
            Down::Reply { xid, .. } if *xid != -2 => {
                (self.process_of(self.conns[id.0 as usize].handle), true)
            }
            _ => (0, false),
        };
        let noteworthy = reply || matches!(packet, Down::Notify { .. });
        let mut latency = self.latency(company, noteworthy);
        let struck = if reply && self.conns[id.0 as usize].client_open {
            self.strike(Place::Reply, process, company)
        } else {
            None
        };
        match struck {
            Some(Fault::ReplyLost) => {
                self.push_down(id, latency, Down::Fin);
                // What the client has sent already is taken in all the same; its answers go nowhere.
                self.push_up(id, latency, Up::Fin);
            }
            Some(Fault::ReplyLate) => {
                latency += 100_000 * (1 + u64::from(company.chooser.choose(Point::Duration, 32)));
                self.push_down(id, latency, packet);
            }
            _ => {
                let fin = packet == Down::Fin;
                self.push_down(id, latency, packet);
                if fin {
                    self.conns[id.0 as usize].server_open = false;
                }
            }
        }
    }

    /// The client lets go of a connection: the server sees its end behind what was sent before.
    fn close_from_client(&mut self, id: ConnId, company: &mut Company<'_>) {
        if !self.conns[id.0 as usize].client_open {
            return;
        }
        let latency = self.latency(company, false);
        self.push_up(id, latency, Up::Fin);
        let conn = &mut self.conns[id.0 as usize];
        conn.client_open = false;
        conn.down.clear();
        self.bury(id);
    }

    // ── faults ──

    fn strike(&mut self, place: Place, process: u8, company: &mut Company<'_>) -> Option<Fault> {
        let fault = self.ordered(place, process).or_else(|| self.drawn(place, company))?;
        if !matches!(fault, Fault::ClientPause | Fault::SessionExpiry) {
            self.tell(company, Happening::Struck { fault, process, lasts: 0 });
        }
        Some(fault)
    }

    fn ordered(&mut self, place: Place, process: u8) -> Option<Fault> {
        self.processes[usize::from(process)].ordered.take_if(|fault| place.faults().contains(fault))
    }

    fn drawn(&mut self, place: Place, company: &mut Company<'_>) -> Option<Fault> {
        if !self.hostile || self.faults_left == 0 {
            return None;
        }
        let faults = place.faults();
        let chosen = company.chooser.choose(Point::Fault(place), faults.len() as u32 + 1);
        let fault = *faults.get((chosen as usize).checked_sub(1)?)?;
        self.faults_left -= 1;
        Some(fault)
    }

    /// Orders a fault: it strikes the process at the next place where it fits.
    pub(crate) fn order(&mut self, process: u8, fault: Fault) {
        self.processes[usize::from(process)].ordered = Some(fault);
    }

    /// A fault that strikes a client as something is about to reach it. Says whether that has to wait.
    fn strike_arrival(&mut self, process: u8, company: &mut Company<'_>) -> bool {
        let Some(fault) = self.strike(Place::Arrival, process, company) else { return false };
        let timeout = self
            .sessions
            .iter()
            .filter(|(of, session)| *of == process && !session.is_over())
            .map(|(_, session)| session.timeout())
            .max()
            .unwrap_or(self.config.tick * 2);
        match fault {
            Fault::ClientPause => {
                // A quarter of the session's timeout to twice as long.
                let lasts = timeout * (1 + u64::from(company.chooser.choose(Point::Duration, 8))) / 4;
                self.processes[usize::from(process)].paused_until = Some(self.now + lasts);
                self.tell(company, Happening::Struck { fault, process, lasts });
                company.effects.push(Effect::Paused { process });
                true
            }
            Fault::SessionExpiry => {
                let more = timeout * u64::from(company.chooser.choose(Point::Duration, 8)) / 8;
                let lasts = timeout + 2 * self.config.tick + more;
                self.processes[usize::from(process)].cut_until = Some(self.now + lasts);
                self.tell(company, Happening::Struck { fault, process, lasts });
                true
            }
            Fault::ClientCrash => {
                self.crash(process, company);
                true
            }
            Fault::Cancel => {
                company.effects.push(Effect::Cancelled { process });
                false
            }
            _ => false,
        }
    }

    fn crash(&mut self, process: u8, company: &mut Company<'_>) {
        self.processes[usize::from(process)].crashed = true;
        self.alarms.retain(|alarm| alarm.process != process);
        self.tell(company, Happening::Crashed { process });
        // The kernel closes the dead process's sockets; what was written before still arrives.
        let ids: Vec<ConnId> = self
            .live
            .iter()
            .copied()
            .filter(|id| self.process_of(self.conns[id.0 as usize].handle) == process)
            .collect();
        for id in ids {
            self.close_from_client(id, company);
        }
        company.effects.push(Effect::Crashed { process });
    }

    /// Lets a fault strike a process now, as a script asks for it.
    pub(crate) fn inflict(&mut self, process: u8, fault: Fault, lasts: u64, company: &mut Company<'_>) {
        let state = &mut self.processes[usize::from(process)];
        match fault {
            Fault::ClientPause => {
                state.paused_until = Some(self.now + lasts);
                company.effects.push(Effect::Paused { process });
            }
            Fault::SessionExpiry => state.cut_until = Some(self.now + lasts),
            Fault::Cancel => company.effects.push(Effect::Cancelled { process }),
            _ => {}
        }
        self.tell(company, Happening::Struck { fault, process, lasts });
        if fault == Fault::ClientCrash {
            self.crash(process, company);
        }
    }

    /// Ends the hostile phase before its time: no fault strikes any more, and what lasts runs out.
    pub(crate) fn heal(&mut self) {
        self.config.hostile_until = self.now;
        self.faults_left = 0;
    }

    /// Whether the leader keeps the session.
    pub fn lives(&self, session: SessionId) -> bool {
        self.leader.knows(session)
    }
}
