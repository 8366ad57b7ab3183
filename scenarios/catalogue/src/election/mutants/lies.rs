//! The right election, one operation of which [lies](crate::lies).

use crate::election::workload::{Electing, Follower, Office, WORKLOAD, client, new};
use crate::lies::How::{Distorts, EndsClean, Pretends, Refuses, Repeats, StopsHalfway};
use crate::lies::{DENIES, Hold, Lies, Lying, LyingStream, UNMET_OF_HOLDS, refuses, row};
use crate::prelude::*;
use std::time::Duration;
use zk_checker::history::Failure::{ConnectionLoss, Denied, NoNode};
use zk_checker::history::Verb::{Acknowledge, Observe, Release, Stand};
use zk_recipes::{Election, Leader, Leadership, Term};

/// The lies.
pub(in crate::election) static LIES: Lies = Lies {
    workload: &WORKLOAD,
    faults: &[],
    plan: |_| Plan { rounds: 6, ..Plan::calm() },
    part: |task, liar| client(task, Box::new(move |zk| liar.over(new(zk)))).boxed(),
    rows: &[
        // A leader without an election: it leads beside another one.
        row(Stand, Pretends, Le3, "a candidate is told that it leads, without asking").harm(&[Le1]),
        // An elected leader whose election is reported as failed: no client leads for as long as its session lives.
        row(Stand, DENIES, Le8, "a candidate is elected and told that it is not")
            .or(&[(Le5, "nobody else is elected while its candidate stands")]),
        refuses(Stand, UNMET_OF_HOLDS, "a candidacy"),
        // All leaders have the same epoch: it does not tell a leader's writes from those of a deposed one.
        row(Stand, Distorts, Le2, "a leader is given another epoch than its candidate has"),
        // The leader is reported as being on record, but is not: followers never learn of it.
        row(Acknowledge, Pretends, Le4, "acknowledge returns done and writes no record"),
        // The acknowledgement is reported as failed, but is written: followers turn to a leader that does not serve
        // them.
        row(Acknowledge, DENIES, An3, "acknowledge writes the record and fails"),
        refuses(Acknowledge, UNMET_OF_HOLDS, "acknowledge"),
        // A leader that takes its predecessor's record for its own.
        row(
            Acknowledge,
            StopsHalfway,
            Le4,
            "acknowledge returns done when its first request is answered, whatever the answer",
        ),
        // The leader is reported as having resigned, but still blocks the other candidates.
        row(Release, Pretends, Le8, "resign returns done and deletes nothing")
            .or(&[(An1, "it says that it ended clean")]),
        // The resignation is reported as failed, but took effect.
        row(Release, DENIES, An3, "resign deletes the candidate and fails"),
        refuses(Release, UNMET_OF_HOLDS, "resign"),
        // A lost term is reported as kept until it was resigned: its leader does not check the writes made meanwhile.
        row(
            Release,
            EndsClean,
            An1,
            "resign says that the term lasted until then, whatever has become of it",
        ),
        // A follower gets the news that there is no leader although there is one.
        row(Observe, Pretends, An1, "a follower is told that nobody leads, without asking")
            .or(&[(Le4, "it had been told that before")]),
        row(
            Observe,
            Refuses(&[Denied, NoNode, ConnectionLoss]),
            An2,
            "following ends for a reason that never occurred",
        ),
        // An observer acts on the same change of leader twice.
        row(Observe, Repeats, Le4, "an observer is told the same again"),
    ],
};

impl<C: Client, Z: ZooKeeper> Electing for Lying<C, Election<Z>> {
    type Office = Hold<C, Term<Z>>;
    type Follower = LyingStream<C, Leadership<Z>, Leader>;

    async fn stand(&self, limit: Duration) -> Result<Self::Office, Error> {
        self.liar.grants(Verb::Stand, || Electing::stand(&self.right, limit)).await
    }

    fn follow(&self) -> Self::Follower {
        self.liar.follows(self.right.follow())
    }
}

impl<C: Client, T: Office> Office for Hold<C, T> {
    async fn acknowledge(&self, data: &[u8]) -> Result<(), Error> {
        let Some(term) = &self.held else { return Ok(()) };
        let work = || async { term.acknowledge(data).await };
        self.liar.call(Verb::Acknowledge, work, || Some(())).await
    }
}

impl<C: Client, Z: ZooKeeper> Follower for LyingStream<C, Leadership<Z>, Leader> {
    async fn next(&mut self) -> Result<Leader, Error> {
        let work = async { self.right.next().await };
        let nobody = || Some(Leader::Unacknowledged { candidates: Vec::new() });
        self.liar.next(Verb::Observe, &mut self.told, work, nobody).await
    }
}
