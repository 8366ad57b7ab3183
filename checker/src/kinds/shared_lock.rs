//! Shared locks: contenders that read or write.

use super::lock::{self, ASKS, GUARD};
use super::reported::{holds, with_item};
use super::{Call, ClaimedAs, Recipe, ReportedEvent};
use crate::history::Verb;
use crate::view::{Order, Protocol};

pub(super) static SHARED_LOCK: Recipe =
    Recipe::of_holds(PROTOCOL, &[ASKS, &[Call::of(Verb::Downgrade).costs(1, 1)], GUARD])
        .reported(ClaimedAs::Holds, &[READERS, WRITERS]);

const READERS: &[ReportedEvent] = &with_item("read", holds(Verb::Read, "acquired", "released"));
const WRITERS: &[ReportedEvent] = &with_item("write", holds(Verb::Write, "acquired", "released"));

/// The protocol of a shared lock, which the revocable lock varies.
pub(super) const PROTOCOL: Protocol = Protocol { order: Order::Readers, ..lock::PROTOCOL };
