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
use zk_protocol::wire::frame::{self, TooLong};
use zk_protocol::wire::jute::LENGTH_BYTES;
use zk_recipes::zk::SessionId;

/// The maximal number of unanswered requests of a connection: a real server reads no more at this number of outstanding
/// requests (`zookeeper.globalOutstandingLimit`).
const MOST_IN_FLIGHT: usize = 1000;

/// The capacity that an empty buffer keeps, in bytes, so that one large frame does not hold its size until the
/// connection ends.
const KEPT: usize = 64 << 10;

/// The four-letter words of a server (`FourLetterCommands`). Other first bytes are the length of a frame.
const KNOWN: [&[u8; 4]; 18] = [
    b"conf", b"cons", b"crst", b"dirs", b"dump", b"envi", b"gtmk", b"hash", b"isro", b"mntr", b"ruok",
    b"srst", b"srvr", b"stat", b"stmk", b"wchc", b"wchp", b"wchs",
];

/// Whether these bytes are a four-letter word. As the length of a frame they would exceed 1.6 GB.
fn is_word(first: [u8; 4]) -> bool {
    KNOWN.contains(&&first)
}

/// A client's connection.
pub(crate) struct Connection {
    /// Its member.
    pub server: u8,
    /// Its number in the world, once the connect request has arrived there.
    pub conn: Option<ConnId>,
    /// Its client, once the client has sent its connect request.
    pub client: Option<ClientId>,
    /// The client's unanswered requests, in order.
    pub in_flight: VecDeque<InFlight>,
    /// The size of its requests in flight and their answers, in bytes, and the number of its pings in flight.
    pub awaited: usize,
    pub pings: usize,
    /// Packets of the client that a partition holds back.
    pub early: VecDeque<Up>,
    /// Packets of the server that a partition or a delay holds back.
    pub late: VecDeque<Down>,
    /// The time until which a delayed reply holds back all later packets.
    pub late_until: u64,
    /// Whether the client has closed the connection while a partition hides this from the server.
    pub is_gone: bool,
    is_greeted: bool,
    pub codec: Codec,
    /// The bytes read; those from `parsed` on are unprocessed frames and a part of the last one.
    read: Vec<u8>,
    parsed: usize,
    /// The next request, while it waits for room for its answer.
    waiting: Option<SizedPacket>,
    outgoing: Outgoing,
    /// The length of a large frame that is being read, and for which room is reserved.
    reserved: usize,
    /// The memory that it counts for in the sum of all connections.
    pub counted: Held,
    /// The last time at which its client received or sent bytes, in microseconds.
    pub moved: u64,
    /// The time at which it is closed unless the client has sent its connect request, in microseconds.
    pub silent_until: u64,
    /// The last turn in which its requests were processed, and the number of requests that are left in that turn.
    pub turn: u64,
    pub share: usize,
    /// Whether processing stopped because the client has not read its answers.
    pub is_full: bool,
    /// Whether it is in the list of connections with waiting requests.
    pub is_listed: bool,
    /// Whether the server sends nothing more: the socket is closed when everything is sent.
    pub ends: bool,
    /// The data for `cons`: figures, the session with its timeout, and the time of accepting, both in microseconds.
    pub figures: Figures,
    pub session: Option<(SessionId, u64)>,
    pub established: u64,
    pub peer: Option<SocketAddr>,
}

/// A message of a client.
#[derive(Debug)]
pub(crate) enum Said {
    /// The connect request.
    Hello(Up),
    /// A later request.
    Request(SizedPacket),
    /// A four-letter word.
    Word([u8; LENGTH_BYTES]),
}

/// A packet from a client, with the length of its frame in bytes.
#[derive(Debug)]
pub(crate) struct SizedPacket {
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

    /// Takes bytes from the client. After the server's last packet they are ignored.
    pub fn take(&mut self, bytes: &[u8]) {
        if !self.ends {
            self.read.extend_from_slice(bytes);
        }
    }

