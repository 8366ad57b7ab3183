//! One entry of the zoo on many seeds: what its runs show, how long one has to search, and what the right recipe shows on the
//! same seeds.

use super::right_twin;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Mutex;
use zk_checker::{RuleId, RuleSet, Verdict};
use zk_harness::caught::{Caught, FIRST, TAIL};
use zk_harness::run::Run;
use zk_harness::strategy::{Search as Runs, Strategy};
use zk_harness::target::Target;
use zk_harness::threads::on_threads;

/// What one seed showed.
struct Shown {
    seed: u64,
    /// The broken recipe: what was first, and all that was broken; nothing if the run was silent.
    broken: Option<Failure>,
    /// The right one: what failed, if anything did.
    twin: Option<String>,
    /// How often the right one put the entry's rule to the test.
    premises: u64,
}

struct Failure {
    first: String,
    broken: BTreeSet<RuleId>,
    /// What a judge finds who is shown the outside only.
    outside: BTreeSet<RuleId>,
}

/// What an entry came to.
#[derive(Clone, Debug)]
pub struct Measured {
    /// Which.
    pub target: &'static Target,
    /// What it must show.
    pub caught: Caught,
    /// How many seeds were run.
    pub seeds: u64,
    /// How many runs failed.
    pub failed: u64,
    /// Which rule was first how often, the entry's own among them.
    pub first: BTreeMap<String, u64>,
    /// All rules that were broken, and in how many runs.
    pub broken: BTreeMap<RuleId, u64>,
    /// The same for a judge who is shown the outside only.
    pub outside: BTreeMap<RuleId, u64>,
    /// How many seeds a search takes until the entry is caught: in the middle, and in 95 of 100.
    pub search: Option<Search>,
    /// How many runs of the right recipe failed on the same seeds, and the first of them.
    pub twin: Option<(u64, u64, String)>,
    /// How often the right recipe put the entry's rule to the test.
    pub premises: u64,
}

/// How many seeds a search takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Search {
    /// Half of all searches are over by then.
    pub median: u64,
    /// 95 of 100 are.
    pub p95: u64,
}

/// How an entry stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// As it should be.
    Caught,
    /// Found, but not within its budget.
    Late,
    /// No run shows the harm that it is said to do.
    Harmless,
    /// From outside the broken promise does not show.
    HiddenFromOutside,
    /// Another rule is first too often.
    ByAnother,
    /// No run fails by its rule.
    Missed,
    /// The right recipe never put the rule to the test on these seeds.
    TwinUntested,
    /// The right recipe is not silent on these seeds.
    TwinNotSilent,
}

impl Outcome {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Outcome::Caught => "caught",
            Outcome::Late => "late",
            Outcome::Harmless => "no harm seen",
            Outcome::HiddenFromOutside => "hidden from outside",
            Outcome::ByAnother => "by another rule",
            Outcome::Missed => "missed",
            Outcome::TwinUntested => "twin untested",
            Outcome::TwinNotSilent => "twin not silent",
        }
    }
}

/// Runs an entry and its twin on these seeds. `each` is told after every seed whether it was caught.
///
/// # Panics
///
/// If the target is not broken on purpose.
pub fn measure(
    target: &'static Target,
    seeds: Range<u64>,
    jobs: usize,
    each: &(dyn Fn(bool) + Sync),
) -> Measured {
    measure_by(&Runs::new(target, Strategy::default(), None), seeds, jobs, each)
}

/// The same with the runs of a search of its own.
///
/// # Panics
///
/// If its target is not broken on purpose.
pub fn measure_by(runs: &Runs, seeds: Range<u64>, jobs: usize, each: &(dyn Fn(bool) + Sync)) -> Measured {
    let target = runs.target;
    let caught = target.caught_by.expect("only what is broken on purpose stands in the zoo");
    let count = seeds.end.saturating_sub(seeds.start);
    let begin = seeds.start;
    let shown = Mutex::new(Vec::new());
    on_threads(seeds, 1, jobs, &|seed| {
        // A search that has come to its end has no run of that number.
        let Some(one) = show(runs, &caught, seed) else { return false };
        each(one.broken.is_some());
        shown.lock().expect("no thread panics while it holds this").push(one);
        true
    });
    let mut shown = shown.into_inner().expect("all threads are done");
    shown.sort_unstable_by_key(|one| one.seed);
    let found = shown.iter().filter(|one| one.is_caught(&caught)).map(|one| one.seed - begin);
    let mut measured = Measured {
        target,
        caught,
        seeds: count,
        failed: 0,
        first: BTreeMap::new(),
        broken: BTreeMap::new(),
        outside: BTreeMap::new(),
        search: Search::over(found, count),
        twin: None,
        premises: 0,
    };
    shown.into_iter().for_each(|one| measured.add(one));
    measured
}

