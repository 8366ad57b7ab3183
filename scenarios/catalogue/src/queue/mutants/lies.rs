//! The right queue, one operation of which [lies](crate::lies).

use crate::lies::{FEIGNED, How, Liar, Lie};
use crate::prelude::*;
use crate::queue::workload::{Claims, Gets, Puts, QUEUES, WORKLOAD, Way, client, open};
use zk_checker::history::Failure;
use zk_harness::workload::TaskFn;
use zk_recipes::Item;

/// All mutants.
pub(in crate::queue) static ALL: &[&Workload] = &[
    &PUT_PRETENDS,
    &PUT_DENIES,
    &PUT_REFUSES,
    &PUT_REPEATS,
    &PUT_STOPS_HALFWAY,
    &TAKE_PRETENDS,
    &TAKE_DENIES,
    &TAKE_REFUSES,
    &TAKE_FINDS_NOTHING,
    &SETTLE_PRETENDS,
    &CLAIM_PRETENDS,
    &CLAIM_DENIES,
    &CLAIM_REFUSES,
    &CONFIRM_PRETENDS,
    &CONFIRM_DENIES,
    &CONFIRM_REFUSES,
    &GIVE_BACK_PRETENDS,
    &GIVE_BACK_DENIES,
    &GIVE_BACK_REFUSES,
];

/// One who puts into a queue, or takes out of it, and lies.
pub(crate) struct Lying<C, R> {
    pub liar: Liar<C>,
    pub right: R,
}

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

/// An item that nobody has put.
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

