//! The world: servers, session machines of clients, connections, a clock, and the agenda of events.
//!
//! The core is sans-IO: no async code, no thread, no runtime. [`World::next_step`] returns the next event and a
//! driver performs it; in between client code acts. A [`Chooser`] makes every choice that is not forced, and an
//! [`Observer`] sees every event.
//!
//! | file | content |
//! |---|---|
//! | `users` | the interface of client code |
//! | `agenda`, `next` | the pending events, and performing the next one |
//! | `connections`, `conn_table` | the two streams of a client connection; all connections |
//! | `server_links` | the streams between servers |
//! | `elections` | leader election |
//! | `clock` | the clocks of clients |
//! | `faults`, `injection_points` | the effects of faults; the points at which they are injected |
//! | `forgetting` | forgetting of unused paths |
//! | `inspect` | read access from outside |
//! | `interleaving` | interleaving mode, for exhaustive exploration |
//! | `observations`, `state_digest` | what client code has observed; the fingerprint of a state |

mod agenda;
mod clock;
mod conn_table;
mod connections;
mod elections;
mod faults;
mod forgetting;
mod injection_points;
mod inspect;
mod interleaving;
mod next;
mod observations;
mod server_links;
mod state_digest;
mod stream;
mod users;

pub use faults::Hold;

use crate::choose::{Chooser, Point};
use crate::config::Config;
use crate::ensemble::{Counters, Env, Member, Packet};
use crate::fault::{Fault, Victim};
use crate::injected_bug::InjectedBug;
use crate::message::{Answer, ConnId, Down, Refusal, Tag};
use crate::observer::{Observer, SessionNews, SimEvent};
use crate::paths::{PathId, Paths};
use crate::session::{Answered, ClientSession, Failure, Out, WatchItem};
use agenda::{Agenda, Entry};
use clock::Clock;
use conn_table::ConnTable;
use elections::Vote;
use faults::{Blocked, Lasting};
use observations::{Observation, Observations};
use server_links::ServerLink;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use zk_recipes::zk::{Over, State, Status};

/// The number of a session of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HandleId(pub u16);

/// An event that can be next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// The next packet of a connection reaches the server.
    Up(ConnId),
    /// The next packet of a connection reaches the client.
    Down(ConnId),
    /// The next packet that the first server sent to the second reaches it.
    Packet(u8, u8),
    /// A timer of a session machine fires: ping, connection timeout, reconnect.
    Timer(HandleId),
    /// An alarm that client code has set goes off.
    Alarm(u32),
    /// A timer of a server fires: session expiry, ping of followers, loss of the leader, disk write.
    Server(u8),
    /// A server without a leader evaluates the votes.
    Election(u8),
    /// A lasting fault ends.
    Mend(u32),
    /// The phase of fault injection ends.
    Heal,
}

/// A result that the driver delivers to client code.
#[derive(Debug)]
pub(crate) enum Effect {
    Answered { ticket: u32, result: Result<Answer, Failure> },
    Fired { watch: u32, told: WatchItem },
    Changed { handle: HandleId },
    Rang { alarm: u32 },
    Cancelled { process: u8 },
    Crashed { process: u8 },
    Paused { process: u8 },
    Resumed { process: u8 },
}

#[derive(Clone, Debug, Default)]
struct Process {
    crashed: bool,
    paused: Option<u64>,
    /// The time at which the last pause ended.
    resumed: Option<u64>,
    /// The ends of the one-way partitions: packets from the process, and packets to it.
    muted: Blocked,
    deafened: Blocked,
    clock: Clock,
    op: u32,
    /// A fault ordered by a script, for the next injection point at which it is possible.
    ordered: Option<Fault>,
    /// The number of alarms set so far.
    alarms: u32,
    /// Everything that its code has observed. Kept in interleaving mode only.
    observations: Observations,
}

#[derive(Clone, Debug)]
struct Alarm {
    due: u64,
    process: u8,
    /// The number of the alarm within its process.
    number: u32,
}

/// The world.
#[derive(Clone, Debug)]
pub struct World {
    now: u64,
    config: Config,
    paths: Paths,
    members: Vec<Member>,
    /// The number of pauses per server, and the events that wait for its resumption.
    stopped: Vec<u8>,
    parked: Vec<VecDeque<Entry>>,
    votes: Vec<Vote>,
    /// By sender and receiver.
    server_links: Vec<ServerLink>,
    counters: Counters,
    conns: ConnTable,
    /// The connections that are driven by hand and have packets to take.
    arrivals: BTreeSet<ConnId>,
    sessions: Vec<(u8, ClientSession)>,
    /// The due time of the listed timer of each session.
    listed: Vec<Option<u64>>,
    processes: Vec<Process>,
    alarms: BTreeMap<u32, Alarm>,
    agenda: Agenda,
    lasting: BTreeMap<u32, Lasting>,
    next_lasting: u32,
    faults_left: u32,
    hostile: bool,
    sequence: u64,
    next_req: u32,
    steps: u64,
    fingerprint: u64,
    /// Whether the last client has finished, so that the rest happens in a fixed order.
    ending: bool,
    out: Vec<Out>,
    outbox: Vec<(ConnId, Down)>,
    post: Vec<(u8, Packet)>,
    /// The events that can be next in interleaving mode, while they are gathered.
    open: Vec<Entry>,
}

