//! The loop of one thread: sockets, the world, the clock.
//!
//! | module | content |
//! |---|---|
//! | `packets` | what clients send and are sent, and what faults of the network do to it |
//! | `commands` | the verbs of the control API that do something |
//! | `questions` | those that ask |
//! | `beliefs` | what programs report of themselves |

mod beliefs;
mod commands;
mod packets;
mod questions;

use crate::ServeError;
use crate::clients::{ClientId, Clients};
use crate::command::{Command, Refused};
use crate::connection::{Connection, Said};
use crate::control::{Answer, Control, Order};
use crate::listener::Listener;
use crate::network::Network;
use crate::recorder::Recorder;
use crate::stop::Stop;
use crate::words;
use beliefs::Beliefs;
use commands::Awaited;
use mio::net::TcpStream;
use mio::{Events, Interest, Poll, Token, Waker};
use sim_zk::fault::Fault;
use sim_zk::raw::Raw;
use std::collections::{BTreeSet, VecDeque};
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// The token of the waker; the listeners have those after it, and then the connections.
const WAKER: usize = 0;

/// The token of a connection that is none.
const NONE: usize = usize::MAX;

/// The number of sockets that are looked at in one turn.
const EVENTS: usize = 1024;

/// How much later than asked for the loop may wake up, in microseconds, before it is a stall of the process.
const STALL: u64 = 200_000;

/// Something that is due at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Timer {
    /// What a fault of the network keeps back on a connection may go on.
    Release(usize),
    /// A fault of a client's network ends.
    Mended(usize, Fault),
}

/// What a front is made of.
pub(crate) struct Parts {
    pub raw: Raw,
    pub network: Network,
    pub recorder: Recorder,
    /// Commands and their times, in microseconds, in order.
    pub plan: VecDeque<(u64, Command)>,
    /// The most connections at a time.
    pub most_connections: usize,
}

/// What is done with a refused command of the plan, and its time.
type RefusedPlan = Box<dyn FnMut(Duration, &Refused) + Send>;

/// Sockets in front of a world.
pub(crate) struct Front {
    raw: Raw,
    begun: Instant,
    poll: Poll,
    stop: Stop,
    orders: mpsc::Receiver<Order>,
    control: Control,
    listeners: Vec<Listener>,
    /// By token, after the listeners.
    connections: Vec<Option<Connection>>,
    free: Vec<usize>,
    most_connections: usize,
    /// By the number in the world: the index into the connections.
    by_conn: Vec<usize>,
    /// Connections with something to send, or more to read.
    touched: Vec<usize>,
    clients: Clients,
    network: Network,
    recorder: Recorder,
    beliefs: Beliefs,
    timers: BTreeSet<(u64, Timer)>,
    /// Commands that are carried out, and whose effect is awaited.
    awaited: Vec<Awaited>,
    plan: VecDeque<(u64, Command)>,
    /// Gets what the plan asks for and cannot have, and its time.
    pub refused_plan: RefusedPlan,
}

impl Front {
    /// Listens at these addresses, one for each member.
    pub fn listen(parts: Parts, addresses: impl Iterator<Item = SocketAddr>) -> Result<Front, ServeError> {
        let poll = Poll::new()?;
        let waker = Arc::new(Waker::new(poll.registry(), Token(WAKER))?);
        let mut listeners = Vec::new();
        for (number, address) in (1..).zip(addresses) {
            let listener = Listener::bind(address, poll.registry(), Token(WAKER + number));
            listeners.push(listener.map_err(|source| ServeError::Listen { address, source })?);
        }
        let (sender, orders) = mpsc::channel();
        let control = Control::new(sender, waker.clone(), parts.recorder.clone());
        Ok(Front {
            raw: parts.raw,
            begun: now(),
            poll,
            stop: Stop::new(waker),
            orders,
            control,
            listeners,
            connections: Vec::new(),
            free: Vec::new(),
            most_connections: parts.most_connections,
            by_conn: Vec::new(),
            touched: Vec::new(),
            clients: Clients::default(),
            network: parts.network,
            recorder: parts.recorder,
            beliefs: Beliefs::default(),
            timers: BTreeSet::new(),
            awaited: Vec::new(),
            plan: parts.plan,
            refused_plan: Box::new(|_, _| {}),
        })
    }

