//! The site's side: open, vote, learn, finish.

use super::learned::Learned;
use super::record::{self, TransactionRecord};
use super::votes::Votes;
use super::{Decision, Form, RECIPE, Vote, validate_site, without_index};
use crate::call::{Call, Work};
use crate::observe::operation;
use crate::parts::retry::{Doubt, again, connected, until_answered};
use crate::parts::select::{alarm, first};
use crate::zk::duty::{answered, settle};
use crate::zk::{Armed, CreateMode, Duty, Error, ErrorKind, Op, OpResult, ZooKeeper, path};
use futures_util::FutureExt;
use futures_util::future::Either;

/// A site that has opened a transaction and may vote.
///
/// # Cancellation
///
/// Dropping it undoes nothing: a cast vote stands. With [`Form::SiteEphemerals`] the coordinator notices, and proposes
/// abort if the site has not voted.
#[must_use = "a site that does not vote holds up all others"]
#[derive(Debug)]
pub struct Site<Z: ZooKeeper> {
    voter: Voter<Z>,
    payload: Vec<u8>,
    cast: Option<Vote>,
    /// The votes for commit at the time of the open.
    tally: i32,
}

/// The state of a site from open to finish.
struct Voter<Z: ZooKeeper> {
    record: TransactionRecord<Z>,
    site: String,
    learned: Learned<Z>,
    /// With [`Form::SiteEphemerals`]: deletes the site's ephemeral.
    alive: Option<Armed>,
}

impl<Z: ZooKeeper> std::fmt::Debug for Voter<Z> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Voter")
            .field("path", &self.record.path)
            .field("site", &self.site)
            .finish_non_exhaustive()
    }
}

impl<Z: ZooKeeper> Site<Z> {
    /// Step 2: opens a transaction as a site. The vote of an earlier session of the site stands: [`cast`](Self::cast).
    ///
    /// # Cancellation
    ///
    /// Dropping the future leaks nothing.
    ///
    /// # When the connection is lost
    ///
    /// Resumes after the reconnect. With [`Form::SiteEphemerals`] it waits until the ephemeral of the site's former session
    /// is gone, or until there is a decision.
    ///
    /// # Errors
    ///
    /// [`Error::is_no_transaction`]; [`Error::is_not_a_participant`]; [`Error::is_mismatch`]: the path has no transaction, or
    /// another client has deleted a part of it; [`Error::is_bad_input`]; [`Error::is_session_over`]; [`Error::is_denied`].
    pub async fn open(zk: &Z, path: &str, site: &str) -> Result<Self, Error> {
        path::validate_directory(path)?;
        validate_site(path, site)?;
        operation!(zk, RECIPE, "open", path).of(Site::opened(zk, path, site)).await
    }

    async fn opened(zk: &Z, path: &str, site: &str) -> Result<Self, Error> {
        let others = [record::site_path(path, site), record::tally_path(path)];
        let found = record::read(zk, path, &others, true).await?;
        if !found.record.sites.iter().any(|name| name == site) {
            return Err(ErrorKind::NotAParticipant(site.to_owned()).into());
        }
        let learned = match found.watch {
            Some(watch) => Learned::new(None, Some(watch.shared())),
            // The transaction is decided already.
            None => Learned::new(found.record.look().await?, None),
        };
        let mut others = found.others.into_iter();
        let (own, tally) = (others.next().flatten(), others.next().flatten());
        let voter = Voter { record: found.record, site: site.to_owned(), learned, alive: None };
        for part in [&own, &tally].into_iter().flatten() {
            voter.record.is_part(&part.stat)?;
        }
        let cast = match own {
            Some(own) => Vote::read(&own.data)?,
            None => {
                // An earlier session of the site has finished.
                voter.learned.learn(voter.record.look_for_good().await?);
                None
            }
        };
        let tally = tally.map_or(0, |tally| tally.stat.version);
        let mut site = Site { voter, payload: found.payload, cast, tally };
        if site.voter.record.form == Form::SiteEphemerals {
            site.show_alive().await?;
        }
        Ok(site)
    }

