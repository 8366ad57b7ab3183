//! The loop of one thread: sockets, the world, the clock.

use crate::ServeError;
use crate::connection::{Connection, Said};
use crate::words;
use mio::net::{TcpListener, TcpStream};
use mio::{Events, Interest, Poll, Token, Waker};
use sim_zk::ConnId;
use sim_zk::message::Down;
use sim_zk::raw::Raw;
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::{Duration, Instant};

/// The token of the waker; the listeners have those after it, and then the connections.
const WAKER: usize = 0;

/// The token of a connection that is none.
const NONE: usize = usize::MAX;

/// The number of sockets that are looked at in one turn.
const EVENTS: usize = 1024;

/// Ends the loop from another thread.
#[derive(Clone)]
pub struct Stop {
    stopped: Arc<AtomicBool>,
    waker: Arc<Waker>,
}

impl Stop {
    /// Ends it: all connections are closed, and its ports are free.
    pub fn stop(&self) {
        self.stopped.store(true, SeqCst);
        // If the loop cannot be woken it has ended.
        let _ = self.waker.wake();
    }
}

/// Sockets in front of a world.
pub(crate) struct Front {
    raw: Raw,
    begun: Instant,
    poll: Poll,
    stop: Stop,
    listeners: Vec<TcpListener>,
    /// By token, after the listeners.
    connections: Vec<Option<Connection>>,
    free: Vec<usize>,
    /// By the number in the world: the index into the connections.
    by_conn: Vec<usize>,
    /// Connections with something to send, or more to read.
    touched: Vec<usize>,
}

impl Front {
    /// Listens at these addresses, one for each member.
    pub fn listen(raw: Raw, addresses: impl Iterator<Item = SocketAddr>) -> Result<Front, ServeError> {
        let poll = Poll::new()?;
        let waker = Arc::new(Waker::new(poll.registry(), Token(WAKER))?);
        let mut listeners = Vec::new();
        for (number, address) in (1..).zip(addresses) {
            let mut listener =
                TcpListener::bind(address).map_err(|source| ServeError::Listen { address, source })?;
            poll.registry().register(&mut listener, Token(WAKER + number), Interest::READABLE)?;
            listeners.push(listener);
        }
        Ok(Front {
            raw,
            begun: now(),
            poll,
            stop: Stop { stopped: Arc::default(), waker },
            listeners,
            connections: Vec::new(),
            free: Vec::new(),
            by_conn: Vec::new(),
            touched: Vec::new(),
        })
    }

    /// Where each member listens.
    pub fn addresses(&self) -> io::Result<Vec<SocketAddr>> {
        self.listeners.iter().map(TcpListener::local_addr).collect()
    }

    pub fn stop(&self) -> Stop {
        self.stop.clone()
    }

