//! Recipes whose wrong step shows when third parties meddle: somebody deletes a znode of theirs, writes into it, adds one
//! beside it, or takes their parent away. Their plans draw strangers, and no faults.

mod barrier_any_write;
mod election_deaf_when_deposed;
mod lock_every_child;
mod lock_missing_is_first;
mod queue_blind_to_lost_claims;
mod queue_parent_taken_unseen;

use crate::target::Target;

/// All of them.
pub(super) static ALL: &[&Target] = &[
    &barrier_any_write::TARGET,
    &election_deaf_when_deposed::TARGET,
    &lock_every_child::TARGET,
    &lock_missing_is_first::TARGET,
    &queue_blind_to_lost_claims::TARGET,
    &queue_parent_taken_unseen::TARGET,
];
