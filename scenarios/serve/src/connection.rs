//! A client's connection without its socket: bytes in, frames out.

use crate::clients::{ClientId, InFlight};
use crate::words;
use sim_zk::message::{ConnId, Down, Up};
use sim_zk::paths::Paths;
use sim_zk::wire::{Codec, MAX_FRAME_BYTES};
use std::collections::VecDeque;
use std::net::SocketAddr;

/// The most bytes that a client may leave unread before its connection is closed.
const MOST_UNREAD: usize = 64 << 20;

/// The room that a buffer keeps when it is empty, in bytes: one large frame is not to cost its size until the connection ends.
const KEPT: usize = 64 << 10;

/// The number of bytes of a frame's length.
const LENGTH: usize = 4;

/// A client's connection.
pub(crate) struct Connection {
    /// The member that it belongs to.
    pub server: u8,
    /// Its number in the world, once the hello has arrived there.
    pub conn: Option<ConnId>,
    /// Who is at the other end, once the client has said hello.
    pub client: Option<ClientId>,
    /// What the client has asked, in order, and not been told yet.
    pub in_flight: VecDeque<InFlight>,
    /// What the client has sent, and a partition keeps from the server.
    pub early: VecDeque<Up>,
    /// What the server has sent, and a partition or a delay keeps from the client.
    pub late: VecDeque<Down>,
    /// Until when a delayed reply keeps back everything behind it.
    pub late_until: u64,
    /// Whether the client has hung up, while a partition keeps that from the server.
    pub is_gone: bool,
    is_greeted: bool,
    pub codec: Codec,
    /// What was read of frames that are not complete.
    read: Vec<u8>,
    /// What the socket did not take yet, from `written` on.
    unsent: Vec<u8>,
    written: usize,
    /// Whether the server has nothing more to say: the socket is closed when everything is sent.
    pub ends: bool,
    /// The numbers of packets that came and of frames that were sent, and the peer, as `cons` tells them.
    received: usize,
    sent: usize,
    pub peer: Option<SocketAddr>,
}

/// What a client said.
#[derive(Debug)]
pub(crate) enum Said {
    /// The first packet of a connection.
    Hello(Up),
    /// Later ones.
    Packets(Vec<Up>),
    /// A four-letter word.
    Word([u8; LENGTH]),
}

impl Connection {
    /// A connection to a member.
    pub fn new(server: u8, peer: Option<SocketAddr>) -> Self {
        Connection {
            received: 0,
            sent: 0,
            peer,
            server,
            conn: None,
            client: None,
            in_flight: VecDeque::new(),
            early: VecDeque::new(),
            late: VecDeque::new(),
            late_until: 0,
            is_gone: false,
            is_greeted: false,
            codec: Codec::default(),
            read: Vec::new(),
            unsent: Vec::new(),
            written: 0,
            ends: false,
        }
    }

    /// Takes what the client has sent. After the last word of the server nothing is heard any more.
    pub fn take(&mut self, bytes: &[u8]) {
        if !self.ends {
            self.read.extend_from_slice(bytes);
        }
    }

    /// The next thing that the client said, if all of it is there.
    pub fn next(&mut self, paths: &mut Paths) -> Option<Said> {
        if self.is_greeted {
            let packets = self.packets(paths);
            return (!packets.is_empty()).then_some(Said::Packets(packets));
        }
        let first = *self.read.first_chunk::<LENGTH>()?;
        if words::is_word(first) {
            self.read.clear();
            return Some(Said::Word(first));
        }
        let (frame, end) = match frame(&self.read) {
            Frame::Whole(frame, end) => (frame, end),
            Frame::Partial => return None,
            Frame::TooLong => {
                self.is_greeted = true;
                self.read.clear();
                return Some(Said::Hello(Up::Unreadable));
            }
        };
        let hello = self.codec.hello(frame);
        self.is_greeted = true;
        self.received += 1;
        self.read.drain(..end);
        Some(Said::Hello(hello))
    }

    fn packets(&mut self, paths: &mut Paths) -> Vec<Up> {
        let (mut packets, mut at) = (Vec::new(), 0);
        loop {
            match frame(&self.read[at..]) {
                Frame::Whole(frame, end) => {
                    packets.push(self.codec.request(frame, paths));
                    at += end;
                }
                Frame::Partial => break,
                Frame::TooLong => {
                    packets.push(Up::Unreadable);
                    at = self.read.len();
                    break;
                }
            }
        }
        self.read.drain(..at);
        if self.read.is_empty() {
            self.read.shrink_to(KEPT);
        }
        self.received += packets.len();
        packets
    }

