//! Stories of the lock.

mod calm_hand_over;
mod holder_paused;
mod lost_create_reply;
mod ten_idle_timeouts;
mod waiter_dies;

use zk_harness::stage::Story;

/// All of them.
pub(super) const ALL: &[&Story] = &[
    &calm_hand_over::STORY,
    &lost_create_reply::STORY,
    &holder_paused::STORY,
    &waiter_dies::STORY,
    &ten_idle_timeouts::STORY,
];
