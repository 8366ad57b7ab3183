//! One fault at every injection point along the path of a passing run, then two.
//!
//! A run without faults records every injection point with the kinds that fit there. Number 0 is that run; then comes one run for
//! each kind at each point; then one for each pair, the second along the path that the run takes after the first. The order of
//! each list spreads every prefix evenly over the path, so that a search that ends early has covered all parts of it.

use super::{Attempt, Decider, Search, faultless};
use crate::panics::caught;
use crate::plan::Plan;
use crate::run;
use crate::threads::on_threads;
use sim_zk::choose::{Chooser, Point, Seeded};
use sim_zk::fault::{Fault, InjectionPoint};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

/// The faults to try.
#[derive(Debug)]
pub(super) struct Enumeration {
    /// The plan of the run into which faults are placed.
    base: Plan,
    /// The kinds of fault.
    kinds: Kinds,
    /// The number of ways to place one fault.
    singles: u64,
    /// For each single, the cumulative number of pairs up to and including it. Counting takes one run per single.
    pairs: OnceLock<Vec<u64>>,
}

/// The size of the enumeration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted {
    /// The ways to place one fault.
    pub singles: u64,
    /// The ways to place two, if they were counted.
    pub pairs: Option<u64>,
}

impl Counted {
    /// The total number of runs, including the one without faults, if pairs were counted.
    pub fn total(&self) -> Option<u64> {
        self.pairs.map(|pairs| 1 + self.singles + pairs)
    }

    /// The progress after a number of runs.
    pub fn done(&self, runs: u64) -> String {
        let singles = runs.saturating_sub(1).min(self.singles);
        let pairs = runs.saturating_sub(1 + self.singles);
        let of = self.pairs.map_or("not counted yet".to_owned(), |pairs| pairs.to_string());
        format!("{singles} of {} ways to place one fault, {pairs} of {of} to place two", self.singles)
    }
}

/// The place of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spot {
    /// The index, from 0, among all ways to place one fault along the path. A second fault counts from the first one.
    pub way: u64,
    /// The number of ways.
    pub of: u64,
}

impl fmt::Display for Spot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "way {} of {} along the path", self.way, self.of)
    }
}

/// A set of kinds.
#[derive(Clone, Copy, Debug)]
struct Kinds(u32);

impl Kinds {
    fn of(faults: &[Fault]) -> Kinds {
        Kinds(faults.iter().fold(0, |set, fault| set | 1 << *fault as u32))
    }

    /// The numbers of the kinds that fit at an injection point.
    fn at(self, place: InjectionPoint) -> impl Iterator<Item = u32> {
        (1..).zip(place.faults()).filter(move |(_, fault)| self.0 >> **fault as u32 & 1 == 1).map(|(n, _)| n)
    }
}

/// A chooser that injects faults at the given places only.
pub(super) struct Placed {
    rest: Seeded,
    kinds: Kinds,
    /// The number of ways to skip before the next fault, and then before the second one.
    next: [Option<u64>; 2],
    /// The number of ways since the last fault.
    offered: Arc<AtomicU64>,
}

impl Placed {
    fn new(kinds: Kinds, next: [Option<u64>; 2], offered: Arc<AtomicU64>) -> Placed {
        Placed { rest: faultless(), kinds, next, offered }
    }
}

impl Chooser for Placed {
    fn choose(&mut self, point: Point, n: u32) -> u32 {
        // It draws at injection points, too, so that all later draws stay the same.
        let calm = self.rest.choose(point, n);
        let Point::Fault(place) = point else { return calm };
        let ways = self.kinds.at(place).count() as u64;
        self.offered.fetch_add(ways, Ordering::Relaxed);
        match self.next[0] {
            Some(left) if left < ways => {
                self.next = [self.next[1], None];
                self.offered.store(0, Ordering::Relaxed);
                self.kinds.at(place).nth(left as usize).expect("there are so many ways")
            }
            Some(left) => {
                self.next[0] = Some(left - ways);
                calm
            }
            None => calm,
        }
    }
}

