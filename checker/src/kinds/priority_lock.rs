//! Priority locks: waiters below `line`, holders below `held`; a waiter may ask and force less urgent holders to release.

use super::lock::{ASKS, GUARD};
use super::revocable_lock::REVOCABLE;
use super::{Call, Recipe};
use crate::history::Verb;
use crate::view::{Order, Part, Protocol, Room};

pub(super) static PRIORITY_LOCK: Recipe = Recipe::of_holds(
    Protocol {
        part,
        rooms: &[("line", Room::Waiting), ("held", Room::Held)],
        order: Order::Priority,
        is_revoked_by: |verb| {
            matches!(verb, Verb::Ask | Verb::Force | Verb::Downgrade) || verb.asks_for().is_some()
        },
        watches_own: true,
        permits: |_| None,
    },
    &[ASKS, &[Call::of(Verb::Downgrade)], REVOCABLE, GUARD],
);

fn part(below: &str) -> Part {
    if below.contains('/') { Part::Member } else { Part::Other }
}
