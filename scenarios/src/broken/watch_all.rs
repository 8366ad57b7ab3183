//! A lock whose waiters all watch the directory, instead of each the znode just ahead: every release wakes everybody,
//! and every newcomer too. ZooKeeper's recipes page calls it the herd effect.
//!
//! Caught by MX-13 (cost) in the first run in which two wait. It does no other harm.

use super::bend::{Bend, Bent};

/// The broken lock.
pub type WatchAll<Z> = Bent<Z, WatchesTheDirectory>;

/// The wrong step.
#[derive(Clone)]
pub struct WatchesTheDirectory;

impl Bend for WatchesTheDirectory {
    const WATCH_NEAREST: bool = false;
}
