//! Stories of the semaphore.

mod big_request;
mod grant_reply_lost;
mod more_permits;

use zk_harness::stage::Story;

/// All of them.
pub(super) const ALL: &[&Story] = &[&big_request::STORY, &grant_reply_lost::STORY, &more_permits::STORY];
