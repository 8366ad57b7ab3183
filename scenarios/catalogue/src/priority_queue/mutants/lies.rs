//! The right priority queue, one operation of which [lies](crate::lies).

use crate::lies::{How, Liar, Lie};
use crate::prelude::*;
use crate::priority_queue::workload::{QUEUES, WORKLOAD, open};
use crate::queue::mutants::lies::{LOST, Lying, REFUSAL, UNMET, plan};
use crate::queue::workload::{Way, client};
use zk_checker::history::Failure;
use zk_harness::workload::TaskFn;

/// All mutants.
pub(in crate::priority_queue) static ALL: &[&Workload] = &[
    &PUT_PRETENDS,
    &PUT_DENIES,
    &PUT_REFUSES,
    &PUT_REPEATS,
    &TAKE_PRETENDS,
    &TAKE_DENIES,
    &TAKE_REFUSES,
    &TAKE_FINDS_NOTHING,
    &SETTLE_REFUSES,
    &CLAIM_PRETENDS,
    &CLAIM_REFUSES,
    &CONFIRM_PRETENDS,
    &CONFIRM_DENIES,
    &CONFIRM_REFUSES,
    &GIVE_BACK_PRETENDS,
    &GIVE_BACK_REFUSES,
];

fn run<C: Client>(task: Task<C>, lie: &'static Lie) -> BoxFuture<'static, ()> {
    let liar = Liar::new(&task.client, lie);
    let open = move |zk: &C::Zk, way: &Way, prefetch| {
        let (puts, gets) = open(zk, way, prefetch);
        (Lying { liar: liar.clone(), right: puts }, Lying { liar: liar.clone(), right: gets })
    };
    client(task, &QUEUES, Box::new(open)).boxed()
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
    mutant("priority-queue-put-pretends", "put returns done and creates nothing", Caught::by(Qu3), |task| {
        run(task, &Lie { verb: Verb::Put, how: How::Pretends })
    });

/// An item that is said not to be in the queue, and is: its producer puts it again.
static PUT_DENIES: Workload =
    mutant("priority-queue-put-denies", "put creates the items and fails", Caught::by(Qu3), |task| {
        run(task, &Lie { verb: Verb::Put, how: How::Denies(&[Failure::Other]) })
    });

/// An item is not accepted, for a reason that never occurred.
static PUT_REFUSES: Workload = mutant(
    "priority-queue-put-refuses",
    "put fails for a reason that never occurred",
    Caught::by(An2),
    |task| run(task, &Lie { verb: Verb::Put, how: How::Refuses(UNMET) }),
);

/// A put that creates each item twice: both are handed out.
static PUT_REPEATS: Workload = mutant(
    "priority-queue-put-repeats",
    "put creates its items a second time",
    Caught::by(Qu3).or(&[(An1, "there are more items than were given")]),
    |task| run(task, &Lie { verb: Verb::Put, how: How::Repeats }),
);

/// An item is handed out that nobody has put.
static TAKE_PRETENDS: Workload = mutant(
    "priority-queue-take-pretends",
    "take hands out an item that was never put",
    Caught::by(Qu1),
    |task| run(task, &Lie { verb: Verb::Take, how: How::Pretends }),
);

/// An item that was deleted is said not to have been taken: nobody ever gets it.
static TAKE_DENIES: Workload =
    mutant("priority-queue-take-denies", "take deletes the item and fails", Caught::by(An3), |task| {
        run(task, &Lie { verb: Verb::Take, how: How::Denies(&[Failure::Other]) })
    });

/// Nothing is taken, for a reason that never occurred.
static TAKE_REFUSES: Workload = mutant(
    "priority-queue-take-refuses",
    "take fails for a reason that never occurred",
    Caught::by(An2),
    |task| run(task, &Lie { verb: Verb::Take, how: How::Refuses(UNMET) }),
);

/// An item that is in the queue is said not to be there: its caller stops asking.
static TAKE_FINDS_NOTHING: Workload = mutant(
    "priority-queue-take-finds-nothing",
    "an attempt says that there is no item, without asking",
    Caught::by(An2),
    |task| run(task, &Lie { verb: Verb::Take, how: How::FindsNothing }),
);

/// What was taken is not known, for a reason that never occurred.
static SETTLE_REFUSES: Workload = mutant(
    "priority-queue-settle-refuses",
    "settle fails for a reason that never occurred",
    Caught::by(An2),
    |task| run(task, &Lie { verb: Verb::Settle, how: How::Refuses(UNMET) }),
);

/// An item is claimed that nobody has put.
static CLAIM_PRETENDS: Workload = mutant(
    "priority-queue-claim-pretends",
    "claim hands out an item that was never put",
    Caught::by(Qu1),
    |task| run(task, &Lie { verb: Verb::Claim, how: How::Pretends }),
);

/// Nothing is claimed, for a reason that never occurred.
static CLAIM_REFUSES: Workload = mutant(
    "priority-queue-claim-refuses",
    "claim fails for a reason that never occurred",
    Caught::by(An2),
    |task| run(task, &Lie { verb: Verb::Claim, how: How::Refuses(UNMET) }),
);

/// An item that is said to be done with, and stands: it is handed out again when the session ends.
static CONFIRM_PRETENDS: Workload = mutant(
    "priority-queue-confirm-pretends",
    "confirm returns done and deletes nothing",
    Caught::by(Qu1),
    |task| run(task, &Lie { verb: Verb::Confirm, how: How::Pretends }),
);

/// An item that is said to belong to another consumer, and is done with: its caller undoes its work, and nobody does it again.
static CONFIRM_DENIES: Workload = mutant(
    "priority-queue-confirm-denies",
    "confirm deletes the item and says that the claim is lost",
    Caught::by(An3),
    |task| {
        const REASONS: &[Failure] = &[Failure::ClaimLost, Failure::Other];
        run(task, &Lie { verb: Verb::Confirm, how: How::Denies(REASONS) })
    },
);

/// A claim that stands is said to be lost.
static CONFIRM_REFUSES: Workload = mutant(
    "priority-queue-confirm-refuses",
    "confirm says that the claim is lost, and it stands, or fails for another reason that never occurred",
    Caught::by(An2),
    |task| run(task, &Lie { verb: Verb::Confirm, how: How::Refuses(LOST) }),
);

/// An item that is said to be given back, and is claimed still: nobody else gets it.
static GIVE_BACK_PRETENDS: Workload = mutant(
    "priority-queue-give-back-pretends",
    "give back returns done and keeps the claim",
    Caught::by(An1),
    |task| run(task, &Lie { verb: Verb::GiveBack, how: How::Pretends }),
);

/// A claim that stands is said to be lost.
static GIVE_BACK_REFUSES: Workload = mutant(
    "priority-queue-give-back-refuses",
    "give back says that the claim is lost, and it stands, or fails for another reason that never occurred",
    Caught::by(An2),
    |task| run(task, &Lie { verb: Verb::GiveBack, how: How::Refuses(LOST) }),
);
