//! The coordinator's side: follow the tally, decide, and detect dead sites.

use super::learned::Learned;
use super::record::TransactionRecord;

use super::{Decision, Form, RECIPE, Transaction, Vote, record};
use crate::call::{Call, Work};
use crate::observe::{self, operation};
use crate::parts::retry::{Doubt, again, connected, present, unless_again, until_answered};
use crate::parts::select::{alarm, first};
use crate::zk::{Error, ErrorKind, Event, EventKind, Op, Stat, ZooKeeper, path};
use futures_util::future::{Either, select_all};
use std::future::Future;

/// The coordinator of a transaction: its initiator, or a replacement.
///
/// With [`Form::Coordinator`] and [`Form::SiteEphemerals`] it makes the decision, in [`decision`](Self::decision): without
/// that call nothing is decided, until the time limit of a site.
///
/// # Cancellation
///
/// Dropping it undoes nothing. An unpolled future blocks no other call of the coordinator or a site; but with
/// [`Form::Coordinator`] and [`Form::SiteEphemerals`] it decides nothing meanwhile.
#[derive(Debug)]
pub struct Coordinator<Z: ZooKeeper> {
    record: TransactionRecord<Z>,
    learned: Learned<Z>,
}

/// The liveness of a site: whether its ephemeral was there, and the watch on it.
struct Life<W> {
    was_there: bool,
    /// The site has voted, so its liveness no longer matters.
    has_voted: bool,
    watch: Option<W>,
}

/// A notification for the coordinator.
enum News {
    Decided,
    Counted,
    OfSite(usize, EventKind),
}

impl<Z: ZooKeeper> Coordinator<Z> {
    /// Step 1: begins a transaction on `path`. Missing parents are created as containers.
    ///
    /// # Cancellation
    ///
    /// The outcome of a dropped call is unknown: [`resume`](Self::resume) tells.
    ///
    /// # When the connection is lost
    ///
    /// After a lost reply the transaction is looked for by its guid. If it is absent the outcome is unknown, since the
    /// sites may have finished it meanwhile; it is not begun a second time.
    ///
    /// # Errors
    ///
    /// [`Error::is_bad_input`]: no site, two sites of one name, an invalid name or path, a list or a payload too large for
    /// one request. [`Error::is_taken`]: the path has a transaction. [`Error::is_outcome_unknown`];
    /// [`Error::is_session_over`]; [`Error::is_denied`].
    pub async fn begin(zk: &Z, path: &str, transaction: Transaction) -> Result<Self, Error> {
        operation!(zk, RECIPE, "begin", path).of(super::write(zk, path, transaction)).await
    }

    /// Step 7: replaces a coordinator that may have died, and decides: commit if all sites have voted for it, otherwise
    /// abort.
    ///
    /// # Cancellation
    ///
    /// The outcome of a dropped call is unknown: resume again.
    ///
    /// # When the connection is lost
    ///
    /// Resumes after the reconnect.
    ///
    /// # Errors
    ///
    /// [`Error::is_no_transaction`]; [`Error::is_mismatch`]: the path has no transaction, or another client has deleted a part
    /// of it; [`Error::is_bad_input`]; [`Error::is_session_over`]; [`Error::is_denied`].
    pub async fn resume(zk: &Z, path: &str) -> Result<Self, Error> {
        path::validate_directory(path)?;
        let resumed = async {
            let found = record::read(zk, path, &[], false).await?;
            let coordinator = Coordinator::new(found.record);
            coordinator.terminate(Doubt::default()).await?;
            Ok(coordinator)
        };
        operation!(zk, RECIPE, "resume", path).of(resumed).await
    }

    pub(super) fn new(record: TransactionRecord<Z>) -> Self {
        Coordinator { record, learned: Learned::new(None, None) }
    }

    /// Step 7, now.
    pub(super) async fn terminate(&self, doubt: Doubt) -> Result<Decision, Error> {
        Ok(self.learned.learn(self.record.terminate(doubt).await?))
    }

    /// Returns the transaction's path.
    pub fn path(&self) -> &str {
        &self.record.path
    }

    /// Returns the participating sites.
    pub fn sites(&self) -> &[String] {
        &self.record.sites
    }

