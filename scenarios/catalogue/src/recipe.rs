//! The exports of a folder of the catalogue.

use crate::lies::Lies;
use std::time::Duration;
use zk_harness::stage::Story;
use zk_harness::workload::Workload;
use zk_real::RealWorkload;
use zk_recipes::zk::ZooKeeper;
use zk_recipes::{Call, Work};

/// The constructor of a recipe over a session: the right recipe's, or a mutant's. It is boxed, so that a workload is
/// compiled once for all mutants of one copy.
pub type Make<Z, L> = Box<dyn Fn(&Z) -> L + Send + Sync>;

/// A call within its limit; zero means no limit.
pub(crate) fn limited<Z: ZooKeeper, W: Work>(call: Call<Z, W>, limit: Duration) -> Call<Z, W> {
    if limit.is_zero() { call } else { call.within(limit) }
}

/// A recipe, with its workload, stories and mutants.
pub struct Recipe {
    /// The recipe under load.
    pub workload: &'static Workload,
    /// The same on real servers.
    pub real: Option<&'static RealWorkload>,
    /// Its stories.
    pub stories: &'static [&'static Story],
    /// The recipe with one wrong step, in many ways.
    pub mutants: &'static [&'static Workload],
    /// The recipe with one operation that [lies](crate::lies) about its effect.
    pub lies: Option<&'static Lies>,
    /// The mutants that real servers kill, too.
    pub real_mutants: &'static [&'static RealWorkload],
    /// The list of its [promises](crate::promises).
    pub promises: &'static str,
    /// The list of its operations and options that are [exercised](crate::exercised).
    pub exercised: &'static str,
}

impl Recipe {
    /// A workload without anything else.
    pub(crate) const fn of(workload: &'static Workload) -> Recipe {
        Recipe {
            workload,
            real: None,
            stories: &[],
            mutants: &[],
            lies: None,
            real_mutants: &[],
            promises: "",
            exercised: "",
        }
    }
}
