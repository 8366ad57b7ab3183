//! The world: servers, clients' session machines, connections, a clock, and what could happen next.
//!
//! Sans-IO: no async, no thread, no runtime. [`World::next`] says what happens next, and a driver has it performed; in
//! between the users of the clients act. Whatever is not forced is asked of a [`Chooser`], and everything that happens
//! is told to a [`Witness`].
//!
//! | file | what it holds |
//! |---|---|
//! | `users` | what the users of the clients do |
//! | `next` | what can happen next, and doing it |
//! | `links` | the two streams of a connection |
//! | `faults` | what goes wrong, and where |

mod faults;
mod links;
mod next;
mod users;

use crate::choose::{Chooser, Point};
use crate::fault::Fault;
use crate::message::{Answer, Down, Tag, Up};
use crate::paths::{PathId, Paths};
use crate::server::{ConnId, Leader, Scene, Server, outcome_of};
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
    fingerprint: u64,
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
            fingerprint: 0,
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

    /// A rolling hash of every step so far and its time: runs that went the same way have the same one, and others
    /// do not but by a rare accident.
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint
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
        let living = || {
            let alive = |(process, session): &&(u8, ClientSession)| {
                !self.processes[usize::from(*process)].crashed && !session.is_over()
            };
            self.sessions.iter().filter(alive).map(|(_, session)| session)
        };
        let notified = |id: &ConnId| {
            let conn = &self.conns[id.0 as usize];
            conn.client_open && conn.down.iter().any(|(_, _, packet)| matches!(packet, Down::Notify { .. }))
        };
        !self.hostile
            && self.processes.iter().all(|p| p.paused_until.is_none() && p.cut_until.is_none())
            && living().all(ClientSession::is_idle)
            && self.leader.sessions().all(|known| living().any(|session| session.session == known))
            && !self.live.iter().any(notified)
    }

    /// The znodes that exist at the leader, with their owners.
    pub fn znodes(&self) -> impl Iterator<Item = (&str, SessionId)> {
        self.servers[0].tree.iter().map(|(path, node)| (self.paths.text(path), node.owner))
    }

    /// The watches that are armed at servers, with their sessions.
    pub fn watches(&self) -> impl Iterator<Item = (&str, SessionId)> {
        self.servers[0].watches().map(|(_, path, session)| (self.paths.text(path), session))
    }

    /// Whether the leader keeps the session.
    pub fn lives(&self, session: SessionId) -> bool {
        self.leader.knows(session)
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
}
