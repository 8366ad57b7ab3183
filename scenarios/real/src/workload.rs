//! A workload, or a mutant, on real servers.

use crate::client::RealClient;
use std::fmt;
use zk_checker::RuleId;
use zk_harness::workload::{TaskFn, Workload};

/// A workload that can run on real servers. Two of the same name are equal.
pub struct RealWorkload {
    /// The workload, as it runs in the simulation.
    pub workload: &'static Workload,
    /// One client's part.
    pub part: TaskFn<RealClient>,
    /// Rules that a run must test, otherwise it is vacuous: fewer than in the simulation, since a capture has fewer events.
    pub required: &'static [RuleId],
    /// Its runs have few events, so they are longer, and a short one shows nothing.
    pub is_long: bool,
}

impl RealWorkload {
    /// A workload whose runs all have many events.
    pub const fn new(
        workload: &'static Workload,
        part: TaskFn<RealClient>,
        required: &'static [RuleId],
    ) -> RealWorkload {
        RealWorkload { workload, part, required, is_long: false }
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        self.workload.name
    }
}

impl PartialEq for RealWorkload {
    fn eq(&self, other: &RealWorkload) -> bool {
        self.workload == other.workload
    }
}

impl Eq for RealWorkload {}

impl fmt::Debug for RealWorkload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RealWorkload({})", self.name())
    }
}
