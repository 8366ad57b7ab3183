//! Stories of the shared lock.

mod downgrade_reply_lost;
mod nearest_writer;
mod readers_share;

use zk_harness::stage::Story;

/// All of them.
pub(super) const ALL: &[&Story] =
    &[&readers_share::STORY, &nearest_writer::STORY, &downgrade_reply_lost::STORY];
