//! Stories: one file each, told on a calm network.
//!
//! # How to add one
//!
//! One file in the folder of its recipe, and one line in that folder's `ALL`; a new recipe's folder is one line in
//! [`BY_RECIPE`]. The file opens with what happens, in a sentence, and holds `STORY` and its `script`: steps that read
//! aloud, by the words of [`stage`](crate::stage). A word that is lacking is added there, in the file of its recipe.
//! `point` says what must have happened, or the story has missed it, and `verdicts` what the rules must say; no rule may
//! fail in any case. `tests/all/stories.rs` tells every story and keeps its trace as a snapshot, of less than 80 lines:
//! `INSTA_UPDATE=always cargo test -p zk-scenarios stories` writes it, and then it is read, as code is.

mod barrier;
mod config;
mod double_barrier;
mod election;
mod group;
mod lock;
mod names;
mod priority_lock;
mod queue;
mod revocable_lock;
mod shared_lock;
mod two_phase_commit;

use crate::stage::Story;

/// The stories of every recipe.
pub const BY_RECIPE: &[&[&Story]] = &[
    names::ALL,
    config::ALL,
    group::ALL,
    barrier::ALL,
    double_barrier::ALL,
    queue::ALL,
    lock::ALL,
    shared_lock::ALL,
    revocable_lock::ALL,
    priority_lock::ALL,
    two_phase_commit::ALL,
    election::ALL,
];

/// Every story.
pub fn all() -> impl Iterator<Item = &'static Story> {
    BY_RECIPE.iter().copied().flatten().copied()
}

/// The story of that name.
pub fn find(name: &str) -> Option<&'static Story> {
    all().find(|story| story.name == name)
}
