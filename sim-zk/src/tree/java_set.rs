//! A set of paths that iterates in the order of a Java `HashSet`, with removal in constant time.
//!
//! `HashSet` iterates bucket by bucket, and by age within a bucket; doubling the table keeps the order within the
//! buckets. So the age of each path and the size of the table suffice; the table never shrinks. (Java turns a bucket
//! of eight or more entries into a tree; that is not simulated.)

use crate::paths::PathId;

/// The set. An insertion returns the position that a removal needs.
#[derive(Clone, Debug)]
pub(crate) struct JavaSet {
    /// The paths by age; [`PathId::NONE`] where one was removed.
    slots: Vec<PathId>,
    live: u32,
    buckets: u32,
}

impl JavaSet {
    /// Creates an empty set whose table has that many buckets.
    pub(crate) fn new(buckets: u32) -> Self {
        JavaSet { slots: Vec::new(), live: 0, buckets }
    }

    /// Returns the number of paths.
    pub(crate) fn len(&self) -> usize {
        self.live as usize
    }

    /// Inserts a path that is not in the set, and returns its position.
    pub(crate) fn push(&mut self, path: PathId) -> u32 {
        self.slots.push(path);
        self.live += 1;
        self.buckets = grown(self.buckets, self.live as usize);
        (self.slots.len() - 1) as u32
    }

    /// Removes the path at a position.
    pub(crate) fn remove(&mut self, place: u32) {
        assert_ne!(self.slots[place as usize], PathId::NONE, "a path goes once");
        self.slots[place as usize] = PathId::NONE;
        self.live -= 1;
    }

    /// Returns whether most positions are empty, so that it is time to [`compact`](Self::compact).
    pub(crate) fn is_sparse(&self) -> bool {
        self.slots.len() > 2 * self.live as usize + 16
    }

    /// Drops empty positions, which moves every path; the amortized cost per removal is constant.
    pub(crate) fn compact(&mut self) {
        self.slots.retain(|path| *path != PathId::NONE);
    }

    /// Returns the paths by age.
    pub(crate) fn by_age(&self) -> impl Iterator<Item = PathId> {
        self.slots.iter().copied().filter(|path| *path != PathId::NONE)
    }

    /// Returns the paths in Java order, given the bucket of each for a table size.
    pub(crate) fn in_order(&self, bucket: impl Fn(PathId, u32) -> u32) -> Vec<PathId> {
        let mut paths: Vec<PathId> = self.by_age().collect();
        paths.sort_by_cached_key(|path| bucket(*path, self.buckets));
        paths
    }
}

/// Returns the size of a Java hash table after growth to `live` entries: it doubles when more than three quarters
/// full.
pub(crate) fn grown(mut buckets: u32, live: usize) -> u32 {
    while live > buckets as usize * 3 / 4 {
        buckets *= 2;
    }
    buckets
}

/// Returns the table size of a clone of a `HashSet` with that many entries (`HashMap.putMapEntries`).
pub(crate) fn buckets_of_clone(live: usize) -> u32 {
    match live {
        0 => 16,
        // Java computes in a float, and rounds down.
        live => ((live as f32 / 0.75 + 1.0) as u32).next_power_of_two(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_roll_lists_by_bucket_and_then_by_age_and_never_shrinks() {
        let mut set = JavaSet::new(8);
        for path in 0..7 {
            assert_eq!(set.push(PathId(path)), path);
        }
        assert_eq!(set.buckets, 16, "more than three quarters of eight");
        let by_parity = |path: PathId, _| path.0 % 2;
        set.remove(2);
        let listed: Vec<u32> = set.in_order(by_parity).iter().map(|path| path.0).collect();
        assert_eq!(listed, [0, 4, 6, 1, 3, 5]);
        assert_eq!((set.len(), set.buckets), (6, 16));
    }

    #[test]
    fn a_roll_that_has_emptied_closes_ranks() {
        let mut set = JavaSet::new(8);
        for path in 0..100 {
            set.push(PathId(path));
        }
        for place in 0..60 {
            set.remove(place);
        }
        assert!(set.is_sparse());
        set.compact();
        assert_eq!(set.by_age().next(), Some(PathId(60)));
        assert!(!set.is_sparse());
    }

    #[test]
    fn a_clone_has_the_table_that_java_gives_it() {
        let sizes = [0, 1, 2, 3, 4, 6, 7, 12, 13].map(buckets_of_clone);
        assert_eq!(sizes, [16, 2, 4, 8, 8, 16, 16, 32, 32]);
    }
}