impl Enumeration {
    pub(super) fn of(search: &Search) -> Enumeration {
        let kinds = search.kinds();
        // The plan names the kinds for its readers; the placed faults do not depend on the rates.
        let rates = kinds.iter().map(|fault| (fault.name().to_owned(), 0.0)).collect();
        let faults = if kinds.is_empty() { 0 } else { 2 };
        let base = Plan { rates, faults, ..search.drawn(0) };
        let kinds = Kinds::of(&kinds);
        let none = Enumeration { base, kinds, singles: 0, pairs: OnceLock::new() };
        let singles = none.ways_after(search, None);
        Enumeration { singles, ..none }
    }

    /// The number of ways to place one more fault after the first one, or from the beginning.
    fn ways_after(&self, search: &Search, first: Option<u64>) -> u64 {
        let offered = Arc::new(AtomicU64::new(0));
        let placed = Placed::new(self.kinds, [first, None], offered.clone());
        // A panic is reported when its own run is made.
        let _ = caught(|| run::with(search.workload, &self.base, placed));
        offered.load(Ordering::Relaxed)
    }

    fn pairs(&self, search: &Search, jobs: usize) -> &[u64] {
        self.pairs.get_or_init(|| {
            let counts = Mutex::new(vec![0; self.singles as usize]);
            on_threads(0..self.singles, 1, jobs, &|single| {
                let ways = self.ways_after(search, Some(single));
                counts.lock().expect("no thread panics while it holds this")[single as usize] = ways;
                true
            });
            let mut ends = counts.into_inner().expect("all threads are done");
            let mut sum = 0;
            for end in &mut ends {
                sum += *end;
                *end = sum;
            }
            ends
        })
    }

    pub(super) fn counted(&self, search: &Search, runs: u64, jobs: usize) -> Counted {
        let pairs = (runs > 1 + self.singles).then(|| self.pairs(search, jobs).last().copied().unwrap_or(0));
        Counted { singles: self.singles, pairs }
    }

    pub(super) fn attempt(&self, search: &Search, number: u64) -> Option<Attempt> {
        let Some(index) = number.checked_sub(1) else { return Some(self.placing(&[])) };
        if index < self.singles {
            let spot = Spot { way: spread(index, self.singles), of: self.singles };
            return Some(self.placing(&[spot]));
        }
        let ends = self.pairs(search, 1);
        let (index, total) = (index - self.singles, ends.last().copied().unwrap_or(0));
        if index >= total {
            return None;
        }
        let pair = spread(index, total);
        let first = ends.partition_point(|end| *end <= pair);
        let begin = if first == 0 { 0 } else { ends[first - 1] };
        let second = Spot { way: pair - begin, of: ends[first] - begin };
        Some(self.placing(&[Spot { way: first as u64, of: self.singles }, second]))
    }

    fn placing(&self, spots: &[Spot]) -> Attempt {
        let next = [0, 1].map(|at| spots.get(at).map(|spot| spot.way));
        let decider = Decider::Placed(Placed::new(self.kinds, next, Arc::default()));
        let faults = if spots.is_empty() { self.base.faults } else { spots.len() as u32 };
        let plan = Plan { faults, ..self.base.clone() };
        Attempt { plan, placed: Some(spots.to_vec()), decider }
    }
}

/// The `index`-th number of `0..n` in a permutation whose prefixes are spread evenly: steps of the golden section, made
/// coprime to `n`.
pub(super) fn spread(index: u64, n: u64) -> u64 {
    let golden = (n as f64 * 0.618_033_988_749_895) as u64;
    let step = (golden.max(1)..).find(|step| gcd(*step, n) == 1).unwrap_or(1);
    (u128::from(index) * u128::from(step) % u128::from(n)) as u64
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