    /// Serves until it is stopped.
    pub fn run(&mut self) -> io::Result<()> {
        let mut events = Events::with_capacity(EVENTS);
        let mut scratch = vec![0; 64 << 10];
        while !self.stop.stopped.load(SeqCst) {
            self.catch_up();
            self.deliver();
            let until = self.until_next();
            match self.poll.poll(&mut events, until) {
                Err(e) if e.kind() == ErrorKind::Interrupted => continue,
                polled => polled?,
            }
            for number in std::mem::take(&mut self.touched) {
                if self.connections[number].as_ref().is_some_and(|connection| connection.has_more) {
                    self.read(number, &mut scratch);
                }
            }
            for event in &events {
                match event.token().0 {
                    WAKER => {}
                    token if token <= self.listeners.len() => self.accept(token - 1)?,
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
        }
        Ok(())
    }

    fn elapsed(&self) -> u64 {
        u64::try_from(self.begun.elapsed().as_micros()).unwrap_or(u64::MAX)
    }

    /// Lets the world do what is due.
    fn catch_up(&mut self) {
        let now = self.elapsed().max(self.raw.now());
        while self.raw.advance(now) {}
    }

    /// How long there is nothing to do unless a socket has something.
    fn until_next(&mut self) -> Option<Duration> {
        if !self.touched.is_empty() {
            return Some(Duration::ZERO);
        }
        let due = self.raw.due()?;
        let wait = due.saturating_sub(self.elapsed());
        // The system waits for whole milliseconds: for less, the loop looks again at once.
        Some(if wait < 1000 { Duration::ZERO } else { Duration::from_micros(wait) })
    }

    fn accept(&mut self, server: usize) -> io::Result<()> {
        loop {
            match self.listeners[server].accept() {
                Ok((stream, _)) => self.add(stream, server)?,
                // Nobody waits, or the client has gone already, or there are too many files: the others go on.
                Err(_) => return Ok(()),
            }
        }
    }

    fn add(&mut self, mut stream: TcpStream, server: usize) -> io::Result<()> {
        // Without it small answers wait for acknowledgements; a socket that refuses it is slower, and works.
        let _ = stream.set_nodelay(true);
        let number = self.free.pop().unwrap_or_else(|| {
            self.connections.push(None);
            self.connections.len() - 1
        });
        let token = Token(self.listeners.len() + 1 + number);
        self.poll.registry().register(&mut stream, token, Interest::READABLE | Interest::WRITABLE)?;
        let server = u8::try_from(server).expect("an ensemble has at most nine members");
        self.connections[number] = Some(Connection::new(stream, server));
        Ok(())
    }

    fn read(&mut self, number: usize, scratch: &mut [u8]) {
        let Some(connection) = &mut self.connections[number] else { return };
        let is_open = connection.fill(scratch);
        if connection.has_more {
            self.touched.push(number);
        }
        self.hear(number);
        if !is_open {
            self.close(number);
        }
    }

    /// Hands what a client said to the world.
    fn hear(&mut self, number: usize) {
        while let Some(connection) = &mut self.connections[number]
            && let Some(said) = connection.next(self.raw.paths())
        {
            match said {
                Said::Hello(hello) => {
                    let conn = self.raw.connect(connection.server, hello);
                    connection.conn = Some(conn);
                    let index = conn.0 as usize;
                    if self.by_conn.len() <= index {
                        self.by_conn.resize(index + 1, NONE);
                    }
                    self.by_conn[index] = number;
                }
                Said::Packets(packets) => {
                    if let Some(conn) = connection.conn {
                        self.raw.send(conn, packets);
                    }
                }
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

    /// Hands what the world has sent to the sockets.
    fn deliver(&mut self) {
        while let Some(conn) = self.raw.first_arrival() {
            let number = self.by_conn[conn.0 as usize];
            self.take(conn, number);
            self.flush(number);
        }
    }

    fn take(&mut self, conn: ConnId, number: usize) {
        while let Some(down) = self.raw.receive(conn) {
            let Some(connection) = self.connections.get_mut(number).and_then(Option::as_mut) else {
                continue;
            };
            match connection.codec.frame(&down, self.raw.paths()) {
                Some(frame) => connection.queue(&frame),
                None => connection.ends = matches!(down, Down::Fin),
            }
        }
    }

    fn flush(&mut self, number: usize) {
        let Some(connection) = self.connections.get_mut(number).and_then(Option::as_mut) else { return };
        if !connection.flush() {
            self.close(number);
        }
    }

    /// Closes a socket. The world hears of it as of the end of the stream.
    fn close(&mut self, number: usize) {
        let Some(mut connection) = self.connections[number].take() else { return };
        let _ = self.poll.registry().deregister(&mut connection.stream);
        if let Some(conn) = connection.conn {
            self.by_conn[conn.0 as usize] = NONE;
            self.raw.cut(conn, false);
        }
        self.free.push(number);
    }
}

#[expect(clippy::disallowed_methods, reason = "sockets live in real time")]
fn now() -> Instant {
    Instant::now()
}
