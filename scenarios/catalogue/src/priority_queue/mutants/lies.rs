//! The right priority queue, one operation of which [lies](crate::lies).

use crate::lies::How::{Denies, FindsNothing, Pretends, Refuses, Repeats};
use crate::lies::{DENIES, Lies, refuses, row};
use crate::prelude::*;
use crate::priority_queue::workload::{QUEUES, WORKLOAD, open};
use crate::queue::mutants::lies::{LOST, REFUSAL, UNMET, plan};
use crate::queue::workload::client;
use zk_checker::history::Failure::{ClaimLost, Other};
use zk_checker::history::Verb::{Claim, Confirm, GiveBack, Put, Settle, Take};

/// The lies.
pub(in crate::priority_queue) static LIES: Lies = Lies {
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
        // An item that is said to be in the queue, and is not: nobody ever gets it.
        row(Put, Pretends, Qu3, "put returns done and creates nothing"),
        // An item that is said not to be in the queue, and is: its producer puts it again.
        row(Put, DENIES, Qu3, "put creates the items and fails"),
        refuses(Put, UNMET, "put"),
        // A put that creates each item twice: both are handed out.
        row(Put, Repeats, Qu3, "put creates its items a second time")
            .or(&[(An1, "there are more items than were given")]),
        // An item is handed out that nobody has put.
        row(Take, Pretends, Qu1, "take hands out an item that was never put"),
        // An item that was deleted is said not to have been taken: nobody ever gets it.
        row(Take, DENIES, An3, "take deletes the item and fails"),
        refuses(Take, UNMET, "take"),
        // An item that is in the queue is said not to be there: its caller stops asking.
        row(Take, FindsNothing, An2, "an attempt says that there is no item, without asking"),
        refuses(Settle, UNMET, "settle"),
        // An item is claimed that nobody has put.
        row(Claim, Pretends, Qu1, "claim hands out an item that was never put"),
        refuses(Claim, UNMET, "claim"),
        // An item that is said to be done with, and stands: it is handed out again when the session ends.
        row(Confirm, Pretends, Qu1, "confirm returns done and deletes nothing"),
        // An item that is said to belong to another consumer, and is done with: its caller undoes its work, and nobody does it again.
        row(
            Confirm,
            Denies(&[ClaimLost, Other]),
            An3,
            "confirm deletes the item and says that the claim is lost",
        ),
        // A claim that stands is said to be lost.
        row(
            Confirm,
            Refuses(LOST),
            An2,
            "confirm says that the claim is lost, and it stands, or fails for another reason that never occurred",
        ),
        // An item that is said to be given back, and is claimed still: nobody else gets it.
        row(GiveBack, Pretends, An1, "give back returns done and keeps the claim"),
        // A claim that stands is said to be lost.
        row(
            GiveBack,
            Refuses(LOST),
            An2,
            "give back says that the claim is lost, and it stands, or fails for another reason that never occurred",
        ),
    ],
};
