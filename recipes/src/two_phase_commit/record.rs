//! The znodes of a transaction: writing, reading, deciding, looking up.

use super::contents::Contents;
use super::{Decision, Form, Transaction, Vote, without_index};
use crate::parts::retry::{Doubt, again, connected, present, unless_again, until_answered};
use crate::zk::duty::{answered, settle};
use crate::zk::{CreateMode, Data, Error, ErrorKind, Listing, Op, Stat, ZooKeeper, path};
use futures_util::FutureExt;
use futures_util::future::Shared;
use std::collections::BTreeSet;

/// Its creation is the decision.
const DECISION: &str = "decision";

/// Its data version counts the votes for commit.
const TALLY: &str = "tally";

fn site_name(site: &str) -> String {
    format!("s_{site}")
}

pub(super) fn site_path(transaction: &str, site: &str) -> String {
    path::join(transaction, &site_name(site))
}

pub(super) fn tally_path(transaction: &str) -> String {
    path::join(transaction, TALLY)
}

/// A transaction.
#[derive(Clone, Debug)]
pub(super) struct TransactionRecord<Z> {
    pub zk: Z,
    pub path: String,
    /// The incarnation of the path.
    pub czxid: i64,
    pub sites: Vec<String>,
    pub form: Form,
}

/// The result of the first read.
pub(super) struct FirstRead<Z: ZooKeeper> {
    pub record: TransactionRecord<Z>,
    pub payload: Vec<u8>,
    /// Other znodes that were requested.
    pub others: Vec<Option<Data>>,
    /// The watch for the decision, if requested and undecided.
    pub watch: Option<Z::Watch>,
}

/// A decision, or the watch for it.
pub(super) enum Decided<W: std::future::Future> {
    Already(Decision),
    Watched(Shared<W>),
}

/// Reads a transaction and some of its znodes, pipelined with a watch for the decision if requested.
///
/// # Errors
///
/// [`Error::is_no_transaction`] if there is none, [`Error::is_mismatch`] if the znode is not a complete transaction.
pub(super) async fn read<Z: ZooKeeper>(
    zk: &Z,
    path: &str,
    others: &[String],
    watches: bool,
) -> Result<FirstRead<Z>, Error> {
    let all: Vec<String> = std::iter::once(path.to_owned()).chain(others.iter().cloned()).collect();
    let mut settles = false;
    loop {
        let status = connected(zk).await?;
        let settled = settles.then(|| settle(zk, path));
        let asked = zk.get_many(&all);
        let watched = watches.then(|| zk.children_watch(path));
        let answers = async {
            answered(settled).await?;
            let found = asked.await?;
            let watched = match watched {
                Some(watched) => match watched.await {
                    Ok(watched) => Some(watched),
                    // Deleted or created between the reads.
                    Err(e) if e.is_no_node() => return Ok((Vec::new(), None)),
                    Err(e) => return Err(e),
                },
                None => None,
            };
            Ok((found, watched))
        };
        let Some((found, watched)) = unless_again(zk, status, answers.await).await? else { continue };
        let mut found = found.into_iter();
        match found.next().flatten() {
            Some(data) => {
                let contents = Contents::parse(&data.data)
                    .ok_or_else(|| ErrorKind::Mismatch(format!("{path} is no transaction")))?;
                let Transaction { sites, payload, form } = contents.transaction;
                let czxid = data.stat.czxid;
                let record = TransactionRecord { zk: zk.clone(), path: path.to_owned(), czxid, sites, form };
                let watch = match watched {
                    Some((list, watch)) => (!record.is_decided(&list)?).then_some(watch),
                    None => None,
                };
                return Ok(FirstRead { record, payload, others: found.collect(), watch });
            }
            // The read may be stale: once more, behind a settling write.
            None if !settles => settles = true,
            None => return Err(ErrorKind::NoTransaction(path.to_owned()).into()),
        }
    }
}

impl<Z: ZooKeeper> TransactionRecord<Z> {
    pub(super) fn site(&self, site: &str) -> String {
        site_path(&self.path, site)
    }

    pub(super) fn tally(&self) -> String {
        tally_path(&self.path)
    }

