//! What a folder of the catalogue exports.

use zk_harness::stage::Story;
use zk_harness::target::Target;
use zk_real::RealTarget;

/// The constructor of a recipe over a session: of the right recipe, or of a mutant. It is boxed, so that a workload is compiled
/// once for all mutants of one copy.
pub type Make<Z, L> = Box<dyn Fn(&Z) -> L + Send + Sync>;

/// A recipe, and everything that runs it.
pub struct Recipe {
    /// It under load.
    pub workload: &'static Target,
    /// The same on real servers.
    pub real: Option<&'static RealTarget>,
    /// Its stories.
    pub stories: &'static [&'static Story],
    /// It with one wrong step, in many ways.
    pub mutants: &'static [&'static Target],
    /// The mutants that show on real servers too.
    pub real_mutants: &'static [&'static RealTarget],
}
