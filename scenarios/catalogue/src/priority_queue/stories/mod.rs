//! Stories of the priority queue.

mod ten_after_nine;

use zk_harness::stage::Story;

/// All of them.
pub(super) const ALL: &[&Story] = &[&ten_after_nine::STORY];