fn show(runs: &Runs, caught: &Caught, seed: u64) -> Option<Shown> {
    let (target, twin) = (runs.target, right_twin(runs.target));
    let broken = match runs.attempt(seed)?.run_caught(target) {
        Ok(run) => failure(&run),
        Err(_) => Some(Failure {
            first: zk_harness::run::PANIC.to_owned(),
            broken: BTreeSet::new(),
            outside: BTreeSet::new(),
        }),
    };
    let (twin, premises) = match runs.attempt(seed)?.run_caught(twin) {
        Ok(run) => {
            let rows = run.report.rows.iter().filter(|row| row.rule == caught.by);
            let premises = rows.map(|row| u64::from(row.premises)).sum();
            ((run.verdict() >= Verdict::Unknown).then(|| run.what_failed()), premises)
        }
        Err(_) => (Some(zk_harness::run::PANIC.to_owned()), 0),
    };
    Some(Shown { seed, broken, twin, premises })
}

fn failure(run: &Run) -> Option<Failure> {
    if run.verdict() < Verdict::Unknown {
        return None;
    }
    let broken = |report: &zk_checker::Report| {
        let rows = report.rows.iter().filter(|row| row.verdict == Verdict::Fail);
        rows.map(|row| row.rule).collect()
    };
    let outside = zk_checker::judge(&run.history, &RuleSet::black_box());
    Some(Failure { first: run.what_failed(), broken: broken(&run.report), outside: broken(&outside) })
}

impl Shown {
    fn is_caught(&self, caught: &Caught) -> bool {
        let first = self.broken.as_ref().and_then(|failure| RuleId::from_name(&failure.first));
        first.is_some_and(|rule| caught.is_caught_by(rule))
    }
}

impl Measured {
    fn add(&mut self, shown: Shown) {
        if let Some(failure) = shown.broken {
            self.failed += 1;
            *self.first.entry(failure.first).or_default() += 1;
            failure.broken.into_iter().for_each(|rule| *self.broken.entry(rule).or_default() += 1);
            failure.outside.into_iter().for_each(|rule| *self.outside.entry(rule).or_default() += 1);
        }
        if let Some(what) = shown.twin {
            self.twin.get_or_insert((0, shown.seed, what)).0 += 1;
        }
        self.premises += shown.premises;
    }

    /// In how many runs the entry's rule was first, or one that may stand in its place.
    pub fn first_by_right(&self) -> u64 {
        let is_right =
            |name: &str| RuleId::from_name(name).is_some_and(|rule| self.caught.is_caught_by(rule));
        self.first.iter().filter(|(name, _)| is_right(name)).map(|(_, count)| count).sum()
    }

    /// The rules of the entry's promise that were seen broken from outside.
    pub fn seen_from_outside(&self) -> impl Iterator<Item = (RuleId, u64)> {
        let rules = self.caught.breaks.map_or(&[][..], |promise| promise.rules());
        rules.iter().filter_map(|rule| self.outside.get(rule).map(|count| (*rule, *count)))
    }

    /// How the entry stands.
    pub fn outcome(&self) -> Outcome {
        let Caught { harm, breaks, within, .. } = self.caught;
        let Some(search) = self.search else {
            return if self.twin.is_some() { Outcome::TwinNotSilent } else { Outcome::Missed };
        };
        if self.twin.is_some() {
            Outcome::TwinNotSilent
        } else if self.premises == 0 {
            Outcome::TwinUntested
        } else if self.first_by_right() * 100 < self.failed * FIRST as u64 {
            Outcome::ByAnother
        } else if breaks.is_some() && self.seen_from_outside().next().is_none() {
            Outcome::HiddenFromOutside
        } else if harm.iter().any(|rule| !self.broken.contains_key(rule)) {
            Outcome::Harmless
        } else if search.median > within || search.p95 > within * TAIL {
            Outcome::Late
        } else {
            Outcome::Caught
        }
    }
}

impl Search {
    /// From the seeds that caught it, counted from 0 and in order, of so many. A search may begin anywhere, so what counts are
    /// the gaps. The one that is still open at the end counts if it is longer than most.
    pub(super) fn over(found: impl Iterator<Item = u64>, seeds: u64) -> Option<Search> {
        let mut last = None;
        let mut gaps: Vec<u64> = found
            .map(|seed| {
                let gap = last.map_or(seed + 1, |before| seed - before);
                last = Some(seed);
                gap
            })
            .collect();
        let open = seeds - last? - 1;
        gaps.sort_unstable();
        if open > at(&gaps, 50) {
            gaps.push(open);
            gaps.sort_unstable();
        }
        Some(Search { median: at(&gaps, 50), p95: at(&gaps, 95) })
    }
}

/// The smallest of the sorted numbers that so many of a hundred do not exceed.
fn at(sorted: &[u64], percent: usize) -> u64 {
    sorted[(sorted.len() * percent).div_ceil(100).max(1) - 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_is_as_long_as_the_gap_that_it_begins_in() {
        let over = |found: &[u64], seeds| Search::over(found.iter().copied(), seeds);
        assert_eq!(over(&[], 100), None);
        assert_eq!(over(&[0, 1, 2, 3], 4), Some(Search { median: 1, p95: 1 }));
        assert_eq!(over(&[9, 19, 29, 69], 70), Some(Search { median: 10, p95: 40 }));
        // One lucky seed at the beginning does not make a quick search.
        assert_eq!(over(&[1], 1000), Some(Search { median: 2, p95: 998 }));
    }
}
