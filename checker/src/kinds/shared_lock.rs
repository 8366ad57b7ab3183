//! Shared locks: contenders that read or write.

use super::{Recipe, lock};
use crate::view::{Order, Protocol};

pub(super) static SHARED_LOCK: Recipe = Recipe { protocol: PROTOCOL };

/// The protocol of a shared lock, which the revocable lock varies.
pub(super) const PROTOCOL: Protocol = Protocol { order: Order::Readers, ..lock::PROTOCOL };
