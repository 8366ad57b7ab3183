//! A copy of the two variants of two-phase commit on ZooKeeper's recipes page, each with the wrong step of a possible
//! reading.

use super::{WORKLOAD, within};
use crate::copies::connected;
use crate::prelude::*;
use crate::two_phase_commit::recipe::{Participant, TwoPhases};
use crate::two_phase_commit::workload::{self, client};
use std::time::Duration;
use zk_recipes::two_phase_commit::{Decision, Transaction, Vote};
use zk_recipes::zk::{CreateMode, path};

/// Two-phase commit whose coordinator creates the sites' znodes one by one, while the sites take the existing ones for
/// all participants: a possible reading of the recipes page. An early site sees half a list, and commits before others
/// have voted.
pub(super) static CHILDREN_ONE_BY_ONE: Workload = WORKLOAD.mutant(
    "two-phase-commit-children-one-by-one",
    "two-phase commit whose sites' znodes are created one by one: an early site decides on a partial list",
    Caught::by(Tc7)
        .or(&[
            (Tc4, "the abort on half a list gets on record when the others have voted"),
            (An1, "the page has no end of a transaction: a site that finishes leaves its znode"),
        ])
        .seen("the recipes page"),
    &[],
    |_| Plan { rounds: 2, ..Plan::calm() },
    |task| client(task, Box::new(|right| Page(right.clone(), Variant::Recorded))).boxed(),
);

/// Two-phase commit in the second variant of the recipes page: each site's vote is an ephemeral znode of its own, every
/// site reads all votes, and the decision is not recorded. When a site dies its vote is deleted: a site that has read
/// it commits, a site that reads later waits for it, or aborts.
pub(super) static EPHEMERAL_VOTES: Workload = Workload {
    // As in the page, all sites watch all votes.
    objects: textbook,
    ..WORKLOAD.mutant(
        "two-phase-commit-ephemeral-votes",
        "two-phase commit with ephemeral votes and no record, as the recipes page has it",
        Caught::by(Tc10).within(1).harm(&[Tc1]).breaks(Promise::Agreement).seen("the recipes page"),
        &[Fault::SessionExpiry],
        |_| Plan { rounds: 1, ..Plan::calm() }.with(&[Fault::SessionExpiry], 0.02),
        |task| client(task, Box::new(|right| Page(right.clone(), Variant::Ephemeral))).boxed(),
    )
};

fn textbook(names: &mut Names, setting: &Setting) -> Vec<Object> {
    let mut objects = workload::objects(names, setting);
    objects.iter_mut().for_each(|object| object.manner.textbook = true);
    objects
}

/// A variant of the page.
enum Variant {
    /// A persistent znode for each site's vote, and a record of the decision.
    Recorded,
    /// An ephemeral znode for each site's vote, and no record.
    Ephemeral,
}

/// The copy.
struct Page<Z>(Participant<Z>, Variant);

impl<Z: ZooKeeper> Page<Z> {
    fn record(&self) -> String {
        path::join(&self.0.path, "decision")
    }

    /// The number of sites; the second variant stores it as the length of the transaction's data.
    async fn sites(&self) -> Result<usize, Error> {
        let Page(Participant { zk, path, .. }, variant) = self;
        match variant {
            Variant::Recorded => Ok(0),
            Variant::Ephemeral => match zk.get(path).await {
                Ok(data) => Ok(data.data.len()),
                Err(e) if e.is_no_node() => Err(ErrorKind::NoTransaction(path.clone()).into()),
                Err(e) => Err(e),
            },
        }
    }

    /// The votes for commit among those, or `None` if one is for abort.
    async fn commits(&self, votes: &[String]) -> Result<Option<usize>, Error> {
        let votes = self.0.zk.get_many(votes).await?;
        let has_abort = votes.iter().flatten().any(|vote| vote.data == b"abort");
        Ok((!has_abort).then(|| votes.iter().flatten().filter(|vote| vote.data == b"commit").count()))
    }

    async fn decide(&self, word: &[u8]) -> Result<(), Error> {
        match self.0.zk.create(&self.record(), word, CreateMode::Persistent).await {
            Ok(_) => Ok(()),
            Err(e) if e.is_node_exists() => Ok(()),
            Err(e) => Err(e),
        }
    }

    /// Waits for the record.
    async fn recorded(&self) -> Result<Decision, Error> {
        let (zk, record) = (&self.0.zk, self.record());
        loop {
            connected(zk).await?;
            let (found, watch) = zk.exists_watch(&record).await?;
            if found.is_none() {
                watch.await?;
            }
            match zk.get(&record).await {
                Ok(data) if data.data == b"commit" => return Ok(Decision::Commit),
                Ok(_) => return Ok(Decision::Abort),
                Err(e) if e.is_no_node() => {}
                Err(e) => return Err(e),
            }
        }
    }