    /// Returns the payload.
    pub fn payload(&self) -> &[u8] {
        &self.payload
    }

    /// Returns the participating sites.
    pub fn sites(&self) -> &[String] {
        &self.voter.record.sites
    }

    /// Returns the vote of an earlier session of this site, which stands.
    pub fn cast(&self) -> Option<Vote> {
        self.cast
    }

    /// With [`Form::SiteEphemerals`]: creates the ephemeral that shows that this site is alive.
    async fn show_alive(&mut self) -> Result<(), Error> {
        let Voter { record, site, learned, .. } = &self.voter;
        let (zk, own, path) = (&record.zk, record.site(site), record.alive(site));
        let guid = zk.guid().to_string();
        let mut armed = None;
        while self.cast.is_none() && learned.decision().is_none() {
            let status = connected(zk).await?;
            let connection = status.connection;
            armed.get_or_insert_with(|| zk.arm(Duty::Fixed { path: path.clone(), czxid: None, connection }));
            let mode = CreateMode::Ephemeral;
            let shown = zk.multi(vec![
                Op::Check { path: own.clone(), version: Some(0) },
                Op::Create { path: path.clone(), data: guid.clone().into_bytes(), mode },
            ]);
            match shown.await {
                Ok(_) => break,
                Err(e) if e.is_transient() => again(zk, status, e).await?,
                // An earlier session of this site has voted, or finished.
                Err(Error { kind: ErrorKind::Multi { index: 0, cause }, .. })
                    if matches!(cause.kind, ErrorKind::BadVersion | ErrorKind::NoNode) =>
                {
                    armed.take().into_iter().for_each(Armed::done);
                    self.cast = self.standing().await?;
                    return Ok(());
                }
                Err(Error { kind: ErrorKind::Multi { cause, .. }, .. })
                    if *cause == ErrorKind::NodeExists =>
                {
                    // Ours, after a lost reply, or that of a former session: wait until that is gone.
                    match zk.get_watch(&path).await {
                        Ok((found, _)) if found.data == guid.as_bytes() => break,
                        Ok((_, watch)) => {
                            armed.take().into_iter().for_each(Armed::done);
                            match first(learned.wait(record), watch).await {
                                Either::Left(decided) => drop(decided?),
                                Either::Right(gone) => drop(gone?),
                            }
                        }
                        Err(e) if e.is_no_node() => {}
                        Err(e) => again(zk, status, e).await?,
                    }
                }
                Err(e) => return Err(without_index(e)),
            }
        }
        self.voter.alive = armed;
        Ok(())
    }

    /// Reads the site's own vote. `None`: its znode is gone, and the decision is learned.
    async fn standing(&self) -> Result<Option<Vote>, Error> {
        let Voter { record, site, learned, .. } = &self.voter;
        loop {
            let status = connected(&record.zk).await?;
            let settled = settle(&record.zk, &record.path);
            let own = record.zk.get(&record.site(site));
            let settled = answered(Some(settled)).await;
            match settled.and(own.await) {
                Ok(own) => {
                    record.is_part(&own.stat)?;
                    let why = || {
                        ErrorKind::Mismatch(format!("somebody else has written to {}", record.site(site)))
                            .into()
                    };
                    return Vote::read(&own.data)?.ok_or_else(why).map(Some);
                }
                Err(e) if e.is_no_node() => {
                    learned.learn(record.look_for_good().await?);
                    return Ok(None);
                }
                Err(e) => again(&record.zk, status, e).await?,
            }
        }
    }

