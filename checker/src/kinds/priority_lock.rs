//! Priority locks: waiters below `line`, holders below `held`; a waiter may ask and force less urgent holders to release.

use super::lock::{GUARD, has_its_data};
use super::revocable_lock::REVOCABLE;
use super::shared_lock::READERS_AND_WRITERS;
use super::{Call, HOLDERS, Recipe, SeenAs};
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
    calls: &[ACQUIRES, READERS_AND_WRITERS, REVOCABLE, GUARD],
    roles: HOLDERS,
    handle: None,
    seen_as: SeenAs::Holds,
    is_replaceable: false,
};

const ACQUIRES: &[Call] =
    &[Call::of(Verb::Acquire).done(has_its_data), Call::of(Verb::TryAcquire).done(has_its_data)];

fn part(below: &str) -> Part {
    if below.contains('/') { Part::Member } else { Part::Other }
}
