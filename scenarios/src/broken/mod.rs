//! Recipes that are broken on purpose, a folder for each recipe and a file for each wrong step: each names the rule that must
//! catch it.
//!
//! # How to add one
//!
//! One file, and one line in the `ALL` of its folder. The file opens with the wrong step, the harm that it does, where that was
//! seen in the field, and what catches it; `TARGET` says the same to the program. It runs the workload of the right recipe,
//! with the broken one in its place: by a trait that both implement, as [`Exclusive`](crate::workloads::lock::Exclusive) is one,
//! and by a plain copy of the recipe in which single steps can be exchanged, as in `lock::bend`. `faults` and `plan` draw
//! only what triggers it, so that nothing else hides it. `caught_by` says how it must be caught ([`Caught`](crate::zoo::Caught)):
//! by which rule as the first finding, within how many seeds, with what harm, while the right recipe is silent on the same
//! seeds. `cargo sim zoo NAME` shows whether it is, and `cargo sim zoo --write-readme` writes the table anew.

pub mod barrier;
mod claims;
pub mod config;
pub mod double_barrier;
pub mod election;
mod former;
pub mod group;
pub mod lock;
pub mod names;
pub mod priority_lock;
pub mod priority_queue;
pub mod published;
pub mod queue;
pub mod quirks;
pub mod revocable_lock;
mod session;
pub mod shared_lock;
mod strangers;
pub mod two_phase_commit;

use crate::target::Target;

/// Every folder's.
static ALL: &[&[&Target]] = &[
    lock::ALL,
    shared_lock::ALL,
    revocable_lock::ALL,
    priority_lock::ALL,
    election::ALL,
    barrier::ALL,
    double_barrier::ALL,
    queue::ALL,
    priority_queue::ALL,
    two_phase_commit::ALL,
    names::ALL,
    config::ALL,
    group::ALL,
    strangers::ALL,
];

/// Every broken recipe.
pub fn all() -> impl Iterator<Item = &'static Target> {
    ALL.iter().flat_map(|folder| folder.iter().copied())
}
