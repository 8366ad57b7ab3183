//! The set of visited states, 16 bytes each.

#[expect(clippy::disallowed_types, reason = "it is asked, and listed in the order of the digests")]
use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};

/// A digest is its own hash.
#[derive(Default)]
struct Own(u64);

impl Hasher for Own {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0 << 8 ^ u64::from(*byte);
        }
    }

    fn write_u128(&mut self, digest: u128) {
        self.0 = digest as u64;
    }
}

/// A set of digests of states.
#[derive(Default)]
pub(super) struct Visited {
    #[expect(clippy::disallowed_types, reason = "it is asked, and listed in the order of the digests")]
    set: HashSet<u128, BuildHasherDefault<Own>>,
    /// The wrapping sum of all digests.
    sum: u128,
}

impl Visited {
    pub(super) fn contains(&self, state: u128) -> bool {
        self.set.contains(&state)
    }

    /// Adds a state. Returns whether it was new.
    pub(super) fn insert(&mut self, state: u128) -> bool {
        let new = self.set.insert(state);
        if new {
            self.sum = self.sum.wrapping_add(state);
        }
        new
    }

    pub(super) fn len(&self) -> usize {
        self.set.len()
    }

    /// A hash of the whole set, which does not depend on the order of insertion.
    pub(super) fn hash(&self) -> u128 {
        self.sum
    }

    /// All digests, sorted.
    pub(super) fn sorted(&self) -> Vec<u128> {
        let mut all: Vec<u128> = self.set.iter().copied().collect();
        all.sort_unstable();
        all
    }
}

impl FromIterator<u128> for Visited {
    fn from_iter<I: IntoIterator<Item = u128>>(states: I) -> Self {
        let mut visited = Visited::default();
        states.into_iter().for_each(|state| _ = visited.insert(state));
        visited
    }
}
