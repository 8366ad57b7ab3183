//! Search strategies: the plan and the chooser for each run number.
//!
//! A strategy is a function of the number alone. So a sweep can be split into shards and threads, and any of its runs can be
//! reproduced by its number.

mod systematic;
mod variations;

pub use systematic::{Counted, Placed, Spot};
pub use variations::Variations;

use crate::plan::Plan;
use crate::run::Draw;
use crate::workload::Workload;
use sim_zk::fault::Fault;
use std::sync::{Arc, OnceLock};
use systematic::Enumeration;

sim_zk::named! {
    /// The strategies.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Strategy {
        /// Every kind of fault in every run, each at the same rate.
        Uniform = "uniform",
        /// A new subset of the kinds for every run, each at a rate of its own: a kind that is left out cannot hide a bug in that run
        /// (Groce et al., Swarm Testing, ISSTA 2012).
        #[default]
        Swarm = "swarm",
        /// One fault at every place along the path of a run that passes, then two.
        Systematic = "systematic",
        /// All of these in turn.
        Portfolio = "portfolio",
    }
}

/// The strategies of a portfolio, in turn.
const SHARES: [Strategy; 3] = [Strategy::Swarm, Strategy::Uniform, Strategy::Systematic];

/// The uniform rate of client faults: the middle of the rates that a swarm draws.
const UNIFORM_RATE: f64 = 0.0143;

/// The uniform rate of server faults, which have many more injection points.
const UNIFORM_RATE_OF_SERVERS: f64 = 0.0032;

/// The maximal number of faults of a uniform run: the maximum of a swarm.
const UNIFORM_FAULTS: u32 = 6;

/// A search through the runs of a workload.
#[derive(Clone, Debug)]
pub struct Search {
    /// The workload.
    pub workload: &'static Workload,
    /// The strategy.
    pub strategy: Strategy,
    /// The plan of all runs; without one each run draws its own.
    pub plan: Option<Plan>,
    /// The variations that each run draws.
    pub variations: Variations,
    /// The enumeration of a systematic search, computed on first use.
    places: Arc<OnceLock<Enumeration>>,
}

impl Search {
    /// Searches a workload by a strategy, with a plan for all runs or none.
    pub fn new(workload: &'static Workload, strategy: Strategy, plan: Option<Plan>) -> Search {
        Search { workload, strategy, plan, variations: Variations::default(), places: Arc::default() }
    }

    /// The same with these variations.
    #[must_use]
    pub fn drawing(self, variations: Variations) -> Search {
        Search { variations, places: Arc::default(), ..self }
    }

    /// Whether a run is determined by its seed alone, with default settings.
    pub fn is_plain(&self) -> bool {
        self.strategy == Strategy::Swarm && self.plan.is_none() && self.variations == Variations::default()
    }

    /// Draws the run of that number: `None` after the end of a systematic search.
    pub fn draw(&self, number: u64) -> Option<Draw<Placed>> {
        match self.strategy {
            Strategy::Portfolio => {
                let share = SHARES[(number % 3) as usize];
                // An enumeration uses consecutive indices. Drawn runs use the number itself: otherwise, without faults
                // to draw, two strategies would make the same run.
                let index = if share == Strategy::Systematic { number / 3 } else { number };
                // After the end of an enumeration, the first strategy takes over its share.
                self.draw_by(share, index).or_else(|| self.draw_by(SHARES[0], number))
            }
            strategy => self.draw_by(strategy, number),
        }
    }

    fn draw_by(&self, strategy: Strategy, number: u64) -> Option<Draw<Placed>> {
        let plan = match strategy {
            Strategy::Systematic => return self.enumeration().draw(number),
            Strategy::Uniform => uniform(self.workload, self.plan_of(number)),
            Strategy::Swarm | Strategy::Portfolio => self.plan_of(number),
        };
        let chooser = Placed::nowhere(number, plan.rates());
        Some(Draw { workload: self.workload, plan, chooser })
    }

    /// Draws the plan of a number.
    fn plan_of(&self, number: u64) -> Plan {
        let plan = self.plan.clone().unwrap_or_else(|| self.workload.plan(number));
        self.variations.draw(plan, number)
    }

    /// The kinds of fault that runs of this search may have.
    pub fn kinds(&self) -> Vec<Fault> {
        match &self.plan {
            Some(plan) if plan.faults == 0 => Vec::new(),
            Some(plan) => {
                Fault::ALL.into_iter().filter(|fault| plan.rates.contains_key(fault.name())).collect()
            }
            None => self.workload.faults.to_vec(),
        }
    }

    /// The size of the enumeration, for a search that enumerates. `runs` is the number of runs to make: pairs are
    /// counted only if the search reaches them.
    pub fn counted(&self, runs: u64, jobs: usize) -> Option<Counted> {
        let runs = match self.strategy {
            Strategy::Systematic => runs,
            Strategy::Portfolio => runs / 3,
            Strategy::Uniform | Strategy::Swarm => return None,
        };
        Some(self.enumeration().counted(runs, jobs))
    }

    fn enumeration(&self) -> &Enumeration {
        self.places.get_or_init(|| Enumeration::of(self.workload, self.plan_of(0), &self.kinds()))
    }
}

/// The plan with every kind of fault of its workload, each at the same rate.
fn uniform(workload: &Workload, plan: Plan) -> Plan {
    if plan.faults == 0 || workload.faults.is_empty() {
        return plan;
    }
    let rate = |fault: &Fault| if fault.strikes_servers() { UNIFORM_RATE_OF_SERVERS } else { UNIFORM_RATE };
    let rates = workload.faults.iter().map(|fault| (fault.name().to_owned(), rate(fault))).collect();
    Plan { rates, faults: UNIFORM_FAULTS, ..plan }
}

#[cfg(test)]
mod tests;
