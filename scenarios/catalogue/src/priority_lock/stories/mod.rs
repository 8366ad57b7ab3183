//! Stories of the priority lock.

mod asked_by_the_urgent;
mod grant_reply_lost;
mod urgent_first;

use zk_harness::stage::Story;

/// All of them.
pub(super) const ALL: &[&Story] =
    &[&urgent_first::STORY, &grant_reply_lost::STORY, &asked_by_the_urgent::STORY];
