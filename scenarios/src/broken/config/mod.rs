//! Configurations that are wrong in one step.

mod arms_late;
mod arms_once;
pub(in crate::broken) mod bend;
mod unconditional;

use crate::target::Target;

/// All of them.
pub(super) static ALL: &[&Target] = &[&arms_late::TARGET, &arms_once::TARGET, &unconditional::TARGET];
