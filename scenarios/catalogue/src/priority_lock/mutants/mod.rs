//! Priority locks that are wrong in one step.

mod beside;
mod no_gates;

use zk_harness::target::Target;

/// All of them.
pub(super) static ALL: &[&Target] = &[&beside::TARGET, &no_gates::TARGET];
