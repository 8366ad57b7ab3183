//! The right double barrier, one operation of which [lies](crate::lies).

use crate::double_barrier::workload::{Meeting, Participation, WORKLOAD, client, new, setup};
use crate::lies::How::{Denies, Hangs, Pretends, StopsHalfway};
use crate::lies::{DENIES, FEIGNED, Hold, Lies, Lying, refuses, row};
use crate::prelude::*;
use std::time::Duration;
use zk_checker::history::Failure::{self, ConnectionLoss, Denied, Late, Removed, TimedOut};
use zk_checker::history::Verb::{Enter, Leave};
use zk_recipes::{DoubleBarrier, Inside};

/// The lies.
pub(in crate::double_barrier) static LIES: Lies = Lies {
    workload: &WORKLOAD,
    faults: &[],
    plan: |_| Plan { rounds: 5, ..Plan::calm() },
    part: |task, liar| {
        let make = move |zk: &_, setup: &_, id, round| liar.over(new(zk, setup, id, round));
        client(task, setup, Box::new(make)).boxed()
    },
    rows: &[
        // A participant that begins before the others have arrived.
        row(Enter, Pretends, Db1, "enter returns at once, without a znode").breaks(Promise::Barriers),
        // A participant that the others count on, but whose enter is reported as failed.
        row(Enter, DENIES, Db7, "enter is done, and fails"),
        refuses(Enter, UNMET, "enter"),
        // A late participant that waits for a full new set of participants. In every fifth round each participant but
        // the first to arrive is late.
        row(Enter, Hangs(Some(Late)), Db5, "a late participant waits for ever")
            .plan(|_| Plan { rounds: 10, ..Plan::calm() }),
        // A participant that is reported as having left, but whose znode stays: the others wait for it.
        row(Leave, Pretends, Db9, "leave returns at once, and its znode stays")
            .or(&[(An1, "its znode stays")]),
        // A participant that has left together with the others, but whose leave is reported as failed.
        row(Leave, Denies(&[TimedOut, Removed, Denied]), An2, "leave is done, and fails"),
        refuses(Leave, UNMET, "leave"),
        // A participant that leaves without waiting for the others.
        row(
            Leave,
            StopsHalfway,
            Db2,
            "leave returns done when its first request is answered, while others are inside",
        )
        .or(&[(An1, "its znode stays")])
        .breaks(Promise::Barriers),
    ],
};

/// Reasons for which a call may fail, none of which has occurred.
const UNMET: &[Failure] = &[TimedOut, Late, Denied, ConnectionLoss];

impl<C: Client, Z: ZooKeeper> Meeting for Lying<C, DoubleBarrier<Z>> {
    type Participation = Hold<C, Inside<Z>>;

    async fn enter(&self, limit: Duration) -> Result<Self::Participation, Error> {
        self.liar.grants(Verb::Enter, || Meeting::enter(&self.right, limit)).await
    }
}

impl<C: Client, Z: ZooKeeper> Participation for Hold<C, Inside<Z>> {
    fn opening(&self) -> (u64, String) {
        self.held.as_ref().map_or((FEIGNED.cast_unsigned(), String::new()), Participation::opening)
    }

    async fn lost(&self) {
        self.waits(Participation::lost).await;
    }

    async fn leave(self, limit: Option<Duration>) -> Result<(), Error> {
        let Some(right) = self.held else { return Ok(()) };
        let work = async { Participation::leave(right, limit).await };
        self.liar.call_once(Verb::Leave, work, || Some(())).await
    }
}
