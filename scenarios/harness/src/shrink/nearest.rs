//! The run nearest to the smallest failure that does not fail, and where their traces differ.

use super::deviation::{Deviation, Sparse};
use super::failure::Failure;
use super::search::Shrinking;
use crate::plan::Plan;
use std::fmt;
use zk_checker::Verdict;
use zk_checker::history::History;
use zk_report::trace;

/// A run that does not fail, next to one that does.
#[derive(Debug)]
pub struct Nearest {
    /// The passing run.
    pub passing: Failure,
    /// The deviation of the failing run that the passing run lacks; `None` if its plan is smaller.
    pub without: Option<Deviation>,
}

impl Shrinking<'_> {
    /// Searches for it: first without one deviation, faults first, then with a plan one step smaller. Costs one run per
    /// deviation, in addition to the budget of the search.
    pub(super) fn nearest(&self) -> Option<Nearest> {
        let best = &self.best;
        let (faults, others): (Vec<&Deviation>, Vec<&Deviation>) =
            best.deviations.iter().rev().partition(|one| one.is_fault());
        for without in faults.into_iter().chain(others) {
            let left: Vec<Deviation> =
                best.deviations.iter().filter(|one| *one != without).copied().collect();
            if let Some(passing) = self.passing(&best.run.plan, &left) {
                return Some(Nearest { passing, without: Some(*without) });
            }
        }
        let Plan { clients, rounds, .. } = best.run.plan;
        let smaller = [(clients - 1, rounds), (clients, rounds - 1)];
        let mut plans = smaller.into_iter().filter(|(clients, rounds)| *clients > 0 && *rounds > 0);
        plans.find_map(|(clients, rounds)| {
            let plan = Plan { clients, rounds, ..best.run.plan.clone() };
            self.passing(&plan, &best.deviations).map(|passing| Nearest { passing, without: None })
        })
    }

    fn passing(&self, plan: &Plan, deviations: &[Deviation]) -> Option<Failure> {
        let run = Failure::of(self.draw(plan, Sparse::new(deviations))).ok()?;
        (run.run.verdict() < Verdict::Unknown).then_some(run)
    }
}

/// The point where two runs diverge, as lines of their traces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parting {
    /// The last common lines.
    pub before: Vec<String>,
    /// The next lines of the failing run.
    pub failing: Vec<String>,
    /// The next lines of the passing run.
    pub passing: Vec<String>,
}

/// The number of lines shown before the divergence, and after it for each run.
const BEFORE: usize = 3;
const AFTER: usize = 6;

impl Parting {
    /// Compares two histories.
    pub fn of(failing: &History, passing: &History) -> Parting {
        let (failing, passing) = (trace::print(failing, &[]), trace::print(passing, &[]));
        let alike = failing.lines().zip(passing.lines()).take_while(|(one, other)| one == other).count();
        let lines = |text: &str, from: usize, count: usize| {
            text.lines().skip(from).take(count).map(str::to_owned).collect::<Vec<_>>()
        };
        let before = alike.saturating_sub(BEFORE);
        Parting {
            before: lines(&failing, before, alike - before),
            failing: lines(&failing, alike, AFTER),
            passing: lines(&passing, alike, AFTER),
        }
    }
}

impl fmt::Display for Parting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.before.iter().try_for_each(|line| writeln!(f, "    {line}"))?;
        self.failing.iter().try_for_each(|line| writeln!(f, "  ✗ {line}"))?;
        self.passing.iter().try_for_each(|line| writeln!(f, "  ✓ {line}"))
    }
}
