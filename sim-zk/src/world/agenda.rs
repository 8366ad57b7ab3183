//! What is to happen, by time.
//!
//! An entry is a reminder, not the thing itself: whoever takes it off looks whether it still holds. So nothing that is
//! put off or called off has to be searched for.

use super::Step;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A reminder. Among those of one time the order decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Entry {
    pub due: u64,
    pub order: u64,
    pub step: Step,
}

/// Reminders, the earliest first.
#[derive(Clone, Debug, Default)]
pub(super) struct Agenda {
    heap: BinaryHeap<Reverse<Entry>>,
}

impl Agenda {
    pub(super) fn push(&mut self, due: u64, order: u64, step: Step) {
        self.heap.push(Reverse(Entry { due, order, step }));
    }

    pub(super) fn first(&self) -> Option<Entry> {
        self.heap.peek().map(|entry| entry.0)
    }

    pub(super) fn pop(&mut self) -> Option<Entry> {
        self.heap.pop().map(|entry| entry.0)
    }
}

/// Where things rank among those of the same instant, beside the packets, which rank by their sequence numbers.
pub(super) mod rank {
    /// The end of a fault comes before everything.
    pub(in super::super) const MEND: u64 = 0;
    const LATE: u64 = 1 << 63;
    /// A client's own timers come after the packets.
    pub(in super::super) const TIMER: u64 = LATE;
    pub(in super::super) const ALARM: u64 = LATE + (1 << 32);
    pub(in super::super) const SERVER: u64 = LATE + (2 << 32);
    pub(in super::super) const ELECTION: u64 = LATE + (3 << 32);
    pub(in super::super) const HEAL: u64 = LATE + (4 << 32);
}
