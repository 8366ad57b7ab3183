//! Fair scheduling of connections.
//!
//! 1. Process: handle a client's messages frame by frame, while there is room for the answers and its share lasts.
//! 2. Wait: a client without a share left waits for the next turn, behind those already waiting. A client that has not
//!    read its answers waits until it does, and its socket is not read meanwhile.
//! 3. Relieve: while clients wait for memory, close idle connections that hold some.

use super::{Front, Timer};
use crate::connection::{Connection, Said, SizedPacket};
use crate::figures::Figures;
use crate::memory::{MOST, MOST_MADE, PATIENCE, SMALL};
use crate::words::MemberFacts;
use sim_zk::ReplySize;
use sim_zk::message::Up;
use sim_zk::wire::MAX_FRAME_BYTES;
use std::collections::{BTreeSet, VecDeque};

/// The approximate number of requests of all clients in one turn.
const AT_ONCE: usize = 4096;

/// The minimal and maximal share of one client.
const SHARE: (usize, usize) = (8, 1000);

/// The approximate size of large requests and answers in one turn, in bytes. It bounds the wait of a small request.
const LARGE_AT_ONCE: usize = 1 << 20;

/// The longest frame that a four-byte length can announce.
const LONGEST: usize = i32::MAX as usize;

/// The period of checks for clients that wait too long for memory, in microseconds.
const RELIEF: u64 = 100_000;

/// How long a connection without a session may be silent (`zookeeper.nio.sessionlessCnxnTimeout`), in microseconds. It
/// is closed at the next multiple of that time.
const SILENCE: u64 = 10_000_000;

/// The turns of the connections.
#[derive(Default)]
pub(super) struct Turns {
    number: u64,
    /// The number of requests that a client may send in this turn.
    share: usize,
    /// The number of clients that have sent any in this turn.
    active: usize,
    /// The bytes that are left for large ones in this turn.
    large: usize,
    /// Connections whose next request waits for a turn, or for memory.
    waiting: VecDeque<usize>,
    /// Whether one of them may be answered in the next turn.
    is_due: bool,
    /// Whether one of them waits for memory.
    is_starved: bool,
    /// Connections with a large frame for which there was no room.
    parched: BTreeSet<usize>,
    /// Connections whose sockets may be read again.
    thirsty: Vec<usize>,
}

/// Why processing of a client stops.
enum Pause {
    /// It has sent nothing more.
    Silent,
    /// It has not read its answers.
    Room,
    /// Its share is used up.
    Turn,
    /// All clients together hold too much memory.
    Memory,
}

impl Front {
    /// Takes bytes from a client, and processes its messages.
    pub fn receive(&mut self, number: usize, bytes: &[u8]) {
        let now = self.raw.now();
        let Some(connection) = self.connection(number) else { return };
        connection.take(bytes);
        connection.moved = now;
        connection.silent_until = silence_from(now);
        self.hear(number);
    }

    /// Begins a turn, in which every client has a share.
    pub(super) fn begin_turn(&mut self) {
        let turns = &mut self.turns;
        let claimants = turns.active.max(turns.waiting.len()).max(1);
        turns.number += 1;
        turns.share = (AT_ONCE / claimants).clamp(SHARE.0, SHARE.1);
        (turns.large, turns.active, turns.is_due, turns.is_starved) = (LARGE_AT_ONCE, 0, false, false);
    }

    /// Processes the waiting connections.
    pub(super) fn take_turns(&mut self) {
        for number in std::mem::take(&mut self.turns.waiting) {
            if let Some(connection) = &mut self.connections[number] {
                connection.is_listed = false;
                self.hear(number);
            }
        }
        self.relieve();
        if self.memory.takes(MAX_FRAME_BYTES) {
            self.turns.thirsty.extend(std::mem::take(&mut self.turns.parched));
        }
    }

    /// The time of the next turn, if a connection waits for one.
    pub(super) fn turn_due(&self) -> Option<u64> {
        let turns = &self.turns;
        if turns.is_due || turns.is_starved && self.memory.has_room() {
            return Some(self.raw.now());
        }
        (turns.is_starved || !turns.parched.is_empty()).then(|| self.raw.now() + RELIEF)
    }

