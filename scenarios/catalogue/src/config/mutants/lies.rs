//! The right configuration, one operation of which [lies](crate::lies).

use crate::config::workload::{Configuration, Follows, WORKLOAD, client, new};
use crate::lies::How::{Denies, Distorts, Pretends, Refuses, Repeats, StopsHalfway};
use crate::lies::{DENIES, FEIGNED, How, Lies, Lying, LyingStream, UNMET_OF_READS, refuses, row};
use crate::prelude::*;
use std::collections::BTreeMap;
use zk_checker::history::Failure::{BadInput, Conflict, ConnectionLoss, Denied, NoNode, Other, TimedOut};
use zk_checker::history::Verb::{CompareAndSet, Follow, Get, Overwrite, Publish};
use zk_recipes::config::{ConfigSet, Snapshot};
use zk_recipes::{Update, Updates, Versioned};

/// The lies.
pub(in crate::config) static LIES: Lies = Lies {
    workload: &WORKLOAD,
    faults: &[],
    plan: |_| Plan { rounds: 6, ..Plan::calm() },
    part: |task, liar| client(task, Box::new(move |zk, path| liar.over(new(zk, path)))).boxed(),
    rows: &[
        // The value is reported as written, but is not: followers never receive it.
        row(CompareAndSet, Pretends, An1, "a conditional write returns done and writes nothing"),
        // An applied conditional write reports a conflict: its caller reads its own value, and writes on top of it.
        row(CompareAndSet, Denies(&[Other, Conflict]), An3, "a conditional write is applied, and fails"),
        // A conditional write reports a conflict that did not occur.
        row(
            CompareAndSet,
            Refuses(&[Conflict, NoNode, TimedOut, ConnectionLoss]),
            An2,
            "a conditional write fails for a race that there was not, or another reason that never occurred",
        ),
        // The value is reported as written, but is not.
        row(Overwrite, Pretends, An1, "an unconditional write returns done and writes nothing"),
        // The write is reported as failed, but is applied: followers act on a value that its writer gives up.
        row(Overwrite, DENIES, An3, "an unconditional write is applied, and fails"),
        refuses(Overwrite, &[Conflict, Denied, TimedOut, ConnectionLoss], "an unconditional write"),
        // A write that takes any reply to its first request for success: the znode was missing, and so is the value.
        row(
            Overwrite,
            StopsHalfway,
            An1,
            "an unconditional write returns done when its first request is answered, whatever the answer",
        ),
        // A write that every follower receives twice.
        row(Overwrite, Repeats, An4, "an unconditional write is applied twice")
            .or(&[(Cf7, "another write came in between")]),
        // The set is reported as published, but is not.
        row(Publish, Pretends, An1, "publish returns done and writes nothing"),
        // The set is reported as not published, but is.
        row(Publish, Denies(&[Other, Conflict]), An3, "publish writes the set, and fails"),
        // A set is not published because of a conflict that did not occur.
        row(
            Publish,
            Refuses(&[Conflict, BadInput, TimedOut]),
            An2,
            "publish fails for a race that there was not, or another reason that never occurred",
        ),
        // The values of a set are written, but not its pointer: readers keep the former set.
        row(
            Publish,
            StopsHalfway,
            An1,
            "publish returns done when its first request is answered, and does not move the pointer",
        ),
        // Reports that no value exists, without reading: the caller writes as if it were the first.
        row(Get, Pretends, An1, "get says that there is no value, without asking"),
        refuses(Get, UNMET_OF_READS, "get"),
        // An existing set is reported as missing.
        row(Verb::Snapshot, Pretends, An1, "snapshot says that there is no set, without asking"),
        refuses(Verb::Snapshot, UNMET_OF_READS, "snapshot"),
        // A follower is given no value although one exists.
        row(Follow, Pretends, An1, "a follower is told that there is no value, without asking")
            .or(&[(Cf1, "it had been told that before")]),
        row(Follow, Refuses(UNMET_OF_READS), An2, "following ends for a reason that never occurred"),
        // A follower acts on a value that no client has written.
        row(Follow, Distorts, Cf2, "a follower is given the first half of a value"),
        // A follower acts on one value twice.
        row(Follow, Repeats, Cf1, "a follower is told the same again")
            .or(&[(An1, "nobody has said it again"), (Cf5, "it has not read it again")]),
    ],
};

impl<C: Client, Z: ZooKeeper> Configuration for Lying<C, ConfigSet<Z>> {
    type Updates = LyingStream<C, Updates<Z>, Update>;

    fn follow(&self) -> Self::Updates {
        self.liar.follows(self.right.follow())
    }

    async fn get(&self) -> Result<Option<Versioned>, Error> {
        self.liar.call(Verb::Get, || async { self.right.get().await }, || Some(None)).await
    }

    async fn compare_and_set(&self, expected: Option<&Versioned>, data: &[u8]) -> Result<Versioned, Error> {
        let work = || async { self.right.compare_and_set(expected, data).await };
        self.liar.call(Verb::CompareAndSet, work, || feigned(data)).await
    }

    async fn put(&self, data: &[u8]) -> Result<Versioned, Error> {
        self.liar.call(Verb::Overwrite, || async { self.right.put(data).await }, || feigned(data)).await
    }

    async fn publish(
        &self,
        values: &BTreeMap<String, Vec<u8>>,
        expected: Option<&Versioned>,
    ) -> Result<Versioned, Error> {
        let work = || async { self.right.publish(values, expected).await };
        self.liar.call(Verb::Publish, work, || feigned(b"1")).await
    }

    async fn snapshot(&self) -> Result<Option<Snapshot>, Error> {
        self.liar.call(Verb::Snapshot, || async { self.right.snapshot().await }, || Some(None)).await
    }
}

/// The fictitious result of a write.
fn feigned(data: &[u8]) -> Option<Versioned> {
    Some(Versioned { data: data.to_vec(), czxid: FEIGNED, mzxid: FEIGNED, version: 0 })
}

impl<C: Client, Z: ZooKeeper> Follows for LyingStream<C, Updates<Z>, Update> {
    async fn next(&mut self) -> Result<Update, Error> {
        let work = async { self.right.next().await };
        let mut news = self.liar.next(Verb::Follow, &mut self.told, work, || Some(Update::Missing)).await?;
        if let Update::Value(value) = &mut news
            && self.liar.how() == How::Distorts
            && self.liar.lies_in(Verb::Follow)
        {
            value.data.truncate(value.data.len() / 2);
        }
        Ok(news)
    }
}
