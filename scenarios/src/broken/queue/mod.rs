//! Queues that are wrong in one step.

mod all_watch;
pub(in crate::broken) mod bend;
pub(in crate::broken) mod confirms_blindly;
mod delete_again;
mod ephemeral_items;
mod hands_out_in_doubt;
mod newest_first;
mod no_new_watch;
mod no_node_ignored;
pub(in crate::broken) mod parent_ignored;
mod passes_over_in_doubt;
mod put_again;

use crate::target::Target;

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
];
