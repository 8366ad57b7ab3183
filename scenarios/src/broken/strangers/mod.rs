//! Recipes whose wrong step shows when third parties meddle: somebody deletes a znode of theirs, writes into it, adds one
//! beside it, or takes their parent away. Their plans draw strangers, and no faults.

pub(super) mod barrier_any_write;
pub(super) mod election_deaf_when_deposed;
pub(super) mod lock_every_child;
pub(super) mod lock_missing_is_first;
pub(super) mod queue_blind_to_lost_claims;
pub(super) mod queue_parent_taken_unseen;
