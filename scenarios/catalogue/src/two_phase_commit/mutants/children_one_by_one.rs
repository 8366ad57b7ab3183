//! Two-phase commit whose coordinator makes the sites' znodes one by one, while the sites take those that are there for all
//! who take part: so the steps of ZooKeeper's recipes page can be read.
//!
//! A site that comes early sees half a list, and commits what others have yet to vote on.
//!
//! Caught by TC-7 (the sites are fixed) within 5 seeds; the harm is TC-3 (commit needs every vote).

use super::{calm, connected, target, within};
use crate::two_phase_commit::workload::TwoPhases;
use std::future::Future;
use std::marker::PhantomData;
use std::time::Duration;
use zk_checker::RuleId;
use zk_harness::caught::Caught;
use zk_recipes::two_phase_commit::{Decision, Transaction, Vote};
use zk_recipes::zk::{CreateMode, Error, ZooKeeper, path};

target!(
    OneByOne<_>,
    "two-phase-commit-children-one-by-one",
    "two-phase commit whose sites' znodes are made one by one: who comes early decides on half a list",
    Caught::by(RuleId::Tc7)
        .or(&[(RuleId::Tc4, "the abort on half a list gets on record when the others have voted")])
        .seen("the recipes page"),
    &[],
    |_| calm(2)
);

struct OneByOne<Z>(PhantomData<fn() -> Z>);

/// A site, or the coordinator, whose name is empty.
struct Party<Z> {
    zk: Z,
    path: String,
    site: String,
}

impl<Z: ZooKeeper> Party<Z> {
    fn new(zk: &Z, path: &str, site: &str) -> Self {
        Party { zk: zk.clone(), path: path.to_owned(), site: site.to_owned() }
    }

    async fn read(&self) -> Result<Option<Decision>, Error> {
        match self.zk.get(&path::join(&self.path, "decision")).await {
            Ok(data) if data.data == b"commit" => Ok(Some(Decision::Commit)),
            Ok(_) => Ok(Some(Decision::Abort)),
            Err(Error::NoNode) => Ok(None),
            Err(e) => Err(e),
        }
    }

    async fn decide(&self, word: &[u8]) -> Result<(), Error> {
        match self.zk.create(&path::join(&self.path, "decision"), word, CreateMode::Persistent).await {
            Ok(_) | Err(Error::NodeExists) => Ok(()),
            Err(e) => Err(e),
        }
    }

    async fn decision(&self) -> Result<Decision, Error> {
        loop {
            connected(&self.zk).await?;
            let (found, watch) = self.zk.exists_watch(&path::join(&self.path, "decision")).await?;
            if found.is_none() {
                watch.await?;
            }
            if let Some(decision) = self.read().await? {
                return Ok(decision);
            }
        }
    }

    async fn decision_within(&self, limit: Duration) -> Result<Decision, Error> {
        if let Some(decided) = within(&self.zk, limit, self.decision()).await {
            return decided;
        }
        self.decide(b"abort").await?;
        self.decision().await
    }
}

impl<Z: ZooKeeper> TwoPhases<Z> for OneByOne<Z> {
    type Site = Party<Z>;
    type Voted = Party<Z>;
    type Coordinator = Party<Z>;

    async fn begin(zk: &Z, path: &str, transaction: Transaction) -> Result<Party<Z>, Error> {
        let directory = path::split(path).0;
        for level in [directory, path] {
            match zk.create(level, &[], CreateMode::Persistent).await {
                Err(Error::NodeExists) if level == path => return Err(Error::Taken(path.to_owned())),
                Ok(_) | Err(Error::NodeExists) => {}
                Err(e) => return Err(e),
            }
        }
        // One after the other: that is the wrong step.
        for site in transaction.sites.iter().rev() {
            zk.create(&format!("{path}/s_{site}"), &[], CreateMode::Persistent).await?;
        }
        Ok(Party::new(zk, path, ""))
    }

    async fn resume(zk: &Z, path: &str) -> Result<Party<Z>, Error> {
        Ok(Party::new(zk, path, ""))
    }

    async fn open(zk: &Z, path: &str, site: &str) -> Result<(Party<Z>, Option<Vote>), Error> {
        if zk.exists(&format!("{path}/s_{site}")).await?.is_none() {
            return Err(Error::NoTransaction(path.to_owned()));
        }
        Ok((Party::new(zk, path, site), None))
    }

    async fn vote(party: Party<Z>, vote: Vote) -> Result<Party<Z>, Error> {
        let Party { zk, path, site } = &party;
        let word: &[u8] = if vote == Vote::Commit { b"commit" } else { b"abort" };
        zk.set(&format!("{path}/s_{site}"), word, Some(0)).await?;
        if vote == Vote::Abort {
            party.decide(b"abort").await?;
            return Ok(party);
        }
        let names = zk.children(path).await?.names;
        let sites: Vec<String> =
            names.iter().filter(|name| name.starts_with("s_")).map(|name| path::join(path, name)).collect();
        let votes = zk.get_many(&sites).await?;
        if votes.iter().flatten().filter(|vote| vote.data == b"commit").count() == sites.len() {
            party.decide(b"commit").await?;
        }
        Ok(party)
    }

    fn decision(voted: &Party<Z>) -> impl Future<Output = Result<Decision, Error>> + Send {
        voted.decision()
    }

    fn decision_within(
        voted: &Party<Z>,
        limit: Duration,
    ) -> impl Future<Output = Result<Decision, Error>> + Send {
        voted.decision_within(limit)
    }

    async fn next_vote(_: &Party<Z>) -> Result<Option<(String, Vote)>, Error> {
        Ok(None)
    }

    fn coordinate_within(
        coordinator: &Party<Z>,
        limit: Duration,
    ) -> impl Future<Output = Result<Decision, Error>> + Send {
        coordinator.decision_within(limit)
    }

    // The record stays.
    async fn finish(_: Party<Z>) -> Result<(), Error> {
        Ok(())
    }

    async fn forget(_: Party<Z>) -> Result<(), Error> {
        Ok(())
    }
}
