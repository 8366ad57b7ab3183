//! A workload, or a mutant, as it runs on real servers.

use crate::client::RealClient;
use std::fmt;
use zk_checker::RuleId;
use zk_harness::target::{Part, Target};

/// A target that can run on real servers. Two of the same name are the same.
pub struct RealTarget {
    /// It, as it runs in the simulation.
    pub target: &'static Target,
    /// One client's part.
    pub part: Part<RealClient>,
    /// Rules that a run must test, otherwise it is vacuous: fewer than in the simulation, since a capture has fewer events.
    pub required: &'static [RuleId],
    /// Little happens in its runs, so they are longer, and nothing shows in a short one.
    pub is_long: bool,
}

impl RealTarget {
    /// A workload whose every run is rich in events.
    pub const fn new(
        target: &'static Target,
        part: Part<RealClient>,
        required: &'static [RuleId],
    ) -> RealTarget {
        RealTarget { target, part, required, is_long: false }
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        self.target.name
    }
}

impl PartialEq for RealTarget {
    fn eq(&self, other: &RealTarget) -> bool {
        self.target == other.target
    }
}

impl Eq for RealTarget {}

impl fmt::Debug for RealTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RealTarget({})", self.name())
    }
}
