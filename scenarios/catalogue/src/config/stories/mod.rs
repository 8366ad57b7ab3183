//! Stories of configuration.

mod away;
mod calm_follow;
mod two_writers;

use zk_harness::stage::Story;

/// All of them.
pub(super) const ALL: &[&Story] = &[&away::STORY, &calm_follow::STORY, &two_writers::STORY];
