//! Stories of the queues.

mod calm;
mod consumer_expires;
mod lost_put_reply;

use zk_harness::stage::Story;

/// All of them.
pub(super) const ALL: &[&Story] = &[&calm::STORY, &lost_put_reply::STORY, &consumer_expires::STORY];
