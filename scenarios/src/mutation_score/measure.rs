//! Measures one mutant on many seeds: the findings of its runs, the length of a search until a kill, and the verdicts of the
//! correct recipe on the same seeds.

use super::twins::{Twin, Twins};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use zk_checker::{RuleId, RuleSet, Verdict};
use zk_harness::caught::{Caught, FIRST, TAIL};
use zk_harness::run::Run;
use zk_harness::strategy::{Search, Strategy};
use zk_harness::threads::on_threads;
use zk_harness::workload::Workload;

/// The results of one seed.
struct Shown {
    seed: u64,
    /// The failure of the mutant, if its run failed.
    broken: Option<Failure>,
    twin: Arc<Twin>,
}

struct Failure {
    first: String,
    broken: BTreeSet<RuleId>,
    /// The findings of a black-box judge.
    outside: BTreeSet<RuleId>,
}

/// The results of a mutant.
#[derive(Clone, Debug)]
pub struct Measured {
    /// The mutant.
    pub workload: &'static Workload,
    /// How it must be killed.
    pub caught: Caught,
    /// The number of seeds.
    pub seeds: u64,
    /// The number of failed runs.
    pub failed: u64,
    /// The number of runs in which each rule was the first finding.
    pub first: BTreeMap<String, u64>,
    /// The number of runs in which each rule failed.
    pub broken: BTreeMap<RuleId, u64>,
    /// The same for a black-box judge.
    pub outside: BTreeMap<RuleId, u64>,
    /// The number of seeds until a kill.
    pub search: Option<Length>,
    /// The failures of the correct recipe on the same seeds: their number, the first seed and the rule.
    pub twin: Option<(u64, u64, String)>,
    /// The number of times that the rule was tested in runs of the correct recipe.
    pub premises: u64,
}

/// The length of a search, in seeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Length {
    /// The median.
    pub median: u64,
    /// The 95th percentile.
    pub p95: u64,
}

/// The outcome for a mutant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// Killed by its rule, within its budget.
    Caught,
    /// Killed, but not within its budget.
    Late,
    /// No run shows the declared harm.
    Harmless,
    /// A black-box judge does not find the broken promise.
    HiddenFromOutside,
    /// Another rule is the first finding too often.
    ByAnother,
    /// No run fails by its rule.
    Missed,
    /// The rule was never tested in runs of the correct recipe.
    TwinUntested,
    /// The correct recipe fails on these seeds.
    TwinNotSilent,
}

impl Outcome {
    /// The name.
    pub fn words(self) -> &'static str {
        match self {
            Outcome::Caught => "killed",
            Outcome::Late => "late",
            Outcome::Harmless => "harm not seen",
            Outcome::HiddenFromOutside => "not seen by a black-box judge",
            Outcome::ByAnother => "by another rule",
            Outcome::Missed => "missed",
            Outcome::TwinUntested => "rule untested in the correct recipe",
            Outcome::TwinNotSilent => "correct recipe fails",
        }
    }
}

/// Runs a mutant and its correct recipe on these seeds, and calls `each` after every seed with whether the mutant failed.
///
/// # Panics
///
/// If the workload is not a mutant.
pub fn measure(
    twins: &Twins,
    workload: &'static Workload,
    seeds: Range<u64>,
    jobs: usize,
    each: &(dyn Fn(bool) + Sync),
) -> Measured {
    let runs = Search::new(workload, Strategy::default(), None);
    measure_by(twins, &runs, seeds, jobs, &AtomicBool::new(false), each).expect("nobody stops it")
}

