//! A set of paths that lists itself in the order of a Java `HashSet`, and forgets in constant time.
//!
//! `HashSet` goes through its buckets in order, and within a bucket by age; doubling the table keeps the order within
//! the buckets. So it is enough to remember the age of each path and how large the table has become: it never shrinks.
//! (Java turns a bucket of eight and more into a tree; that is not imitated.)

use crate::paths::PathId;

/// The set. Whoever puts a path in keeps its place, and gives it back to take the path out.
#[derive(Clone, Debug)]
pub(crate) struct JavaSet {
    /// By age; [`PathId::NONE`] where a path has gone.
    slots: Vec<PathId>,
    live: u32,
    buckets: u32,
}

impl JavaSet {
    /// An empty set whose table has that many buckets at first.
    pub(crate) fn new(buckets: u32) -> Self {
        JavaSet { slots: Vec::new(), live: 0, buckets }
    }

    /// How many paths there are.
    pub(crate) fn len(&self) -> usize {
        self.live as usize
    }

    /// Puts a path in that is not in yet; the answer is its place.
    pub(crate) fn push(&mut self, path: PathId) -> u32 {
        self.slots.push(path);
        self.live += 1;
        self.buckets = grown(self.buckets, self.live as usize);
        (self.slots.len() - 1) as u32
    }

    /// Takes the path at that place out.
    pub(crate) fn remove(&mut self, place: u32) {
        assert_ne!(self.slots[place as usize], PathId::NONE, "a path goes once");
        self.slots[place as usize] = PathId::NONE;
        self.live -= 1;
    }

    /// Whether more places are empty than not: then it is time to [`compact`](Self::compact).
    pub(crate) fn is_sparse(&self) -> bool {
        self.slots.len() > 2 * self.live as usize + 16
    }

    /// Gives up the empty places, so that the work is constant for each removal on average. Every path moves.
    pub(crate) fn compact(&mut self) {
        self.slots.retain(|path| *path != PathId::NONE);
    }

    /// The paths by age, with an empty place here and there left out.
    pub(crate) fn by_age(&self) -> impl Iterator<Item = PathId> {
        self.slots.iter().copied().filter(|path| *path != PathId::NONE)
    }

    /// The paths as Java lists them, given the bucket of each in a table of so many.
    pub(crate) fn in_order(&self, bucket: impl Fn(PathId, u32) -> u32) -> Vec<PathId> {
        let mut paths: Vec<PathId> = self.by_age().collect();
        paths.sort_by_cached_key(|path| bucket(*path, self.buckets));
        paths
    }
}

/// The size of a Java hash table that had `buckets` buckets and now holds `live` entries: it doubles when it is more
/// than three quarters full.
pub(crate) fn grown(mut buckets: u32, live: usize) -> u32 {
    while live > buckets as usize * 3 / 4 {
        buckets *= 2;
    }
    buckets
}

/// The size of the table of a clone of a `HashSet` of that many entries (`HashMap.putMapEntries`).
pub(crate) fn buckets_of_clone(live: usize) -> u32 {
    match live {
        0 => 16,
        // As Java reckons: in a float, and rounded down.
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
