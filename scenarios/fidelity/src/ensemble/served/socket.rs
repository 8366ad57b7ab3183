//! One connection of a scenario's session: a non-blocking socket.

use crate::exchange::Arrival;
use rustix::event::{PollFd, PollFlags};
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;
use zk_protocol::wire::frame;

/// The time limit for a host to accept a connection.
const HANDSHAKE: Duration = Duration::from_secs(2);

/// A connection, its received bytes, and its unsent bytes.
pub(super) struct Socket {
    stream: Option<TcpStream>,
    came: Vec<u8>,
    unsent: Vec<u8>,
    /// The end of the connection, reported after all frames.
    end: Option<Arrival>,
    /// The number of frames taken.
    pub(super) frames: usize,
}

impl Socket {
    /// Connects. A host that does not accept in time counts as refusing.
    pub(super) fn open(address: SocketAddr) -> Socket {
        let connected = TcpStream::connect_timeout(&address, HANDSHAKE).and_then(|stream| {
            stream.set_nodelay(true)?;
            stream.set_nonblocking(true)?;
            Ok(stream)
        });
        let end = connected.is_err().then_some(Arrival::Refused);
        Socket { stream: connected.ok(), came: Vec::new(), unsent: Vec::new(), end, frames: 0 }
    }

    /// The events to wait for, unless the connection is over.
    pub(super) fn watched(&self) -> Option<PollFd<'_>> {
        let wanted = if self.unsent.is_empty() { PollFlags::IN } else { PollFlags::IN | PollFlags::OUT };
        self.stream.as_ref().map(|stream| PollFd::new(stream, wanted))
    }

    /// Sends a frame, or as much of it as the host accepts.
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
                // Bytes that the server sent before it closed the connection can still be read.
                Err(_) => self.unsent.clear(),
            }
        }
    }

    /// Reads all available bytes.
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

    /// The next arrival; nothing arrives after the end.
    pub(super) fn take(&mut self) -> Arrival {
        match frame::take(&mut self.came) {
            Ok(Some(frame)) => {
                self.frames += 1;
                Arrival::Frame(frame)
            }
            _ => self.end.take().unwrap_or(Arrival::Nothing),
        }
    }

    /// Cuts the connection with a reset: nothing arrives from it any more.
    pub(super) fn reset(&mut self) {
        if let Some(stream) = self.stream.take() {
            // If a reset is not possible, an ordinary close must do.
            let _ = socket2::SockRef::from(&stream).set_linger(Some(Duration::ZERO));
        }
        (self.came, self.unsent, self.end) = (Vec::new(), Vec::new(), None);
    }
}
