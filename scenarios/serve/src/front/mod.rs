//! The layer between clients and the world, without sockets and without a clock: bytes and times go in, bytes come out.
//!
//! | module | content |
//! |---|---|
//! | `turns` | the order in which connections are served, and their limits |
//! | `packets` | packets from and to clients, and the network faults that affect them |
//! | `commands` | the verbs of the control API that change something |
//! | `questions` | the verbs that only query |
//! | `beliefs` | reports of programs about themselves |

mod beliefs;
mod commands;
mod packets;
mod questions;
mod turns;

use crate::clients::{ClientId, Clients};
use crate::command::{Command, Refused};
use crate::connection::Connection;
use crate::control::CommandResult;
use crate::figures::Figures;
use crate::memory::Memory;
use crate::network::Network;
use crate::outgoing::Outgoing;
use crate::recorder::Recorder;
use beliefs::Beliefs;
use commands::Awaited;
use sim_zk::fault::Fault;
use sim_zk::message::ConnId;
use sim_zk::paths::UsedPaths;
use sim_zk::raw::Raw;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::SocketAddr;
use std::sync::mpsc;
use std::time::Duration;
use turns::Turns;

/// Something due at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Timer {
    /// Packets that a network fault holds back on a connection may be released.
    Release(usize),
    /// A fault of a client's network ends.
    Mended(usize, Fault),
    /// A connection may have been silent for too long.
    Silent(usize),
}

/// The parts of a front.
pub(crate) struct Parts {
    pub raw: Raw,
    pub network: Network,
    pub recorder: Recorder,
    /// Commands and their times, in microseconds, in order.
    pub plan: VecDeque<(u64, Command)>,
    /// The maximal number of connections.
    pub most_connections: usize,
    /// The address of each member.
    pub addresses: Vec<SocketAddr>,
}

/// A callback for a refused command of the plan, with its time.
pub(crate) type RefusedPlan = Box<dyn FnMut(Duration, &Refused) + Send>;

/// The front of a world: connections by number, and the commands of the control API.
///
/// The owner of the sockets calls [`receive`](Self::receive) and [`advance`](Self::advance). After each of them it
/// sends the bytes of the connections that [`take_outgoing`](Self::take_outgoing) and [`take_over`](Self::take_over)
/// return.
pub(crate) struct Front {
    raw: Raw,
    addresses: Vec<SocketAddr>,
    connections: Vec<Option<Connection>>,
    free: Vec<usize>,
    most_connections: usize,
    /// The index of each open connection, by its number in the world.
    by_conn: BTreeMap<ConnId, usize>,
    /// Connections that may have something to send.
    outgoing: Vec<usize>,
    /// Ended connections, with the bytes that are still to be sent.
    over: Vec<(usize, Outgoing)>,
    turns: Turns,
    memory: Memory,
    /// The statistics of each member.
    figures: Vec<Figures>,
    /// The last check for idle clients while others wait for memory, in microseconds.
    relieved: u64,
    clients: Clients,
    network: Network,
    recorder: Recorder,
    beliefs: Beliefs,
    timers: BTreeSet<(u64, Timer)>,
    /// Commands that are carried out and whose effect is pending.
    awaited: Vec<Awaited>,
    plan: VecDeque<(u64, Command)>,
    /// Whether a command has asked for shutdown.
    pub is_shut_down: bool,
    /// Called with each refused command of the plan, and its time.
    pub refused_plan: RefusedPlan,
}

impl Front {
    /// A front of a world without connections.
    pub fn new(parts: Parts) -> Front {
        let servers = parts.raw.world().config().servers;
        Front {
            figures: vec![Figures::default(); usize::from(servers)],
            raw: parts.raw,
            addresses: parts.addresses,
            connections: Vec::new(),
            free: Vec::new(),
            most_connections: parts.most_connections,
            by_conn: BTreeMap::new(),
            outgoing: Vec::new(),
            over: Vec::new(),
            turns: Turns::default(),
            memory: Memory::default(),
            relieved: 0,
            clients: Clients::default(),
            network: parts.network,
            recorder: parts.recorder,
            beliefs: Beliefs::default(),
            timers: BTreeSet::new(),
            awaited: Vec::new(),
            plan: parts.plan,
            is_shut_down: false,
            refused_plan: Box::new(|_, _| {}),
        }
    }

