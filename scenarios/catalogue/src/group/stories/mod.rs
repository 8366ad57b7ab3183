//! Stories of groups.

mod calm_group;
mod former_session;
mod idle_member;
mod member_expires;

use zk_harness::stage::Story;

/// All of them.
pub(super) const ALL: &[&Story] =
    &[&calm_group::STORY, &former_session::STORY, &member_expires::STORY, &idle_member::STORY];
