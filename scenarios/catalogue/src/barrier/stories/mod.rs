//! Stories of the barrier.

mod calm_opening;
mod opened_while_away;
mod raised_again;

use zk_harness::stage::Story;

/// All of them.
pub(super) const ALL: &[&Story] = &[&calm_opening::STORY, &raised_again::STORY, &opened_while_away::STORY];
