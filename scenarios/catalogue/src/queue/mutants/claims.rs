//! Mutants that report an item as confirmed without reading the reply.

use super::BASE;
use crate::prelude::*;
use crate::queue::workload::{Claims, Gets, Way, client, declared, open};
use zk_recipes::{Claimed, Consumer, Delivery, Idle, Item, Producer};

/// A queue of claims that reports success without reading its transaction's reply: an item whose claim was lost is
/// reported as confirmed, and handed out again. Found by reading Kazoo's `LockingQueue`.
pub(super) static CONFIRMS_BLINDLY: Workload = Workload {
    objects: |names, _| declared(&CLAIMS, names),
    ..BASE.mutant(
        "queue-confirms-blindly",
        "a queue that reports success without reading the reply of its transaction",
        Caught::by(Qu1).within(100).seen("kazoo"),
        &[Fault::SessionExpiry],
        |_| Plan { rounds: 8, ..Plan::calm() }.with(&[Fault::SessionExpiry], 0.05),
        |task| client(task, &CLAIMS, Box::new(open_blind)).boxed(),
    )
};

/// A queue of claims that reports success without reading its transaction's reply, under a foreign client that deletes
/// claims: an item is reported as confirmed, and handed out again. Found by reading Kazoo's `LockingQueue`.
pub(super) static BLIND_TO_LOST_CLAIMS: Workload = Workload {
    name: "queue-blind-to-lost-claims",
    about: "a queue that reports success although a foreign client has deleted the claim",
    faults: &[],
    plan: |_| Plan { rounds: 8, ..Plan::calm() }.with_interference(&[Act::Delete], 0.25, 12),
    ..CONFIRMS_BLINDLY
};

/// One queue whose items are claimed.
static CLAIMS: [Way; 1] =
    [Way { path: "/queues/claims", delivery: Delivery::AtLeastOnce, idle: Idle::HerdFree, order: None }];

/// The right queue, with blind claims.
fn open_blind<Z: ZooKeeper>(zk: &Z, way: &Way, prefetch: usize) -> (Producer<Z>, BlindConsumer<Z>) {
    let (puts, gets) = open(zk, way, prefetch);
    (puts, BlindConsumer(gets))
}

struct BlindConsumer<Z: ZooKeeper>(Consumer<Z>);

impl<Z: ZooKeeper> Gets for BlindConsumer<Z> {
    type Claim = BlindClaim<Z>;

    fn settle(&mut self) -> impl Future<Output = Result<usize, Error>> + Send {
        Gets::settle(&mut self.0)
    }

    fn in_hand(&self) -> usize {
        Gets::in_hand(&self.0)
    }

    async fn take(&mut self, count: usize) -> Result<Vec<Item>, Error> {
        Gets::take(&mut self.0, count).await
    }

    async fn try_take(&mut self) -> Result<Option<Item>, Error> {
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