    /// Steps 5 and 6: waits for the decision, and with a coordinator makes it: commit as soon as all sites have voted for
    /// it, with [`Form::SiteEphemerals`] abort as soon as a site dies before its vote.
    ///
    /// # Cancellation, When the connection is lost
    ///
    /// Cancel-safe: may be dropped and called again at any time. Resumes after the reconnect.
    ///
    /// # With a limit
    ///
    /// When it is over, the call proposes abort if a vote is missing. That takes two round trips, or as long as
    /// ZooKeeper cannot be reached: only the record decides. Such a proposal may have been made when a call is
    /// dropped.
    ///
    /// # Errors
    ///
    /// [`Error::is_session_over`]: [resume](Self::resume) with another handle.
    /// [`Error::is_no_transaction`]: all sites have finished, and the record is deleted. [`Error::is_mismatch`]:
    /// another client has deleted a part of it. [`Error::is_denied`].
    pub fn decision(&self) -> Call<Z, impl Work<Output = Result<Decision, Error>>> {
        let TransactionRecord { zk, path, .. } = &self.record;
        Call::new(zk, move |until| {
            let limit = alarm(zk, until);
            operation!(zk, RECIPE, "decision", path).telling(async move {
                // A proposal may be under way when the time is over.
                let mut doubt = Doubt::default();
                let ended = first(self.deciding(&mut doubt), limit).await;
                match ended {
                    Either::Left(result) => result,
                    Either::Right(()) => self.terminate(doubt).await,
                }
            })
        })
    }

    async fn deciding(&self, doubt: &mut Doubt) -> Result<Decision, Error> {
        if let Some(decision) = self.learned.decision() {
            return Ok(decision);
        }
        match self.record.form {
            Form::Decentralised { .. } => self.learned.wait(&self.record).await,
            Form::Coordinator | Form::SiteEphemerals => {
                let decision = self.follow(doubt).await.map_err(|error| doubt.about(error))?;
                Ok(self.learned.learn(decision))
            }
        }
    }

    /// Takes the whole transaction away, for operators, when a site never returns to finish. If it is not decided yet, it is
    /// decided first. Sites that have not learned the decision by then will not learn it any more.
    ///
    /// # Cancellation
    ///
    /// Dropping the future leaves it forgotten, or not: ask again.
    ///
    /// # When the connection is lost
    ///
    /// Resumes after the reconnect.
    ///
    /// # Errors
    ///
    /// As [`decision`](Self::decision), but a transaction that is already gone is no error. [`Error::is_not_empty`]: another
    /// client has created znodes below those of the transaction.
    pub async fn forget(self) -> Result<(), Error> {
        let TransactionRecord { zk, path, .. } = &self.record;
        operation!(zk, RECIPE, "forget", path).of(self.remove()).await
    }

    async fn remove(&self) -> Result<(), Error> {
        let TransactionRecord { zk, .. } = &self.record;
        match self.record.terminate(Doubt::default()).await {
            Ok(_) => {}
            Err(e) if e.is_no_transaction() => return Ok(()),
            Err(e) => return Err(e),
        }
        let mut doubt = Doubt::default();
        loop {
            let status = connected(zk).await?;
            let all = unless_again(zk, status, self.all().await).await;
            let Some(all) = all.map_err(|e| doubt.about(e))? else { continue };
            let Some(all) = all else { return Ok(()) };
            let ops = all.iter().map(|path| Op::Delete { path: path.clone(), version: None }).collect();
            match zk.multi(ops).await {
                Ok(_) => return Ok(()),
                Err(e) if e.is_transient() => doubt.again(zk, status, e).await?,
                // A znode has come or gone in between: list again.
                Err(Error { kind: ErrorKind::Multi { cause, .. }, .. }) if *cause == ErrorKind::NoNode => {}
                Err(Error { kind: ErrorKind::Multi { index, cause }, .. })
                    if *cause == ErrorKind::NotEmpty =>
                {
                    if !self.may_have_grown(&all[index]).await.map_err(|e| doubt.about(e))? {
                        return Err(*cause);
                    }
                }
                Err(e) => return Err(doubt.about(super::without_index(e))),
            }
        }
    }