    /// Whether a member accepts connections: the port of a crashed server refuses them.
    pub fn listens(&self, server: u8) -> bool {
        self.raw.world().is_running(server)
    }

    /// Accepts a connection to a member, and returns its number; `None` if there are too many.
    pub fn accept(&mut self, server: u8, peer: Option<SocketAddr>) -> Option<usize> {
        if self.connections.len() - self.free.len() >= self.most_connections {
            return None;
        }
        let mut connection = Connection::new(server, peer);
        connection.established = self.raw.now();
        connection.silent_until = turns::silence_from(self.raw.now());
        let until = connection.silent_until;
        let number = self.free.pop().unwrap_or(self.connections.len());
        match self.connections.get_mut(number) {
            Some(free) => *free = Some(connection),
            None => self.connections.push(Some(connection)),
        }
        self.timers.insert((until, Timer::Silent(number)));
        Some(number)
    }

    /// An open connection.
    pub fn connection(&mut self, number: usize) -> Option<&mut Connection> {
        self.connections.get_mut(number)?.as_mut().filter(|connection| !connection.is_gone)
    }

    /// Takes the numbers of connections that may have something to send.
    pub fn take_outgoing(&mut self) -> Vec<usize> {
        std::mem::take(&mut self.outgoing)
    }

    /// Takes the ended connections, with the bytes that are still to be sent. Their numbers are reused afterwards.
    pub fn take_over(&mut self) -> Vec<(usize, Outgoing)> {
        let over = std::mem::take(&mut self.over);
        self.free.extend(over.iter().map(|(number, _)| *number));
        over
    }

    /// Advances the world to that time, in microseconds since the start.
    pub fn pass_time(&mut self, now: u64) {
        let now = now.max(self.raw.now());
        while self.raw.advance(now) {}
        self.recorder.pass_time(now);
    }

    /// Does everything that is due by that time, in microseconds since the start.
    pub fn advance(&mut self, until: u64) {
        self.pass_time(until);
        self.deliver();
        self.begin_turn();
        self.take_turns();
        let now = self.raw.now();
        while self.timers.first().is_some_and(|(due, _)| *due <= now) {
            let (_, timer) = self.timers.pop_first().expect("it is the first");
            match timer {
                Timer::Release(number) => self.release(number),
                Timer::Mended(client, fault) => self.mended(ClientId(client), fault),
                Timer::Silent(number) => self.silence(number),
            }
        }
        while self.plan.front().is_some_and(|(due, _)| *due <= now) {
            let (due, command) = self.plan.pop_front().expect("it is the first");
            let done = self.perform(&command);
            if let Err(refused) = self.conclude(done, None) {
                (self.refused_plan)(Duration::from_micros(due), &refused);
            }
        }
        self.pass_time(until);
        self.deliver();
        self.forget_paths();
    }

    /// Forgets the names of deleted znodes from time to time.
    fn forget_paths(&mut self) {
        if !self.raw.may_forget_paths() {
            return;
        }
        let mut used = UsedPaths::default();
        if self.connections.iter().flatten().all(|connection| connection.paths(&mut used)) {
            self.raw.forget_paths(used);
        }
    }

    /// The time of the next due event, in microseconds since the start.
    pub fn due(&mut self) -> Option<u64> {
        let dues = [
            self.turn_due(),
            self.raw.due(),
            self.timers.first().map(|(due, _)| *due),
            self.plan.front().map(|(due, _)| *due),
            self.awaited.iter().map(|awaited| awaited.deadline).min(),
        ];
        dues.into_iter().flatten().min()
    }
}

/// Sends the answer of a command, if a caller waits for it.
fn reply(to: Option<mpsc::Sender<CommandResult>>, answer: CommandResult) {
    if let Some(to) = to {
        // The caller may have gone.
        let _ = to.send(answer);
    }
}