fn run<C: Client>(task: Task<C>, lie: &'static Lie) -> BoxFuture<'static, ()> {
    let liar = Liar::new(&task.client, lie);
    let open = move |zk: &C::Zk, way: &Way, prefetch| {
        let (puts, gets) = open(zk, way, prefetch);
        (Lying { liar: liar.clone(), right: puts }, Lying { liar: liar.clone(), right: gets })
    };
    client(task, &QUEUES, Box::new(open)).boxed()
}

/// Requests that are refused now and then make the right queue fail, too: for a reason that occurred.
pub(crate) const REFUSAL: &[Fault] = &[Fault::AccessDenied];

/// What the mutants of both queues draw.
pub(crate) fn plan(_: u64) -> Plan {
    Plan { clients: 4, rounds: 9, ..Plan::calm() }.with(REFUSAL, 0.005)
}

const fn mutant(
    name: &'static str,
    about: &'static str,
    caught: Caught,
    sim: TaskFn<SimProcess>,
) -> Workload {
    WORKLOAD.mutant(name, about, caught, REFUSAL, plan, sim)
}

/// An item that is said to be in the queue, and is not: nobody ever gets it.
static PUT_PRETENDS: Workload =
    mutant("queue-put-pretends", "put returns done and creates nothing", Caught::by(Qu3), |task| {
        run(task, &Lie { verb: Verb::Put, how: How::Pretends })
    });

/// An item that is said not to be in the queue, and is: its producer puts it again.
static PUT_DENIES: Workload =
    mutant("queue-put-denies", "put creates the items and fails", Caught::by(Qu3), |task| {
        run(task, &Lie { verb: Verb::Put, how: How::Denies(&[Failure::Other]) })
    });

/// An item is not accepted, for a reason that never occurred.
static PUT_REFUSES: Workload =
    mutant("queue-put-refuses", "put fails for a reason that never occurred", Caught::by(An2), |task| {
        run(task, &Lie { verb: Verb::Put, how: How::Refuses(UNMET) })
    });

/// A put that creates each item twice: both are handed out.
static PUT_REPEATS: Workload = mutant(
    "queue-put-repeats",
    "put creates its items a second time",
    Caught::by(Qu3).or(&[(An1, "there are more items than were given")]),
    |task| run(task, &Lie { verb: Verb::Put, how: How::Repeats }),
);

/// A put that takes any answer to its first create for success: the directory was missing, and so are the items.
static PUT_STOPS_HALFWAY: Workload = mutant(
    "queue-put-stops-halfway",
    "put returns done when its first request is answered, whatever the answer",
    Caught::by(Qu3),
    |task| run(task, &Lie { verb: Verb::Put, how: How::StopsHalfway }),
);

/// An item is handed out that nobody has put.
static TAKE_PRETENDS: Workload =
    mutant("queue-take-pretends", "take hands out an item that was never put", Caught::by(Qu1), |task| {
        run(task, &Lie { verb: Verb::Take, how: How::Pretends })
    });

/// An item that was deleted is said not to have been taken: nobody ever gets it.
static TAKE_DENIES: Workload =
    mutant("queue-take-denies", "take deletes the item and fails", Caught::by(An3), |task| {
        run(task, &Lie { verb: Verb::Take, how: How::Denies(&[Failure::Other]) })
    });

/// Nothing is taken, for a reason that never occurred.
static TAKE_REFUSES: Workload =
    mutant("queue-take-refuses", "take fails for a reason that never occurred", Caught::by(An2), |task| {
        run(task, &Lie { verb: Verb::Take, how: How::Refuses(UNMET) })
    });

/// An item that is in the queue is said not to be there: its caller stops asking.
static TAKE_FINDS_NOTHING: Workload = mutant(
    "queue-take-finds-nothing",
    "an attempt says that there is no item, without asking",
    Caught::by(An2),
    |task| run(task, &Lie { verb: Verb::Take, how: How::FindsNothing }),
);

/// What was taken is said to be handed out: with its consumer it is lost.
static SETTLE_PRETENDS: Workload = mutant(
    "queue-settle-pretends",
    "settle says that no item is in hand, without asking",
    Caught::by(Qu2),
    |task| run(task, &Lie { verb: Verb::Settle, how: How::Pretends }),
);

/// An item is claimed that nobody has put.
static CLAIM_PRETENDS: Workload =
    mutant("queue-claim-pretends", "claim hands out an item that was never put", Caught::by(Qu1), |task| {
        run(task, &Lie { verb: Verb::Claim, how: How::Pretends })
    });

/// An item that is said not to be claimed, and is: for as long as the session lives nobody else gets it.
static CLAIM_DENIES: Workload =
    mutant("queue-claim-denies", "claim claims the item and fails", Caught::by(Qu9), |task| {
        run(task, &Lie { verb: Verb::Claim, how: How::Denies(&[Failure::Other]) })
    });

/// Nothing is claimed, for a reason that never occurred.
static CLAIM_REFUSES: Workload =
    mutant("queue-claim-refuses", "claim fails for a reason that never occurred", Caught::by(An2), |task| {
        run(task, &Lie { verb: Verb::Claim, how: How::Refuses(UNMET) })
    });

/// An item that is said to be done with, and stands: it is handed out again when the session ends.
static CONFIRM_PRETENDS: Workload =
    mutant("queue-confirm-pretends", "confirm returns done and deletes nothing", Caught::by(Qu1), |task| {
        run(task, &Lie { verb: Verb::Confirm, how: How::Pretends })
    });

/// An item that is said to belong to another consumer, and is done with: its caller undoes its work, and nobody does it again.
static CONFIRM_DENIES: Workload = mutant(
    "queue-confirm-denies",
    "confirm deletes the item and says that the claim is lost",
    Caught::by(An3),
    |task| {
        const REASONS: &[Failure] = &[Failure::ClaimLost, Failure::Other];
        run(task, &Lie { verb: Verb::Confirm, how: How::Denies(REASONS) })
    },
);

/// A claim that stands is said to be lost.
static CONFIRM_REFUSES: Workload = mutant(
    "queue-confirm-refuses",
    "confirm says that the claim is lost, and it stands, or fails for another reason that never occurred",
    Caught::by(An2),
    |task| run(task, &Lie { verb: Verb::Confirm, how: How::Refuses(LOST) }),
);

/// An item that is said to be given back, and is claimed still: nobody else gets it.
static GIVE_BACK_PRETENDS: Workload = mutant(
    "queue-give-back-pretends",
    "give back returns done and keeps the claim",
    Caught::by(An1),
    |task| run(task, &Lie { verb: Verb::GiveBack, how: How::Pretends }),
);

/// An item that is said to be claimed still, and was given back: two consumers work on it.
static GIVE_BACK_DENIES: Workload =
    mutant("queue-give-back-denies", "give back gives the claim up and fails", Caught::by(An3), |task| {
        run(task, &Lie { verb: Verb::GiveBack, how: How::Denies(&[Failure::Other]) })
    });

/// A claim that stands is said to be lost.
static GIVE_BACK_REFUSES: Workload = mutant(
    "queue-give-back-refuses",
    "give back says that the claim is lost, and it stands, or fails for another reason that never occurred",
    Caught::by(An2),
    |task| run(task, &Lie { verb: Verb::GiveBack, how: How::Refuses(LOST) }),
);

/// Reasons for which a call may fail, none of which has occurred.
pub(crate) const UNMET: &[Failure] =
    &[Failure::TimedOut, Failure::Denied, Failure::NoNode, Failure::ConnectionLoss];

/// The same of a claim.
pub(crate) const LOST: &[Failure] = &[Failure::ClaimLost, Failure::TimedOut, Failure::ConnectionLoss];
