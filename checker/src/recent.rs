//! A table of recent entries, by dense numbers that are assigned in order and end in about that order. It keeps live
//! entries, and the last few thousand of the others, which findings may name.

use std::collections::{BTreeMap, VecDeque};
use std::ops::{Index, IndexMut};

/// The entry of a dense index in a table that keeps everything, created if missing.
pub(crate) fn slot<T: Clone + Default>(table: &mut Vec<T>, at: usize) -> &mut T {
    if table.len() <= at {
        table.resize(at + 1, T::default());
    }
    &mut table[at]
}

/// The number of entries that are kept, live or not.
const KEPT: usize = 4096;

/// An entry of a [`Recent`] table.
pub(crate) trait Aged: Clone + 'static {
    /// The value that stands for a missing entry.
    const BLANK: &'static Self;

    /// Whether it can be forgotten.
    fn is_done(&self) -> bool;
}

/// A table that forgets old entries that are done.
#[derive(Clone, Debug)]
pub(crate) struct Recent<T> {
    /// The number of the first of `recent`.
    base: usize,
    recent: VecDeque<T>,
    /// Live entries with smaller numbers.
    old: BTreeMap<usize, T>,
    /// The number of entries that have left `recent` since `old` was cleaned.
    aged: usize,
}

impl<T> Default for Recent<T> {
    fn default() -> Recent<T> {
        Recent { base: 0, recent: VecDeque::new(), old: BTreeMap::new(), aged: 0 }
    }
}

impl<T: Aged> Recent<T> {
    /// The number after the last one.
    #[inline]
    pub(crate) fn end(&self) -> usize {
        self.base + self.recent.len()
    }

    /// The first number from which on every entry is kept.
    #[inline]
    pub(crate) fn base(&self) -> usize {
        self.base
    }

    /// Whether there never was an entry.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.end() == 0
    }

    /// Whether an entry was forgotten.
    #[inline]
    pub(crate) fn forgot(&self, at: usize) -> bool {
        at < self.base && !self.old.contains_key(&at)
    }

    /// The entry of a number, unless it is missing or was forgotten.
    #[inline]
    pub(crate) fn get(&self, at: usize) -> Option<&T> {
        match at.checked_sub(self.base) {
            Some(at) => self.recent.get(at),
            None => self.old.get(&at),
        }
    }

    /// The entry of a number; a blank if it is missing or was forgotten.
    #[inline]
    pub(crate) fn at(&self, at: usize) -> &T {
        self.get(at).unwrap_or(T::BLANK)
    }

    /// Mutable access to [`Recent::get`].
    #[inline]
    pub(crate) fn get_mut(&mut self, at: usize) -> Option<&mut T> {
        match at.checked_sub(self.base) {
            Some(at) => self.recent.get_mut(at),
            None => self.old.get_mut(&at),
        }
    }

    /// The entry of a number, created if missing, together with all before it.
    #[inline]
    pub(crate) fn slot(&mut self, at: usize) -> &mut T {
        while self.end() <= at {
            self.push(T::BLANK.clone());
        }
        match at.checked_sub(self.base) {
            Some(at) => &mut self.recent[at],
            None => self.old.entry(at).or_insert_with(|| T::BLANK.clone()),
        }
    }

    /// Adds an entry.
    #[inline]
    pub(crate) fn push(&mut self, entry: T) {
        self.recent.push_back(entry);
        if self.recent.len() <= KEPT {
            return;
        }
        if let Some(first) = self.recent.pop_front() {
            if !first.is_done() {
                self.old.insert(self.base, first);
            }
            self.base += 1;
        }
        self.aged += 1;
        if self.aged > self.old.len() + KEPT {
            self.aged = 0;
            self.old.retain(|_, entry| !entry.is_done());
        }
    }

    /// The kept entries from a number on, in order.
    pub(crate) fn from(&self, at: usize) -> impl Iterator<Item = &T> {
        let old = self.old.range(at..).map(|(_, entry)| entry);
        old.chain(self.recent.range(at.saturating_sub(self.base).min(self.recent.len())..))
    }
}

/// Implements [`Aged`] for values of which only recent ones are used.
macro_rules! passing {
    ($($of:ty = $blank:expr),+) => {$(
        impl Aged for $of {
            const BLANK: &'static $of = &$blank;

            fn is_done(&self) -> bool {
                true
            }
        }
    )+};
}

passing!(u32 = 0, u64 = 0, bool = false, (u64, u32) = (0, 0));

impl<T: Clone + 'static> Aged for Vec<T> {
    const BLANK: &'static Vec<T> = &Vec::new();

    fn is_done(&self) -> bool {
        self.is_empty()
    }
}

impl<T: Aged> Index<usize> for Recent<T> {
    type Output = T;

    fn index(&self, at: usize) -> &T {
        self.at(at)
    }
}

impl<T: Aged> IndexMut<usize> for Recent<T> {
    fn index_mut(&mut self, at: usize) -> &mut T {
        self.slot(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Debug, PartialEq)]
    struct Number(usize, bool);

    impl Aged for Number {
        const BLANK: &'static Number = &Number(0, false);

        fn is_done(&self) -> bool {
            self.1
        }
    }

    #[test]
    fn what_is_alive_is_kept_and_the_latest_of_the_others() {
        let mut window = Recent::default();
        for number in 0..100_000 {
            window.push(Number(number, number % 10_000 != 0));
        }
        assert_eq!(window.end(), 100_000);
        assert_eq!(window.get(20_000), Some(&Number(20_000, false)));
        assert_eq!(window.get(20_001), None);
        assert_eq!(window.get(99_999), Some(&Number(99_999, true)));
        assert_eq!(window.from(0).count(), 10 + KEPT);
        assert!(window.from(50_000).map(|number| number.0).is_sorted());
        for number in (0..100_000).step_by(10_000) {
            window.get_mut(number).expect("it is alive").1 = true;
        }
        for number in 100_000..200_000 {
            window.push(Number(number, true));
        }
        assert_eq!(window.from(0).count(), KEPT);
    }

    #[test]
    fn a_number_from_long_ago_can_come_back() {
        let mut window: Recent<Number> = Recent::default();
        window.slot(10_000).1 = true;
        assert_eq!(window.get(0), Some(&Number(0, false)), "nobody said that it is done with");
        window.slot(3).0 = 7;
        assert_eq!(window.get(3), Some(&Number(7, false)));
    }
}
