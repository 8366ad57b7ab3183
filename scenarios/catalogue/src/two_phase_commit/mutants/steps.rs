//! The right recipe with one step replaced by a [`Mutation`].

use super::within;
use crate::copies::connected;
use crate::two_phase_commit::recipe::{Participant, TwoPhases};
use crate::two_phase_commit::round::name;
use futures_util::future::{Either, select};
use std::pin::pin;
use std::time::Duration;
use zk_recipes::two_phase_commit::{Coordinator, Decision, Site, Transaction, Vote, Voted};
use zk_recipes::zk::{CreateMode, Error, Op, ZooKeeper, path};

/// The steps that can be wrong.
pub(super) struct Mutation {
    /// How a site casts its vote for commit.
    pub vote: Ballot,
    /// How a site acts without a decision.
    pub undecided: Undecided,
    /// How the coordinator decides.
    pub coordination: Coordination,
    /// A site that knows the decision does not delete the record.
    pub keeps_record: bool,
    /// A site learns the votes of the others.
    pub tells_votes: bool,
}

impl Mutation {
    /// No wrong step.
    pub const RIGHT: Mutation = Mutation {
        vote: Ballot::Once,
        undecided: Undecided::Terminates,
        coordination: Coordination::Recorded,
        keeps_record: true,
        tells_votes: true,
    };
}

/// How a site casts its vote for commit.
pub(super) enum Ballot {
    /// At version 0.
    Once,
    /// Unconditionally, and again after a lost reply.
    Overwritten,
    /// At version 0, and the site watches the votes of all others until the decision.
    Watching,
}

/// How a site acts without a decision.
pub(super) enum Undecided {
    /// At its time limit it proposes abort with a check that a vote is missing.
    Terminates,
    /// At its time limit it proposes abort without a check, and obeys the record.
    ProposesUnchecked,
    /// Before its time limit it proposes abort without a check, and obeys its own proposal.
    ObeysItself,
    /// At its time limit it aborts without a proposal.
    AbortsAlone,
}

/// How the coordinator decides.
pub(super) enum Coordination {
    /// By the record.
    Recorded,
    /// By the record, after a long pause.
    Slow,
    /// By its own reading of the votes.
    OwnReading,
    /// It takes a missing vote for a vote to commit.
    Presumed,
}

/// A site's access to one transaction, with one wrong step.
pub(super) struct MutantParticipant<Z> {
    right: Participant<Z>,
    mutation: &'static Mutation,
}

impl<Z: ZooKeeper> MutantParticipant<Z> {
    /// Replaces a step of the right recipe.
    pub fn new(right: &Participant<Z>, mutation: &'static Mutation) -> Self {
        MutantParticipant { right: right.clone(), mutation }
    }

    /// The path of a site's vote.
    fn site(&self, name: &str) -> String {
        format!("{}/s_{name}", self.right.path)
    }

    fn record(&self) -> String {
        path::join(&self.right.path, "decision")
    }

    /// Creates the record without any check, unless it exists.
    async fn decide(&self, decision: Decision) -> Result<(), Error> {
        let word = if decision == Decision::Commit { "commit" } else { "abort" };
        let zk = &self.right.zk;
        loop {
            connected(zk).await?;
            match zk.create(&self.record(), word.as_bytes(), CreateMode::Persistent).await {
                Ok(_) => return Ok(()),
                Err(e) if e.is_node_exists() => return Ok(()),
                Err(e) if e.is_connection_loss() => {}
                Err(e) => return Err(e),
            }
        }
    }

    /// Writes a vote for commit unconditionally.
    async fn overwrite(&self) -> Result<(), Error> {
        let Participant { zk, path, name } = &self.right;
        let write = |path: String, data: &[u8]| Op::Set { path, data: data.to_vec(), version: None };
        loop {
            connected(zk).await?;
            let ops = vec![write(self.site(name), b"commit"), write(path::join(path, "tally"), b"")];
            match zk.multi(ops).await {
                Err(e) if e.is_connection_loss() => {}
                Ok(_) => return Ok(()),
                Err(e) if e.refused_operation().is_some() => return Ok(()),
                Err(e) => return Err(e),
            }
        }
    }

