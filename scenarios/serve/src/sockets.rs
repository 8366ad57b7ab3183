//! The event loop of one thread: client sockets, the clock, commands.

use crate::ServeError;
use crate::control::{Control, Order};
use crate::front::{Front, RefusedPlan};
use crate::listener::Listener;
use crate::recorder::Recorder;
use crate::stop::Stop;
use mio::net::TcpStream;
use mio::{Events, Interest, Poll, Token, Waker};
use std::io::{self, ErrorKind, Read, Write};
use std::net::SocketAddr;
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

/// The token of the waker; the listeners have the next ones, then the connections.
const WAKER: usize = 0;

/// The number of socket events handled in one turn.
const EVENTS: usize = 1024;

/// The maximal number of bytes that are read from one socket, or written to it, in one turn, if few sockets are busy.
const AT_ONCE: usize = 1 << 20;

/// The approximate number of bytes that are read from all sockets, or written to them, in one turn.
const ALL_AT_ONCE: usize = 4 << 20;

/// How late the loop may wake up, in microseconds, before the delay counts as a stall of the process.
const STALL: u64 = 200_000;

/// The ports of the members, open before they are served.
pub(crate) struct Ports {
    poll: Poll,
    waker: Arc<Waker>,
    listeners: Vec<Listener>,
}

impl Ports {
    /// Listens on these addresses, one for each member.
    pub fn listen(addresses: impl Iterator<Item = SocketAddr>) -> Result<Ports, ServeError> {
        let poll = Poll::new()?;
        let waker = Arc::new(Waker::new(poll.registry(), Token(WAKER))?);
        let mut listeners = Vec::new();
        for (number, address) in (1..).zip(addresses) {
            let listener = Listener::bind(address, poll.registry(), Token(WAKER + number));
            listeners.push(listener.map_err(|source| ServeError::Listen { address, source })?);
        }
        Ok(Ports { poll, waker, listeners })
    }

    /// The address of each member.
    pub fn addresses(&self) -> Vec<SocketAddr> {
        self.listeners.iter().map(Listener::address).collect()
    }
}

/// The socket of a connection.
struct Stream {
    socket: TcpStream,
    /// Whether it may be readable: the system notifies only once (edge-triggered).
    is_readable: bool,
    /// Whether it is in the list for the next turn.
    is_listed: bool,
}

/// The sockets, and the front that serves them.
pub(crate) struct Sockets {
    front: Front,
    begun: Instant,
    poll: Poll,
    stop: Stop,
    orders: mpsc::Receiver<Order>,
    control: Control,
    listeners: Vec<Listener>,
    /// The stream of each connection, by number.
    streams: Vec<Option<Stream>>,
    /// Connections whose sockets may be readable, and for which there is room.
    unread: Vec<usize>,
    /// Connections whose sockets may take more bytes than in the last turn.
    unwritten: Vec<usize>,
    /// The number of sockets that moved bytes in this turn, and the maximal number of bytes of each.
    busy: usize,
    at_once: usize,
    scratch: Vec<u8>,
}

impl Sockets {
    /// Connects a front to ports.
    pub fn new(ports: Ports, front: Front, recorder: Recorder) -> Sockets {
        let (sender, orders) = mpsc::channel();
        Sockets {
            front,
            begun: now(),
            control: Control::new(sender, ports.waker.clone(), recorder),
            stop: Stop::new(ports.waker),
            poll: ports.poll,
            orders,
            listeners: ports.listeners,
            streams: Vec::new(),
            unread: Vec::new(),
            unwritten: Vec::new(),
            busy: 0,
            at_once: AT_ONCE,
            scratch: vec![0; 64 << 10],
        }
    }

    pub fn stop(&self) -> Stop {
        self.stop.clone()
    }

    /// A stop that wakes this loop without ending it.
    pub fn another_stop(&self) -> Stop {
        self.stop.another()
    }

    pub fn control(&self) -> Control {
        self.control.clone()
    }

    /// Sets the callback for refused commands of the plan.
    pub fn on_refused_plan(&mut self, told: RefusedPlan) {
        self.front.refused_plan = told;
    }

