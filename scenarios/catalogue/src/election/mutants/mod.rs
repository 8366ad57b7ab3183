//! Elections that are wrong in one step.

mod ack_exists;
pub(crate) mod bend;
pub(crate) mod deaf_leader;
mod deaf_when_deposed;
mod former_session;
mod new_candidate;
mod persistent_ack;
mod unchecked_ack;
mod waits_for_ack;
mod watch_leader;

use zk_harness::target::Target;
use zk_real::RealTarget;

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
    &deaf_when_deposed::TARGET,
];

/// Those that show on real servers, without the simulation's faults.
pub(super) static REAL: &[&RealTarget] = &[&watch_leader::REAL];