    /// Lists the transaction's znodes, children first; `None` if it is gone.
    async fn all(&self) -> Result<Option<Vec<String>>, Error> {
        let TransactionRecord { zk, path, .. } = &self.record;
        let list = zk.children(path);
        let alive = zk.get_many(&self.record.all_alive());
        let names = match list.await {
            // Another transaction was begun since: ours is gone.
            Ok(list) if list.stat.czxid != self.record.czxid => return Ok(None),
            Ok(list) => list.names,
            Err(e) if e.is_no_node() => return Ok(None),
            Err(e) => return Err(e),
        };
        let alive = self.record.all_alive().into_iter().zip(alive.await?);
        let mut all: Vec<String> = alive.filter_map(|(path, found)| found.map(|_| path)).collect();
        all.extend(names.iter().map(|name| path::join(path, name)));
        all.push(path.clone());
        Ok(Some(all))
    }

    /// Whether a child that came below that znode in between is one that the next list has.
    async fn may_have_grown(&self, parent: &str) -> Result<bool, Error> {
        let TransactionRecord { zk, path, sites, form, .. } = &self.record;
        if parent == path {
            return Ok(true);
        }
        let site = sites.iter().find(|site| self.record.site(site) == parent);
        let Some(site) = site.filter(|_| *form == Form::SiteEphemerals) else { return Ok(false) };
        // The refusal has brought this server up to date, so a foreign child is in the list.
        let children = present(until_answered(zk, || zk.children(parent)).await)?;
        let alive = self.record.alive(site);
        let is_alive = |name: &String| path::join(parent, name) == alive;
        Ok(children.is_none_or(|list| list.names.iter().all(is_alive)))
    }

    /// Steps 5 and 6 with a coordinator. Each watch is armed by the read that it belongs to.
    async fn follow(&self, doubt: &mut Doubt) -> Result<Decision, Error> {
        let record = &self.record;
        let zk = &record.zk;
        let mut decided = None;
        let mut counted = None;
        let mut lives: Vec<Life<Z::Watch>> = match record.form {
            Form::SiteEphemerals => record.sites.iter().map(|_| Life::unknown()).collect(),
            _ => Vec::new(),
        };
        loop {
            let status = connected(zk).await?;
            let asks_decision = decided.is_none().then(|| zk.children_watch(&record.path));
            let asks_tally = counted.is_none().then(|| zk.get_watch(&record.tally()));
            let asks_lives = self.ask_lives(&lives);
            let mut lost = None;
            if let Some(asked) = asks_decision {
                match asked.await {
                    Ok((list, watch)) if !record.is_decided(&list)? => decided = Some(watch),
                    Ok((_, watch)) => {
                        // The watch would only report sites that finish.
                        drop(watch);
                        if let Some(decision) = record.look().await? {
                            return Ok(decision);
                        }
                    }
                    Err(e) if e.is_no_node() => {
                        return Err(ErrorKind::NoTransaction(record.path.clone()).into());
                    }
                    Err(e) if e.is_transient() => lost = Some(e),
                    Err(e) => return Err(e),
                }
            }
            if let Some(asked) = asks_tally {
                let asked = asked.await;
                if let Ok((tally, _)) = &asked {
                    record.is_part(&tally.stat)?;
                }
                match asked {
                    Ok((tally, watch)) if (tally.stat.version as usize) < record.sites.len() => {
                        counted = Some(watch);
                    }
                    Ok(_) => {
                        // Our own decision needs no notification.
                        drop(decided.take());
                        match record.commit(doubt).await? {
                            Some(decision) => return Ok(decision),
                            None => {
                                return Err(ErrorKind::Mismatch(format!(
                                    "the tally of {} is not ours",
                                    record.path
                                ))
                                .into());
                            }
                        }
                    }
                    Err(e) if e.is_no_node() => return record.look_for_good().await,
                    Err(e) if e.is_transient() => lost = Some(e),
                    Err(e) => return Err(e),
                }
            }
            let mut died = Vec::new();
            for (site, asked) in asks_lives {
                match asked.await {
                    Ok((stat, watch)) => {
                        if lives[site].sees(stat, watch) {
                            died.push(site);
                        }
                    }
                    Err(e) if e.is_transient() => lost = Some(e),
                    Err(e) => return Err(e),
                }
            }
            for site in died {
                if let Some(decision) = self.mourn(&mut lives[site], site, doubt).await? {
                    return Ok(decision);
                }
            }
            if let Some(e) = lost {
                again(zk, status, e).await?;
                continue;
            }
            if decided.is_none() || counted.is_none() {
                continue;
            }
            observe::waits(&record.path);
            match news(&mut decided, &mut counted, &mut lives).await? {
                News::Decided => {
                    // The read may be stale: watch again.
                    if let Some(decision) = record.look().await? {
                        return Ok(decision);
                    }
                }
                News::OfSite(site, EventKind::NodeDeleted) => {
                    if let Some(decision) = self.mourn(&mut lives[site], site, doubt).await? {
                        return Ok(decision);
                    }
                }
                News::Counted | News::OfSite(..) => {}
            }
        }
    }

