//! Stories of the revocable lock.

mod asked_to_go;
mod forced_while_paused;
mod word_before_watch;

use zk_harness::stage::Story;

/// All of them.
pub(super) const ALL: &[&Story] =
    &[&asked_to_go::STORY, &word_before_watch::STORY, &forced_while_paused::STORY];