/// The context of a step: the chooser, the observer, and the results for client code.
pub(crate) struct Context<'a> {
    pub chooser: &'a mut dyn Chooser,
    pub observer: &'a mut dyn Observer,
    pub effects: &'a mut Vec<Effect>,
}

impl Context<'_> {
    /// Lets the chooser make a choice about a victim.
    fn choose(&mut self, victim: Victim, point: Point, n: u32) -> u32 {
        self.chooser.about(victim);
        self.chooser.choose(point, n)
    }
}

impl World {
    /// Creates a world at time zero whose servers have elected the last of them as leader.
    pub fn new(config: Config) -> Self {
        let paths = Paths::default();
        let count = usize::from(config.servers);
        let mut world = World {
            now: 0,
            members: (0..config.servers).map(Member::new).collect(),
            stopped: vec![0; count],
            parked: vec![VecDeque::new(); count],
            votes: vec![Vote::default(); count],
            server_links: (0..count * count).map(|_| ServerLink::new(config.link_latency)).collect(),
            counters: Counters::default(),
            conns: ConnTable::default(),
            arrivals: BTreeSet::new(),
            sessions: Vec::new(),
            listed: Vec::new(),
            processes: Vec::new(),
            alarms: BTreeMap::new(),
            agenda: Agenda::default(),
            lasting: BTreeMap::new(),
            next_lasting: 0,
            faults_left: config.faults,
            hostile: config.faults > 0 && config.hostile_until > 0,
            sequence: 0,
            next_req: 1,
            steps: 0,
            fingerprint: 0,
            ending: false,
            open: Vec::new(),
            out: Vec::new(),
            outbox: Vec::new(),
            post: Vec::new(),
            paths,
            config,
        };
        world.begin_with_a_leader();
        world
    }

    // ── inner workings ──

    fn emit(&mut self, context: &mut Context<'_>, event: SimEvent<'_>) {
        context.observer.on_event(self.now, &event, &self.paths);
    }

