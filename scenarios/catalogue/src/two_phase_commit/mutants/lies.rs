//! The right two-phase commit, one operation of which [lies](crate::lies).

use crate::lies::How::{Hangs, Pretends, Refuses, StopsHalfway};
use crate::lies::{DENIES, Lies, Lying, refuses, row};
use crate::prelude::*;
use crate::two_phase_commit::recipe::{Participant, TwoPhases};
use crate::two_phase_commit::workload::{WORKLOAD, client};
use std::time::Duration;
use zk_checker::history::Failure::{
    self, BadVersion, ConnectionLoss, Denied, NoTransaction, NodeExists, TimedOut,
};
use zk_checker::history::Verb::{Begin, Decide, Finish};
use zk_recipes::two_phase_commit::{Coordinator, Decision, Site, Transaction, Vote, Voted};

/// The lies.
pub(in crate::two_phase_commit) static LIES: Lies = Lies {
    workload: &WORKLOAD,
    faults: &[],
    plan: |_| Plan { rounds: 4, ..Plan::calm() },
    part: |task, liar| {
        let make = move |right: &Participant<_>| liar.over(right.clone());
        client(task, Box::new(make)).boxed()
    },
    rows: &[
        // The transaction is reported as begun, but does not exist: its sites wait for it.
        row(Begin, Pretends, An1, "begin returns done and creates nothing"),
        // The begin is reported as failed, but took effect: its coordinator ignores the transaction.
        row(Begin, DENIES, An3, "begin creates the transaction and fails"),
        refuses(Begin, &[TimedOut, NodeExists, Denied, ConnectionLoss], "begin"),
        // The vote is reported as cast, but is not: the transaction waits for it.
        row(Verb::Vote, Pretends, An1, "vote returns done and writes nothing"),
        // The vote is reported as failed, but binds its site, which may decide alone against the others.
        row(Verb::Vote, DENIES, An3, "vote writes the vote and fails"),
        refuses(Verb::Vote, &[TimedOut, BadVersion, NoTransaction, ConnectionLoss], "vote"),
        // An invented decision: a site commits what others abort.
        row(Decide, Pretends, Tc9, "a party is told that the transaction commits, without asking")
            .harm(&[Tc1, Tc2])
            .breaks(Promise::Agreement),
        // A decision that was made is reported as unknown.
        row(Decide, DENIES, An3, "a party learns the decision, and is told that it did not"),
        row(
            Decide,
            Refuses(UNMET),
            An2,
            "a party does not learn the decision, for a reason that never occurred",
        ),
        // The decision is known, but its caller waits for ever.
        row(Decide, Hangs(None), Tc13, "a party learns the decision, and the call never returns"),
        // The site is reported as finished, but is not: the transaction stays.
        row(Finish, Pretends, An1, "finish returns done and deletes nothing"),
        // The finish is reported as failed, but took effect.
        row(Finish, DENIES, An3, "finish deletes the znode of the site and fails"),
        refuses(Finish, UNMET, "finish"),
        // A site that deletes only its own znode to finish: the last site leaves the transaction behind.
        row(
            Finish,
            StopsHalfway,
            An1,
            "finish returns done when its first request is answered, and the transaction stays",
        ),
    ],
};

/// Reasons for which a call may fail, none of which has occurred.
const UNMET: &[Failure] = &[TimedOut, Denied, ConnectionLoss];

impl<C: Client, Z: ZooKeeper> Lying<C, Participant<Z>> {
    /// The decision after a feigned vote or begin: it stays unknown.
    async fn waits_in_vain(&self, limit: Duration) -> Result<Decision, Error> {
        let zk = &self.right.zk;
        zk.sleep_until(zk.now() + limit).await;
        Err(if limit.is_zero() { ErrorKind::Unimplemented.into() } else { ErrorKind::TimedOut.into() })
    }
}

impl<C: Client, Z: ZooKeeper> TwoPhases for Lying<C, Participant<Z>> {
    type Site = Site<Z>;
    /// `None` is a feigned vote.
    type Voted = Option<Voted<Z>>;
    /// `None` is a feigned coordinator.
    type Coordinator = Option<Coordinator<Z>>;

    async fn begin(&self, transaction: Transaction) -> Result<Self::Coordinator, Error> {
        let work = async { self.right.begin(transaction).await.map(Some) };
        self.liar.call_once(Verb::Begin, work, || Some(None)).await
    }

    async fn resume(&self) -> Result<Self::Coordinator, Error> {
        self.right.resume().await.map(Some)
    }

    async fn open(&self) -> Result<(Site<Z>, Option<Vote>), Error> {
        self.right.open().await
    }

    async fn vote(&self, site: Site<Z>, vote: Vote) -> Result<Self::Voted, Error> {
        let work = async { self.right.vote(site, vote).await.map(Some) };
        self.liar.call_once(Verb::Vote, work, || Some(None)).await
    }

    async fn decision(&self, voted: &Self::Voted, limit: Duration) -> Result<Decision, Error> {
        let Some(voted) = voted else { return self.waits_in_vain(limit).await };
        let work = || self.right.decision(voted, limit);
        self.liar.call(Verb::Decide, work, || Some(Decision::Commit)).await
    }

    async fn next_vote(&self, voted: &Self::Voted) -> Result<Option<(String, Vote)>, Error> {
        match voted {
            Some(voted) => self.right.next_vote(voted).await,
            None => Ok(None),
        }
    }

    async fn coordinate(&self, coordinator: &Self::Coordinator, limit: Duration) -> Result<Decision, Error> {
        let Some(coordinator) = coordinator else { return self.waits_in_vain(limit).await };
        let work = || self.right.coordinate(coordinator, limit);
        self.liar.call(Verb::Decide, work, || Some(Decision::Commit)).await
    }

    async fn finish(&self, voted: Self::Voted) -> Result<(), Error> {
        let Some(voted) = voted else { return Ok(()) };
        let work = async { self.right.finish(voted).await };
        self.liar.call_once(Verb::Finish, work, || Some(())).await
    }

    async fn forget(&self, coordinator: Self::Coordinator) -> Result<(), Error> {
        let Some(coordinator) = coordinator else { return Ok(()) };
        let work = async { self.right.forget(coordinator).await };
        self.liar.call_once(Verb::Finish, work, || Some(())).await
    }
}
