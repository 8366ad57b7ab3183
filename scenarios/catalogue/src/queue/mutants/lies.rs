//! The right queue, one operation of which [lies](crate::lies).

use crate::lies::How::{Denies, FindsNothing, Pretends, Refuses, Repeats, StopsHalfway};
use crate::lies::{DENIES, FEIGNED, How, Liar, Lies, Lying, refuses, row};
use crate::prelude::*;
use crate::queue::workload::{Claims, Gets, Puts, QUEUES, WORKLOAD, client, open};
use zk_checker::history::Failure::{self, ClaimLost, ConnectionLoss, Denied, NoNode, Other, TimedOut};
use zk_checker::history::Verb::{Claim, Confirm, GiveBack, Put, Settle, Take};
use zk_recipes::Item;

/// The lies.
pub(in crate::queue) static LIES: Lies = Lies {
    workload: &WORKLOAD,
    faults: REFUSAL,
    plan,
    part: |task, liar| {
        let open = move |zk: &_, way: &_, prefetch| {
            let (puts, gets) = open(zk, way, prefetch);
            (liar.over(puts), liar.over(gets))
        };
        client(task, &QUEUES, Box::new(open)).boxed()
    },
    rows: &[
        // The item is reported as put, but is not: no consumer ever gets it.
        row(Put, Pretends, Qu3, "put returns done and creates nothing"),
        // The put is reported as failed, but took effect: its producer puts the item again.
        row(Put, DENIES, Qu3, "put creates the items and fails"),
        refuses(Put, UNMET, "put"),
        // A put that creates each item twice: both are handed out.
        row(Put, Repeats, Qu3, "put creates its items a second time")
            .or(&[(An1, "there are more items than were given")]),
        // A put that takes any reply to its first create for success: the directory was missing, and so are the items.
        row(
            Put,
            StopsHalfway,
            Qu3,
            "put returns done when its first request is answered, whatever the answer",
        ),
        // An item is handed out that no producer has put.
        row(Take, Pretends, Qu1, "take hands out an item that was never put"),
        // The take is reported as failed, but the item was deleted: no consumer ever gets it.
        row(Take, DENIES, An3, "take deletes the item and fails"),
        refuses(Take, UNMET, "take"),
        // An item in the queue is reported as missing: its caller stops asking.
        row(Take, FindsNothing, An2, "an attempt says that there is no item, without asking"),
        // A taken item is reported as handed out: it is lost with its consumer.
        row(Settle, Pretends, Qu2, "settle says that no item is in hand, without asking"),
        // An item is claimed that no producer has put.
        row(Claim, Pretends, Qu1, "claim hands out an item that was never put"),
        // The claim is reported as failed, but took effect: no other consumer gets the item for as long as the session
        // lives.
        row(Claim, DENIES, Qu9, "claim claims the item and fails"),
        refuses(Claim, UNMET, "claim"),
        // The item is reported as confirmed, but stays: it is handed out again when the session ends.
        row(Confirm, Pretends, Qu1, "confirm returns done and deletes nothing"),
        // A confirmed item is reported as another consumer's: its caller undoes its work, and no consumer does it
        // again.
        row(
            Confirm,
            Denies(&[ClaimLost, Other]),
            An3,
            "confirm deletes the item and says that the claim is lost",
        ),
        // A valid claim is reported as lost.
        row(
            Confirm,
            Refuses(LOST),
            An2,
            "confirm says that the claim is lost, and it stands, or fails for another reason that never occurred",
        ),
        // The item is reported as given back, but is still claimed: no other consumer gets it.
        row(GiveBack, Pretends, An1, "give back returns done and keeps the claim"),
        // The return is reported as failed, but took effect: two consumers work on the item.
        row(GiveBack, DENIES, An3, "give back gives the claim up and fails"),
        // A valid claim is reported as lost.
        row(
            GiveBack,
            Refuses(LOST),
            An2,
            "give back says that the claim is lost, and it stands, or fails for another reason that never occurred",
        ),
    ],
};

/// Under occasionally refused requests the right queue fails, too, for a reason that occurred.
pub(crate) const REFUSAL: &[Fault] = &[Fault::AccessDenied];

/// The plan of the lying mutants of both queues.
pub(crate) fn plan(_: u64) -> Plan {
    Plan { clients: 4, rounds: 9, ..Plan::calm() }.with(REFUSAL, 0.005)
}

/// Reasons for which a call may fail, none of which has occurred.
pub(crate) const UNMET: &[Failure] = &[TimedOut, Denied, NoNode, ConnectionLoss];

/// The same for a claim.
pub(crate) const LOST: &[Failure] = &[ClaimLost, TimedOut, ConnectionLoss];

impl<C: Client, P: Puts + Sync> Puts for Lying<C, P> {
    async fn put(&mut self, priority: u16, items: &[Vec<u8>]) -> Result<(), Error> {
        if self.liar.how() == How::Repeats && self.liar.lies_in(Verb::Put) {
            self.right.put(priority, items).await?;
        }
        let work = async { self.right.put(priority, items).await };
        self.liar.call_once(Verb::Put, work, || Some(())).await
    }
}

impl<C: Client, G: Gets + Sync> Gets for Lying<C, G> {
    type Claim = LyingClaim<C, G::Claim>;

    async fn settle(&mut self) -> Result<usize, Error> {
        let work = async { self.right.settle().await };
        self.liar.call_once(Verb::Settle, work, || Some(0)).await
    }

    fn in_hand(&self) -> usize {
        self.right.in_hand()
    }

    async fn take(&mut self, count: usize) -> Result<Vec<Item>, Error> {
        let work = async { self.right.take(count).await };
        let items = || (self.liar.how() != How::FindsNothing).then(|| vec![feigned()]);
        self.liar.call_once(Verb::Take, work, items).await
    }

    async fn try_take(&mut self) -> Result<Option<Item>, Error> {
        let work = async { self.right.try_take().await };
        let item = (self.liar.how() != How::FindsNothing).then(feigned);
        self.liar.call_once(Verb::Take, work, || Some(item)).await
    }

    async fn claim(&mut self) -> Result<Self::Claim, Error> {
        let liar = &self.liar;
        let work = async {
            let right = self.right.claim().await?;
            Ok(LyingClaim { liar: liar.clone(), item: right.item().clone(), right: Some(right) })
        };
        let feigned = || Some(LyingClaim { liar: liar.clone(), item: feigned(), right: None });
        liar.call_once(Verb::Claim, work, feigned).await
    }
}

/// An item that no producer has put.
fn feigned() -> Item {
    Item { data: b"feigned".to_vec(), czxid: FEIGNED }
}

/// A claim, or a feigned one.
pub(crate) struct LyingClaim<C, K> {
    liar: Liar<C>,
    item: Item,
    right: Option<K>,
}

impl<C: Client, K: Claims> Claims for LyingClaim<C, K> {
    fn item(&self) -> &Item {
        &self.item
    }

    async fn done(self) -> Result<(), Error> {
        let Some(right) = self.right else { return Ok(()) };
        self.liar.call_once(Verb::Confirm, async { right.done().await }, || Some(())).await
    }

    async fn give_back(self) -> Result<(), Error> {
        let Some(right) = self.right else { return Ok(()) };
        self.liar.call_once(Verb::GiveBack, async { right.give_back().await }, || Some(())).await
    }
}
