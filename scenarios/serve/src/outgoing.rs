//! The queue of bytes for a client's socket. Large data of znodes stays shared with the tree until it is sent.

use crate::memory::Memory;
use sim_zk::message::Bytes;
use sim_zk::wire::{Frame, Piece};
use std::collections::VecDeque;

/// Small frames are merged up to this size, to save system calls, in bytes.
const TOGETHER: usize = 64 << 10;

/// Bytes for a socket, in order.
#[derive(Debug, Default)]
pub(crate) struct Outgoing {
    parts: VecDeque<Part>,
    /// The number of bytes of the first part that the socket has taken.
    written: usize,
    /// The number of bytes that it has not taken.
    left: usize,
    /// The bytes of memory that are not shared.
    own: usize,
}

#[derive(Debug)]
enum Part {
    Own(Vec<u8>),
    Shared(Bytes),
}

impl Part {
    fn bytes(&self) -> &[u8] {
        match self {
            Part::Own(bytes) => bytes,
            Part::Shared(data) => data,
        }
    }
}

impl Outgoing {
    /// Queues a frame, preceded by its length.
    pub fn push_frame(&mut self, frame: &Frame, memory: &mut Memory) {
        let length = u32::try_from(frame.length()).expect("a longer answer is refused before it is made");
        if let Some(whole) = frame.whole() {
            return self.push_both(&length.to_be_bytes(), whole);
        }
        self.push(&length.to_be_bytes());
        for piece in frame.pieces() {
            match piece {
                Piece::Own(bytes) => self.push(bytes),
                Piece::Shared(data) => {
                    memory.share(data);
                    self.left += data.len();
                    self.parts.push_back(Part::Shared(data.clone()));
                }
            }
        }
    }

    /// Queues bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        self.push_both(bytes, &[]);
    }

    fn push_both(&mut self, bytes: &[u8], more: &[u8]) {
        let length = bytes.len() + more.len();
        self.left += length;
        self.own += length;
        match self.parts.back_mut() {
            Some(Part::Own(last)) if last.len() + length <= TOGETHER => {
                last.extend_from_slice(bytes);
                last.extend_from_slice(more);
            }
            _ => self.parts.push_back(Part::Own([bytes, more].concat())),
        }
    }

    /// The first bytes that the socket has not taken; empty if there are none.
    pub fn first(&self) -> &[u8] {
        self.parts.front().map_or(&[], |part| &part.bytes()[self.written..])
    }

    /// Removes that many bytes, which the socket has taken.
    pub fn wrote(&mut self, bytes: usize, memory: &mut Memory) {
        self.written += bytes;
        self.left -= bytes;
        while let Some(part) = self.parts.pop_front_if(|part| part.bytes().len() <= self.written) {
            self.written = 0;
            self.give_back(&part, memory);
        }
    }

    fn give_back(&mut self, part: &Part, memory: &mut Memory) {
        match part {
            Part::Own(bytes) => self.own -= bytes.len(),
            Part::Shared(data) => memory.unshare(data),
        }
    }

    /// Stops counting its data, since its connection has ended.
    pub fn detach(&mut self, memory: &mut Memory) {
        for part in &self.parts {
            if let Part::Shared(data) = part {
                memory.unshare(data);
            }
        }
    }

    /// All bytes that the socket has not taken, in pieces.
    pub fn rest(&self) -> impl Iterator<Item = &[u8]> {
        let first = std::iter::once(self.first());
        first.chain(self.parts.iter().skip(1).map(Part::bytes))
    }

    /// The number of bytes that the socket has not taken.
    pub fn len(&self) -> usize {
        self.left
    }

    /// Whether the socket has taken everything.
    pub fn is_empty(&self) -> bool {
        self.left == 0
    }

    /// The bytes of memory that are not shared.
    pub fn own(&self) -> usize {
        self.own
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_zk::message::{Answer, Down};
    use sim_zk::paths::Paths;
    use sim_zk::wire::Codec;
    use zk_protocol::wire::frame;
    use zk_recipes::zk::Stat;

    #[test]
    fn data_is_shared_and_given_back_and_the_bytes_are_those_of_the_frame() {
        let (mut outgoing, mut memory) = (Outgoing::default(), Memory::default());
        let data: Bytes = vec![7; 100_000].into();
        let answer = Answer::Data(Some(data.clone()), Stat::default());
        let down = Down::Reply { xid: 1, zxid: 2, result: Ok(answer) };
        let frame = Codec::default().frame_in_pieces(&down, &Paths::default()).expect("it is a frame");
        outgoing.push_frame(&frame, &mut memory);
        outgoing.push_frame(&frame, &mut memory);
        assert!(outgoing.own() < 500, "{}", outgoing.own());
        assert_eq!(memory.held(), data.len(), "both are the same data");
        let mut bytes = Vec::new();
        while !outgoing.is_empty() {
            let taken = outgoing.first().len().min(30_001);
            bytes.extend_from_slice(&outgoing.first()[..taken]);
            outgoing.wrote(taken, &mut memory);
        }
        let whole = frame.into_bytes();
        let framed = frame::of(&whole);
        assert_eq!(bytes, [&framed[..], &framed].concat());
        assert_eq!((outgoing.own(), memory.held()), (0, 0));
    }
}