    /// Lets a server act, and sends its packets.
    fn with_member<R>(
        &mut self,
        id: u8,
        context: &mut Context<'_>,
        act: impl FnOnce(&mut Member, &mut Env<'_>) -> R,
    ) -> R {
        let (mut outbox, mut post) = (std::mem::take(&mut self.outbox), std::mem::take(&mut self.post));
        let member = &mut self.members[usize::from(id)];
        let (looked, is_long) = (member.is_looking(), member.log.is_long());
        context.chooser.about(Victim::Server(id));
        let mut env = Env {
            now: self.now,
            config: &self.config,
            paths: &mut self.paths,
            chooser: &mut *context.chooser,
            observer: &mut *context.observer,
            counters: &mut self.counters,
            outbox: &mut outbox,
            post: &mut post,
        };
        let result = act(member, &mut env);
        member.read_on(&mut env);
        if self.config.has(InjectedBug::LateNotices) {
            outbox.sort_by_key(|(_, packet)| matches!(packet, Down::Notify { .. }));
        }
        for (conn, packet) in outbox.drain(..) {
            self.send_down(conn, packet, context);
        }
        for (to, packet) in post.drain(..) {
            self.post(id, to, packet);
        }
        // Frees the memory of a burst of notifications.
        outbox.shrink_to(LISTED);
        (self.outbox, self.post) = (outbox, post);
        if !looked && self.members[usize::from(id)].is_looking() {
            self.look_for_a_leader(id, context);
        }
        if is_long {
            self.prune_logs();
        }
        self.list_member(id);
        result
    }

    /// Drops log entries that every server has applied.
    fn prune_logs(&mut self) {
        let floor = self.members.iter().map(|member| member.replica.applied.min(member.log.last())).min();
        for member in &mut self.members {
            member.log.prune(floor.unwrap_or(0));
        }
    }

    fn with_session(
        &mut self,
        handle: HandleId,
        context: &mut Context<'_>,
        act: impl FnOnce(&mut ClientSession, u64, &Paths, &mut Vec<Out>),
    ) {
        let mut out = std::mem::take(&mut self.out);
        let process = self.process_of(handle);
        let local = self.local_time(process);
        let session = &mut self.sessions[usize::from(handle.0)].1;
        let heard = session.safe_from();
        act(session, local, &self.paths, &mut out);
        // A reply to client code has its own event.
        if session.safe_from() != heard && !out.iter().any(|out| matches!(out, Out::Answered(_))) {
            let (session, ago) = (session.session(), local - session.safe_from());
            // If the clock has slowed down since then, the conversion yields more time than has passed.
            let ago = self.processes[usize::from(process)].clock.world_span(ago);
            let sent = self.now.saturating_sub(ago);
            self.emit(context, SimEvent::Heard { process, session, sent });
        }
        let mut next = 0;
        // Carrying out one output can append further ones.
        while next < out.len() {
            let what = std::mem::replace(&mut out[next], Out::Retry { pause: 0, lost: false });
            next += 1;
            self.carry_out(handle, what, &mut out, context);
        }
        out.clear();
        self.out = out;
        self.list_session(handle);
    }

    fn carry_out(&mut self, handle: HandleId, what: Out, out: &mut Vec<Out>, context: &mut Context<'_>) {
        let process = self.process_of(handle);
        match what {
            Out::Send(conn, packet) => {
                let mut packet = packet.into();
                if self.config.is_interleaving() {
                    self.by_text(&mut packet);
                }
                self.send_up(conn, packet, context);
            }
            Out::Answered(answered) => {
                self.record_answer(handle, &answered);
                self.emit_answer(process, handle, &answered, context);
                let Answered { ticket, result, .. } = answered;
                context.effects.push(Effect::Answered { ticket, result });
            }
            Out::Fired(watch, told) => {
                self.record_notification(handle, told);
                context.effects.push(Effect::Fired { watch, told });
            }
            Out::Noticed(conn, kind, path) => {
                let session = self.session(handle).session();
                self.emit(context, SimEvent::Noticed { process, session, conn: conn.0, kind, path });
                // The session machine does not know the parent of a path.
                let paths = &self.paths;
                let parent = |path: &PathId| (*path != PathId::ROOT).then(|| paths.parent_of_znode(*path));
                self.sessions[usize::from(handle.0)].1.dispatch(kind, path, parent, out);
            }
            Out::Forgot(table, path) => {
                let session = self.session(handle).session();
                self.emit(context, SimEvent::Forgot { process, session, table, path });
            }
            Out::Changed(status) => self.emit_change(handle, status, context),
            Out::Close(conn) => self.close_from_client(conn, context),
            Out::Attempt { server } => {
                let conn = self.open_conn(Some(handle), server);
                let local = self.local_time(process);
                self.sessions[usize::from(handle.0)].1.attempt(local, conn, out);
            }
            // After a connection loss the client reconnects at once, so the order of reconnects is a choice.
            Out::Retry { lost: true, .. } if self.config.is_interleaving() => {
                let at = self.local_time(process);
                self.sessions[usize::from(handle.0)].1.retry_at(at);
            }
            Out::Retry { pause, .. } if self.config.is_interleaving() => {
                let at = self.local_time(process) + 1_000_000 + pause;
                self.sessions[usize::from(handle.0)].1.retry_at(at);
            }
            Out::Retry { pause, .. } => {
                // The Java client sleeps up to a second before it reconnects, and a second more after it has tried
                // every server (`ClientCnxn`, `StaticHostProvider`).
                let drawn = context.choose(Victim::Process(process), Point::Duration, 16);
                let wait = (500 + 63 * u64::from(drawn)) % 1000;
                let at = self.local_time(process) + wait * 1000 + pause;
                self.sessions[usize::from(handle.0)].1.retry_at(at);
            }
        }
    }

    fn emit_answer(&mut self, process: u8, handle: HandleId, answered: &Answered, context: &mut Context<'_>) {
        let Answered { result, tag, zxid, conn, .. } = answered;
        let Tag { req, op, .. } = *tag;
        let outcome = match result {
            Ok(_) => None,
            Err(Failure::Refused(Refusal::All(code) | Refusal::Multi { code, .. })) => Some(*code),
            Err(Failure::ConnectionLoss) => {
                self.emit(context, SimEvent::Lost { process, req, op });
                return;
            }
            Err(Failure::Over(_)) => Some(crate::message::Code::SessionExpired),
        };
        let made = match result {
            Ok(Answer::Created { path, stat }) => Some((*path, stat.czxid)),
            _ => None,
        };
        let session = self.session(handle).session();
        let (conn, zxid) = (conn.map(|conn| conn.0), zxid.unwrap_or(0));
        self.emit(context, SimEvent::Replied { process, session, conn, req, op, outcome, zxid, made });
    }

    fn emit_change(&mut self, handle: HandleId, status: Status, context: &mut Context<'_>) {
        let process = self.process_of(handle);
        let session = self.session(handle).session();
        let news = match status.state {
            State::Connected => SessionNews::Connected,
            State::Suspended => SessionNews::Suspended,
            State::Over(Over::Closed) => SessionNews::Closed,
            State::Over(_) => SessionNews::Expired,
        };
        let conn = self.session(handle).conn();
        let server = conn.map_or(0, |conn| self.conn(conn).server);
        let conn = conn.map_or(0, |conn| conn.0);
        self.record(process, Observation::Changed);
        self.emit(context, SimEvent::News { process, session, news, conn, server });
        context.effects.push(Effect::Changed { handle });
    }
}

/// The capacity that an empty list of packets keeps.
const LISTED: usize = 1024;