    /// A line about it, as `cons` and `stat` tell it.
    pub fn line(&self) -> String {
        let peer = self.peer.map_or_else(|| "unknown".to_owned(), |peer| peer.to_string());
        format!(" /{peer}[1](queued=0,recved={},sent={})\n", self.received, self.sent)
    }

    /// Queues a frame for the client.
    pub fn queue(&mut self, frame: &[u8]) {
        let length = u32::try_from(frame.len()).expect("a frame is shorter than 4 GiB");
        self.unsent.extend_from_slice(&length.to_be_bytes());
        self.unsent.extend_from_slice(frame);
        self.sent += 1;
    }

    /// Queues text, as the answer to a four-letter word.
    pub fn queue_text(&mut self, text: &str) {
        self.unsent.extend_from_slice(text.as_bytes());
    }

    /// What waits for the socket to take it.
    pub fn unsent(&self) -> &[u8] {
        &self.unsent[self.written..]
    }

    /// The socket has taken so many bytes of what waited.
    pub fn wrote(&mut self, bytes: usize) {
        self.written += bytes;
        if self.written == self.unsent.len() {
            self.unsent.clear();
            self.unsent.shrink_to(KEPT);
            self.written = 0;
        }
    }

    /// Whether the socket is to be closed: the last word is sent, or the client reads too slowly.
    pub fn is_over(&self) -> bool {
        let unsent = self.unsent().len();
        unsent > MOST_UNREAD || self.ends && unsent == 0
    }

    /// Takes out what the socket has not taken yet.
    pub fn take_unsent(&mut self) -> Vec<u8> {
        self.unsent.drain(..std::mem::take(&mut self.written));
        std::mem::take(&mut self.unsent)
    }
}

/// The beginning of what was read.
enum Frame<'a> {
    /// A frame, and where the next one begins.
    Whole(&'a [u8], usize),
    /// Not all of it is there.
    Partial,
    /// Longer than a frame may be, or shorter than nothing.
    TooLong,
}

fn frame(read: &[u8]) -> Frame<'_> {
    let Some(length) = read.first_chunk::<LENGTH>() else { return Frame::Partial };
    let length = u32::from_be_bytes(*length) as usize;
    if length > MAX_FRAME_BYTES {
        return Frame::TooLong;
    }
    match read.get(LENGTH..LENGTH + length) {
        Some(frame) => Frame::Whole(frame, LENGTH + length),
        None => Frame::Partial,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_frame_leaves_no_large_buffer() {
        let mut connection = Connection::new(0, None);
        let frame = vec![0; MAX_FRAME_BYTES];
        connection.take(&(MAX_FRAME_BYTES as u32).to_be_bytes());
        connection.take(&frame[1..]);
        assert!(connection.next(&mut Paths::default()).is_none(), "a byte is missing");
        connection.take(&frame[..1]);
        assert!(matches!(connection.next(&mut Paths::default()), Some(Said::Hello(Up::Connect { .. }))));
        connection.take(&[&(MAX_FRAME_BYTES as u32).to_be_bytes()[..], &frame].concat());
        assert!(
            matches!(connection.next(&mut Paths::default()), Some(Said::Packets(packets)) if packets.len() == 1)
        );
        connection.queue(&frame);
        connection.wrote(connection.unsent().len());
        assert!(connection.read.capacity() <= KEPT && connection.unsent.capacity() <= KEPT);
    }

    #[test]
    fn an_announced_length_allocates_nothing() {
        let mut connection = Connection::new(0, None);
        connection.take(&(MAX_FRAME_BYTES as u32).to_be_bytes());
        assert!(connection.next(&mut Paths::default()).is_none());
        assert!(connection.read.capacity() < 64);
        connection.take(&[0; 8]);
        let mut other = Connection::new(0, None);
        other.take(&(MAX_FRAME_BYTES as u32 + 1).to_be_bytes());
        assert!(matches!(other.next(&mut Paths::default()), Some(Said::Hello(Up::Unreadable))));
    }

    #[test]
    fn a_connection_that_ends_hears_nothing_more() {
        let mut connection = Connection::new(0, None);
        connection.take(b"ruok");
        assert!(matches!(connection.next(&mut Paths::default()), Some(Said::Word(_))));
        connection.ends = true;
        connection.take(b"ruokruok");
        assert!(connection.next(&mut Paths::default()).is_none());
    }
}
