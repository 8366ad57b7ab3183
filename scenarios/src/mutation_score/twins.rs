//! The correct recipes on the seeds of their mutants. The mutants of one recipe mostly draw the same plans, so one run serves them
//! all.

use super::correct_twin;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use zk_checker::{RuleId, Verdict};
use zk_harness::plan::Plan;
use zk_harness::run::{Draw, PANIC};
use zk_harness::strategy::{Placed, Search, Strategy};

/// The results of a correct recipe on one seed.
#[derive(Debug)]
pub(super) struct Twin {
    plan: Plan,
    /// What failed, if its run failed.
    pub(super) failed: Option<String>,
    /// How often each rule was tested.
    premises: BTreeMap<RuleId, u64>,
}

/// A recipe and a seed.
type Key = (&'static str, u64);

/// The results of correct recipes, kept for the next mutant.
#[derive(Debug, Default)]
pub struct Twins {
    /// One for each plan that was drawn with this seed.
    kept: Mutex<BTreeMap<Key, Vec<Arc<Twin>>>>,
}

impl Twins {
    /// The results of the correct recipe of a search's mutant. `None` after the end of the search.
    pub(super) fn of(&self, runs: &Search, seed: u64) -> Option<Arc<Twin>> {
        let draw = runs.draw(seed)?;
        let draw = Draw { workload: correct_twin(runs.workload), ..draw };
        // An enumeration places faults in the mutant's own run.
        if !matches!(runs.strategy, Strategy::Swarm | Strategy::Uniform) {
            return Some(Arc::new(Twin::run(draw)));
        }
        let key = (draw.workload.name, seed);
        if let Some(twin) = self.find(key, &draw.plan) {
            return Some(twin);
        }
        let twin = Arc::new(Twin::run(draw));
        let mut kept = self.kept.lock().expect("no thread panics while it holds this");
        kept.entry(key).or_default().push(Arc::clone(&twin));
        Some(twin)
    }

    fn find(&self, key: Key, plan: &Plan) -> Option<Arc<Twin>> {
        let kept = self.kept.lock().expect("no thread panics while it holds this");
        kept.get(&key)?.iter().find(|twin| twin.plan == *plan).cloned()
    }
}

impl Twin {
    fn run(draw: Draw<Placed>) -> Twin {
        let (plan, mut premises) = (draw.plan.clone(), BTreeMap::new());
        let Ok(run) = draw.run_caught() else {
            return Twin { plan, failed: Some(PANIC.to_owned()), premises };
        };
        for row in &run.report.rows {
            *premises.entry(row.rule).or_default() += u64::from(row.premises);
        }
        Twin { plan, failed: (run.verdict() >= Verdict::Unknown).then(|| run.what_failed()), premises }
    }

    pub(super) fn premises_of(&self, rule: RuleId) -> u64 {
        self.premises.get(&rule).copied().unwrap_or(0)
    }
}