    /// Steps 3 and 4: votes. Afterwards the site must not decide alone.
    ///
    /// If the transaction is decided already, no vote is cast. Repeating the vote of an earlier session is allowed.
    ///
    /// # Cancellation
    ///
    /// The outcome of a dropped call is unknown: open again, and read [`cast`](Self::cast).
    ///
    /// # When the connection is lost
    ///
    /// The vote is retried; it is cast once.
    ///
    /// # Errors
    ///
    /// [`Error::is_already_voted`]: an earlier session of this site has cast the other vote. [`Error::is_no_transaction`];
    /// [`Error::is_mismatch`]: another client has deleted a part of it, or has begun another transaction on
    /// the path after this one was [forgotten](super::Coordinator::forget), which may have got the vote;
    /// [`Error::is_session_over`]; [`Error::is_denied`].
    pub async fn vote(self, vote: Vote) -> Result<Voted<Z>, Error> {
        let (zk, path) = (self.voter.record.zk.clone(), self.voter.record.path.clone());
        operation!(&zk, RECIPE, "vote", &path).of(self.cast_it(vote)).await
    }

    async fn cast_it(mut self, vote: Vote) -> Result<Voted<Z>, Error> {
        let mut doubt = Doubt::default();
        loop {
            if let Some(cast) = self.cast {
                return if cast == vote {
                    Ok(Voted::new(self.voter))
                } else {
                    Err(ErrorKind::AlreadyVoted.into())
                };
            }
            if self.voter.learned.decision().is_some() {
                return Ok(Voted::new(self.voter));
            }
            let Voter { record, learned, .. } = &self.voter;
            let (ops, decides) = self.ballot(vote)?;
            let status = connected(&record.zk).await?;
            match record.zk.multi(ops).await {
                Ok(results) => {
                    // A server compares versions only: the reply shows which incarnation was written.
                    if let Some(OpResult::Set(stat)) = results.first() {
                        record.is_part(stat)?;
                    }
                    if let Some(decision) = decides {
                        learned.learn(decision);
                    }
                    return Ok(Voted::new(self.voter));
                }
                // An applied vote makes the retry find its own version.
                Err(e) if e.is_transient() => doubt.again(&record.zk, status, e).await?,
                Err(Error { kind: ErrorKind::Multi { index: 0, cause }, .. })
                    if matches!(cause.kind, ErrorKind::BadVersion | ErrorKind::NoNode) =>
                {
                    self.cast = self.standing().await.map_err(|e| doubt.about(e))?;
                }
                Err(Error { kind: ErrorKind::Multi { index: 1, cause }, .. })
                    if *cause == ErrorKind::BadVersion && decides.is_none() =>
                {
                    self.count().await.map_err(|e| doubt.about(e))?;
                }
                Err(Error { kind: ErrorKind::Multi { cause, .. }, .. })
                    if matches!(cause.kind, ErrorKind::NodeExists | ErrorKind::NoNode) =>
                {
                    // The transaction is decided, or a site that knows the decision has finished.
                    learned.learn(record.look_for_good().await.map_err(|e| doubt.about(e))?);
                }
                Err(Error { kind: ErrorKind::Multi { cause, .. }, .. })
                    if *cause == ErrorKind::BadVersion =>
                {
                    return Err(
                        ErrorKind::Mismatch(format!("the tally of {} is not ours", record.path)).into()
                    );
                }
                Err(e) => return Err(doubt.about(without_index(e))),
            }
        }
    }

    /// The operations that cast the vote, with the decision if it comes with it.
    fn ballot(&self, vote: Vote) -> Result<(Vec<Op>, Option<Decision>), Error> {
        let Voter { record, site, .. } = &self.voter;
        let own = Op::Set {
            path: record.site(site),
            data: vote.word().as_bytes().to_vec(),
            // A vote is cast once.
            version: Some(0),
        };
        let decide = |decision: Decision| Op::Create {
            path: record.decision(),
            data: decision.word().as_bytes().to_vec(),
            mode: CreateMode::Persistent,
        };
        let count = |version| Op::Set { path: record.tally(), data: Vec::new(), version };
        if vote == Vote::Abort {
            return Ok((vec![own, decide(Decision::Abort)], Some(Decision::Abort)));
        }
        if !matches!(record.form, Form::Decentralised { .. }) {
            return Ok((vec![own, count(None)], None));
        }
        let others = record.sites.len() as i32 - 1;
        if self.tally < others {
            return Ok((vec![own, count(Some(self.tally))], None));
        }
        if self.tally > others {
            return Err(ErrorKind::Mismatch(format!("the tally of {} is not ours", record.path)).into());
        }
        // The last vote decides.
        let mut ops = vec![own];
        let others = record.sites.iter().filter(|other| *other != site);
        ops.extend(others.map(|other| Op::Check { path: record.site(other), version: Some(1) }));
        ops.push(decide(Decision::Commit));
        Ok((ops, Some(Decision::Commit)))
    }