    /// Watches the transaction, and reads the votes after each new one.
    async fn counted(&self, sites: usize) -> Result<Decision, Error> {
        let Participant { zk, path, .. } = &self.0;
        loop {
            connected(zk).await?;
            let (list, watch) = zk.children_watch(path).await?;
            let votes: Vec<String> = list.names.iter().map(|name| path::join(path, name)).collect();
            match self.commits(&votes).await? {
                None => return Ok(Decision::Abort),
                Some(commits) if commits == sites => return Ok(Decision::Commit),
                Some(_) => drop(watch.await?),
            }
        }
    }
}

/// From the transaction a participant learns only the number of its sites.
impl<Z: ZooKeeper> TwoPhases for Page<Z> {
    type Site = usize;
    type Voted = usize;
    type Coordinator = usize;

    async fn begin(&self, transaction: Transaction) -> Result<usize, Error> {
        let Page(Participant { zk, path, .. }, variant) = self;
        let data = match variant {
            Variant::Recorded => Vec::new(),
            Variant::Ephemeral => vec![b'.'; transaction.sites.len()],
        };
        for (level, data) in [(path::split(path).0, &[][..]), (path, &data)] {
            match zk.create(level, data, CreateMode::Persistent).await {
                Err(e) if e.is_node_exists() && level == path => {
                    return Err(ErrorKind::Taken(path.to_owned()).into());
                }
                Ok(_) => {}
                Err(e) if e.is_node_exists() => {}
                Err(e) => return Err(e),
            }
        }
        if let Variant::Recorded = variant {
            // One by one: the wrong step.
            for site in transaction.sites.iter().rev() {
                zk.create(&format!("{path}/s_{site}"), &[], CreateMode::Persistent).await?;
            }
        }
        self.sites().await
    }

    async fn resume(&self) -> Result<usize, Error> {
        self.sites().await
    }

    async fn open(&self) -> Result<(usize, Option<Vote>), Error> {
        let Page(Participant { zk, path, name }, variant) = self;
        if let Variant::Recorded = variant
            && zk.exists(&format!("{path}/s_{name}")).await?.is_none()
        {
            return Err(ErrorKind::NoTransaction(path.clone()).into());
        }
        Ok((self.sites().await?, None))
    }

    async fn vote(&self, sites: usize, vote: Vote) -> Result<usize, Error> {
        let Page(Participant { zk, path, name }, variant) = self;
        let word: &[u8] = if vote == Vote::Commit { b"commit" } else { b"abort" };
        if let Variant::Ephemeral = variant {
            // Ephemeral: the wrong step.
            return match zk.create(&path::join(path, name), word, CreateMode::Ephemeral).await {
                Ok(_) => Ok(sites),
                Err(e) if e.is_node_exists() => Ok(sites),
                Err(e) => Err(e),
            };
        }
        zk.set(&format!("{path}/s_{name}"), word, Some(0)).await?;
        if vote == Vote::Abort {
            self.decide(b"abort").await?;
            return Ok(sites);
        }
        let names = zk.children(path).await?.names;
        let votes: Vec<String> =
            names.iter().filter(|name| name.starts_with("s_")).map(|name| path::join(path, name)).collect();
        if self.commits(&votes).await? == Some(votes.len()) {
            self.decide(b"commit").await?;
        }
        Ok(sites)
    }

    async fn decision(&self, sites: &usize, limit: Duration) -> Result<Decision, Error> {
        let deciding = async {
            match self.1 {
                Variant::Recorded => self.recorded().await,
                Variant::Ephemeral => self.counted(*sites).await,
            }
        };
        if limit.is_zero() {
            return deciding.await;
        }
        let patience = match self.1 {
            Variant::Recorded => limit,
            Variant::Ephemeral => limit * 8,
        };
        match (within(&self.0.zk, patience, deciding).await, &self.1) {
            (Some(decided), _) => decided,
            (None, Variant::Recorded) => {
                self.decide(b"abort").await?;
                self.recorded().await
            }
            // Without a record a site that misses a vote decides alone.
            (None, Variant::Ephemeral) => Ok(Decision::Abort),
        }
    }

    async fn next_vote(&self, _: &usize) -> Result<Option<(String, Vote)>, Error> {
        Ok(None)
    }

    async fn coordinate(&self, sites: &usize, limit: Duration) -> Result<Decision, Error> {
        self.decision(sites, limit).await
    }

    async fn finish(&self, _: usize) -> Result<(), Error> {
        Ok(())
    }

    async fn forget(&self, _: usize) -> Result<(), Error> {
        Ok(())
    }
}
