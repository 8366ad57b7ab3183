//! Stories of the election.

mod calm_take_over;
mod idle_term;
mod leader_expires;
mod relic;

use zk_harness::stage::Story;

/// All of them.
pub(super) const ALL: &[&Story] =
    &[&calm_take_over::STORY, &leader_expires::STORY, &relic::STORY, &idle_term::STORY];