    /// Serves until it is stopped.
    pub fn run(&mut self) -> io::Result<()> {
        let mut events = Events::with_capacity(EVENTS);
        while !(self.stop.is_stopped() || self.front.is_shut_down) {
            self.catch_up();
            // Set by a command of the plan. Check before polling, since no event may follow.
            if self.front.is_shut_down {
                break;
            }
            let until = self.until_next();
            let asleep = self.elapsed();
            match self.poll.poll(&mut events, until) {
                Err(e) if e.kind() == ErrorKind::Interrupted => continue,
                polled => polled?,
            }
            self.skip_stall(asleep, until);
            self.front.pass_time(self.elapsed());
            self.at_once = (ALL_AT_ONCE / self.busy.max(1)).clamp(self.scratch.len(), AT_ONCE);
            self.busy = 0;
            for number in std::mem::take(&mut self.unwritten) {
                self.flush(number);
            }
            for number in std::mem::take(&mut self.unread) {
                if let Some(stream) = self.streams[number].as_mut() {
                    stream.is_listed = false;
                    self.read(number);
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
                        if event.is_readable()
                            && let Some(stream) = self.streams.get_mut(number).and_then(Option::as_mut)
                        {
                            stream.is_readable = true;
                            self.read(number);
                        }
                    }
                }
            }
            self.obey_all();
        }
        Ok(())
    }

    /// Carries out orders after the end, until `is_done`; the finished work wakes the loop.
    pub fn obey_until(&mut self, is_done: impl Fn() -> bool) -> io::Result<()> {
        let mut events = Events::with_capacity(EVENTS);
        loop {
            // Checked before the orders, so that the last orders are not missed.
            let is_last = is_done();
            self.obey_all();
            if is_last {
                return Ok(());
            }
            match self.poll.poll(&mut events, None) {
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                polled => polled?,
            }
        }
    }

    fn obey_all(&mut self) {
        while let Ok(order) = self.orders.try_recv() {
            self.obey(order);
        }
    }

    fn elapsed(&self) -> u64 {
        u64::try_from(self.begun.elapsed().as_micros()).unwrap_or(u64::MAX)
    }

    /// Removes the time without a processor from the world's clock: packets of clients still wait in their sockets, and
    /// no session should expire because of the stall.
    fn skip_stall(&mut self, asleep: u64, until: Option<Duration>) {
        let Some(until) = until else { return };
        let awake = asleep.saturating_add(until.as_micros() as u64).saturating_add(STALL);
        let stalled = self.elapsed().saturating_sub(awake);
        self.begun += Duration::from_micros(stalled);
    }

    /// Does everything that is due by now.
    fn catch_up(&mut self) {
        self.front.advance(self.elapsed());
        self.send();
        self.open_and_close();
        self.front.answer_awaited();
    }

    /// Closes the ports of crashed servers, which then refuse connections, and opens the others.
    fn open_and_close(&mut self) {
        for (server, listener) in (0..).zip(&mut self.listeners) {
            match (self.front.listens(server), listener.is_open()) {
                (false, true) => listener.close(),
                // A failure is retried in the next turn.
                (true, false) => drop(listener.open(self.poll.registry())),
                _ => {}
            }
        }
    }

    /// The time until the next due event, if no socket becomes ready.
    fn until_next(&mut self) -> Option<Duration> {
        self.read_again();
        if !self.unread.is_empty() || !self.unwritten.is_empty() {
            return Some(Duration::ZERO);
        }
        let wait = self.front.due()?.saturating_sub(self.elapsed());
        // The system waits in whole milliseconds: for less, the loop polls without waiting.
        Some(if wait < 1000 { Duration::ZERO } else { Duration::from_micros(wait) })
    }

    /// Carries out an order and answers it.
    fn obey(&mut self, order: Order) {
        let done = self.front.perform(&order.command);
        self.send();
        // When the caller reads the answer, the ports are already open or closed.
        self.open_and_close();
        // A refusal was sent as the answer.
        let _ = self.front.conclude(done, order.answer);
    }

    fn accept(&mut self, server: usize) {
        let member = u8::try_from(server).expect("an ensemble has at most nine members");
        while let Some(stream) = self.listeners[server].accept() {
            if let Some(number) = self.front.accept(member, stream.peer_addr().ok())
                && self.add(number, stream).is_err()
            {
                // A socket that cannot be watched is closed.
                self.front.hang_up(number);
                self.send();
            }
        }
    }

    fn add(&mut self, number: usize, mut socket: TcpStream) -> io::Result<()> {
        // Without it small answers wait for acknowledgements. A socket that refuses the option is slower, but works.
        let _ = socket.set_nodelay(true);
        let token = Token(self.listeners.len() + 1 + number);
        self.poll.registry().register(&mut socket, token, Interest::READABLE | Interest::WRITABLE)?;
        if self.streams.len() <= number {
            self.streams.resize_with(number + 1, || None);
        }
        self.streams[number] = Some(Stream { socket, is_readable: false, is_listed: false });
        Ok(())
    }

    /// Lists the readable sockets whose connections have room again.
    fn read_again(&mut self) {
        for number in self.front.take_thirsty() {
            self.list(number);
        }
    }

    fn list(&mut self, number: usize) {
        if let Some(stream) = self.streams.get_mut(number).and_then(Option::as_mut)
            && stream.is_readable
            && !std::mem::replace(&mut stream.is_listed, true)
        {
            self.unread.push(number);
        }
    }

    /// Reads a socket and passes the bytes to the front, as long as the front accepts them.
    fn read(&mut self, number: usize) {
        let mut total = 0;
        let is_open = loop {
            if total >= self.at_once {
                self.list(number);
                break true;
            }
            if !self.front.wants(number) {
                break true;
            }
            let Some(stream) = self.streams.get_mut(number).and_then(Option::as_mut) else { return };
            match stream.socket.read(&mut self.scratch) {
                Ok(0) => break false,
                Ok(n) => {
                    self.busy += usize::from(total == 0);
                    total += n;
                    self.front.receive(number, &self.scratch[..n]);
                    self.send();
                }
                Err(e) if e.kind() == ErrorKind::WouldBlock => {
                    stream.is_readable = false;
                    break true;
                }
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(_) => break false,
            }
        };
        if !is_open && self.front.connection(number).is_some() {
            self.front.hang_up(number);
            self.send();
        }
    }

    /// Sends the front's packets to its clients, and closes the sockets of ended connections.
    fn send(&mut self) {
        loop {
            let (outgoing, over) = (self.front.take_outgoing(), self.front.take_over());
            if outgoing.is_empty() && over.is_empty() {
                return;
            }
            for (number, rest) in over {
                if let Some(mut stream) = self.streams.get_mut(number).and_then(Option::take) {
                    // Bytes that the socket does not take now are lost.
                    for piece in rest.rest() {
                        if !stream.socket.write(piece).is_ok_and(|taken| taken == piece.len()) {
                            break;
                        }
                    }
                    let _ = self.poll.registry().deregister(&mut stream.socket);
                }
            }
            for number in outgoing {
                self.write(number);
            }
        }
    }

    fn flush(&mut self, number: usize) {
        self.write(number);
        self.send();
    }

    /// Writes as much as the socket takes, up to the limit of a turn.
    fn write(&mut self, number: usize) {
        let mut total = 0;
        let is_open = loop {
            let Some(stream) = self.streams.get_mut(number).and_then(Option::as_mut) else { return };
            let Some(connection) = self.front.connection(number) else { return };
            let unsent = connection.unsent();
            if unsent.is_empty() {
                break !connection.is_over();
            }
            if total >= self.at_once {
                self.unwritten.push(number);
                break true;
            }
            match stream.socket.write(&unsent[..unsent.len().min(self.at_once)]) {
                Ok(0) => break false,
                Ok(n) => {
                    self.busy += usize::from(total == 0);
                    total += n;
                    self.front.wrote(number, n);
                }
                Err(e) if e.kind() == ErrorKind::WouldBlock => break true,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(_) => break false,
            }
        };
        if !is_open {
            self.front.hang_up(number);
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "sockets live in real time")]
fn now() -> Instant {
    Instant::now()
}