    /// Processes a client's messages.
    fn hear(&mut self, number: usize) {
        let mut leaving = Vec::with_capacity(16);
        let pause = loop {
            let Some(connection) = &mut self.connections[number] else { return };
            if connection.turn != self.turns.number {
                (connection.turn, connection.share) = (self.turns.number, self.turns.share);
                self.turns.active += 1;
            }
            if !connection.has_room() {
                break Pause::Room;
            }
            let Some(said) = connection.next(self.raw.paths()) else { break Pause::Silent };
            let mut asked = match said {
                Said::Hello(hello) => {
                    self.figures[usize::from(connection.server)].received += 1;
                    self.greet(number, hello);
                    continue;
                }
                Said::Word(word) => {
                    self.answer_word(number, word);
                    continue;
                }
                Said::Request(asked) => asked,
            };
            let bytes = match self.admit(number, &mut asked) {
                Ok(bytes) => bytes,
                Err(pause) => {
                    if let Some(connection) = &mut self.connections[number] {
                        connection.put_back(asked);
                    }
                    break pause;
                }
            };
            if !self.sets_out(number, &mut asked.packet, bytes, &mut leaving) {
                self.leave(number, leaving);
                return self.break_off(number);
            }
        };
        self.leave(number, leaving);
        self.pause(number, &pause);
        self.settle(number);
    }

    fn pause(&mut self, number: usize, pause: &Pause) {
        match pause {
            Pause::Silent => self.turns.thirsty.push(number),
            Pause::Room => {
                if let Some(connection) = &mut self.connections[number] {
                    connection.is_full = true;
                }
            }
            Pause::Turn => {
                self.turns.is_due = true;
                self.list(number);
            }
            Pause::Memory => {
                self.turns.is_starved = true;
                self.list(number);
            }
        }
    }

    fn list(&mut self, number: usize) {
        let Some(connection) = &mut self.connections[number] else { return };
        if !std::mem::replace(&mut connection.is_listed, true) {
            self.turns.waiting.push_back(number);
        }
    }

    /// Admits a request if the client has a share left and there is room for the answer. Returns the size of both, in
    /// bytes.
    fn admit(&mut self, number: usize, asked: &mut SizedPacket) -> Result<usize, Pause> {
        let connection = self.connections[number].as_mut().expect("it has just been heard");
        let size = match (&asked.packet, connection.conn) {
            (Up::Request { ask, .. }, Some(conn)) => self.raw.world().reply_size(conn, ask, MOST_MADE),
            _ => ReplySize::SMALL,
        };
        let bytes = asked.bytes + size.total();
        let pause = if connection.share == 0 {
            Some(Pause::Turn)
        } else if size.made > MOST_MADE || size.total() > LONGEST {
            // The server does not build such an answer, and closes the connection.
            asked.packet = Up::Unreadable;
            return Ok(SMALL);
        } else if bytes <= SMALL {
            None
        } else if size.total() > SMALL && !self.memory.has_room() {
            Some(Pause::Memory)
        } else if self.turns.large == 0 {
            Some(Pause::Turn)
        } else {
            self.turns.large = self.turns.large.saturating_sub(bytes);
            None
        };
        if let Some(pause) = pause {
            return Err(pause);
        }
        connection.share -= 1;
        self.figures[usize::from(connection.server)].received += 1;
        Ok(bytes)
    }

    fn answer_word(&mut self, number: usize, word: [u8; 4]) {
        let Some(connection) = &mut self.connections[number] else { return };
        connection.ends = true;
        let server = connection.server;
        let figures = &mut self.figures[usize::from(server)];
        figures.received += 1;
        if word == *b"srst" {
            *figures = Figures::default();
        }
        let of_member = self.connections.iter().flatten().filter(|of| of.server == server);
        let told = MemberFacts {
            server,
            raw: &self.raw,
            connections: of_member.map(|of| (of, expiry(of))).collect(),
            figures: &self.figures[usize::from(server)],
            address: self.addresses.get(usize::from(server)).copied(),
        };
        let text = told.answer(word);
        if word == *b"crst" {
            let all = self.connections.iter_mut().flatten().filter(|of| of.server == server);
            all.for_each(|of| of.figures = Figures::default());
        }
        self.figures[usize::from(server)].sent += 1;
        if let Some(connection) = &mut self.connections[number] {
            connection.queue_text(&text);
        }
        self.outgoing.push(number);
    }

