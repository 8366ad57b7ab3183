//! Runs many seeds of a workload on all cores, each run alone in its world, and counts the results.

use crate::coverage::{self, Transition};
use crate::exercised::Exercised;
use crate::fingerprint::Fingerprint;
use crate::journal::fault_kind;
use crate::panics::Panic;
use crate::run::{self, Run};
use crate::strategy::Search;
use crate::threads::on_threads;
use sim_zk::fault::Fault;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use zk_checker::history::FaultKind;
use zk_checker::{Probe, RuleId, Verdict};

/// The request of a sweep.
#[derive(Clone, Debug)]
pub struct SweepRequest {
    /// The workload and the strategy.
    pub search: Search,
    /// The seeds.
    pub seeds: Range<u64>,
    /// The shard: every `shard.1`-th seed, beginning with the `shard.0`-th.
    pub shard: (u64, u64),
    /// The number of threads.
    pub jobs: usize,
    /// Whether all probes of the workload are required, whatever the number of seeds.
    pub require_probes: bool,
    /// Whether [transitions](coverage) are counted.
    pub count_transitions: bool,
}

/// The number of runs from which on a workload must have reached all of its probes.
pub const REACHED_WITHIN: u64 = 10_000;

impl SweepRequest {
    /// The number of runs.
    pub fn runs(&self) -> u64 {
        let seeds = self.seeds.end.saturating_sub(self.seeds.start);
        seeds.saturating_sub(self.shard.0).div_ceil(self.shard.1)
    }
}

/// For each failed rule: the smallest seed and the count.
pub type Failures = BTreeMap<String, (u64, u64)>;

/// The results of a sweep.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// The number of runs.
    pub runs: u64,
    /// Runs with each verdict.
    pub verdicts: BTreeMap<Verdict, u64>,
    /// The number of premises of each rule, and its worst verdict.
    pub rules: BTreeMap<RuleId, (u64, Verdict)>,
    /// The number of faults of each kind.
    pub faults: BTreeMap<FaultKind, u64>,
    /// The count of each allowed anomaly.
    pub probes: BTreeMap<Probe, u64>,
    /// The count of each `sometimes!` condition.
    pub sometimes: BTreeMap<String, u64>,
    /// The operations that were called, and how they ended.
    pub exercised: Exercised,
    /// The failures.
    pub failures: Failures,
    /// The same for each rule and [`Fingerprint`]; runs that panicked have none.
    pub shapes: BTreeMap<(String, Fingerprint), (u64, u64)>,
    /// The number of events.
    pub events: u64,
    /// The number of steps.
    pub steps: u64,
    /// Simulated microseconds.
    pub sim_us: u64,
    /// The longest time without progress after the last fault of a run, in simulated microseconds.
    pub longest_lull_us: u64,
    /// The transitions that runs reached, if they are counted.
    pub transitions: BTreeSet<Transition>,
}

impl Tally {
    fn of(seed: u64, run: &Run) -> Tally {
        let verdict = run.verdict();
        let failed = (verdict >= Verdict::Unknown).then(|| run.what_failed());
        let shape = failed.clone().map(|what| (what, Fingerprint::of(run)));
        let reached = |probe| u64::from(run.report.metrics.reached(probe));
        let mut tally = Tally {
            runs: 1,
            verdicts: BTreeMap::from([(verdict, 1)]),
            probes: Probe::ALL.iter().map(|probe| (*probe, reached(*probe))).collect(),
            sometimes: run.sometimes.iter().map(|what| ((*what).to_owned(), 1)).collect(),
            exercised: Exercised::by(&run.history),
            failures: failed.map(|what| (what, (seed, 1))).into_iter().collect(),
            shapes: shape.map(|shape| (shape, (seed, 1))).into_iter().collect(),
            events: run.history.events.len() as u64,
            steps: run.steps,
            sim_us: run.sim_us,
            longest_lull_us: run.longest_lull_us,
            ..Tally::default()
        };
        // Kinds of fault and rules may occur several times, a rule once per object.
        add(&mut tally.faults, run.faults().map(|kind| (kind, 1)));
        let rows = run.report.rows.iter();
        join(&mut tally.rules, rows.map(|row| (row.rule, (u64::from(row.premises), row.verdict))));
        tally
    }

    fn of_panic(seed: u64) -> Tally {
        Tally {
            runs: 1,
            verdicts: BTreeMap::from([(Verdict::Fail, 1)]),
            failures: BTreeMap::from([(run::PANIC.to_owned(), (seed, 1))]),
            ..Tally::default()
        }
    }

    /// Adds another tally.
    pub fn merge(&mut self, other: Tally) {
        self.runs += other.runs;
        add(&mut self.verdicts, other.verdicts);
        join(&mut self.rules, other.rules);
        add(&mut self.faults, other.faults);
        add(&mut self.probes, other.probes);
        add(&mut self.sometimes, other.sometimes);
        self.exercised.merge(other.exercised);
        self.longest_lull_us = self.longest_lull_us.max(other.longest_lull_us);
        self.transitions.extend(other.transitions);
        for (what, failures) in other.failures {
            count(&mut self.failures, what, failures);
        }
        for (shape, failures) in other.shapes {
            count(&mut self.shapes, shape, failures);
        }
        self.events += other.events;
        self.steps += other.steps;
        self.sim_us += other.sim_us;
    }

