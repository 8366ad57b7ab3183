//! A server behind a socket.

use super::target::{Greeting, Target, Trouble};
use crate::exchange::Arrival;
use crate::exchange::wire::{self, Hello};
use std::fmt;
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};
use zk_protocol::wire::frame;
use zk_real::Server;

/// The time limit for a server to accept a connection and to reply to a hello.
const HELLO_LIMIT: Duration = Duration::from_secs(10);

/// A server behind a socket: our own, or a running one.
#[derive(Debug)]
pub struct Tcp {
    address: String,
    server: Option<Server>,
    restart: Option<Restart>,
    begun: Instant,
}

/// A way to stop a foreign server, and to start it again with the same data.
pub struct Restart(Box<dyn FnMut() -> Result<(), String>>);

impl Restart {
    /// `restart` returns when the server serves again, or a sentence that explains why it does not.
    pub fn by(restart: impl FnMut() -> Result<(), String> + 'static) -> Self {
        Restart(Box::new(restart))
    }
}

impl fmt::Debug for Restart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Restart").finish_non_exhaustive()
    }
}

impl Tcp {
    /// A running server; with `restart` it can be restarted.
    pub fn of_others(address: &str, restart: Option<Restart>) -> Self {
        Tcp { address: address.to_owned(), server: None, restart, begun: now() }
    }

    /// A server of our own. It stops when this value is dropped.
    pub fn of_our_own(server: Server) -> Self {
        Tcp { address: server.address(), server: Some(server), restart: None, begun: now() }
    }

    fn open(&self) -> Result<TcpStream, std::io::Error> {
        let mut last = std::io::Error::new(ErrorKind::AddrNotAvailable, "the name has no address");
        for address in self.address.to_socket_addrs()? {
            match TcpStream::connect_timeout(&address, HELLO_LIMIT) {
                Ok(stream) => {
                    stream.set_nodelay(true)?;
                    stream.set_write_timeout(Some(HELLO_LIMIT))?;
                    return Ok(stream);
                }
                Err(error) => last = error,
            }
        }
        Err(last)
    }
}

/// A connection, and the received part of the next frame.
#[derive(Debug)]
pub struct TcpLink {
    stream: TcpStream,
    came: Vec<u8>,
}

impl TcpLink {
    fn send(&mut self, frames: &[Vec<u8>]) -> std::io::Result<()> {
        let bytes: Vec<u8> = frames.iter().flat_map(|packet| frame::of(packet)).collect();
        self.stream.write_all(&bytes)
    }

    fn receive(&mut self, within: Duration) -> Arrival {
        let end = now() + within;
        let mut part = [0; 1 << 14];
        loop {
            if let Ok(Some(frame)) = frame::take(&mut self.came) {
                return Arrival::Frame(frame);
            }
            // A zero timeout would mean no timeout.
            let left = end.saturating_duration_since(now()).max(Duration::from_micros(100));
            if self.stream.set_read_timeout(Some(left)).is_err() {
                return Arrival::Closed;
            }
            match self.stream.read(&mut part) {
                Ok(0) => return Arrival::Closed,
                Ok(n) => self.came.extend(&part[..n]),
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                    if now() >= end {
                        return Arrival::Nothing;
                    }
                }
                Err(_) => return Arrival::Closed,
            }
        }
    }
}

impl Target for Tcp {
    type Link = TcpLink;

    fn connect(&mut self, hello: &Hello) -> Result<Greeting<TcpLink>, Trouble> {
        let stream =
            self.open().map_err(|why| Trouble::Unreachable { address: self.address.clone(), why })?;
        let mut link = TcpLink { stream, came: Vec::new() };
        // A failure here means that the server has closed the connection.
        let _ = link.send(&[wire::hello(hello)]);
        let arrival = link.receive(HELLO_LIMIT);
        Greeting::of(arrival, link, &self.address)
    }

    fn send(&mut self, link: &mut TcpLink, frames: &[Vec<u8>]) {
        // A server closes the connection in the middle of a frame that it refuses.
        let _ = link.send(frames);
    }

    fn receive(&mut self, link: &mut TcpLink, within: Duration) -> Arrival {
        link.receive(within)
    }

    fn cut(&mut self, link: TcpLink, reset: bool) {
        if reset {
            // If a reset is not possible, an ordinary close must do.
            let _ = socket2::SockRef::from(&link.stream).set_linger(Some(Duration::ZERO));
        }
        drop(link);
    }

    #[expect(clippy::disallowed_methods, reason = "a server behind a socket lives in real time")]
    fn wait(&mut self, by: Duration) {
        std::thread::sleep(by);
    }

    fn now(&self) -> Duration {
        self.begun.elapsed()
    }

    fn can_restart(&self) -> bool {
        self.server.is_some() || self.restart.is_some()
    }

    fn restart(&mut self) -> Result<(), Trouble> {
        match (&mut self.server, &mut self.restart) {
            (Some(server), _) => Ok(server.start_again()?),
            (None, Some(Restart(restart))) => restart().map_err(Trouble::Restart),
            (None, None) => Ok(()),
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "a server behind a socket lives in real time")]
fn now() -> Instant {
    Instant::now()
}
