//! Many seeds of a workload, on as many threads as there are cores: each run alone in its world, the results counted.

use crate::journal::fault_kind;
use crate::plan::Plan;
use crate::run::{self, Run};
use crate::target::Target;
use sim_zk::fault::Fault;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use zk_checker::history::FaultKind;
use zk_checker::{Probe, RuleId, Verdict};

/// What to sweep.
#[derive(Clone, Debug)]
pub struct Order {
    /// What to run.
    pub target: &'static Target,
    /// Which seeds.
    pub seeds: Range<u64>,
    /// Which of them: every `shard.1`-th, beginning with the `shard.0`-th.
    pub shard: (u64, u64),
    /// A plan for every seed, or none: each draws its own.
    pub plan: Option<Plan>,
    /// How many threads.
    pub jobs: usize,
    /// Whether everything must be seen that the workload must be able to reach, however few seeds there are.
    pub require_probes: bool,
}

/// From so many runs on a workload must have reached whatever it must be able to reach.
const REACHED_WITHIN: u64 = 10_000;

impl Order {
    /// The plan of a seed.
    pub fn plan(&self, seed: u64) -> Plan {
        self.plan.clone().unwrap_or_else(|| self.target.plan(seed))
    }

    /// How many runs there are to make.
    pub fn runs(&self) -> u64 {
        let seeds = self.seeds.end.saturating_sub(self.seeds.start);
        (seeds + self.shard.1 - 1 - self.shard.0) / self.shard.1
    }
}

/// How a run that panicked is counted.
pub const PANIC: &str = "panic";

/// What a sweep came to.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Runs made.
    pub runs: u64,
    /// Runs with each verdict.
    pub verdicts: BTreeMap<Verdict, u64>,
    /// How often each rule was put to the test, and its worst verdict.
    pub rules: BTreeMap<RuleId, (u64, Verdict)>,
    /// How often each kind of fault struck.
    pub faults: BTreeMap<FaultKind, u64>,
    /// How often each of the things was seen that ZooKeeper does not exclude.
    pub probes: BTreeMap<Probe, u64>,
    /// For each rule that was broken: the smallest seed and how many.
    pub failures: BTreeMap<String, (u64, u64)>,
    /// Events recorded.
    pub events: u64,
    /// Steps made.
    pub steps: u64,
    /// Simulated microseconds.
    pub sim_us: u64,
}

impl Tally {
    fn add(&mut self, seed: u64, run: &Run) {
        self.runs += 1;
        let verdict = run.verdict();
        *self.verdicts.entry(verdict).or_default() += 1;
        for row in &run.report.rows {
            let entry = self.rules.entry(row.rule).or_insert((0, Verdict::Vacuous));
            entry.0 += u64::from(row.premises);
            entry.1 = entry.1.join(row.verdict);
        }
        for kind in run.faults() {
            *self.faults.entry(kind).or_default() += 1;
        }
        for probe in Probe::ALL {
            *self.probes.entry(*probe).or_default() += u64::from(run.report.metrics.reached(*probe));
        }
        if verdict >= Verdict::Unknown {
            self.failed(what_failed(run), seed);
        }
        self.events += run.history.events.len() as u64;
        self.steps += run.steps;
        self.sim_us += run.sim_us;
    }

    fn add_panic(&mut self, seed: u64) {
        self.runs += 1;
        *self.verdicts.entry(Verdict::Fail).or_default() += 1;
        self.failed(PANIC.to_owned(), seed);
    }

    fn failed(&mut self, what: String, seed: u64) {
        let entry = self.failures.entry(what).or_insert((seed, 0));
        entry.0 = entry.0.min(seed);
        entry.1 += 1;
    }

    /// Adds another one.
    pub fn merge(&mut self, other: Tally) {
        self.runs += other.runs;
        for (verdict, count) in other.verdicts {
            *self.verdicts.entry(verdict).or_default() += count;
        }
        for (rule, (premises, verdict)) in other.rules {
            let entry = self.rules.entry(rule).or_insert((0, Verdict::Vacuous));
            *entry = (entry.0 + premises, entry.1.join(verdict));
        }
        for (kind, count) in other.faults {
            *self.faults.entry(kind).or_default() += count;
        }
        for (probe, count) in other.probes {
            *self.probes.entry(probe).or_default() += count;
        }
        for (what, (seed, count)) in other.failures {
            let entry = self.failures.entry(what).or_insert((seed, 0));
            *entry = (entry.0.min(seed), entry.1 + count);
        }
        self.events += other.events;
        self.steps += other.steps;
        self.sim_us += other.sim_us;
    }

