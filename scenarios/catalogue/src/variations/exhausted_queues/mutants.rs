//! Queues that ignore how many numbers are left.

use super::{END, WORKLOAD};
use crate::prelude::*;
use crate::queue::workload::{QUEUES, client, open};
use crate::session::{Intercepted, Interceptor, Reply};
use std::sync::Arc;
use zk_recipes::zk::{Data, Op, OpResult};

/// All mutants.
pub(super) static ALL: &[&Workload] = &[&PUTS_TO_THE_END];

/// At the end of its numbers a server gives the last one again: a consumer that has read the item of that name deletes
/// the next one. The first item is delivered twice, the second never.
static PUTS_TO_THE_END: Workload = WORKLOAD.mutant(
    "exhausted-queues-puts-to-the-end",
    "a queue that puts items for as long as a server gives a number",
    Caught::by(Qu1).or(&[
        (Qu2, "the item with the same name is lost"),
        (Qu4, "the item with the same name came in the place of the former"),
        (Qu10, "the item with the same name is younger, and its number says nothing of that"),
    ]),
    &[],
    // Every second run has numbers left, so that the right queue can put.
    |seed| Plan {
        clients: 8,
        rounds: 12,
        first_number: if seed % 2 == 0 { i32::MAX - 1 } else { END - 40 },
        ..Plan::calm()
    },
    |task| {
        let make = |zk: &_, way: &_, prefetch| open(&Intercepted::new(zk, Arc::new(Blind)), way, prefetch);
        client(task, &QUEUES, Box::new(make)).boxed()
    },
);

/// A session that hides how many children a directory has had.
struct Blind;

impl<Z: ZooKeeper> Interceptor<Z> for Blind {
    fn read(&self, _: &str, mut data: Data) -> Data {
        data.stat.cversion = 0;
        data
    }

    fn multi(&self, zk: &Z, ops: Vec<Op>) -> Reply<Vec<OpResult>> {
        let multi = zk.multi(ops);
        let unnumbered = |result| match result {
            OpResult::Created(_) => OpResult::Checked,
            result => result,
        };
        multi.map(move |all| all.map(|all| all.into_iter().map(unnumbered).collect())).boxed()
    }
}
