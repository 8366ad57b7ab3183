//! The calls of a client that waits, of which a mutant replaces one.

use crate::prelude::*;
use zk_recipes::{Barrier, HoldState, Inside, LostReason, Stop, While};

/// A wait that goes on. Nothing is sent before it is polled.
pub(super) type Pending<'a> = BoxFuture<'a, Result<(), Error>>;

/// The calls. Each method has the right one as default.
pub(super) trait Calls<Z: ZooKeeper>: Send + Sync {
    /// Waits until the current barrier is deleted.
    fn wait<'a>(&'a self, barrier: &'a Barrier<Z>) -> Pending<'a> {
        barrier.wait().boxed()
    }

    /// Waits until no barrier stands.
    fn wait_until_down<'a>(&'a self, barrier: &'a Barrier<Z>) -> Pending<'a> {
        barrier.wait_until_down().boxed()
    }

    /// The lifetime of a barrier, from the one that was asked for.
    fn lives(&self, asked: While) -> While {
        asked
    }

    /// The number of participants that a client enters for, when it is given a number other than the barrier's.
    fn number(&self, told: usize, _is_for: usize) -> usize {
        told
    }

    /// The znode of a participant's place.
    fn path(&self, place: &Inside<Z>) -> String {
        place.path().to_owned()
    }

    /// The state of a place.
    fn state(&self, place: &Inside<Z>) -> HoldState {
        place.state()
    }

    /// Resolves when the participant must stop.
    fn lost<'a>(&'a self, place: &'a Inside<Z>) -> BoxFuture<'a, Stop> {
        place.lost().boxed()
    }

    /// Waits until a suspect place is confirmed or lost.
    fn resumed<'a>(&'a self, _: &'a Z, place: &'a Inside<Z>) -> BoxFuture<'a, Result<(), LostReason>> {
        place.resumed().boxed()
    }
}

/// The right calls.
pub(super) struct Right;

impl<Z: ZooKeeper> Calls<Z> for Right {}
