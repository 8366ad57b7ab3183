//! One direction of a link: packets in order, each with its due time and its place in the order of the world.

use std::collections::VecDeque;

/// The capacity that a connection keeps when nothing is in flight, in packets.
pub(super) const FEW: usize = 64;

/// A FIFO stream of packets in flight.
#[derive(Clone, Debug)]
pub(super) struct Stream<P> {
    /// Due time, order, packet.
    pub(super) packets: VecDeque<(u64, u64, P)>,
    /// The packet that has a reminder, by its order.
    pub(super) listed: Option<u64>,
}

impl<P> Default for Stream<P> {
    fn default() -> Self {
        Stream { packets: VecDeque::new(), listed: None }
    }
}

impl<P> Stream<P> {
    /// Sends a packet that is due at `due` at the earliest: nothing overtakes.
    pub(super) fn push(&mut self, due: u64, order: u64, packet: P) {
        let due = due.max(self.packets.back().map_or(0, |(due, ..)| *due));
        self.packets.push_back((due, order, packet));
    }

    /// Takes the next packet.
    pub(super) fn pop(&mut self) -> Option<P> {
        let next = self.packets.pop_front();
        if self.packets.is_empty() {
            self.packets.shrink_to(FEW);
        }
        next.map(|(.., packet)| packet)
    }

    /// Returns the next packet.
    pub(super) fn next(&self) -> Option<&P> {
        self.packets.front().map(|(.., packet)| packet)
    }

    /// Returns the last packet.
    pub(super) fn last(&self) -> Option<&P> {
        self.packets.back().map(|(.., packet)| packet)
    }

    /// Lists the next packet, unless it is listed: returns its due time and its order.
    pub(super) fn list(&mut self) -> Option<(u64, u64)> {
        let (due, order, _) = self.packets.front()?;
        let is_new = self.listed != Some(*order);
        self.listed = Some(*order);
        is_new.then_some((*due, *order))
    }
}