    /// Kinds of fault that were requested and never injected.
    pub fn never_injected(&self, request: &SweepRequest) -> Vec<Fault> {
        let struck = |fault: &Fault| self.faults.contains_key(&fault_kind(*fault));
        request.search.kinds().into_iter().filter(|fault| !struck(fault)).collect()
    }

    /// Required rules that were never tested.
    pub fn required_untested(&self, request: &SweepRequest) -> Vec<RuleId> {
        let tested = |rule: &RuleId| self.rules.get(rule).is_some_and(|(premises, _)| *premises > 0);
        request.search.workload.required.iter().copied().filter(|rule| !tested(rule)).collect()
    }

    /// Required probes that were never reached. They are only required in sweeps of 10,000 runs and more, or by
    /// [`SweepRequest::require_probes`].
    pub fn unreached(&self, request: &SweepRequest) -> Vec<Probe> {
        if !request.require_probes && self.runs < REACHED_WITHIN {
            return Vec::new();
        }
        let reached = |probe: &Probe| self.probes.get(probe).is_some_and(|count| *count > 0);
        request.search.workload.must_reach.iter().copied().filter(|probe| !reached(probe)).collect()
    }

    /// `sometimes!` conditions that were never reached; required as in [`Tally::unreached`].
    pub fn conditions_unreached(&self, request: &SweepRequest) -> Vec<&'static str> {
        // A mutant draws only the faults that trigger it.
        if request.search.workload.is_mutant() || (!request.require_probes && self.runs < REACHED_WITHIN) {
            return Vec::new();
        }
        let declared = request.search.workload.stated.sometimes.iter().copied();
        declared.filter(|what| !self.sometimes.contains_key(*what)).collect()
    }

    /// Rules that were never tested.
    pub fn never_tested(&self) -> Vec<RuleId> {
        self.rules.iter().filter(|(_, (premises, _))| *premises == 0).map(|(rule, _)| *rule).collect()
    }

    /// The verdict of the whole sweep. It is vacuous if a kind of fault was never injected, a required rule was never tested, or
    /// a required probe or condition was never reached.
    pub fn verdict(&self, request: &SweepRequest) -> Verdict {
        let worst = self.verdicts.keys().max().copied().unwrap_or(Verdict::Vacuous);
        let unproved = !self.never_injected(request).is_empty()
            || !self.required_untested(request).is_empty()
            || !self.unreached(request).is_empty()
            || !self.conditions_unreached(request).is_empty();
        if worst < Verdict::Unknown && unproved { Verdict::Vacuous } else { worst }
    }
}

/// Adds counts.
fn add<K: Ord>(counts: &mut BTreeMap<K, u64>, more: impl IntoIterator<Item = (K, u64)>) {
    more.into_iter().for_each(|(kind, count)| *counts.entry(kind).or_default() += count);
}

/// Adds premises and verdicts of rules.
fn join(
    rules: &mut BTreeMap<RuleId, (u64, Verdict)>,
    more: impl IntoIterator<Item = (RuleId, (u64, Verdict))>,
) {
    for (rule, (premises, verdict)) in more {
        let entry = rules.entry(rule).or_insert((0, Verdict::Vacuous));
        *entry = (entry.0 + premises, entry.1.join(verdict));
    }
}

fn count<K: Ord>(failures: &mut BTreeMap<K, (u64, u64)>, kind: K, (seed, more): (u64, u64)) {
    let entry = failures.entry(kind).or_insert((seed, 0));
    *entry = (entry.0.min(seed), entry.1 + more);
}

/// A callback with the run of a seed, or its panic.
pub type Each<'a> = dyn Fn(u64, Result<&Run, &Panic>) + Sync + 'a;

/// Runs the seeds. `each` sees every run (on the thread that made it); `stop` ends the sweep early.
///
/// The tally does not depend on how many threads there are.
pub fn sweep(request: &SweepRequest, stop: &AtomicBool, each: &Each<'_>) -> Tally {
    let total = Mutex::new(Tally::default());
    let search = &request.search;
    let seeds = request.seeds.start.saturating_add(request.shard.0)..request.seeds.end;
    on_threads(seeds, request.shard.1, request.jobs, &|seed| {
        // The end of an enumeration: there is no run of that number.
        let Some(attempt) = search.attempt(seed) else { return false };
        let tally = match attempt.run_caught(search.workload) {
            Ok(run) => {
                let mut tally = Tally::of(seed, &run);
                if request.count_transitions {
                    tally.transitions = coverage::transitions(&run.history);
                }
                each(seed, Ok(&run));
                tally
            }
            Err(panic) => {
                each(seed, Err(&panic));
                Tally::of_panic(seed)
            }
        };
        total.lock().expect("a thread that panicked ends the sweep").merge(tally);
        !stop.load(Ordering::Relaxed)
    });
    total.into_inner().expect("all threads are done")
}
