//! A mutant whose participants do not learn the ids of all participants.

use super::super::workload::{Meeting, Participation, Setup, new, roster_text};
use super::BASE;
use super::{client, setup};
use crate::prelude::*;
use std::time::Duration;
use zk_recipes::{DoubleBarrier, Inside};

/// A double barrier whose roster lacks a counted participant: the others share the work without it.
pub(super) static LACKS_ONE: Workload = BASE.mutant(
    "double-barrier-roster-lacks-one",
    "a participant is told a roster that lacks the first of its names",
    Caught::by(Db3).within(5),
    &[],
    |_| Plan::calm(),
    run,
);

fn run<C: Client>(task: Task<C>) -> BoxFuture<'static, ()> {
    let make = |zk: &C::Zk, setup: &Setup, id, round| LacksOne(new(zk, setup, id, round));
    client(task, setup, Box::new(make)).boxed()
}

struct LacksOne<Z: ZooKeeper>(DoubleBarrier<Z>);

impl<Z: ZooKeeper> Meeting for LacksOne<Z> {
    type Participation = Unnamed<Z>;

    async fn enter(&self, limit: Duration) -> Result<Unnamed<Z>, Error> {
        self.0.enter().within(limit).await.map(Unnamed)
    }
}

struct Unnamed<Z: ZooKeeper>(Inside<Z>);

impl<Z: ZooKeeper> Participation for Unnamed<Z> {
    fn opening(&self) -> (u64, String) {
        let (generation, _) = self.0.opening();
        (generation, roster_text(self.0.roster().get(1..).unwrap_or_default()))
    }

    async fn lost(&self) {
        Participation::lost(&self.0).await;
    }

    async fn leave(self, limit: Option<Duration>) -> Result<(), Error> {
        Participation::leave(self.0, limit).await
    }
}
