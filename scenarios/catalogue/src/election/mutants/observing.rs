//! A mutant whose observers ignore the record.

use super::WORKLOAD;
use crate::election::workload::{Electing, Follower, client, new};
use crate::prelude::*;
use std::time::Duration;
use zk_recipes::{Election, Leader, Leadership, Term};

/// An election whose observers report that no leader is recorded, although they have read the record and its candidate
/// is the first: to them the office is vacant for ever.
pub(super) static TELLS_NOBODY: Workload = WORKLOAD.mutant(
    "election-tells-nobody",
    "an observer is told that no leader is recorded, although it has read the record",
    Caught::by(Le4)
        .or(&[(Le5, "it looks at the time of an overthrow alone, and does not know the leader that stays")]),
    &[],
    |_| Plan { rounds: 6, ..Plan::calm() },
    run,
);

fn run<C: Client>(task: Task<C>) -> BoxFuture<'static, ()> {
    client(task, Box::new(|zk: &C::Zk| TellsNobody(new(zk)))).boxed()
}

#[derive(Clone)]
struct TellsNobody<Z: ZooKeeper>(Election<Z>);

impl<Z: ZooKeeper> Electing for TellsNobody<Z> {
    type Office = Term<Z>;
    type Follower = Blind<Z>;

    async fn stand(&self, limit: Duration) -> Result<Term<Z>, Error> {
        Electing::stand(&self.0, limit).await
    }

    fn follow(&self) -> Blind<Z> {
        Blind { right: self.0.follow(), has_told: false }
    }
}

struct Blind<Z: ZooKeeper> {
    right: Leadership<Z>,
    has_told: bool,
}

impl<Z: ZooKeeper> Follower for Blind<Z> {
    async fn next(&mut self) -> Result<Leader, Error> {
        loop {
            self.right.next().await?;
            // No change is reported twice.
            if !std::mem::replace(&mut self.has_told, true) {
                return Ok(Leader::Unacknowledged { candidates: Vec::new() });
            }
        }
    }
}