    /// The next message of the client, if it is complete.
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
        Some(Said::Request(SizedPacket { packet, bytes }))
    }

    /// Puts back a request that has to wait.
    pub fn put_back(&mut self, asked: SizedPacket) {
        self.waiting = Some(asked);
    }

    fn unparsed(&self) -> &[u8] {
        &self.read[self.parsed..]
    }

    /// Frees the memory of processed frames.
    fn forget_parsed(&mut self) -> Option<Said> {
        self.read.drain(..std::mem::take(&mut self.parsed));
        if self.read.is_empty() {
            self.read.shrink_to(KEPT);
        }
        None
    }

    /// Whether the client has sent something that was not processed.
    pub fn has_more(&self) -> bool {
        self.waiting.is_some() || !matches!(frame::first(self.unparsed(), MAX_FRAME_BYTES), Ok(None))
    }

    /// Whether there is room for the next frame; reserves it if the frame is large.
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

    /// Whether another request may be processed.
    pub fn has_room(&self) -> bool {
        !self.ends
            && self.outgoing.len() + self.awaited < ROOM
            && self.in_flight.len() + self.pings < MOST_IN_FLIGHT
    }

    /// Its share of the memory of all connections.
    pub fn held(&self) -> Held {
        let waiting = self.waiting.as_ref().map_or(0, |asked| asked.bytes);
        Held {
            answers: self.awaited + self.outgoing.own(),
            frames: waiting + self.read.len().max(self.reserved),
        }
    }

    /// Whether the client has sent its connect request, or a four-letter word, after which nothing more is read.
    pub fn is_greeted(&self) -> bool {
        self.is_greeted || self.ends
    }

    /// Adds the paths of held requests. Returns `false` if answers are held, whose paths are not counted.
    pub fn paths(&self, used: &mut UsedPaths) -> bool {
        for packet in self.early.iter().chain(self.waiting.as_ref().map(|asked| &asked.packet)) {
            if let Up::Request { ask, .. } = packet {
                ask.paths(used);
            }
        }
        self.late.is_empty()
    }

    /// Whether its client keeps it from freeing memory: it has unread answers, or has sent a part of a frame.
    pub fn is_owed(&self) -> bool {
        !self.outgoing.is_empty() || self.waiting.is_none() && !self.unparsed().is_empty()
    }

    /// Its line in the answer to `cons`.
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

    /// Its line in the answer to `stat`.
    pub fn brief_line(&self, _: &Raw) -> String {
        self.head() + ")\n"
    }

    fn head(&self) -> String {
        // The interest set of its socket: none after a four-letter word, otherwise read, or read and write.
        let interest = match (self.ends, self.outgoing.is_empty()) {
            (true, _) => 0,
            (false, true) => 1,
            (false, false) => 5,
        };
        let figures = &self.figures;
        let (queued, received, sent) = (self.in_flight.len(), figures.received, figures.sent);
        format!(" /{}[{interest}](queued={queued},recved={received},sent={sent}", self.address())
    }

    /// Its line in the answer to `dump`.
    pub fn address_line(&self, _: &Raw) -> String {
        let session = self.session.map_or(SessionId(0), |(session, _)| session);
        format!("ip: /{} sessionId: {}", self.address(), text_of(session))
    }

    fn address(&self) -> String {
        self.peer.map_or_else(|| "unknown".to_owned(), |peer| peer.to_string())
    }

    /// Queues a packet for the client, and returns the length of its frame. The end of the stream ends the connection.
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

    /// The first queued bytes.
    pub fn unsent(&self) -> &[u8] {
        self.outgoing.first()
    }

    /// Removes that many bytes, which the socket has taken.
    pub fn wrote(&mut self, bytes: usize, memory: &mut Memory) {
        self.outgoing.wrote(bytes, memory);
    }

    /// Whether the socket is to be closed: everything is sent.
    pub fn is_over(&self) -> bool {
        self.ends && self.outgoing.is_empty()
    }

    /// Takes the bytes that the socket has not taken yet.
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
