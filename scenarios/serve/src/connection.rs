//! A client's connection without its socket: bytes in, frames out.

use crate::clients::{ClientId, InFlight, text_of};
use crate::figures::Figures;
use crate::memory::{Held, Memory, ROOM, SMALL};
use crate::outgoing::Outgoing;
use sim_zk::message::{ConnId, Down, Up};
use sim_zk::paths::{Paths, UsedPaths};
use sim_zk::raw::Raw;
use sim_zk::wire::{Codec, MAX_FRAME_BYTES};
use std::collections::VecDeque;
use std::fmt::Write;
use std::net::SocketAddr;
use zk_recipes::wire::frame::{self, TooLong};
use zk_recipes::wire::jute::LENGTH_BYTES;
use zk_recipes::zk::SessionId;

/// The most requests of a connection that the ensemble has not answered: as many as a server has outstanding before it reads no
/// more (`zookeeper.globalOutstandingLimit`).
const MOST_IN_FLIGHT: usize = 1000;

/// The room that a buffer keeps when it is empty, in bytes: one large frame is not to cost its size until the connection ends.
const KEPT: usize = 64 << 10;

/// The words that a server knows (`FourLetterCommands`). Anything else is the length of a frame.
const KNOWN: [&[u8; 4]; 18] = [
    b"conf", b"cons", b"crst", b"dirs", b"dump", b"envi", b"gtmk", b"hash", b"isro", b"mntr", b"ruok",
    b"srst", b"srvr", b"stat", b"stmk", b"wchc", b"wchp", b"wchs",
];

/// Whether these bytes are a word, and not the length of a frame: they would be a frame of more than 1.6 GB.
fn is_word(first: [u8; 4]) -> bool {
    KNOWN.contains(&&first)
}

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
    /// What its requests in flight and their answers take, in bytes, and the number of its pings in flight.
    pub awaited: usize,
    pub pings: usize,
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
    /// What was read, from `parsed` on: frames that have not been handed on, and a part of the last one.
    read: Vec<u8>,
    parsed: usize,
    /// The next request, until there is room for its answer.
    waiting: Option<Asked>,
    outgoing: Outgoing,
    /// The length of a large frame for which there was room, while it is being read.
    reserved: usize,
    /// How much of the memory of all connections it has been counted for.
    pub counted: Held,
    /// When its client last took or sent something, in microseconds.
    pub moved: u64,
    /// When it is closed unless it has said hello, in microseconds.
    pub silent_until: u64,
    /// The last turn in which it was heard, and how many requests it may still hand on in that turn.
    pub turn: u64,
    pub share: usize,
    /// Whether it was heard no further because it has not taken its answers.
    pub is_full: bool,
    /// Whether it is listed among those whose requests wait.
    pub is_listed: bool,
    /// Whether the server has nothing more to say: the socket is closed when everything is sent.
    pub ends: bool,
    /// What `cons` tells of it: figures, the session and its timeout, the time at which it was accepted, both times in microseconds.
    pub figures: Figures,
    pub session: Option<(SessionId, u64)>,
    pub established: u64,
    pub peer: Option<SocketAddr>,
}

/// What a client said.
#[derive(Debug)]
pub(crate) enum Said {
    /// The first packet of a connection.
    Hello(Up),
    /// A later one.
    Request(Asked),
    /// A four-letter word.
    Word([u8; LENGTH_BYTES]),
}

/// A packet from a client, with the length of its frame in bytes.
#[derive(Debug)]
pub(crate) struct Asked {
    pub packet: Up,
    pub bytes: usize,
}