    /// Where each member listens.
    pub fn addresses(&self) -> Vec<SocketAddr> {
        self.listeners.iter().map(Listener::address).collect()
    }

    pub fn stop(&self) -> Stop {
        self.stop.clone()
    }

    /// One that does not stop this loop, and wakes it.
    pub fn another_stop(&self) -> Stop {
        self.stop.another()
    }

    pub fn control(&self) -> Control {
        self.control.clone()
    }

    /// Serves until it is stopped.
    pub fn run(&mut self) -> io::Result<()> {
        let mut events = Events::with_capacity(EVENTS);
        let mut scratch = vec![0; 64 << 10];
        while !self.stop.is_stopped() {
            self.catch_up();
            let until = self.until_next();
            let asleep = self.elapsed();
            match self.poll.poll(&mut events, until) {
                Err(e) if e.kind() == ErrorKind::Interrupted => continue,
                polled => polled?,
            }
            self.skip_stall(asleep, until);
            self.pass_time();
            for number in std::mem::take(&mut self.touched) {
                if self.connections[number].as_ref().is_some_and(|connection| connection.has_more) {
                    self.read(number, &mut scratch);
                }
            }
            for event in &events {
                match event.token().0 {
                    WAKER => {}
                    token if token <= self.listeners.len() => self.accept(token - 1),
                    token => {
                        let number = token - self.listeners.len() - 1;
                        if event.is_writable() {
                            self.flush(number);
                        }
                        if event.is_readable() {
                            self.read(number, &mut scratch);
                        }
                    }
                }
            }
            while let Ok(order) = self.orders.try_recv() {
                // It has its answer.
                let _ = self.obey(order);
            }
        }
        Ok(())
    }

    /// Carries out what is ordered after the end, until something is done that wakes the loop.
    pub fn obey_until(&mut self, is_done: impl Fn() -> bool) -> io::Result<()> {
        let mut events = Events::with_capacity(EVENTS);
        loop {
            // Read before the orders: the last of them came before it.
            let is_last = is_done();
            while let Ok(order) = self.orders.try_recv() {
                // It has its answer.
                let _ = self.obey(order);
            }
            if is_last {
                return Ok(());
            }
            match self.poll.poll(&mut events, None) {
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                polled => polled?,
            }
        }
    }

    fn elapsed(&self) -> u64 {
        u64::try_from(self.begun.elapsed().as_micros()).unwrap_or(u64::MAX)
    }

    /// Takes out of the world's time that this process got no processor: what clients sent meanwhile still waits in their sockets, and
    /// no session is to expire for that.
    fn skip_stall(&mut self, asleep: u64, until: Option<Duration>) {
        let Some(until) = until else { return };
        let awake = asleep.saturating_add(until.as_micros() as u64).saturating_add(STALL);
        let stalled = self.elapsed().saturating_sub(awake);
        self.begun += Duration::from_micros(stalled);
    }

    /// Lets the world do what is due by now.
    fn pass_time(&mut self) {
        let now = self.elapsed().max(self.raw.now());
        while self.raw.advance(now) {}
    }

    /// Lets everything happen that is due by now.
    fn catch_up(&mut self) {
        self.pass_time();
        self.deliver();
        let now = self.raw.now();
        while self.timers.first().is_some_and(|(due, _)| *due <= now) {
            let (_, timer) = self.timers.pop_first().expect("it is the first");
            match timer {
                Timer::Release(number) => self.release(number),
                Timer::Mended(client, fault) => self.mended(ClientId(client), fault),
            }
        }
        while self.plan.front().is_some_and(|(due, _)| *due <= now) {
            let (due, command) = self.plan.pop_front().expect("it is the first");
            if let Err(refused) = self.obey(Order { command, answer: None }) {
                (self.refused_plan)(Duration::from_micros(due), &refused);
            }
        }
        self.pass_time();
        self.deliver();
        self.open_and_close();
        self.answer_awaited();
    }

