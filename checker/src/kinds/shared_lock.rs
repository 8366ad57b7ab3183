//! Shared locks: contenders that read or write.

use super::lock::{self, ASKS, GUARD};
use super::{Call, Recipe};
use crate::history::Verb;
use crate::view::{Order, Protocol};

pub(super) static SHARED_LOCK: Recipe =
    Recipe::of_holds(PROTOCOL, &[ASKS, &[Call::of(Verb::Downgrade).costs(1, 1)], GUARD]);

/// The protocol of a shared lock, which the revocable lock varies.
pub(super) const PROTOCOL: Protocol = Protocol { order: Order::Readers, ..lock::PROTOCOL };
