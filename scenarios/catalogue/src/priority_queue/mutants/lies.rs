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
        // The item is reported as put, but is not: no consumer ever gets it.
        row(Put, Pretends, Qu3, "put returns done and creates nothing"),
        // The put is reported as failed, but took effect: its producer puts the item again.
        row(Put, DENIES, Qu3, "put creates the items and fails"),
        refuses(Put, UNMET, "put"),
        // A put that creates each item twice: both are handed out.
        row(Put, Repeats, Qu3, "put creates its items a second time")
            .or(&[(An1, "there are more items than were given")]),
        // An item is handed out that no producer has put.
        row(Take, Pretends, Qu1, "take hands out an item that was never put"),
        // The take is reported as failed, but the item was deleted: no consumer ever gets it.
        row(Take, DENIES, An3, "take deletes the item and fails"),
        refuses(Take, UNMET, "take"),
        // An item in the queue is reported as missing: its caller stops asking.
        row(Take, FindsNothing, An2, "an attempt says that there is no item, without asking"),
        refuses(Settle, UNMET, "settle"),
        // An item is claimed that no producer has put.
        row(Claim, Pretends, Qu1, "claim hands out an item that was never put"),
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
        // A valid claim is reported as lost.
        row(
            GiveBack,
            Refuses(LOST),
            An2,
            "give back says that the claim is lost, and it stands, or fails for another reason that never occurred",
        ),
    ],
};