    /// Votes, and watches the votes of all others until they are cast or the decision is made.
    async fn vote_watching(&self, site: Site<Z>, vote: Vote) -> Result<Voted<Z>, Error> {
        let Participant { zk, name: own, .. } = &self.right;
        let others = (0..site.sites().len() as u64).map(name).filter(|other| other != own);
        let armed: Vec<_> = others.map(|other| zk.get_watch(&self.site(&other))).collect();
        let mut watches = Vec::new();
        for watch in armed {
            watches.push(watch.await?.1);
        }
        let voted = site.vote(vote).await?;
        for watch in watches {
            match select(watch, pin!(voted.decision())).await {
                Either::Left((event, _)) => drop(event?),
                Either::Right((decided, _)) => {
                    decided?;
                    break;
                }
            }
        }
        Ok(voted)
    }

    /// Decides by a reading of the votes, and writes no record.
    async fn read_votes(&self, sites: &[String]) -> Result<Decision, Error> {
        let votes: Vec<String> = sites.iter().map(|name| self.site(name)).collect();
        let votes = self.right.zk.get_many(&votes).await?;
        let yes = votes.iter().flatten().filter(|vote| vote.data == b"commit").count();
        Ok(if yes == votes.len() { Decision::Commit } else { Decision::Abort })
    }
}

impl<Z: ZooKeeper> TwoPhases for MutantParticipant<Z> {
    type Site = Site<Z>;
    type Voted = Voted<Z>;
    type Coordinator = Coordinator<Z>;

    async fn begin(&self, transaction: Transaction) -> Result<Coordinator<Z>, Error> {
        self.right.begin(transaction).await
    }

    async fn resume(&self) -> Result<Coordinator<Z>, Error> {
        self.right.resume().await
    }

    async fn open(&self) -> Result<(Site<Z>, Option<Vote>), Error> {
        self.right.open().await
    }

    async fn vote(&self, site: Site<Z>, vote: Vote) -> Result<Voted<Z>, Error> {
        match self.mutation.vote {
            Ballot::Overwritten if site.cast().is_none() && vote == Vote::Commit => {
                self.overwrite().await?;
                // The vote is cast: the right recipe continues from it.
                self.right.open().await?.0.vote(vote).await
            }
            Ballot::Once | Ballot::Overwritten => site.vote(vote).await,
            Ballot::Watching => self.vote_watching(site, vote).await,
        }
    }

    async fn decision(&self, voted: &Voted<Z>, limit: Duration) -> Result<Decision, Error> {
        let patience = match self.mutation.undecided {
            _ if limit.is_zero() => return voted.decision().await,
            Undecided::Terminates => return voted.decision().within(limit).await,
            // Short, so that the site meets a record that it does not know.
            Undecided::ObeysItself => limit / 16,
            Undecided::ProposesUnchecked | Undecided::AbortsAlone => limit,
        };
        if let Some(decided) = within(&self.right.zk, patience, voted.decision()).await {
            return decided;
        }
        if !matches!(self.mutation.undecided, Undecided::AbortsAlone) {
            self.decide(Decision::Abort).await?;
        }
        match self.mutation.undecided {
            Undecided::ProposesUnchecked => voted.decision().await,
            _ => Ok(Decision::Abort),
        }
    }

    async fn next_vote(&self, voted: &Voted<Z>) -> Result<Option<(String, Vote)>, Error> {
        if !self.mutation.tells_votes {
            return Ok(None);
        }
        voted.next_vote().await
    }

    async fn coordinate(&self, coordinator: &Coordinator<Z>, limit: Duration) -> Result<Decision, Error> {
        let zk = &self.right.zk;
        match self.mutation.coordination {
            Coordination::Recorded => {}
            Coordination::Slow => zk.sleep_until(zk.now() + limit * 4).await,
            Coordination::OwnReading => {
                zk.sleep_until(zk.now() + limit / 2).await;
                return self.read_votes(coordinator.sites()).await;
            }
            Coordination::Presumed => match within(zk, limit / 8, coordinator.decision().within(limit)).await
            {
                Some(decided) => return decided,
                None => self.decide(Decision::Commit).await?,
            },
        }
        coordinator.decision().within(limit).await
    }

    async fn finish(&self, voted: Voted<Z>) -> Result<(), Error> {
        if !self.mutation.keeps_record {
            let _ = self.right.zk.delete(&self.record(), None).await;
        }
        if matches!(self.mutation.undecided, Undecided::ObeysItself) {
            // A site must read the record before it can finish: that is not the wrong step.
            voted.decision().await?;
        }
        voted.finish().await
    }

    async fn forget(&self, coordinator: Coordinator<Z>) -> Result<(), Error> {
        coordinator.forget().await
    }
}
