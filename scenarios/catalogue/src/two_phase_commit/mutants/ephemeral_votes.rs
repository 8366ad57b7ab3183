//! Two-phase commit as the second variant of ZooKeeper's recipes page has it: each site's vote is an ephemeral znode of its
//! own, everybody reads all of them, and there is no record of the decision.
//!
//! When a site dies its vote goes with it: who has read it commits, who reads later waits for it, or aborts.
//!
//! Caught by TC-10 (votes stay) in the first run; the harm is TC-1 (agreement) when a voter's session ends.

use super::{connected, target, with, within};
use crate::two_phase_commit::workload::{self as two_phase_commit, TwoPhases};
use sim_zk::fault::Fault;
use std::future::Future;
use std::marker::PhantomData;
use std::time::Duration;
use zk_checker::RuleId;
use zk_checker::history::{Names, Object};
use zk_harness::caught::{Caught, Promise};
use zk_harness::target::Setting;
use zk_recipes::two_phase_commit::{Decision, Transaction, Vote};
use zk_recipes::zk::{CreateMode, Error, ZooKeeper, path};

const FAULTS: &[Fault] = &[Fault::SessionExpiry];

target!(
    EphemeralVotes<_>,
    "two-phase-commit-ephemeral-votes",
    "two-phase commit with ephemeral votes and no record, as the recipes page has it",
    Caught::by(RuleId::Tc10)
        .within(1)
        .harm(&[RuleId::Tc1])
        .breaks(Promise::Agreement)
        .seen("the recipes page"),
    FAULTS,
    |_| with(1, FAULTS, 0.02),
    objects
);

/// That everybody watches all votes is as the page has it.
fn objects(names: &mut Names, setting: &Setting) -> Vec<Object> {
    let mut objects = two_phase_commit::objects(names, setting);
    objects.iter_mut().for_each(|object| object.manner.textbook = true);
    objects
}

struct EphemeralVotes<Z>(PhantomData<fn() -> Z>);

/// A site, or the coordinator, whose name is empty.
struct Party<Z> {
    zk: Z,
    path: String,
    site: String,
    sites: usize,
}

impl<Z: ZooKeeper> Party<Z> {
    async fn of(zk: &Z, path: &str, site: &str) -> Result<Self, Error> {
        let sites = match zk.get(path).await {
            Ok(data) => data.data.len(),
            Err(Error::NoNode) => return Err(Error::NoTransaction(path.to_owned())),
            Err(e) => return Err(e),
        };
        Ok(Party { zk: zk.clone(), path: path.to_owned(), site: site.to_owned(), sites })
    }

    /// Everybody watches the transaction, and reads the votes whenever one has come.
    async fn decision(&self) -> Result<Decision, Error> {
        loop {
            connected(&self.zk).await?;
            let (list, watch) = self.zk.children_watch(&self.path).await?;
            let votes: Vec<String> = list.names.iter().map(|name| path::join(&self.path, name)).collect();
            let votes = self.zk.get_many(&votes).await?;
            if votes.iter().flatten().any(|vote| vote.data == b"abort") {
                return Ok(Decision::Abort);
            }
            if votes.iter().flatten().count() == self.sites {
                return Ok(Decision::Commit);
            }
            watch.await?;
        }
    }

    async fn decision_within(&self, limit: Duration) -> Result<Decision, Error> {
        // Who is told by a vote that went that it is missing for good decides by itself.
        within(&self.zk, limit * 8, self.decision()).await.unwrap_or(Ok(Decision::Abort))
    }
}

impl<Z: ZooKeeper> TwoPhases<Z> for EphemeralVotes<Z> {
    type Site = Party<Z>;
    type Voted = Party<Z>;
    type Coordinator = Party<Z>;

    async fn begin(zk: &Z, path: &str, transaction: Transaction) -> Result<Party<Z>, Error> {
        // As many bytes as there are sites.
        let sites = vec![b'.'; transaction.sites.len()];
        for (level, data) in [(path::split(path).0, &[][..]), (path, &sites)] {
            match zk.create(level, data, CreateMode::Persistent).await {
                Err(Error::NodeExists) if level == path => return Err(Error::Taken(path.to_owned())),
                Ok(_) | Err(Error::NodeExists) => {}
                Err(e) => return Err(e),
            }
        }
        Party::of(zk, path, "").await
    }

    fn resume(zk: &Z, path: &str) -> impl Future<Output = Result<Party<Z>, Error>> + Send {
        Party::of(zk, path, "")
    }

    async fn open(zk: &Z, path: &str, site: &str) -> Result<(Party<Z>, Option<Vote>), Error> {
        Ok((Party::of(zk, path, site).await?, None))
    }

    async fn vote(party: Party<Z>, vote: Vote) -> Result<Party<Z>, Error> {
        let word: &[u8] = if vote == Vote::Commit { b"commit" } else { b"abort" };
        let own = path::join(&party.path, &party.site);
        // Ephemeral: that is the wrong step.
        match party.zk.create(&own, word, CreateMode::Ephemeral).await {
            Ok(_) | Err(Error::NodeExists) => Ok(party),
            Err(e) => Err(e),
        }
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

    async fn finish(_: Party<Z>) -> Result<(), Error> {
        Ok(())
    }

    async fn forget(_: Party<Z>) -> Result<(), Error> {
        Ok(())
    }
}
