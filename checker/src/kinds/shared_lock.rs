//! Shared locks: contenders that read or write.

use super::lock::{self, GUARD, has_its_data};
use super::{Call, HOLDERS, Recipe, SeenAs};
use crate::history::Verb;
use crate::view::{Order, Protocol};

pub(super) static SHARED_LOCK: Recipe = Recipe {
    protocol: PROTOCOL,
    calls: &[READERS_AND_WRITERS, &[Call::of(Verb::Downgrade).costs(1, 1)], GUARD],
    roles: HOLDERS,
    handle: None,
    seen_as: SeenAs::Holds,
    is_replaceable: false,
};

/// The protocol of a shared lock, which the revocable lock varies.
pub(super) const PROTOCOL: Protocol = Protocol { order: Order::Readers, ..lock::PROTOCOL };

/// The operations that wait for a hold.
pub(super) const READERS_AND_WRITERS: &[Call] = &[
    Call::of(Verb::Read).done(has_its_data),
    Call::of(Verb::TryRead).done(has_its_data),
    Call::of(Verb::Write).done(has_its_data),
    Call::of(Verb::TryWrite).done(has_its_data),
];
