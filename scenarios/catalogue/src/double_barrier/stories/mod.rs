//! Stories of the double barrier.

mod calm_round;
mod dies_before_opening;
mod keeper_dies;

use zk_harness::stage::Story;

/// All of them.
pub(super) const ALL: &[&Story] = &[&calm_round::STORY, &dies_before_opening::STORY, &keeper_dies::STORY];
