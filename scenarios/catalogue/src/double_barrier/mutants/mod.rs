//! Double barriers that are wrong in one step.

mod any_wake;
mod asked_name;
pub(crate) mod bend;
mod counts_ready;
mod leave_at_once;
mod no_ready;
mod one_short;
mod one_watcher;
mod ready_stays;
mod watch_all;

use zk_harness::target::Target;

/// All of them.
pub(super) static ALL: &[&Target] = &[
    &any_wake::TARGET,
    &asked_name::TARGET,
    &counts_ready::TARGET,
    &leave_at_once::TARGET,
    &no_ready::TARGET,
    &one_watcher::TARGET,
    &ready_stays::TARGET,
    &watch_all::TARGET,
    &one_short::TARGET,
];
