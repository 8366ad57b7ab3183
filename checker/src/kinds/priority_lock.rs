//! Priority locks: waiters below `line`, holders below `held`; a waiter may ask and force less urgent holders to release.

use super::Recipe;
use crate::history::Verb;
use crate::view::{Order, Part, Protocol, Room};

pub(super) static PRIORITY_LOCK: Recipe = Recipe {
    protocol: Protocol {
        part,
        rooms: &[("line", Room::Waiting), ("held", Room::Held)],
        order: Order::Priority,
        revoked_by: &[
            Verb::Ask,
            Verb::Force,
            Verb::Acquire,
            Verb::TryAcquire,
            Verb::Read,
            Verb::TryRead,
            Verb::Write,
            Verb::TryWrite,
            Verb::Downgrade,
        ],
        watches_own: true,
    },
};

fn part(below: &str) -> Part {
    if below.contains('/') { Part::Member } else { Part::Other }
}
