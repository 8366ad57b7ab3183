//! How long nothing was held under faults.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// The time without a holder, from the first fault on.
#[derive(Debug, Default)]
pub(crate) struct Held {
    /// The clients whose last report says that they hold.
    holders: BTreeSet<&'static str>,
    /// Since when a hold is missing; by the client, or by the empty name where one holder is enough.
    missing: BTreeMap<&'static str, Instant>,
    /// The longest such time that is over.
    longest: Duration,
    /// Since when nothing is missing.
    complete: Option<Instant>,
}

impl Held {
    pub fn begins(&mut self, client: &'static str) {
        self.holders.insert(client);
    }

    pub fn ends(&mut self, client: &'static str) {
        self.holders.remove(client);
    }

    pub fn is_held_by(&self, client: &str) -> bool {
        self.holders.contains(client)
    }

    /// Notes whose hold is missing now.
    pub fn look(&mut self, now: Instant, missing: &BTreeSet<&'static str>) {
        for name in missing {
            self.missing.entry(name).or_insert(now);
        }
        let longest = &mut self.longest;
        self.missing.retain(|name, since| {
            let is_missing = missing.contains(name);
            if !is_missing {
                *longest = (*longest).max(now.duration_since(*since));
            }
            is_missing
        });
        self.complete = self.missing.is_empty().then(|| self.complete.unwrap_or(now));
    }

    /// Whether nothing was missing at the last look, and for so long before.
    pub fn is_complete(&self, since: Duration) -> bool {
        self.complete.is_some_and(|complete| crate::clock::now().duration_since(complete) >= since)
    }

    /// The longest time in which a hold was missing, with those that still are.
    pub fn longest(&self, now: Instant) -> Duration {
        self.missing.values().map(|since| now.duration_since(*since)).fold(self.longest, Duration::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_time_without_a_hold_counts() {
        let (begin, mut held) = (crate::clock::now(), Held::default());
        let at = |ms| begin + Duration::from_millis(ms);
        let (none, one, other) = (BTreeSet::new(), BTreeSet::from(["a"]), BTreeSet::from(["b"]));
        for (ms, missing) in
            [(0, &none), (100, &one), (250, &none), (300, &one), (400, &other), (500, &other)]
        {
            held.look(at(ms), missing);
        }
        assert!(!held.is_complete(Duration::ZERO));
        assert_eq!(
            held.longest(at(500)),
            Duration::from_millis(150),
            "a is back after 150 ms, then b is missing"
        );
        assert_eq!(held.longest(at(600)), Duration::from_millis(200));
    }
}
