//! A hold that others ask about while it lasts.

use super::hold::Hold;
use crate::parts::tenure::{LostReason, Released, Stop};
use crate::parts::watched::Watched;
use crate::zk::Error;
use std::sync::Arc;
use std::time::Duration;

/// The present hold. It is asked under the lock only, so its keeper has the other reference.
pub(super) type Slot<H> = Arc<Watched<Option<Arc<H>>>>;

/// A hold that its slot shows while it lasts.
pub(super) struct Shown<H> {
    /// Taken by `give_back`.
    hold: Option<Arc<H>>,
    slot: Slot<H>,
}

impl<H> Shown<H> {
    pub(super) fn new(slot: &Slot<H>, hold: H) -> Self {
        let hold = Arc::new(hold);
        drop(slot.change(|shown| shown.replace(hold.clone())));
        Shown { hold: Some(hold), slot: slot.clone() }
    }

    pub(super) fn hold(&self) -> &H {
        self.hold.as_ref().expect("it is not given back")
    }

    /// Shows it no longer. The hold, if it was not taken before.
    fn take(&mut self) -> Option<H> {
        drop(self.slot.change(Option::take));
        self.hold.take().and_then(Arc::into_inner)
    }
}

impl<H: Hold> Hold for Shown<H> {
    async fn lost(&self) -> Stop {
        self.hold().lost().await
    }

    async fn resumed(&self) -> Result<(), LostReason> {
        self.hold().resumed().await
    }

    async fn give_back(mut self, limit: Duration) -> Result<Released, Error> {
        let hold = self.take().expect("it is given back once");
        hold.give_back(limit).await
    }
}

impl<H> Drop for Shown<H> {
    fn drop(&mut self) {
        drop(self.take());
    }
}