    // ── sockets ──

    /// Whether to read the socket of a connection.
    pub fn wants(&mut self, number: usize) -> bool {
        let Some(connection) = self.connections.get_mut(number).and_then(Option::as_mut) else {
            return false;
        };
        if connection.is_gone || connection.has_more() {
            return false;
        }
        if connection.takes_large(&self.memory) {
            self.settle(number);
            return true;
        }
        self.turns.parched.insert(number);
        false
    }

    /// Takes the connections whose sockets may be read again.
    pub fn take_thirsty(&mut self) -> Vec<usize> {
        std::mem::take(&mut self.turns.thirsty)
    }

    /// The socket of a connection has taken that many queued bytes.
    pub fn wrote(&mut self, number: usize, bytes: usize) {
        let now = self.raw.now();
        let Some(connection) = &mut self.connections[number] else { return };
        connection.wrote(bytes, &mut self.memory);
        connection.moved = now;
        self.look_again(number);
    }

    /// Resumes a client that has waited for room, if there is room.
    pub(super) fn look_again(&mut self, number: usize) {
        self.settle(number);
        let Some(connection) = &mut self.connections[number] else { return };
        if !connection.is_full || !connection.has_room() {
            return;
        }
        connection.is_full = false;
        if connection.has_more() {
            self.turns.is_due = true;
            self.list(number);
        } else {
            self.turns.thirsty.push(number);
        }
    }

    fn settle(&mut self, number: usize) {
        if let Some(connection) = &mut self.connections[number] {
            let held = connection.held();
            self.memory.settle(&mut connection.counted, held);
        }
    }

    // ── ends ──

    /// Closes idle connections while others wait for the memory that they hold, and connections that hold far too much.
    fn relieve(&mut self) {
        let now = self.raw.now();
        while self.memory.held() > MOST {
            let all = self.connections.iter().enumerate();
            let most = all.filter_map(|(number, of)| Some((of.as_ref()?.counted.total(), number))).max();
            let Some((1.., number)) = most else { return };
            self.hang_up(number);
        }
        if !self.turns.is_starved && self.turns.parched.is_empty() || now < self.relieved + RELIEF {
            return;
        }
        self.relieved = now;
        let all = self.connections.iter().enumerate();
        let rests = all.filter_map(|(number, of)| {
            let of = of.as_ref().filter(|of| of.is_owed() && of.moved + PATIENCE < now)?;
            (!self.turns.parched.contains(&number)).then_some((of.moved, number))
        });
        if let Some((_, number)) = rests.min() {
            self.hang_up(number);
        }
    }

    /// Closes a connection that has been silent for too long before it has a session.
    pub(super) fn silence(&mut self, number: usize) {
        let Some(connection) = self.connections.get(number).and_then(Option::as_ref) else { return };
        if connection.is_greeted() {
            return;
        }
        let is_stopped = self.raw.world().is_stopped(connection.server);
        // A paused server closes nothing.
        let until = if is_stopped { silence_from(self.raw.now()) } else { connection.silent_until };
        if until <= self.raw.now() {
            return self.hang_up(number);
        }
        self.timers.insert((until, Timer::Silent(number)));
    }
}

/// The time at which a server closes a silent connection.
fn expiry(connection: &Connection) -> u64 {
    let timeout = connection.session.map(|(_, timeout)| timeout);
    timeout.map_or(connection.silent_until, |timeout| round_up(connection.moved + timeout))
}

/// The time at which a connection is closed that is silent from now on (`ExpiryQueue.roundToNextInterval`).
pub(super) fn silence_from(now: u64) -> u64 {
    round_up(now + SILENCE)
}

fn round_up(time: u64) -> u64 {
    (time / SILENCE + 1) * SILENCE
}
