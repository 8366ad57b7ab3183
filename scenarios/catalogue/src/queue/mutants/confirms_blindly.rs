//! A queue of claims that says "done" without reading what its transaction answered: an item whose claim was lost is told to
//! be done with, and handed out again. Found by reading Kazoo's `LockingQueue`.
//!
//! Caught by QU-1 (no duplicate) when a session ends, or its outcome is unknown, before the confirmation.

use crate::queue::workload::{self as queue, Claims, Gets, Way, client, declared};
use futures_util::FutureExt;
use sim_zk::fault::Fault;
use zk_checker::RuleId;
use zk_harness::caught::Caught;
use zk_harness::plan::Plan;
use zk_harness::target::Target;
use zk_recipes::zk::{Error, ZooKeeper};
use zk_recipes::{Claimed, Consumer, Delivery, Idle, Item, Producer};

pub(super) static TARGET: Target = Target {
    name: "queue-confirms-blindly",
    about: "a queue that says done without reading what its transaction answered",
    caught_by: Some(Caught::by(RuleId::Qu1).within(100).seen("kazoo")),
    faults: &[Fault::SessionExpiry],
    plan: |_| Plan { rounds: 8, ..Plan::calm() }.with(TARGET.faults, 0.05),
    objects: |names, _| declared(&CLAIMS, names),
    sim: |c, setting, rounds, done| client::<_, Blind>(c, setting, rounds, done, &CLAIMS).boxed(),
    ..Target::mutant_of(&crate::queue::workload::TARGET)
};

/// One queue whose items are claimed.
static CLAIMS: [Way; 1] =
    [Way { path: "/queues/claims", delivery: Delivery::AtLeastOnce, idle: Idle::HerdFree, order: None }];

/// The library's queue, with blind claims.
struct Blind;

impl<Z: ZooKeeper> queue::Recipe<Z> for Blind {
    type Puts = Producer<Z>;
    type Gets = BlindGets<Z>;

    fn open(zk: &Z, way: &Way, prefetch: usize) -> (Producer<Z>, BlindGets<Z>) {
        let (puts, gets) = <queue::Right as queue::Recipe<Z>>::open(zk, way, prefetch);
        (puts, BlindGets(gets))
    }
}

struct BlindGets<Z: ZooKeeper>(Consumer<Z>);

impl<Z: ZooKeeper> Gets for BlindGets<Z> {
    type Claim = BlindClaim<Z>;

    async fn settle(&mut self) -> usize {
        Gets::settle(&mut self.0).await
    }

    async fn take(&mut self, count: usize) -> Result<Vec<Item>, Error> {
        Gets::take(&mut self.0, count).await
    }

    async fn try_take(&mut self) -> Result<Vec<Item>, Error> {
        Gets::try_take(&mut self.0).await
    }

    async fn claim(&mut self) -> Result<BlindClaim<Z>, Error> {
        Ok(BlindClaim(Gets::claim(&mut self.0).await?))
    }
}

struct BlindClaim<Z: ZooKeeper>(Claimed<Z>);

impl<Z: ZooKeeper> Claims for BlindClaim<Z> {
    fn item(&self) -> &Item {
        self.0.item()
    }

    /// The wrong step.
    async fn done(self) -> Result<(), Error> {
        let _ = self.0.done().await;
        Ok(())
    }

    async fn give_back(self) -> Result<(), Error> {
        self.0.give_back().await
    }
}
