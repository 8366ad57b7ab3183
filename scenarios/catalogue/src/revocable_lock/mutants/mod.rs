//! Revocable locks that are wrong in one step.

pub(crate) mod bend;
mod deaf;
mod no_grace;
mod word_for_deletion;

use zk_harness::target::Target;

/// All of them.
pub(super) static ALL: &[&Target] = &[&deaf::TARGET, &word_for_deletion::TARGET, &no_grace::TARGET];
