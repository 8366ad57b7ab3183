//! The memory of connections: partial frames, pending requests, and unread answers.
//!
//! 1. Each connection holds little more than [`ROOM`]: above it, its further requests wait.
//! 2. While all answers together take more than [`PLENTY`], large ones wait. While all frames together do, another
//!    large frame is not read beyond its first bytes.
//! 3. While any wait, a connection that has been idle for [`PATIENCE`] is closed, the longest idle first.
//! 4. Above [`MOST`] the connection that holds most is closed at once, since notifications cannot wait.

use sim_zk::message::Bytes;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The memory of a connection above which its requests wait, in bytes.
pub(crate) const ROOM: usize = 256 << 10;

/// Frames and answers up to this size never wait for memory, in bytes.
pub(crate) const SMALL: usize = 4 << 10;

/// The size of all answers, or of all frames, above which large ones wait, in bytes.
pub(crate) const PLENTY: usize = 32 << 20;

/// The maximal memory of all connections, in bytes.
pub(crate) const MOST: usize = 96 << 20;

/// How long a client may be idle while others wait for its memory, in microseconds.
pub(crate) const PATIENCE: u64 = 2_000_000;

/// The longest list that is built for an answer, in bytes. Data of znodes is shared, and does not count.
pub(crate) const MOST_MADE: usize = 32 << 20;

/// The memory of all connections, in bytes.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    /// Pending requests, and answers that were not read.
    answers: usize,
    /// Frames that were read and not processed, and reserved room for a frame that is being read.
    frames: usize,
    /// The number of times that data of a znode is queued, by its address: it counts once.
    shared: BTreeMap<usize, usize>,
}

/// The memory of one connection, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Held {
    pub answers: usize,
    pub frames: usize,
}

impl Held {
    pub fn total(self) -> usize {
        self.answers + self.frames
    }
}

impl Memory {
    /// The bytes that are held.
    pub fn held(&self) -> usize {
        self.answers + self.frames
    }

    /// Whether there is room for a large answer.
    pub fn has_room(&self) -> bool {
        self.answers < PLENTY
    }

    /// Whether there is room for a frame of that length.
    pub fn takes(&self, frame: usize) -> bool {
        self.frames + frame <= PLENTY
    }

    /// Replaces the memory that a connection has counted for by its present memory.
    pub fn settle(&mut self, counted: &mut Held, held: Held) {
        self.answers = self.answers + held.answers - counted.answers;
        self.frames = self.frames + held.frames - counted.frames;
        *counted = held;
    }

    /// Counts data that is queued once more.
    pub fn share(&mut self, data: &Bytes) {
        let times = self.shared.entry(address(data)).or_insert(0);
        *times += 1;
        if *times == 1 {
            self.answers += data.len();
        }
    }

    /// Counts data that is queued once less.
    pub fn unshare(&mut self, data: &Bytes) {
        let times = self.shared.get_mut(&address(data)).expect("it was shared");
        *times -= 1;
        if *times == 0 {
            self.shared.remove(&address(data));
            self.answers -= data.len();
        }
    }
}

fn address(data: &Bytes) -> usize {
    Arc::as_ptr(data).addr()
}