    /// The port of a server that is down refuses connections.
    fn open_and_close(&mut self) {
        for (server, listener) in (0..).zip(&mut self.listeners) {
            match (self.raw.world().is_running(server), listener.is_open()) {
                (false, true) => listener.close(),
                // If it cannot listen now, it tries again in the next turn.
                (true, false) => drop(listener.open(self.poll.registry())),
                _ => {}
            }
        }
    }

    /// How long there is nothing to do unless a socket has something.
    fn until_next(&mut self) -> Option<Duration> {
        if !self.touched.is_empty() {
            return Some(Duration::ZERO);
        }
        let dues = [
            self.raw.due(),
            self.timers.first().map(|(due, _)| *due),
            self.plan.front().map(|(due, _)| *due),
            self.awaited.iter().map(|awaited| awaited.deadline).min(),
        ];
        let due = dues.into_iter().flatten().min()?;
        let wait = due.saturating_sub(self.elapsed());
        // The system waits for whole milliseconds: for less, the loop looks again at once.
        Some(if wait < 1000 { Duration::ZERO } else { Duration::from_micros(wait) })
    }

    fn accept(&mut self, server: usize) {
        while let Some(stream) = self.listeners[server].accept() {
            if self.connections.len() - self.free.len() < self.most_connections {
                // A socket that cannot be watched is closed.
                let _ = self.add(stream, server);
            }
        }
    }

    fn add(&mut self, mut stream: TcpStream, server: usize) -> io::Result<()> {
        // Without it small answers wait for acknowledgements; a socket that refuses it is slower, and works.
        let _ = stream.set_nodelay(true);
        let number = self.free.last().copied().unwrap_or(self.connections.len());
        let token = Token(self.listeners.len() + 1 + number);
        self.poll.registry().register(&mut stream, token, Interest::READABLE | Interest::WRITABLE)?;
        let server = u8::try_from(server).expect("an ensemble has at most nine members");
        let connection = Some(Connection::new(stream, server));
        match self.free.pop() {
            Some(number) => self.connections[number] = connection,
            None => self.connections.push(connection),
        }
        Ok(())
    }

    fn read(&mut self, number: usize, scratch: &mut [u8]) {
        let Some(connection) = &mut self.connections[number] else { return };
        if connection.is_gone {
            return;
        }
        let is_open = connection.fill(scratch);
        if connection.has_more {
            self.touched.push(number);
        }
        self.hear(number);
        if !is_open {
            self.hang_up(number);
        }
    }

    /// Hands what a client said to the world.
    fn hear(&mut self, number: usize) {
        while let Some(connection) = &mut self.connections[number]
            && let Some(said) = connection.next(self.raw.paths())
        {
            match said {
                Said::Hello(hello) => self.greet(number, hello),
                Said::Packets(packets) => self.send_up(number, packets),
                Said::Word(word) => {
                    let server = connection.server;
                    let of_member = self.connections.iter().flatten().filter(|of| of.server == server);
                    let lines: Vec<String> = of_member.map(Connection::line).collect();
                    let text = words::answer(word, server, &lines, &self.raw);
                    let connection = self.connections[number].as_mut().expect("it has said a word");
                    connection.queue_text(&text);
                    connection.ends = true;
                    self.flush(number);
                }
            }
        }
    }

    fn flush(&mut self, number: usize) {
        let Some(connection) = self.connections.get_mut(number).and_then(Option::as_mut) else { return };
        if !connection.is_gone && !connection.flush() {
            self.hang_up(number);
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "sockets live in real time")]
fn now() -> Instant {
    Instant::now()
}

/// Sends the answer of a command, if anybody waits for it.
fn reply(to: Option<mpsc::Sender<Answer>>, answer: Answer) {
    if let Some(to) = to {
        // The one who asked may have gone.
        let _ = to.send(answer);
    }
}
