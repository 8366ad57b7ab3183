//! Items that a consumer has read before it delivers them, so that one read serves several deliveries.
//!
//! What was read stays true only as long as the item has the version of the read: the transaction that delivers it checks
//! that.

use crate::zk::Data;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The number of items that are read beyond those asked for.
const ITEMS: usize = 16;

/// The bytes that are read beyond those asked for, as far as the size of the last items tells.
const BYTES: usize = 64 * 1024;

/// The length of an item in a reply beside its data.
const STAT_BYTES: usize = 80;

/// Items that were read and not delivered.
#[derive(Default)]
pub(super) struct ReadAhead {
    items: BTreeMap<String, Data>,
    /// The size of the largest item in the last read; `None` before the first.
    largest: Option<usize>,
}

impl ReadAhead {
    /// The number of items to read where `count` are asked for. The first read, which may be of large items, reads no more.
    pub(super) fn amount(&self, count: usize) -> usize {
        count + self.largest.map_or(0, |largest| ITEMS.min(BYTES / largest.max(1)))
    }

    /// The length of a reply with so many items.
    pub(super) fn bytes_of(&self, count: usize) -> usize {
        count.saturating_mul(self.largest.unwrap_or(BYTES) + STAT_BYTES)
    }

    /// The data and version of an item, if it was read.
    pub(super) fn of(&self, name: &str) -> Option<&Data> {
        self.items.get(name)
    }

    /// Keeps the answers to a read.
    pub(super) fn keep(&mut self, read: Vec<(String, Data)>) {
        self.largest = read.iter().map(|(_, data)| data.data.len()).max().or(self.largest);
        self.items.extend(read);
    }

    /// Forgets an item that was delivered, is gone, or has another version.
    pub(super) fn forget(&mut self, name: &str) {
        self.items.remove(name);
    }

    /// Forgets all that is not at the front of a new list.
    pub(super) fn forget_unless_in(&mut self, known: &VecDeque<String>) {
        if self.items.is_empty() {
            return;
        }
        let front: BTreeSet<&str> = known.iter().take(self.items.len() + ITEMS).map(String::as_str).collect();
        self.items.retain(|name, _| front.contains(name.as_str()));
    }

    /// Forgets everything: the names may be those of other items.
    pub(super) fn clear(&mut self) {
        self.items.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::zk::Stat;

    #[test]
    fn what_is_not_at_the_front_of_a_new_list_is_forgotten() {
        let name = |number: usize| format!("queue-{number:010}");
        let mut ahead = ReadAhead::default();
        ahead.keep((0..4).map(|n| (name(n), Data { data: vec![7], stat: Stat::default() })).collect());
        ahead.forget_unless_in(&(2..100).map(name).collect());
        let known: Vec<bool> = (0..4).map(|n| ahead.of(&name(n)).is_some()).collect();
        assert_eq!(known, [false, false, true, true], "somebody else has taken the first two");
    }
}
