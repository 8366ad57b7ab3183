//! Stories of names.

mod lost_reply;
mod name_handed_over;
mod next_owner;

use zk_harness::stage::Story;

/// All of them.
pub(super) const ALL: &[&Story] = &[&lost_reply::STORY, &name_handed_over::STORY, &next_owner::STORY];