impl Connection {
    /// A connection to a member.
    pub fn new(server: u8, peer: Option<SocketAddr>) -> Self {
        Connection {
            figures: Figures::default(),
            session: None,
            established: 0,
            peer,
            server,
            conn: None,
            client: None,
            in_flight: VecDeque::new(),
            awaited: 0,
            pings: 0,
            early: VecDeque::new(),
            late: VecDeque::new(),
            late_until: 0,
            is_gone: false,
            is_greeted: false,
            codec: Codec::default(),
            read: Vec::new(),
            parsed: 0,
            waiting: None,
            outgoing: Outgoing::default(),
            reserved: 0,
            counted: Held::default(),
            moved: 0,
            silent_until: 0,
            turn: 0,
            share: 0,
            is_full: false,
            is_listed: false,
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
        if let Some(asked) = self.waiting.take() {
            return Some(Said::Request(asked));
        }
        if !self.is_greeted
            && let Some(first) = self.unparsed().first_chunk::<LENGTH_BYTES>()
            && is_word(*first)
        {
            let word = *first;
            self.read.clear();
            self.figures.received += 1;
            return Some(Said::Word(word));
        }
        let (frame, bytes) = match frame::first(&self.read[self.parsed..], MAX_FRAME_BYTES) {
            Ok(Some(frame)) => (Some(frame), LENGTH_BYTES + frame.len()),
            Ok(None) => return self.forget_parsed(),
            Err(TooLong(_)) => (None, self.read.len() - self.parsed),
        };
        let packet = match frame {
            None => Up::Unreadable,
            Some(frame) if self.is_greeted => self.codec.request(frame, paths),
            Some(frame) => self.codec.hello(frame),
        };
        self.parsed += bytes;
        self.reserved = 0;
        self.figures.received += 1;
        if !std::mem::replace(&mut self.is_greeted, true) {
            return Some(Said::Hello(packet));
        }
        Some(Said::Request(Asked { packet, bytes }))
    }

    /// Puts a request back for which there is no room.
    pub fn put_back(&mut self, asked: Asked) {
        self.waiting = Some(asked);
    }

    fn unparsed(&self) -> &[u8] {
        &self.read[self.parsed..]
    }

    /// Frees the room of frames that were handed on.
    fn forget_parsed(&mut self) -> Option<Said> {
        self.read.drain(..std::mem::take(&mut self.parsed));
        if self.read.is_empty() {
            self.read.shrink_to(KEPT);
        }
        None
    }

    /// Whether the client has said something that was not handed on.
    pub fn has_more(&self) -> bool {
        self.waiting.is_some() || !matches!(frame::first(self.unparsed(), MAX_FRAME_BYTES), Ok(None))
    }

    /// Whether there is room for the next frame, which it reserves if that is large.
    pub fn takes_large(&mut self, memory: &Memory) -> bool {
        let unparsed = self.unparsed();
        if unparsed.len() < SMALL || self.reserved > 0 {
            return true;
        }
        let length = frame::length(unparsed, MAX_FRAME_BYTES).ok().flatten().unwrap_or(0);
        if !memory.takes(length) {
            return false;
        }
        self.reserved = length;
        true
    }

    /// Whether another request may be handed on.
    pub fn has_room(&self) -> bool {
        !self.ends
            && self.outgoing.len() + self.awaited < ROOM
            && self.in_flight.len() + self.pings < MOST_IN_FLIGHT
    }

    /// What it holds of the memory of all connections.
    pub fn held(&self) -> Held {
        let waiting = self.waiting.as_ref().map_or(0, |asked| asked.bytes);
        Held {
            answers: self.awaited + self.outgoing.own(),
            frames: waiting + self.read.len().max(self.reserved),
        }
    }

    /// Whether the client has said hello, or something else that no more is heard after.
    pub fn is_greeted(&self) -> bool {
        self.is_greeted || self.ends
    }

    /// Adds the paths that it speaks of. `false`: it keeps answers back, whose paths nobody counts.
    pub fn paths(&self, used: &mut UsedPaths) -> bool {
        for packet in self.early.iter().chain(self.waiting.as_ref().map(|asked| &asked.packet)) {
            if let Up::Request { ask, .. } = packet {
                ask.paths(used);
            }
        }
        self.late.is_empty()
    }

    /// Whether its client keeps it from giving memory back.
    pub fn is_owed(&self) -> bool {
        !self.outgoing.is_empty() || self.waiting.is_none() && !self.unparsed().is_empty()
    }

    /// A line about it, as `cons` tells it.
    pub fn line(&self, raw: &Raw) -> String {
        let mut line = self.head();
        if let Some((session, timeout)) = self.session {
            let (figures, began) = (&self.figures, raw.world().config().wall_clock_ms);
            let established = began + (self.established / 1000) as i64;
            let _ = write!(line, ",sid={},lop={},est={established}", text_of(session), figures.last_op);
            let _ = write!(line, ",to={}", timeout / 1000);
            if let Some(xid) = figures.last_xid {
                let _ = write!(line, ",lcxid={xid:#x}");
            }
            let latencies = &figures.latencies;
            let _ = write!(
                line,
                ",lzxid={:#x},lresp={},llat={},minlat={},avglat={},maxlat={}",
                figures.last_zxid,
                figures.last_at,
                latencies.last,
                latencies.min(),
                latencies.whole_average(),
                latencies.max,
            );
        }
        line + ")\n"
    }

    /// The same, as `stat` tells it.
    pub fn brief_line(&self, _: &Raw) -> String {
        self.head() + ")\n"
    }

    fn head(&self) -> String {
        // What its socket is watched for: nothing once it has said a word, to be read, or to be read and written.
        let interest = match (self.ends, self.outgoing.is_empty()) {
            (true, _) => 0,
            (false, true) => 1,
            (false, false) => 5,
        };
        let figures = &self.figures;
        let (queued, received, sent) = (self.in_flight.len(), figures.received, figures.sent);
        format!(" /{}[{interest}](queued={queued},recved={received},sent={sent}", self.address())
    }

    /// The same, as `dump` tells it.
    pub fn address_line(&self, _: &Raw) -> String {
        let session = self.session.map_or(SessionId(0), |(session, _)| session);
        format!("ip: /{} sessionId: {}", self.address(), text_of(session))
    }

    fn address(&self) -> String {
        self.peer.map_or_else(|| "unknown".to_owned(), |peer| peer.to_string())
    }

    /// Queues a packet for the client; the end of the stream is that of the connection.
    /// Returns the length of its frame.
    pub fn queue(&mut self, down: &Down, paths: &Paths, memory: &mut Memory) -> Option<usize> {
        let Some(frame) = self.codec.frame_in_pieces(down, paths) else {
            self.ends = true;
            return None;
        };
        self.outgoing.push_frame(&frame, memory);
        self.figures.sent += 1;
        Some(frame.length())
    }

    /// Queues text, as the answer to a four-letter word.
    pub fn queue_text(&mut self, text: &str) {
        self.outgoing.push(text.as_bytes());
    }

    /// The first bytes that wait for the socket to take them.
    pub fn unsent(&self) -> &[u8] {
        self.outgoing.first()
    }

    /// The socket has taken so many bytes of what waited.
    pub fn wrote(&mut self, bytes: usize, memory: &mut Memory) {
        self.outgoing.wrote(bytes, memory);
    }

    /// Whether the socket is to be closed: the last word is sent.
    pub fn is_over(&self) -> bool {
        self.ends && self.outgoing.is_empty()
    }

    /// Takes out what the socket has not taken yet.
    pub fn take_outgoing(&mut self) -> Outgoing {
        std::mem::take(&mut self.outgoing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn connection() -> (Connection, Paths, Memory) {
        (Connection::new(0, None), Paths::default(), Memory::default())
    }

    #[test]
    fn a_large_frame_leaves_no_large_buffer() {
        let (mut connection, mut paths, _) = connection();
        let frame = vec![0; MAX_FRAME_BYTES];
        connection.take(&(MAX_FRAME_BYTES as u32).to_be_bytes());
        connection.take(&frame[1..]);
        assert!(connection.next(&mut paths).is_none(), "a byte is missing");
        connection.take(&frame[..1]);
        assert!(matches!(connection.next(&mut paths), Some(Said::Hello(Up::Connect { .. }))));
        connection.take(&[&(MAX_FRAME_BYTES as u32).to_be_bytes()[..], &frame].concat());
        assert!(matches!(connection.next(&mut paths), Some(Said::Request(_))));
        assert!(connection.next(&mut paths).is_none());
        assert!(connection.read.capacity() <= KEPT);
    }

    #[test]
    fn an_announced_length_allocates_nothing() {
        let (mut connection, mut paths, _) = connection();
        connection.take(&(MAX_FRAME_BYTES as u32).to_be_bytes());
        assert!(connection.next(&mut paths).is_none());
        assert!(connection.read.capacity() < 64);
        connection.take(&[0; 8]);
        let mut other = Connection::new(0, None);
        other.take(&(MAX_FRAME_BYTES as u32 + 1).to_be_bytes());
        assert!(matches!(other.next(&mut paths), Some(Said::Hello(Up::Unreadable))));
    }

    #[test]
    fn a_connection_that_ends_hears_nothing_more() {
        let (mut connection, mut paths, _) = connection();
        connection.take(b"ruok");
        assert!(matches!(connection.next(&mut paths), Some(Said::Word(_))));
        connection.ends = true;
        connection.take(b"ruokruok");
        assert!(connection.next(&mut paths).is_none());
    }
}
