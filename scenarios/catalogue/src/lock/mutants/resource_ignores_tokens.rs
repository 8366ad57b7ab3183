//! The right lock before a resource that checks no tokens: a write that a holder sent before it was paused past its
//! session arrives after writes of the next holder, and is accepted (Kleppmann, "How to do distributed locking"). The
//! lock itself is right.

use crate::lock::workload::{Exclusive, client, new};
use crate::prelude::*;
use std::future::Future;
use zk_recipes::{Guard, Lock, Released, Stop, guard};

pub(super) static WORKLOAD: Workload = super::WORKLOAD.mutant(
    "lock-resource-ignores-tokens",
    "the correct lock with a resource that ignores fencing tokens",
    Caught::by(Mx1).breaks(Promise::Exclusion).seen("Kleppmann on distributed locking"),
    FAULTS,
    |_| Plan { faults: 6, ..Plan::calm().with(FAULTS, 0.1) },
    |task| client(task, Box::new(|zk: &_| Unfenced(new(zk)))).boxed(),
);

const FAULTS: &[Fault] = &[Fault::ClientPause];

/// The right lock, with guards that do not fence.
#[derive(Clone)]
struct Unfenced<Z: ZooKeeper>(Lock<Z>);

struct UnfencedGuard<Z: ZooKeeper>(Guard<Z, guard::Exclusive>);

impl<Z: ZooKeeper> Exclusive for Unfenced<Z> {
    type Guard = UnfencedGuard<Z>;

    async fn take(&self, call: Call) -> Result<Option<Self::Guard>, Error> {
        Ok(self.0.take(call).await?.map(UnfencedGuard))
    }
}

impl<Z: ZooKeeper> Held for UnfencedGuard<Z> {
    fn token(&self) -> i64 {
        self.0.token()
    }

    /// The wrong step: every write carries the highest token.
    fn fence(&self) -> i64 {
        i64::MAX
    }

    fn lost(&self) -> impl Future<Output = Stop> + Send {
        self.0.lost()
    }

    fn release(self) -> impl Future<Output = Result<Released, Error>> + Send {
        self.0.release()
    }
}
