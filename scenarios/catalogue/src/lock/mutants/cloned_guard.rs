//! A lock whose guard can be cloned, and which is released by the first clone that is dropped: here each write has a clone with
//! it, and the holder goes on with its own (zookeeper-client 0.11.1).
//!
//! Caught by MX-14 (belief kept too long) in the first runs; the harm is MX-3 (mutual exclusion).

use super::bend::{Bend, Bent, Guard};
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
use zk_recipes::{Released, Stop};

pub(super) static TARGET: Target = Target {
    name: "lock-cloned-guard",
    about: "a lock whose guard can be cloned: the first clone that is dropped releases it",
    caught_by: Some(
        Caught::by(RuleId::Mx14)
            .within(1)
            .harm(&[RuleId::Mx3])
            .breaks(Promise::Exclusion)
            .seen("zookeeper-client 0.11.1"),
    ),
    faults: FAULTS,
    plan: |_| Plan::calm().with(FAULTS, 0.03),
    sim: |c, setting, rounds, done| client::<_, Cloned<_>>(c, setting, rounds, done).boxed(),
    ..Target::mutant_of(&crate::lock::workload::TARGET)
};

// It needs none; they put the rule to the test in the right lock.
const FAULTS: &[Fault] = &[Fault::ClientPause];

/// The lock is right.
#[derive(Clone)]
struct Right;

impl Bend for Right {}

/// The lock, with guards that can be cloned.
#[derive(Clone)]
struct Cloned<Z: ZooKeeper>(Bent<Z, Right>);

struct ClonedGuard<Z: ZooKeeper>(Guard<Z>);

impl<Z: ZooKeeper> ClonedGuard<Z> {
    /// The wrong step: a clone is dropped, and with it goes the znode.
    fn drop_a_clone(&self) {
        drop(self.0.place.zk.delete(&self.0.place.path, None));
    }
}

impl<Z: ZooKeeper> Exclusive<Z> for Cloned<Z> {
    type Guard = ClonedGuard<Z>;

    fn on(zk: &Z, directory: &str) -> Result<Self, Error> {
        Bent::on(zk, directory).map(Cloned)
    }

    async fn acquire(&self) -> Result<Self::Guard, Error> {
        self.0.acquire().await.map(ClonedGuard)
    }

    async fn acquire_within(&self, limit: Duration) -> Result<Self::Guard, Error> {
        self.0.acquire_within(limit).await.map(ClonedGuard)
    }

    async fn try_acquire(&self) -> Result<Option<Self::Guard>, Error> {
        Ok(self.0.try_acquire().await?.map(ClonedGuard))
    }
}

impl<Z: ZooKeeper> Held for ClonedGuard<Z> {
    fn token(&self) -> i64 {
        self.0.token()
    }

    fn fence(&self) -> i64 {
        self.drop_a_clone();
        self.token()
    }

    fn lost(&self) -> impl Future<Output = Stop> + Send {
        self.0.lost()
    }

    fn release(self) -> impl Future<Output = Result<Released, Error>> + Send {
        self.0.release()
    }
}
