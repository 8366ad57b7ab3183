//! One connection of a scenario's session: a socket that never blocks.

use crate::exchange::Arrival;
use rustix::event::{PollFd, PollFlags};
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;
use zk_recipes::wire::frame;

/// How long a host may take to accept a connection.
const HANDSHAKE: Duration = Duration::from_secs(2);

/// A connection, what has come on it, and what is still to be sent.
pub(super) struct Socket {
    stream: Option<TcpStream>,
    came: Vec<u8>,
    unsent: Vec<u8>,
    /// The end that has come, and is told behind all frames.
    end: Option<Arrival>,
    /// How many frames were taken.
    pub(super) frames: usize,
}

impl Socket {
    /// Connects. A host that does not accept has refused.
    pub(super) fn open(address: SocketAddr) -> Socket {
        let connected = TcpStream::connect_timeout(&address, HANDSHAKE).and_then(|stream| {
            stream.set_nodelay(true)?;
            stream.set_nonblocking(true)?;
            Ok(stream)
        });
        let end = connected.is_err().then_some(Arrival::Refused);
        Socket { stream: connected.ok(), came: Vec::new(), unsent: Vec::new(), end, frames: 0 }
    }

    /// What to wait for on it, unless it is over.
    pub(super) fn watched(&self) -> Option<PollFd<'_>> {
        let wanted = if self.unsent.is_empty() { PollFlags::IN } else { PollFlags::IN | PollFlags::OUT };
        self.stream.as_ref().map(|stream| PollFd::new(stream, wanted))
    }

    /// Sends a frame, or what of it the host takes.
    pub(super) fn send(&mut self, frame: &[u8]) {
        self.unsent.extend(frame::of(frame));
        self.write();
    }

    pub(super) fn write(&mut self) {
        while let Some(stream) = self.stream.as_mut().filter(|_| !self.unsent.is_empty()) {
            match stream.write(&self.unsent) {
                Ok(written) => drop(self.unsent.drain(..written)),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                // What the server had sent before it hung up can still be read.
                Err(_) => self.unsent.clear(),
            }
        }
    }

    /// Takes in what the host has.
    pub(super) fn read(&mut self) {
        let mut part = [0; 1 << 14];
        while let Some(stream) = &mut self.stream {
            match stream.read(&mut part) {
                Ok(read) if read > 0 => self.came.extend(&part[..read]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                _ => {
                    self.stream = None;
                    self.end = Some(Arrival::Closed);
                }
            }
        }
    }

    /// The next thing that has come; nothing comes behind the end.
    pub(super) fn take(&mut self) -> Arrival {
        match frame::take(&mut self.came) {
            Ok(Some(frame)) => {
                self.frames += 1;
                Arrival::Frame(frame)
            }
            _ => self.end.take().unwrap_or(Arrival::Nothing),
        }
    }

    /// Cuts the connection with a reset: nothing comes from it any more.
    pub(super) fn reset(&mut self) {
        if let Some(stream) = self.stream.take() {
            // If a reset is not to be had, an ordinary end has to do.
            let _ = socket2::SockRef::from(&stream).set_linger(Some(Duration::ZERO));
        }
        (self.came, self.unsent, self.end) = (Vec::new(), Vec::new(), None);
    }
}
