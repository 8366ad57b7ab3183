//! Stories of two-phase commit.

mod coordinator_dies;
mod transaction_commits;
mod vote_outlives_its_session;

use zk_harness::stage::Story;

/// All of them.
pub(super) const ALL: &[&Story] =
    &[&transaction_commits::STORY, &coordinator_dies::STORY, &vote_outlives_its_session::STORY];