    /// Reads the votes for commit.
    async fn count(&mut self) -> Result<(), Error> {
        let record = &self.voter.record;
        loop {
            let status = connected(&record.zk).await?;
            match record.zk.exists(&record.tally()).await {
                Ok(Some(stat)) => {
                    record.is_part(&stat)?;
                    self.tally = stat.version;
                    return Ok(());
                }
                Ok(None) => {
                    self.voter.learned.learn(record.look_for_good().await?);
                    return Ok(());
                }
                Err(e) => again(&record.zk, status, e).await?,
            }
        }
    }
}

/// A site that has voted: it only learns and obeys the decision.
///
/// # Cancellation
///
/// Dropping it undoes nothing: open the site again to continue. An unpolled future blocks no other call.
#[must_use = "a site that has voted has to learn the decision"]
pub struct Voted<Z: ZooKeeper> {
    voter: Voter<Z>,
    votes: Votes<Z>,
}

impl<Z: ZooKeeper> std::fmt::Debug for Voted<Z> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Voted").field("voter", &self.voter).finish_non_exhaustive()
    }
}

impl<Z: ZooKeeper> Voted<Z> {
    fn new(voter: Voter<Z>) -> Self {
        Voted { voter, votes: Votes::default() }
    }

    /// Step 6: waits for the decision.
    ///
    /// # Cancellation, When the connection is lost
    ///
    /// Cancel-safe: may be dropped and called again at any time. Resumes after the reconnect.
    ///
    /// # With a limit
    ///
    /// When it is over, the call makes a decision: abort if a vote is missing, otherwise commit. That takes two round
    /// trips, or as long as ZooKeeper cannot be reached: only the record decides. Such a proposal may have been made
    /// when a call is dropped.
    ///
    /// # Errors
    ///
    /// [`Error::is_session_over`]: open the site again with another handle. [`Error::is_no_transaction`];
    /// [`Error::is_mismatch`]: another client has deleted the transaction, or a part of it, before a decision.
    /// [`Error::is_denied`].
    pub fn decision(&self) -> Call<Z, impl Work<Output = Result<Decision, Error>>> {
        let Voter { record, learned, .. } = &self.voter;
        Call::new(&record.zk, move |until| {
            let operation = operation!(&record.zk, RECIPE, "decision", &record.path);
            operation.telling(learned.wait_until(record, alarm(&record.zk, until)))
        })
    }

    /// With [`Form::Decentralised`] and `follow_votes`: returns the next vote of another site, with its name; `None` when
    /// all are reported, or the transaction is decided. In other forms always `None`.
    ///
    /// A vote is only a preview: the [`decision`](Self::decision) counts.
    ///
    /// # Cancellation
    ///
    /// Cancel-safe: may be dropped and called again at any time.
    ///
    /// # Errors
    ///
    /// As [`decision`](Self::decision).
    pub async fn next_vote(&self) -> Result<Option<(String, Vote)>, Error> {
        let Voter { record, site, learned, .. } = &self.voter;
        if record.form != (Form::Decentralised { follow_votes: true }) {
            return Ok(None);
        }
        let next = async {
            match first(self.votes.next(record, site), learned.wait(record)).await {
                Either::Left(vote) => vote,
                Either::Right(decided) => decided.map(|_| None),
            }
        };
        operation!(&record.zk, RECIPE, "next_vote", &record.path).attempt(next).await
    }

