//! What a folder of the catalogue exports.

use crate::lies::Lies;
use zk_harness::stage::Story;
use zk_harness::workload::Workload;
use zk_real::RealWorkload;

/// The constructor of a recipe over a session: of the right recipe, or of a mutant. It is boxed, so that a workload is compiled
/// once for all mutants of one copy.
pub type Make<Z, L> = Box<dyn Fn(&Z) -> L + Send + Sync>;

/// A recipe, and everything that runs it.
pub struct Recipe {
    /// It under load.
    pub workload: &'static Workload,
    /// The same on real servers.
    pub real: Option<&'static RealWorkload>,
    /// Its stories.
    pub stories: &'static [&'static Story],
    /// It with one wrong step, in many ways.
    pub mutants: &'static [&'static Workload],
    /// It with one operation that [lies](crate::lies) about what it has done.
    pub lies: Option<&'static Lies>,
    /// The mutants that show on real servers too.
    pub real_mutants: &'static [&'static RealWorkload],
}
