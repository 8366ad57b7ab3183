//! Elections that are wrong in one step.

mod ack_exists;
pub(in crate::broken) mod bend;
pub(in crate::broken) mod deaf_leader;
mod former_session;
mod new_candidate;
mod persistent_ack;
mod unchecked_ack;
mod waits_for_ack;
mod watch_leader;

use crate::target::Target;

/// All of them.
pub(super) static ALL: &[&Target] = &[
    &ack_exists::TARGET,
    &deaf_leader::TARGET,
    &former_session::TARGET,
    &new_candidate::TARGET,
    &persistent_ack::TARGET,
    &unchecked_ack::TARGET,
    &waits_for_ack::TARGET,
    &watch_leader::TARGET,
];
