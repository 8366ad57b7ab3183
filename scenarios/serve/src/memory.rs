//! The memory that connections hold: what clients have sent in part, what they have asked, and what they have not read.
//!
//! 1. Each connection holds little more than [`ROOM`]: nothing more is asked of the world for it until it holds less.
//! 2. While all answers together take more than [`PLENTY`], those that are not small wait; while all frames together do, another
//!    large one is not read beyond its first bytes.
//! 3. While any wait, a connection that takes nothing and sends nothing for [`PATIENCE`] is closed, the one that rests longest first.
//! 4. Above [`MOST`] the connection that holds most is closed at once: notifications wait for nobody.

use sim_zk::message::Bytes;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What a connection holds before nothing more is asked for it, in bytes.
pub(crate) const ROOM: usize = 256 << 10;

/// Frames and answers of this size never wait for the memory of others, in bytes.
pub(crate) const SMALL: usize = 4 << 10;

/// What all answers, or all frames, take before large ones wait, in bytes.
pub(crate) const PLENTY: usize = 32 << 20;

/// What all connections hold at most, in bytes.
pub(crate) const MOST: usize = 96 << 20;

/// How long a client may rest while others wait for what it holds, in microseconds.
pub(crate) const PATIENCE: u64 = 2_000_000;

/// The longest list that is made as an answer, in bytes. Data of znodes is shared, and does not count.
pub(crate) const MOST_MADE: usize = 32 << 20;

/// The sum of what all connections hold, in bytes.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    /// What was asked, and what was answered and not taken.
    answers: usize,
    /// What was read and not handed on, or is reserved for a frame that is being read.
    frames: usize,
    /// How often data of znodes is queued, by its address: it counts once.
    shared: BTreeMap<usize, usize>,
}

/// What a connection holds, in bytes.
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

    /// Whether there is room for an answer that is not small.
    pub fn has_room(&self) -> bool {
        self.answers < PLENTY
    }

    /// Whether there is room for a frame of that length.
    pub fn takes(&self, frame: usize) -> bool {
        self.frames + frame <= PLENTY
    }

    /// A connection that has counted for `counted` holds that much now.
    pub fn settle(&mut self, counted: &mut Held, held: Held) {
        self.answers = self.answers + held.answers - counted.answers;
        self.frames = self.frames + held.frames - counted.frames;
        *counted = held;
    }

    /// Data is queued once more.
    pub fn share(&mut self, data: &Bytes) {
        let times = self.shared.entry(address(data)).or_insert(0);
        *times += 1;
        if *times == 1 {
            self.answers += data.len();
        }
    }

    /// Data is queued once less.
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
