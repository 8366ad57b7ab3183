//! Stories: one file each, told on a calm network.

mod calm_hand_over;
mod holder_paused;
mod lost_create_reply;
mod waiter_dies;

use crate::stage::Story;

/// Every story.
pub const ALL: [&Story; 4] =
    [&calm_hand_over::STORY, &lost_create_reply::STORY, &holder_paused::STORY, &waiter_dies::STORY];

/// The story of that name.
pub fn find(name: &str) -> Option<&'static Story> {
    ALL.into_iter().find(|story| story.name == name)
}
