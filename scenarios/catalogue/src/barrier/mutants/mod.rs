//! Barriers that are wrong in one step.

mod any_event;
mod any_write;
mod asks_again;
pub(crate) mod bend;
mod deaf;
mod exists_watch;
mod opens_with_session;

use zk_harness::target::Target;

/// All of them.
pub(super) static ALL: &[&Target] = &[
    &any_event::TARGET,
    &asks_again::TARGET,
    &deaf::TARGET,
    &exists_watch::TARGET,
    &opens_with_session::TARGET,
    &any_write::TARGET,
];
