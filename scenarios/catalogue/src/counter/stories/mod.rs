//! Stories of counters.

mod lost_reply;
mod no_retries;
mod set_between;

use zk_harness::stage::Story;

/// All of them.
pub(super) const ALL: &[&Story] = &[&lost_reply::STORY, &no_retries::STORY, &set_between::STORY];
