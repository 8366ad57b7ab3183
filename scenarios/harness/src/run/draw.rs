//! A run before it is made: the plan and the chooser.

use crate::plan::Plan;
use crate::workload::Workload;
use sim_zk::choose::{Replay, Seeded};

/// A run before it is made. It is its configuration and its choices, and nothing else.
pub struct Draw<C> {
    /// The workload.
    pub workload: &'static Workload,
    /// The plan.
    pub plan: Plan,
    /// What makes the choices.
    pub chooser: C,
}

impl Draw<Seeded> {
    /// The run of a seed.
    pub fn seeded(workload: &'static Workload, plan: Plan, seed: u64) -> Self {
        let chooser = Seeded::new(seed, plan.rates());
        Draw { workload, plan, chooser }
    }
}

impl Draw<Replay> {
    /// The run of a recorded list of choices.
    pub fn replayed(workload: &'static Workload, plan: Plan, choices: Vec<u16>) -> Self {
        Draw { workload, plan, chooser: Replay::new(choices) }
    }
}