    pub(super) fn decision(&self) -> String {
        path::join(&self.path, DECISION)
    }

    /// Below the site's own znode, since the watch for the decision is on the list of its siblings.
    pub(super) fn alive(&self, site: &str) -> String {
        path::join(&self.site(site), "alive")
    }

    /// Lists the ephemerals of all sites, if they have any.
    pub(super) fn all_alive(&self) -> Vec<String> {
        match self.form {
            Form::SiteEphemerals => self.sites.iter().map(|site| self.alive(site)).collect(),
            Form::Decentralised { .. } | Form::Coordinator => Vec::new(),
        }
    }

    fn votes(&self) -> Vec<String> {
        self.sites.iter().map(|site| self.site(site)).collect()
    }

    /// Checks that the path has this transaction.
    ///
    /// # Errors
    ///
    /// [`Error::is_no_transaction`] if the path is absent, [`Error::is_mismatch`] if it has another one.
    fn is_this(&self, stat: Option<Stat>) -> Result<(), Error> {
        match stat {
            None => Err(ErrorKind::NoTransaction(self.path.clone()).into()),
            Some(stat) if stat.czxid != self.czxid => {
                Err(ErrorKind::Mismatch(format!("{} was begun anew", self.path)).into())
            }
            Some(_) => Ok(()),
        }
    }

    /// Checks that a znode below the path is of this transaction: all of them were created with it. A version proves
    /// nothing.
    ///
    /// # Errors
    ///
    /// [`Error::is_mismatch`] if it is of another transaction, or of another client.
    pub(super) fn is_part(&self, stat: &Stat) -> Result<(), Error> {
        if stat.czxid == self.czxid {
            return Ok(());
        }
        Err(ErrorKind::Mismatch(format!("{} was begun anew, or a part of it was made anew", self.path))
            .into())
    }

    /// Step 6: whether the list of znodes has a decision. Before that no participant deletes a znode.
    ///
    /// # Errors
    ///
    /// [`Error::is_mismatch`] if a znode is missing without a decision, or for the list of another transaction.
    pub(super) fn is_decided(&self, list: &Listing) -> Result<bool, Error> {
        self.is_this(Some(list.stat))?;
        let names: BTreeSet<&str> = list.names.iter().map(String::as_str).collect();
        if names.contains(DECISION) {
            return Ok(true);
        }
        let mut sites = self.sites.iter().map(|site| site_name(site));
        match names.contains(TALLY) && sites.all(|site| names.contains(site.as_str())) {
            true => Ok(false),
            false => Err(self.is_not_whole()),
        }
    }

    fn is_not_whole(&self) -> Error {
        ErrorKind::Mismatch(format!("a part of {} is gone, and nothing is decided", self.path)).into()
    }

    /// Step 6: reads the decision, if there is one.
    pub(super) async fn look(&self) -> Result<Option<Decision>, Error> {
        let asked = || {
            let (decision, stat) = (self.zk.get(&self.decision()), self.zk.exists(&self.path));
            async { self.looked(decision.await, stat.await) }
        };
        until_answered(&self.zk, asked).await
    }

    fn looked(
        &self,
        decision: Result<Data, Error>,
        stat: Result<Option<Stat>, Error>,
    ) -> Result<Option<Decision>, Error> {
        self.is_this(stat?)?;
        present(decision)?.map(|data| Decision::read(&data.data)).transpose()
    }

    /// Step 6, where there must be a decision: a znode is gone, and only sites that know the decision delete theirs. Behind
    /// a settling write, so the read is not stale.
    pub(super) async fn look_for_good(&self) -> Result<Decision, Error> {
        let asked = || {
            let settled = settle(&self.zk, &self.path);
            let (decision, stat) = (self.zk.get(&self.decision()), self.zk.exists(&self.path));
            async { answered(Some(settled)).await.and(self.looked(decision.await, stat.await)) }
        };
        until_answered(&self.zk, asked).await?.ok_or_else(|| self.is_not_whole())
    }