    /// Kinds of fault that were to strike and never did.
    pub fn never_struck(&self, order: &Order) -> Vec<Fault> {
        let wanted = |fault: &Fault| match &order.plan {
            Some(plan) => plan.faults > 0 && plan.rates.contains_key(fault.name()),
            None => order.target.faults.contains(fault),
        };
        Fault::ALL
            .into_iter()
            .filter(|fault| wanted(fault) && !self.faults.contains_key(&fault_kind(*fault)))
            .collect()
    }

    /// Rules that the workload is there to test, and that never had anything to say.
    pub fn not_put_to_the_test(&self, order: &Order) -> Vec<RuleId> {
        let tested = |rule: &RuleId| self.rules.get(rule).is_some_and(|(premises, _)| *premises > 0);
        order.target.required.iter().copied().filter(|rule| !tested(rule)).collect()
    }

    /// What the workload must be able to reach and never did. Few seeds need not reach everything: that is only asked of
    /// sweeps of 10,000 and more, or by [`Order::require_probes`].
    pub fn unreached(&self, order: &Order) -> Vec<Probe> {
        if !order.require_probes && self.runs < REACHED_WITHIN {
            return Vec::new();
        }
        let reached = |probe: &Probe| self.probes.get(probe).is_some_and(|count| *count > 0);
        order.target.must_reach().iter().copied().filter(|probe| !reached(probe)).collect()
    }

    /// Rules that never had anything to say.
    pub fn never_tested(&self) -> Vec<RuleId> {
        self.rules.iter().filter(|(_, (premises, _))| *premises == 0).map(|(rule, _)| *rule).collect()
    }

    /// The verdict of the whole sweep. One in which a kind of fault never struck, a required rule never had anything to
    /// say, or something was never reached that must be, proves nothing.
    pub fn verdict(&self, order: &Order) -> Verdict {
        let worst = self.verdicts.keys().max().copied().unwrap_or(Verdict::Vacuous);
        let unproved = !self.never_struck(order).is_empty()
            || !self.not_put_to_the_test(order).is_empty()
            || !self.unreached(order).is_empty();
        if worst < Verdict::Unknown && unproved { Verdict::Vacuous } else { worst }
    }
}

/// The rule that a run broke, or in what other way it failed.
pub fn what_failed(run: &Run) -> String {
    match run.report.first() {
        Some(finding) => finding.rule.name().to_owned(),
        None => match run.end {
            sim_zk::End::Done => "unknown".to_owned(),
            sim_zk::End::Stuck => "stuck".to_owned(),
            sim_zk::End::OutOfTime => "out of time".to_owned(),
            sim_zk::End::Cut => "cut short".to_owned(),
        },
    }
}

/// Sees the run of a seed, or what it said when it panicked.
pub type Each<'a> = dyn Fn(u64, Result<&Run, &str>) + Sync + 'a;

/// Runs the seeds. `each` sees every run (on the thread that made it); `stop` ends the sweep early.
///
/// The tally does not depend on how many threads there are.
pub fn sweep(order: &Order, stop: &AtomicBool, each: &Each<'_>) -> Tally {
    let total = Mutex::new(Tally::default());
    let seeds = order.seeds.start.saturating_add(order.shard.0)..order.seeds.end;
    on_threads(seeds, order.shard.1, order.jobs, &|seed| {
        let mut tally = Tally::default();
        match run::seed_caught(order.target, &order.plan(seed), seed) {
            Ok(run) => {
                tally.add(seed, &run);
                each(seed, Ok(&run));
            }
            Err(panic) => {
                tally.add_panic(seed);
                each(seed, Err(&panic));
            }
        }
        total.lock().expect("a thread that panicked ends the sweep").merge(tally);
        !stop.load(Ordering::Relaxed)
    });
    total.into_inner().expect("all threads are done")
}

/// Does the work of every `step`-th seed, in their order, on as many threads; no more once one of them says that it is
/// enough.
pub fn on_threads(seeds: Range<u64>, step: u64, jobs: usize, work: &(dyn Fn(u64) -> bool + Sync)) {
    let next = AtomicU64::new(seeds.start);
    std::thread::scope(|scope| {
        for _ in 0..jobs.max(1) {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(step, Ordering::Relaxed);
                    if seed >= seeds.end || !work(seed) {
                        break;
                    }
                }
            });
        }
    });
}
