//! What the runs of a sweep add up to.

use crate::coverage::Transition;
use crate::exercised::Exercised;
use crate::fingerprint::Fingerprint;
use crate::run::{PANIC, Run};
use std::collections::{BTreeMap, BTreeSet};
use zk_checker::history::FaultKind;
use zk_checker::{Probe, RuleId, Verdict};

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
    pub(crate) fn of(seed: u64, run: &Run) -> Tally {
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

    pub(crate) fn of_panic(seed: u64) -> Tally {
        Tally {
            runs: 1,
            verdicts: BTreeMap::from([(Verdict::Fail, 1)]),
            failures: BTreeMap::from([(PANIC.to_owned(), (seed, 1))]),
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

    /// Rules that were never tested.
    pub fn never_tested(&self) -> Vec<RuleId> {
        self.rules.iter().filter(|(_, (premises, _))| *premises == 0).map(|(rule, _)| *rule).collect()
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
