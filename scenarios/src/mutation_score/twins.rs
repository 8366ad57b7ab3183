//! The correct recipes on the seeds of their mutants. The mutants of one recipe mostly draw the same plans, so one run serves them
//! all.

use super::correct_twin;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};
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

/// The results of a correct recipe, kept for the next mutant of this recipe.
#[derive(Debug, Default)]
pub struct Twins(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    recipe: &'static str,
    /// By seed: one for each plan that was drawn with it.
    twins: BTreeMap<u64, Vec<Arc<Twin>>>,
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
        let recipe = draw.workload.name;
        if let Some(twin) = self.kept(recipe).find(seed, &draw.plan) {
            return Some(twin);
        }
        let twin = Arc::new(Twin::run(draw));
        self.kept(recipe).twins.entry(seed).or_default().push(Arc::clone(&twin));
        Some(twin)
    }

    /// What is kept of that recipe: mutants are measured recipe by recipe, so the results of another one are dropped.
    fn kept(&self, recipe: &'static str) -> MutexGuard<'_, Kept> {
        let mut kept = self.0.lock().expect("no thread panics while it holds this");
        if kept.recipe != recipe {
            *kept = Kept { recipe, twins: BTreeMap::new() };
        }
        kept
    }
}

impl Kept {
    fn find(&self, seed: u64, plan: &Plan) -> Option<Arc<Twin>> {
        self.twins.get(&seed)?.iter().find(|twin| twin.plan == *plan).cloned()
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
