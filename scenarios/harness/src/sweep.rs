//! Runs many seeds of a workload on all cores, each run alone in its world, and adds up the results.

use crate::coverage;
use crate::journal::fault_kind;
use crate::panics::Panic;
use crate::run::Run;
use crate::strategy::Search;
use crate::tally::Tally;
use crate::threads::on_threads;
use sim_zk::fault::Fault;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use zk_checker::{Probe, RuleId, Verdict};

/// A sweep: the runs of a search that it makes.
#[derive(Clone, Debug)]
pub struct Sweep {
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

/// A callback with the run of a seed, or its panic.
pub type Each<'a> = dyn Fn(u64, Result<&Run, &Panic>) + Sync + 'a;

impl Sweep {
    /// A sweep of all of these seeds on one thread.
    pub fn new(search: Search, seeds: Range<u64>) -> Sweep {
        Sweep { search, seeds, shard: (0, 1), jobs: 1, require_probes: false, count_transitions: false }
    }

    /// The number of runs.
    pub fn runs(&self) -> u64 {
        let seeds = self.seeds.end.saturating_sub(self.seeds.start);
        seeds.saturating_sub(self.shard.0).div_ceil(self.shard.1)
    }

    /// Makes all runs.
    pub fn tally(&self) -> Tally {
        self.tally_until(&AtomicBool::new(false), &|_, _| {})
    }

    /// Makes the runs. `each` sees every run (on the thread that made it); `stop` ends the sweep early.
    ///
    /// The tally does not depend on how many threads there are.
    pub fn tally_until(&self, stop: &AtomicBool, each: &Each<'_>) -> Tally {
        let total = Mutex::new(Tally::default());
        let seeds = self.seeds.start.saturating_add(self.shard.0)..self.seeds.end;
        on_threads(seeds, self.shard.1, self.jobs, &|seed| {
            // The end of an enumeration: there is no run of that number.
            let Some(draw) = self.search.draw(seed) else { return false };
            let run = draw.run_caught();
            each(seed, run.as_ref());
            let tally = run.map_or_else(|_| Tally::of_panic(seed), |run| self.tally_of(seed, &run));
            total.lock().expect("a thread that panicked ends the sweep").merge(tally);
            !stop.load(Ordering::Relaxed)
        });
        total.into_inner().expect("all threads are done")
    }

    fn tally_of(&self, seed: u64, run: &Run) -> Tally {
        let mut tally = Tally::of(seed, run);
        if self.count_transitions {
            tally.transitions = coverage::transitions(&run.history);
        }
        tally
    }

    /// The evidence that its runs lack.
    pub fn missing(&self, tally: &Tally) -> Missing {
        let workload = self.search.workload;
        let struck = |fault: &Fault| tally.faults.contains_key(&fault_kind(*fault));
        let tested = |rule: &RuleId| tally.rules.get(rule).is_some_and(|(premises, _)| *premises > 0);
        let reached = |probe: &Probe| tally.probes.get(probe).is_some_and(|count| *count > 0);
        let mut missing = Missing {
            faults: self.search.kinds().into_iter().filter(|fault| !struck(fault)).collect(),
            rules: workload.required.iter().copied().filter(|rule| !tested(rule)).collect(),
            ..Missing::default()
        };
        if self.require_probes || tally.runs >= REACHED_WITHIN {
            missing.probes = workload.must_reach.iter().copied().filter(|probe| !reached(probe)).collect();
            // A mutant draws only the faults that trigger it.
            let conditions = if workload.is_mutant() { &[] } else { workload.stated.sometimes };
            missing.conditions =
                conditions.iter().copied().filter(|what| !tally.sometimes.contains_key(*what)).collect();
        }
        missing
    }

    /// The verdict of the whole sweep: vacuous if evidence is missing.
    pub fn verdict(&self, tally: &Tally) -> Verdict {
        let worst = tally.verdicts.keys().max().copied().unwrap_or(Verdict::Vacuous);
        if worst < Verdict::Unknown && !self.missing(tally).is_empty() { Verdict::Vacuous } else { worst }
    }
}

/// The evidence that a sweep lacks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Missing {
    /// Kinds of fault that were requested and never injected.
    pub faults: Vec<Fault>,
    /// Required rules that were never tested.
    pub rules: Vec<RuleId>,
    /// Required probes that were never reached. They are only required in sweeps of 10,000 runs and more, or by
    /// [`Sweep::require_probes`].
    pub probes: Vec<Probe>,
    /// `sometimes!` conditions that were never reached; required like the probes.
    pub conditions: Vec<&'static str>,
}

impl Missing {
    /// Whether no evidence is missing.
    pub fn is_empty(&self) -> bool {
        *self == Missing::default()
    }
}
