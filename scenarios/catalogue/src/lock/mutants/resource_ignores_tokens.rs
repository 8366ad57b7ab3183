//! The right lock before a resource that looks at no token: what a holder sent before it was stopped past its session arrives
//! after writes of the next one, and is accepted (Kleppmann, "How to do distributed locking").
//!
//! Caught by MX-1 (the fenced resource) within some 20 seeds in which processes stand still. The lock itself does nothing wrong.

use crate::lock::workload::{Exclusive, client};
use futures_util::FutureExt;
use sim_zk::fault::Fault;
use std::future::Future;
use std::time::Duration;
use zk_checker::RuleId;
use zk_harness::caught::{Caught, Promise};
use zk_harness::holding::Held;
use zk_harness::plan::Plan;
use zk_harness::target::Target;
use zk_recipes::zk::{Error, ZooKeeper};
use zk_recipes::{Lock, LockGuard, Released, Stop};

pub(super) static TARGET: Target = Target {
    name: "lock-resource-ignores-tokens",
    about: "the right lock before a resource that looks at no token",
    caught_by: Some(
        Caught::by(RuleId::Mx1).breaks(Promise::Exclusion).seen("Kleppmann on distributed locking"),
    ),
    faults: FAULTS,
    plan: |_| Plan { faults: 6, ..Plan::calm().with(FAULTS, 0.1) },
    sim: |c, setting, rounds, done| client::<_, Unfenced<_>>(c, setting, rounds, done).boxed(),
    ..Target::mutant_of(&crate::lock::workload::TARGET)
};

const FAULTS: &[Fault] = &[Fault::ClientPause];

/// The right lock, its guards of no use to the resource.
#[derive(Clone)]
struct Unfenced<Z: ZooKeeper>(Lock<Z>);

struct UnfencedGuard<Z: ZooKeeper>(LockGuard<Z>);

impl<Z: ZooKeeper> Exclusive<Z> for Unfenced<Z> {
    type Guard = UnfencedGuard<Z>;

    fn on(zk: &Z, directory: &str) -> Result<Self, Error> {
        Lock::on(zk, directory).map(Unfenced)
    }

    async fn acquire(&self) -> Result<Self::Guard, Error> {
        self.0.acquire().await.map(UnfencedGuard)
    }

    async fn acquire_within(&self, limit: Duration) -> Result<Self::Guard, Error> {
        self.0.acquire_within(limit).await.map(UnfencedGuard)
    }

    async fn try_acquire(&self) -> Result<Option<Self::Guard>, Error> {
        Ok(self.0.try_acquire().await?.map(UnfencedGuard))
    }
}

impl<Z: ZooKeeper> Held for UnfencedGuard<Z> {
    fn token(&self) -> i64 {
        self.0.token()
    }

    /// The wrong step: every write passes for the newest.
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
