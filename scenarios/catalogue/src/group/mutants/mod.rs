//! Groups that are wrong in one step.

pub(crate) mod bend;
mod exists_is_joined;
mod joins_twice;
mod persistent;
mod stays_silent;

use zk_harness::target::Target;

/// All of them.
pub(super) static ALL: &[&Target] =
    &[&exists_is_joined::TARGET, &stays_silent::TARGET, &joins_twice::TARGET, &persistent::TARGET];