/// The same for the runs of a search. `None` if `stop` is set meanwhile, since a measure needs all runs.
///
/// # Panics
///
/// If its workload is not a mutant.
pub fn measure_by(
    twins: &Twins,
    runs: &Search,
    seeds: Range<u64>,
    jobs: usize,
    stop: &AtomicBool,
    each: &(dyn Fn(bool) + Sync),
) -> Option<Measured> {
    let workload = runs.workload;
    let caught = workload.caught_by.expect("only a mutant is measured");
    let count = seeds.end.saturating_sub(seeds.start);
    let begin = seeds.start;
    let shown = Mutex::new(Vec::new());
    on_threads(seeds, 1, jobs, &|seed| {
        // A systematic search that has ended has no run of that number.
        let Some(one) = show(twins, runs, seed) else { return false };
        each(one.broken.is_some());
        shown.lock().expect("no thread panics while it holds this").push(one);
        !stop.load(Ordering::Relaxed)
    });
    if stop.load(Ordering::Relaxed) {
        return None;
    }
    let mut shown = shown.into_inner().expect("all threads are done");
    shown.sort_unstable_by_key(|one| one.seed);
    let found = shown.iter().filter(|one| one.is_caught(&caught)).map(|one| one.seed - begin);
    let mut measured = Measured {
        workload,
        caught,
        seeds: count,
        failed: 0,
        first: BTreeMap::new(),
        broken: BTreeMap::new(),
        outside: BTreeMap::new(),
        search: Length::over(found, count),
        twin: None,
        premises: 0,
    };
    shown.into_iter().for_each(|one| measured.add(one));
    Some(measured)
}

fn show(twins: &Twins, runs: &Search, seed: u64) -> Option<Shown> {
    let broken = match runs.draw(seed)?.run_caught() {
        Ok(run) => failure(&run),
        Err(_) => Some(Failure {
            first: zk_harness::run::PANIC.to_owned(),
            broken: BTreeSet::new(),
            outside: BTreeSet::new(),
        }),
    };
    Some(Shown { seed, broken, twin: twins.of(runs, seed)? })
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
        if let Some(what) = &shown.twin.failed {
            self.twin.get_or_insert_with(|| (0, shown.seed, what.clone())).0 += 1;
        }
        self.premises += shown.twin.premises_of(self.caught.by);
    }

    /// The number of runs in which its rule, or an accepted alternative, was first.
    pub fn first_by_right(&self) -> u64 {
        let is_right =
            |name: &str| RuleId::from_name(name).is_some_and(|rule| self.caught.is_caught_by(rule));
        self.first.iter().filter(|(name, _)| is_right(name)).map(|(_, count)| count).sum()
    }

    /// The rules of the broken promise that a black-box judge found broken.
    pub fn seen_from_outside(&self) -> impl Iterator<Item = (RuleId, u64)> {
        let rules = self.caught.breaks.map_or(&[][..], |promise| promise.rules());
        rules.iter().filter_map(|rule| self.outside.get(rule).map(|count| (*rule, *count)))
    }

    /// The outcome for the mutant.
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

impl Length {
    /// Measures the gaps between the seeds that killed the mutant, counted from 0 and in order, out of `seeds`. A
    /// search may begin at any seed, so the gaps count. The open gap at the end counts if it is longer than most.
    pub(super) fn over(found: impl Iterator<Item = u64>, seeds: u64) -> Option<Length> {
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
        Some(Length { median: at(&gaps, 50), p95: at(&gaps, 95) })
    }
}

/// The percentile of sorted numbers.
fn at(sorted: &[u64], percent: usize) -> u64 {
    sorted[(sorted.len() * percent).div_ceil(100).max(1) - 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_is_as_long_as_the_gap_that_it_begins_in() {
        let over = |found: &[u64], seeds| Length::over(found.iter().copied(), seeds);
        assert_eq!(over(&[], 100), None);
        assert_eq!(over(&[0, 1, 2, 3], 4), Some(Length { median: 1, p95: 1 }));
        assert_eq!(over(&[9, 19, 29, 69], 70), Some(Length { median: 10, p95: 40 }));
        // A lucky first seed does not make a quick search.
        assert_eq!(over(&[1], 1000), Some(Length { median: 2, p95: 998 }));
    }
}