    /// Step 6: returns the decision, or a watch for it: on the list of znodes, since a watch on the absent `decision` would
    /// miss the deletion of the transaction.
    pub(super) async fn watch(&self) -> Result<Decided<Z::Watch>, Error> {
        loop {
            let status = connected(&self.zk).await?;
            match self.zk.children_watch(&self.path).await {
                Ok((list, watch)) => {
                    if !self.is_decided(&list)? {
                        return Ok(Decided::Watched(watch.shared()));
                    }
                    // The watch would only report sites that finish.
                    drop(watch);
                    if let Some(decision) = self.look().await? {
                        return Ok(Decided::Already(decision));
                    }
                }
                Err(e) if e.is_no_node() => return Err(ErrorKind::NoTransaction(self.path.clone()).into()),
                Err(e) => again(&self.zk, status, e).await?,
            }
        }
    }

    /// Steps 5 and 7: proposes a decision under conditions. Returns the decision that counts; `None`: a condition did not
    /// hold. The doubt outlives a future that is dropped.
    async fn propose(
        &self,
        decision: Decision,
        conditions: Vec<Op>,
        doubt: &mut Doubt,
    ) -> Result<Option<Decision>, Error> {
        let record = Op::Create {
            path: self.decision(),
            data: decision.word().as_bytes().to_vec(),
            mode: CreateMode::Persistent,
        };
        let ops: Vec<Op> = conditions.into_iter().chain([record]).collect();
        loop {
            let status = connected(&self.zk).await?;
            match doubt.during(self.zk.multi(ops.clone())).await {
                Ok(_) => return Ok(Some(decision)),
                // An applied proposal makes the retry find its own record.
                Err(e) if e.is_transient() => doubt.again(&self.zk, status, e).await?,
                Err(Error { kind: ErrorKind::Multi { cause, .. }, .. }) => match *cause {
                    // Another decision came first, and counts.
                    Error { kind: ErrorKind::NodeExists | ErrorKind::NoNode, .. } => {
                        return self.look_for_good().await.map(Some).map_err(|e| doubt.about(e));
                    }
                    Error { kind: ErrorKind::BadVersion, .. } => return Ok(None),
                    cause => return Err(doubt.about(cause)),
                },
                Err(e) => return Err(doubt.about(without_index(e))),
            }
        }
    }

    /// Step 5: commit, if every vote is cast. An abort vote creates the decision, so commit is refused then.
    pub(super) async fn commit(&self, doubt: &mut Doubt) -> Result<Option<Decision>, Error> {
        let checks = self.votes().into_iter().map(|path| Op::Check { path, version: Some(1) });
        self.propose(Decision::Commit, checks.collect(), doubt).await
    }

    /// Step 7 for one site: abort, if it has not voted.
    pub(super) async fn abort_without(
        &self,
        site: &str,
        doubt: &mut Doubt,
    ) -> Result<Option<Decision>, Error> {
        let check = Op::Check { path: self.site(site), version: Some(0) };
        self.propose(Decision::Abort, vec![check], doubt).await
    }

    /// Step 7. There may be doubt about an earlier proposal of the same call.
    pub(super) async fn terminate(&self, mut doubt: Doubt) -> Result<Decision, Error> {
        let ended = self.terminating(&mut doubt).await;
        ended.map_err(|error| doubt.about(error))
    }

    async fn terminating(&self, doubt: &mut Doubt) -> Result<Decision, Error> {
        loop {
            let status = connected(&self.zk).await?;
            let Some(votes) = unless_again(&self.zk, status, self.zk.get_many(&self.votes()).await).await?
            else {
                continue;
            };
            let mut missing = None;
            for (site, vote) in self.sites.iter().zip(votes) {
                // A site that has finished, or voted abort, knows the decision.
                let Some(vote) = vote else { return self.look_for_good().await };
                self.is_part(&vote.stat)?;
                match Vote::read(&vote.data)? {
                    Some(Vote::Commit) => {}
                    Some(Vote::Abort) => return self.look_for_good().await,
                    None => missing = missing.or(Some(site)),
                }
            }
            let decided = match missing {
                None => self.commit(doubt).await?,
                Some(site) => self.abort_without(site, doubt).await?,
            };
            // The vote was cast in between, or the read was stale: read again.
            if let Some(decision) = decided {
                return Ok(decision);
            }
        }
    }
}
