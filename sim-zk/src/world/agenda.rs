//! The agenda: reminders of pending events, by time.
//!
//! A reminder is not the event itself: after it is taken off, the world checks whether it still holds. So postponing or
//! cancelling an event needs no search.

use super::Step;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A reminder. `order` decides among reminders of the same time.
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

/// The order of events at the same instant; packets rank by their sequence numbers.
pub(super) mod rank {
    /// The end of a fault precedes everything.
    pub(in super::super) const MEND: u64 = 0;
    const LATE: u64 = 1 << 63;
    /// Timers of clients come after the packets.
    pub(in super::super) const TIMER: u64 = LATE;
    pub(in super::super) const ALARM: u64 = LATE + (1 << 32);
    pub(in super::super) const SERVER: u64 = LATE + (2 << 32);
    pub(in super::super) const ELECTION: u64 = LATE + (3 << 32);
    pub(in super::super) const HEAL: u64 = LATE + (4 << 32);
}
