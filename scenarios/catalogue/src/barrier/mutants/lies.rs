//! The right barrier, one operation of which [lies](crate::lies).

use crate::barrier::workload::{Gate, WORKLOAD, client, new};
use crate::lies::How::{Pretends, Refuses, StopsHalfway};
use crate::lies::{DENIES, Lies, Lying, refuses, row};
use crate::prelude::*;
use std::time::Duration;
use zk_checker::history::Failure::{self, BadVersion, ConnectionLoss, Denied, NoNode, NodeExists, TimedOut};
use zk_checker::history::Verb::{Lower, Raise, Wait, WaitDown};
use zk_recipes::Barrier;

/// The lies.
pub(in crate::barrier) static LIES: Lies = Lies {
    workload: &WORKLOAD,
    faults: &[],
    plan: |_| Plan { rounds: 4, ..Plan::calm() },
    part: |task, liar| client(task, Box::new(move |zk, lives| liar.over(new(zk, lives)))).boxed(),
    rows: &[
        // A barrier that is said to stand, and was never created: whoever comes to wait walks through.
        row(Raise, Pretends, An1, "raise returns done and creates nothing"),
        // A barrier that is said not to stand, and does: its caller has no reason to lower it, and waiters stay.
        row(Raise, DENIES, An3, "raise creates the barrier and fails"),
        refuses(Raise, &[TimedOut, Denied, NodeExists, NoNode, ConnectionLoss], "raise"),
        // A raise that takes any answer to its first create for success: the parent was missing, and so is the barrier.
        row(
            Raise,
            StopsHalfway,
            An1,
            "raise returns done when the first create is answered, whatever the answer",
        ),
        // A barrier that is said to be gone, and stands: its waiters wait for ever.
        row(Lower, Pretends, An1, "lower returns done and deletes nothing"),
        // A barrier that is said to stand still, and has opened: its caller believes that the waiters wait.
        row(Lower, DENIES, An3, "lower deletes the barrier and fails"),
        refuses(Lower, &[TimedOut, Denied, NoNode, BadVersion, ConnectionLoss], "lower"),
        // A wait that lets its caller pass without a look at the barrier.
        row(Wait, Pretends, Ba1, "wait returns at once, and the barrier stands")
            .or(&[(Ba5, "no event has opened it")])
            .breaks(Promise::Barriers),
        // A wait that says that its limit is over when it has just begun, or that it lost a connection that stood.
        row(
            Wait,
            Refuses(UNMET),
            An2,
            "wait fails before its limit is over, or for a reason that never occurred",
        ),
        // The same of the level-triggered wait: it says that no barrier stands while one stands.
        row(WaitDown, Pretends, Ba1, "the level-triggered wait returns at once, and a barrier stands")
            .or(&[(Ba5, "no event has opened it")])
            .breaks(Promise::Barriers),
        row(
            WaitDown,
            Refuses(UNMET),
            An2,
            "the level-triggered wait fails before its limit is over, or for a reason that never occurred",
        ),
    ],
};

/// Reasons for which a wait may fail, none of which has occurred.
const UNMET: &[Failure] = &[TimedOut, ConnectionLoss, Denied];

impl<C: Client, Z: ZooKeeper> Gate for Lying<C, Barrier<Z>> {
    async fn raise(&self) -> Result<(), Error> {
        self.liar.call(Verb::Raise, || async { self.right.raise().await }, || Some(())).await
    }

    async fn lower(&self) -> Result<(), Error> {
        self.liar.call(Verb::Lower, || async { self.right.lower().await }, || Some(())).await
    }

    async fn wait(&self, verb: Verb, limit: Duration) -> Result<(), Error> {
        self.liar.call(verb, || async { Gate::wait(&self.right, verb, limit).await }, || Some(())).await
    }
}
