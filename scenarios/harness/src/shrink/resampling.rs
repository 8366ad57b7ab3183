//! Resampling: new runs from smaller plans. This is often cheaper than deleting choices of a large run.

use super::deviation::{Deviation, Quiet, Sparse};
use super::search::Shrinking;
use crate::plan::{Interference, Plan};
use sim_zk::choose::Seeded;
use std::collections::{BTreeMap, BTreeSet};

/// The number of runs of each plan.
const SEEDS: u64 = 24;

/// The largest plans from which resampling draws.
const CLIENTS: u8 = 3;
const ROUNDS: [u32; 4] = [1, 2, 4, 8];

/// The rates of faults. At a high rate a plan with few faults spends all of them early.
const RATES: [f64; 3] = [0.2, 0.05, 0.0125];

/// One in this number of choices deviates; the rarest deviations come first, since their failures need the least
/// shrinking.
const ONE_IN: [u32; 3] = [16, 4, 1];

/// The probability of an act of a foreign client at each look.
const ACTS: f64 = 0.25;

impl Shrinking<'_> {
    /// Draws runs of small plans, the smallest first, until one fails in the same way.
    pub(super) fn resample(&mut self) {
        for plan in self.smaller_plans() {
            let calm = Plan {
                faults: 0,
                rates: BTreeMap::new(),
                interference: Interference::default(),
                ..plan.clone()
            };
            if self.take(&calm, Sparse::new(&[])) {
                return;
            }
            for seed in 0..SEEDS {
                let (plan, quiet) = drawn(&plan, seed);
                if self.take(&plan, quiet) {
                    return;
                }
            }
        }
    }

    /// Draws further runs until the best is small or the budget is spent. A run with the same failure is shrunk by
    /// itself, and replaces the best if it becomes smaller.
    pub(super) fn draw_more(&mut self) {
        for seed in SEEDS.. {
            for plan in self.smaller_plans() {
                if self.best.size().is_small() || self.is_out_of_runs() {
                    return;
                }
                let (plan, quiet) = drawn(&plan, seed);
                let Some(other) = self.run(&plan, quiet).filter(|other| self.is_the_same(&other.run)) else {
                    continue;
                };
                let before = std::mem::replace(&mut self.best, other);
                self.cut_down();
                let other = std::mem::replace(&mut self.best, before);
                let (new, old) = (other.size(), self.best.size());
                if new.is_within(&self.begun) && (!new.is_small(), new) < (!old.is_small(), old) {
                    self.best = other;
                }
            }
        }
    }

    /// Plans that are not larger, with the kinds of fault that were injected.
    fn smaller_plans(&self) -> Vec<Plan> {
        let Plan { clients, rounds, servers, .. } = self.best.run.plan;
        let struck: BTreeSet<_> = self.best.deviations.iter().filter_map(Deviation::fault).collect();
        let rates: BTreeMap<_, _> = struck.iter().map(|fault| (fault.name().to_owned(), RATES[0])).collect();
        let mut interference = self.best.run.plan.interference.clone();
        interference.rates.values_mut().for_each(|rate| *rate = ACTS);
        let mut plans = Vec::new();
        for clients in 1..=clients.min(CLIENTS) {
            for rounds in ROUNDS.into_iter().filter(|fewer| *fewer <= rounds) {
                for servers in BTreeSet::from([1, servers]) {
                    let (rates, interference) = (rates.clone(), interference.clone());
                    let plan = self.best.run.plan.clone();
                    plans.push(Plan { clients, rounds, servers, rates, interference, ..plan });
                }
            }
        }
        plans.sort_by_key(|plan| (u32::from(plan.clients) * plan.rounds, plan.clients, plan.servers));
        plans
    }
}

/// The plan and the chooser of a seed: rate, deviation rate and extremes vary with it.
fn drawn(plan: &Plan, seed: u64) -> (Plan, Quiet) {
    let rate = RATES[(seed % RATES.len() as u64) as usize];
    let third = seed / (SEEDS / ONE_IN.len() as u64);
    let one_in = ONE_IN[(third % ONE_IN.len() as u64) as usize];
    let is_extreme = seed / RATES.len() as u64 % 2 == 1;
    let rates = plan.rates.keys().map(|name| (name.clone(), rate)).collect();
    let plan = Plan { rates, ..plan.clone() };
    let quiet = Quiet::new(seed, Seeded::new(seed, plan.rates()), one_in, is_extreme);
    (plan, quiet)
}
