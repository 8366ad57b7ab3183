//! Locks: each contender is an ephemeral sequential znode below the lock.

use super::{Recipe, child};
use crate::view::{Order, Protocol, Room};

pub(super) static LOCK: Recipe = Recipe { protocol: PROTOCOL };

/// The protocol of a lock, which others vary.
pub(super) const PROTOCOL: Protocol = Protocol {
    part: child,
    rooms: &[("", Room::Waiting)],
    order: Order::Creation,
    revoked_by: &[],
    watches_own: false,
};
