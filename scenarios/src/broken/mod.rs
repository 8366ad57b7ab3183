//! Recipes that are broken on purpose, one file each: each names the rule that must catch it.
//!
//! # How to add one
//!
//! One file, and one line in [`ALL`]. The file opens with the wrong step, the harm that it does, where that was seen in the
//! field, and what catches it; `TARGET` says the same to the program. It runs the workload of the right recipe, with the
//! broken one in its place: by a trait that both implement, as [`Exclusive`](crate::workloads::lock::Exclusive) is one, and
//! by a plain copy of the recipe in which single steps can be exchanged, as in [`bend`]. `faults` and `plan` draw only what
//! triggers it, so that nothing else hides it. It is caught by `caught_by`, as the first finding, within a hundred seeds,
//! while the right recipe is silent on the same seeds: `tests/sweeps.rs` sees to both.

mod barrier_any_event;
mod barrier_asks_again;
mod barrier_bend;
mod barrier_deaf;
mod barrier_exists_watch;
pub mod bend;
mod bend_election;
mod bend_revocable;
mod bend_shared;
mod claims;
mod config_arms_late;
mod config_arms_once;
mod config_unconditional;
mod double_barrier_any_wake;
mod double_barrier_asked_name;
mod double_barrier_bend;
mod double_barrier_counts_ready;
mod double_barrier_leave_at_once;
mod double_barrier_no_ready;
mod double_barrier_one_watcher;
mod double_barrier_ready_stays;
mod double_barrier_watch_all;
mod election_ack_exists;
mod election_deaf_leader;
mod election_former_session;
mod election_new_candidate;
mod election_persistent_ack;
mod election_unchecked_ack;
mod election_waits_for_ack;
mod election_watch_leader;
mod event_grants;
mod exists_watch;
mod followed;
mod forgets_failed_delete;
mod gathered;
mod group_exists_is_joined;
mod group_joins_twice;
mod group_stays_silent;
mod holds_on;
mod leaves_its_znode;
mod limit_overlooked;
mod limit_renewed;
mod names_exists_is_mine;
mod names_loss_is_refusal;
mod names_release_by_name;
mod no_guid;
mod no_settle;
mod number_as_token;
mod persistent;
mod polls;
mod priority_lock_beside;
mod priority_lock_no_gates;
mod priority_queue_as_text;
mod priority_queue_old_list;
mod priority_queue_page;
pub mod published;
mod queue_all_watch;
pub mod queue_bend;
mod queue_confirms_blindly;
mod queue_delete_again;
mod queue_ephemeral_items;
mod queue_newest_first;
mod queue_no_new_watch;
mod queue_no_node_ignored;
mod queue_parent_ignored;
mod queue_put_again;
pub mod quirks;
mod revocable_lock_deaf;
mod revocable_lock_no_grace;
mod revocable_lock_word_for_deletion;
mod session;
mod shared_lock_highest_reader;
mod shared_lock_later_writer;
mod shared_lock_literal_names;
mod shared_lock_lowest_writer;
mod two_phase_commit;
mod waits_for_nobody;
mod watch_all;
mod whole_names;

use crate::target::Target;

/// Every broken recipe.
pub static ALL: &[&Target] = &[
    &no_guid::TARGET,
    &no_settle::TARGET,
    &watch_all::TARGET,
    &event_grants::TARGET,
    &waits_for_nobody::TARGET,
    &whole_names::TARGET,
    &forgets_failed_delete::TARGET,
    &holds_on::TARGET,
    &number_as_token::TARGET,
    &polls::TARGET,
    &limit_overlooked::TARGET,
    &limit_renewed::TARGET,
    &leaves_its_znode::TARGET,
    &persistent::TARGET,
    &exists_watch::TARGET,
    &shared_lock_later_writer::TARGET,
    &shared_lock_highest_reader::TARGET,
    &shared_lock_lowest_writer::TARGET,
    &shared_lock_literal_names::TARGET,
    &revocable_lock_deaf::TARGET,
    &revocable_lock_word_for_deletion::TARGET,
    &revocable_lock_no_grace::TARGET,
    &priority_lock_beside::TARGET,
    &priority_lock_no_gates::TARGET,
    &election_ack_exists::TARGET,
    &election_deaf_leader::TARGET,
    &election_former_session::TARGET,
    &election_new_candidate::TARGET,
    &election_persistent_ack::TARGET,
    &election_unchecked_ack::TARGET,
    &election_waits_for_ack::TARGET,
    &election_watch_leader::TARGET,
    &barrier_any_event::TARGET,
    &barrier_asks_again::TARGET,
    &barrier_deaf::TARGET,
    &barrier_exists_watch::TARGET,
    &double_barrier_any_wake::TARGET,
    &double_barrier_asked_name::TARGET,
    &double_barrier_counts_ready::TARGET,
    &double_barrier_leave_at_once::TARGET,
    &double_barrier_no_ready::TARGET,
    &double_barrier_one_watcher::TARGET,
    &double_barrier_ready_stays::TARGET,
    &double_barrier_watch_all::TARGET,
    &priority_queue_as_text::TARGET,
    &priority_queue_old_list::TARGET,
    &priority_queue_page::TARGET,
    &queue_all_watch::TARGET,
    &queue_confirms_blindly::TARGET,
    &queue_delete_again::TARGET,
    &queue_ephemeral_items::TARGET,
    &queue_newest_first::TARGET,
    &queue_no_new_watch::TARGET,
    &queue_no_node_ignored::TARGET,
    &queue_parent_ignored::TARGET,
    &queue_put_again::TARGET,
    &two_phase_commit::abort_unchecked::TARGET,
    &two_phase_commit::children_one_by_one::TARGET,
    &two_phase_commit::ephemeral_votes::TARGET,
    &two_phase_commit::own_decision_stands::TARGET,
    &two_phase_commit::own_reading::TARGET,
    &two_phase_commit::record_removed_early::TARGET,
    &two_phase_commit::time_out_aborts::TARGET,
    &two_phase_commit::votes_overwritten::TARGET,
    &two_phase_commit::watch_all_votes::TARGET,
    &names_exists_is_mine::TARGET,
    &names_loss_is_refusal::TARGET,
    &names_release_by_name::TARGET,
    &config_arms_late::TARGET,
    &config_arms_once::TARGET,
    &config_unconditional::TARGET,
    &group_exists_is_joined::TARGET,
    &group_stays_silent::TARGET,
    &group_joins_twice::TARGET,
];
