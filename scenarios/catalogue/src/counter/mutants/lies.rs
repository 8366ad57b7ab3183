//! The right counter, one operation of which [lies](crate::lies).

use crate::counter::workload::{Counting, WORKLOAD, client, new};
use crate::lies::How::{Distorts, Pretends, Refuses, Repeats};
use crate::lies::{DENIES, Lies, Lying, LyingStream, UNMET_OF_READS, refuses, row};
use crate::prelude::*;
use zk_checker::history::Failure::{Conflict, ConnectionLoss, Denied};
use zk_checker::history::Verb::{Add, CompareAndSet, Follow, Get, Overwrite};
use zk_recipes::{Counter, Freshness, Update, Updates};

/// The lies.
pub(in crate::counter) static LIES: Lies = Lies {
    workload: &WORKLOAD,
    faults: &[],
    plan: |_| Plan { rounds: 8, ..Plan::calm() },
    part: |task, liar| client(task, Box::new(move |zk| liar.over(new(zk)))).boxed(),
    rows: &[
        row(Add, Pretends, Ct1, "add returns done and adds nothing"),
        row(Add, DENIES, Ct1, "add adds and fails"),
        refuses(Add, &[Denied, ConnectionLoss], "add"),
        row(Add, Repeats, Ct1, "add adds twice"),
        row(CompareAndSet, Pretends, Ct1, "compare_and_set returns done and sets nothing"),
        row(CompareAndSet, DENIES, Ct1, "compare_and_set sets the count and fails"),
        row(CompareAndSet, Refuses(&[Conflict]), Ct3, "compare_and_set says that there is another count"),
        row(Overwrite, Pretends, Ct1, "set returns done and sets nothing"),
        row(Overwrite, DENIES, Ct1, "set sets the count and fails"),
        row(Get, Pretends, Ct2, "get makes a count up").or(&[(An1, "no server has told it")]),
        refuses(Get, UNMET_OF_READS, "get"),
        row(Get, Repeats, An4, "get reads the count twice"),
        row(Follow, Pretends, An1, "a follower is told that there is no count, without asking")
            .or(&[(Ct2, "it had been told one before")]),
        refuses(Follow, UNMET_OF_READS, "following"),
        row(Follow, Distorts, Ct2, "a follower is given the first half of a count"),
        row(Follow, Repeats, Ct2, "a follower is told the same again")
            .or(&[(An1, "nobody has said it again")]),
    ],
};

impl<C: Client, Z: ZooKeeper> Counting for Lying<C, Counter<Z>> {
    async fn add(&self, number: i64) -> Result<Option<i64>, Error> {
        self.liar.call(Add, || self.right.add(number), || Some(None)).await
    }

    async fn get(&self, freshness: Freshness) -> Result<i64, Error> {
        self.liar.call(Get, || self.right.get(freshness), || Some(-1)).await
    }

    async fn set(&self, count: i64) -> Result<(), Error> {
        self.liar.call(Overwrite, || self.right.set(count), || Some(())).await
    }

    async fn compare_and_set(&self, expected: i64, new: i64) -> Result<(), Error> {
        self.liar.call(CompareAndSet, || self.right.compare_and_set(expected, new), || Some(())).await
    }

    type Updates = LyingStream<C, Updates<Z>, Update>;

    fn follow(&self) -> Self::Updates {
        self.liar.follows(self.right.follow())
    }
}