    /// Reads the ephemerals of sites without a watch.
    #[allow(clippy::type_complexity, reason = "an anonymous future, named nowhere else")]
    fn ask_lives(
        &self,
        lives: &[Life<Z::Watch>],
    ) -> Vec<(usize, impl Future<Output = Result<(Option<Stat>, Z::Watch), Error>> + Send + use<Z>)> {
        let TransactionRecord { zk, sites, .. } = &self.record;
        let unknown = lives.iter().enumerate().filter(|(_, life)| !life.has_voted && life.watch.is_none());
        unknown.map(|(site, _)| (site, zk.exists_watch(&self.record.alive(&sites[site])))).collect()
    }

    /// A site has died: abort, unless it had voted.
    async fn mourn(
        &self,
        life: &mut Life<Z::Watch>,
        site: usize,
        doubt: &mut Doubt,
    ) -> Result<Option<Decision>, Error> {
        let (record, name) = (&self.record, &self.record.sites[site]);
        loop {
            let status = connected(&record.zk).await?;
            let vote = record.zk.get(&record.site(name)).await;
            if let Ok(vote) = &vote {
                record.is_part(&vote.stat)?;
            }
            match vote {
                Ok(vote) if Vote::read(&vote.data)?.is_some() => break,
                Ok(_) => match record.abort_without(name, doubt).await? {
                    Some(decision) => return Ok(Some(decision)),
                    None => break,
                },
                // The site has finished, so the transaction is decided.
                Err(e) if e.is_no_node() => return record.look_for_good().await.map(Some),
                Err(e) => again(&record.zk, status, e).await?,
            }
        }
        life.has_voted = true;
        life.watch = None;
        Ok(None)
    }
}

impl<W> Life<W> {
    fn unknown() -> Self {
        Life { was_there: false, has_voted: false, watch: None }
    }

    /// Whether the ephemeral has gone.
    fn sees(&mut self, stat: Option<Stat>, watch: W) -> bool {
        let has_gone = self.was_there && stat.is_none();
        self.was_there |= stat.is_some();
        self.watch = Some(watch);
        has_gone
    }
}

/// Waits for the first notification; its one-shot watch is spent.
async fn news<W>(
    decided: &mut Option<W>,
    counted: &mut Option<W>,
    lives: &mut [Life<W>],
) -> Result<News, Error>
where
    W: Future<Output = Result<Event, Error>> + Unpin,
{
    let sites = lives.iter().enumerate().filter(|(_, life)| life.watch.is_some());
    let sites: Vec<usize> = sites.map(|(site, _)| site).collect();
    let watches =
        [&mut *decided, &mut *counted].into_iter().chain(lives.iter_mut().map(|life| &mut life.watch));
    let (event, at, _) = select_all(watches.filter_map(Option::as_mut)).await;
    let event = event?;
    match at {
        0 => {
            *decided = None;
            Ok(News::Decided)
        }
        1 => {
            *counted = None;
            Ok(News::Counted)
        }
        _ => {
            let site = sites[at - 2];
            lives[site].watch = None;
            Ok(News::OfSite(site, event.kind))
        }
    }
}
