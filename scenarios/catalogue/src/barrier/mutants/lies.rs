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
        // The barrier is reported as raised, but was never created: clients that come to wait pass at once.
        row(Raise, Pretends, An1, "raise returns done and creates nothing"),
        // The raise is reported as failed, but the barrier stands: its caller does not lower it, and the waiters stay.
        row(Raise, DENIES, An3, "raise creates the barrier and fails"),
        refuses(Raise, &[TimedOut, Denied, NodeExists, NoNode, ConnectionLoss], "raise"),
        // A raise that takes any reply to its first create for success: the parent was missing, and so is the barrier.
        row(
            Raise,
            StopsHalfway,
            An1,
            "raise returns done when the first create is answered, whatever the answer",
        ),
        // The barrier is reported as lowered, but stands: its waiters wait for ever.
        row(Lower, Pretends, An1, "lower returns done and deletes nothing"),
        // The lower is reported as failed, but the barrier has opened: its caller believes that the waiters wait.
        row(Lower, DENIES, An3, "lower deletes the barrier and fails"),
        refuses(Lower, &[TimedOut, Denied, NoNode, BadVersion, ConnectionLoss], "lower"),
        // A wait that returns without reading the barrier.
        row(Wait, Pretends, Ba1, "wait returns at once, and the barrier stands")
            .or(&[(Ba5, "no event has opened it")])
            .breaks(Promise::Barriers),
        // A wait that reports a timeout when it has just begun, or a connection loss that did not occur.
        row(
            Wait,
            Refuses(UNMET),
            An2,
            "wait fails before its limit is over, or for a reason that never occurred",
        ),
        // The same for the level-triggered wait: it returns while a barrier stands.
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
