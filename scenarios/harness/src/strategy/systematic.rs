//! One fault at every injection point along the path of a passing run, then two.
//!
//! A run without faults records every injection point with the kinds that fit there. Number 0 is that run; then comes one run for
//! each kind at each point; then one for each pair, the second along the path that the run takes after the first. The order of
//! each list spreads every prefix evenly over the path, so that a search that ends early has covered all parts of it.

use crate::fault_set::FaultSet;
use crate::plan::Plan;
use crate::run::Draw;
use crate::threads::on_threads;
use crate::workload::Workload;
use sim_zk::choose::{Chooser, Point, Rates, Seeded};
use sim_zk::fault::Fault;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

/// The faults to try.
#[derive(Debug)]
pub(super) struct Enumeration {
    workload: &'static Workload,
    /// The plan of the run into which faults are placed.
    base: Plan,
    /// The kinds of fault.
    kinds: FaultSet,
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

/// A seeded chooser that injects up to two more faults, at given places.
pub struct Placed {
    seeded: Seeded,
    /// The places.
    pub spots: Vec<Spot>,
    kinds: FaultSet,
    /// The number of ways to skip before the next fault, and then before the second one.
    next: [Option<u64>; 2],
    /// The number of ways since the last fault.
    offered: Arc<AtomicU64>,
}

impl Placed {
    /// The chooser of a seed, without further faults.
    pub(super) fn nowhere(seed: u64, rates: Rates) -> Placed {
        let (seeded, kinds) = (Seeded::new(seed, rates), FaultSet::default());
        Placed { seeded, spots: Vec::new(), kinds, next: [None; 2], offered: Arc::default() }
    }

    /// A chooser without other faults, which still draws latencies and users' choices.
    fn at(spots: &[Spot], kinds: FaultSet) -> Placed {
        let next = [0, 1].map(|at| spots.get(at).map(|spot| spot.way));
        Placed { spots: spots.to_vec(), kinds, next, ..Placed::nowhere(0, Rates::NONE) }
    }
}

impl Chooser for Placed {
    fn choose(&mut self, point: Point, n: u32) -> u32 {
        // It draws at injection points, too, so that all later draws stay the same.
        let drawn = self.seeded.choose(point, n);
        let Point::Fault(place) = point else { return drawn };
        let ways = self.kinds.choices_at(place).count() as u64;
        self.offered.fetch_add(ways, Ordering::Relaxed);
        match self.next[0] {
            Some(left) if left < ways => {
                self.next = [self.next[1], None];
                self.offered.store(0, Ordering::Relaxed);
                self.kinds.choices_at(place).nth(left as usize).expect("there are so many ways")
            }
            Some(left) => {
                self.next[0] = Some(left - ways);
                drawn
            }
            None => drawn,
        }
    }
}

impl Enumeration {
    /// The ways to place faults of these kinds into a run with that plan.
    pub(super) fn of(workload: &'static Workload, plan: Plan, kinds: &[Fault]) -> Enumeration {
        // The plan names the kinds for its readers; the placed faults do not depend on the rates.
        let rates = kinds.iter().map(|fault| (fault.name().to_owned(), 0.0)).collect();
        let faults = if kinds.is_empty() { 0 } else { 2 };
        let base = Plan { rates, faults, ..plan };
        let kinds = FaultSet::of(kinds);
        let none = Enumeration { workload, base, kinds, singles: 0, pairs: OnceLock::new() };
        let singles = none.ways_after(None);
        Enumeration { singles, ..none }
    }

    /// The number of ways to place one more fault after the first one, or from the beginning.
    fn ways_after(&self, first: Option<u64>) -> u64 {
        let first = first.map(|way| Spot { way, of: self.singles });
        let chooser = Placed::at(first.as_slice(), self.kinds);
        let offered = chooser.offered.clone();
        // A panic is reported when its own run is made.
        let _ = Draw { workload: self.workload, plan: self.base.clone(), chooser }.run_caught();
        offered.load(Ordering::Relaxed)
    }

    fn pairs(&self, jobs: usize) -> &[u64] {
        self.pairs.get_or_init(|| {
            let counts = Mutex::new(vec![0; self.singles as usize]);
            on_threads(0..self.singles, 1, jobs, &|single| {
                let ways = self.ways_after(Some(single));
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

    pub(super) fn counted(&self, runs: u64, jobs: usize) -> Counted {
        let pairs = (runs > 1 + self.singles).then(|| self.pairs(jobs).last().copied().unwrap_or(0));
        Counted { singles: self.singles, pairs }
    }

    pub(super) fn draw(&self, number: u64) -> Option<Draw<Placed>> {
        let Some(index) = number.checked_sub(1) else { return Some(self.placing(&[])) };
        if index < self.singles {
            let spot = Spot { way: spread(index, self.singles), of: self.singles };
            return Some(self.placing(&[spot]));
        }
        let ends = self.pairs(1);
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

    fn placing(&self, spots: &[Spot]) -> Draw<Placed> {
        let faults = if spots.is_empty() { self.base.faults } else { spots.len() as u32 };
        let plan = Plan { faults, ..self.base.clone() };
        Draw { workload: self.workload, plan, chooser: Placed::at(spots, self.kinds) }
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
