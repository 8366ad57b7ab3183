//! Queues that are wrong in one step.

mod all_watch;
pub(crate) mod bend;
mod blind_to_lost_claims;
pub(crate) mod confirms_blindly;
mod delete_again;
mod ephemeral_items;
mod hands_out_in_doubt;
mod newest_first;
mod no_new_watch;
mod no_node_ignored;
pub(crate) mod parent_ignored;
mod parent_taken_unseen;
mod passes_over_in_doubt;
mod put_again;

use zk_harness::target::Target;

/// All of them.
pub(super) static ALL: &[&Target] = &[
    &all_watch::TARGET,
    &confirms_blindly::TARGET,
    &delete_again::TARGET,
    &ephemeral_items::TARGET,
    &newest_first::TARGET,
    &no_new_watch::TARGET,
    &no_node_ignored::TARGET,
    &parent_ignored::TARGET,
    &put_again::TARGET,
    &hands_out_in_doubt::TARGET,
    &passes_over_in_doubt::TARGET,
    &blind_to_lost_claims::TARGET,
    &parent_taken_unseen::TARGET,
];
