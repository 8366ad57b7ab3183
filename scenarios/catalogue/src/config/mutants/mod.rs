//! Configurations that are wrong in one step.

mod arms_late;
mod arms_once;
pub(crate) mod bend;
mod unconditional;

use zk_harness::target::Target;
use zk_real::RealTarget;

/// All of them.
pub(super) static ALL: &[&Target] = &[&arms_late::TARGET, &arms_once::TARGET, &unconditional::TARGET];

/// Those that show on real servers, without the simulation's faults.
pub(super) static REAL: &[&RealTarget] = &[&arms_late::REAL, &unconditional::REAL];