    /// Step 8: finishes, when the site has acted on the decision. The last site deletes the record.
    ///
    /// # Cancellation
    ///
    /// The outcome of a dropped call is unknown: open the site again and finish.
    ///
    /// # When the connection is lost
    ///
    /// Resumes after the reconnect.
    ///
    /// # Errors
    ///
    /// [`Error::is_bad_input`]: the site has not learned the decision; nothing was sent. [`Error::is_not_empty`]: another
    /// client has created znodes below the site's own. [`Error::is_session_over`]; [`Error::is_denied`].
    pub async fn finish(self) -> Result<(), Error> {
        let (zk, path) = (self.voter.record.zk.clone(), self.voter.record.path.clone());
        operation!(&zk, RECIPE, "finish", &path).of(self.leave()).await
    }

    async fn leave(mut self) -> Result<(), Error> {
        if self.voter.learned.decision().is_none() {
            return Err(
                ErrorKind::BadInput("a site that does not know the decision cannot finish".into()).into()
            );
        }
        let Voter { record, site, .. } = &self.voter;
        let TransactionRecord { zk, path, .. } = record;
        let delete = |path| Op::Delete { path, version: None };
        let rest = [record.decision(), record.tally(), path.clone()].map(delete).to_vec();
        // Refused until all sites have finished.
        let last = zk.arm(Duty::Multi(rest.clone()));
        let alive = (record.form == Form::SiteEphemerals).then(|| delete(record.alive(site)));
        let mut own: Vec<Op> = alive.into_iter().chain([delete(record.site(site))]).collect();
        // Once the own znode is deleted no refusal says that nothing was done.
        let (mut is_again, mut has_left) = (false, false);
        loop {
            let status = connected(zk).await?;
            if is_again && !self.is_unfinished().await? {
                break;
            }
            let going = (!own.is_empty()).then(|| zk.multi(own.clone()));
            let stat = zk.exists(path);
            let gone = match going {
                Some(going) => going.await,
                None => Ok(Vec::new()),
            };
            let left = match gone {
                Ok(_) => {
                    has_left = true;
                    stat.await.map(|stat| stat.map_or(0, |stat| stat.num_children))
                }
                // Gone already, after a lost reply, by an earlier session, or with it: then the rest.
                Err(Error { kind: ErrorKind::Multi { index, cause }, .. }) if *cause == ErrorKind::NoNode => {
                    own.remove(index);
                    continue;
                }
                Err(e) => Err(without_index(e)),
            };
            let removed = match left {
                // Decision and tally: no other site is left.
                Ok(2) => zk.multi(rest.clone()).await,
                Ok(_) => break,
                Err(e) => Err(e),
            };
            match removed {
                Err(e) if e.is_transient() => {
                    is_again |= e.is_outcome_unknown();
                    again(zk, status, e).await?;
                }
                Err(e) if e.says_nothing_of_the_tree() => {
                    let refused = without_index(e);
                    return Err(if is_again || has_left { refused.while_in_doubt() } else { refused });
                }
                // Another site was the last.
                Ok(_) | Err(Error { kind: ErrorKind::Multi { .. }, .. }) => break,
                Err(e) => return Err(e),
            }
        }
        last.done();
        if let Some(alive) = self.voter.alive.take() {
            alive.done();
        }
        Ok(())
    }

    /// After a lost reply: whether this transaction still exists, behind a settling write.
    async fn is_unfinished(&self) -> Result<bool, Error> {
        let TransactionRecord { zk, path, czxid, .. } = &self.voter.record;
        let asked = || {
            let (settled, stat) = (settle(zk, path), zk.exists(path));
            async { answered(Some(settled)).await.and(stat.await) }
        };
        Ok(until_answered(zk, asked).await?.is_some_and(|stat| stat.czxid == *czxid))
    }
}
