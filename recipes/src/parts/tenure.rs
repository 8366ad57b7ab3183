//! Tenures: what the guards of locks, elections and claims have in common.
//!
//! A grant creates a tenure. It is lost when the session ends, when another client deletes the znode, and at a deadline:
//! the instant `safe_until`, at which the session may have expired at the server, less a margin for clock drift and slow
//! tasks.
//!
//! An unpolled future blocks no other call, with one exception: transactions that are applied exactly once go one after the
//! other, since each is known by the version that the one before left.

mod downgrade;
mod margin;
mod state;

pub(crate) use margin::margin_in;
pub use state::{HoldState, Interrupt, LostReason, OnSuspect, Released, RunUntil, Stop};

use super::barrier_read;
use super::contenders::OwnContender;
use super::locked::locked;
use super::owned_node::OwnedNode;
use super::receipt::{WriteOutcome, outcome_at};
use super::retry::{again, connected};
use super::select::{first, within};
use crate::observe::{self, Hold, operation};
use crate::zk::backoff::back_off;
use crate::zk::{Armed, Error, ErrorKind, Op, OpResult, State, Status, Time, ZooKeeper};
use futures_util::FutureExt;
use futures_util::future::{Either, Shared};
use std::future::Future;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The target of the spans: filters name it.
const TARGET: &str = "zk_recipes::hold";

/// The state behind a guard.
pub(crate) struct Tenure<Z: ZooKeeper> {
    zk: Z,
    recipe: &'static str,
    token: i64,
    data: Vec<u8>,
    on_suspect: OnSuspect,
    margin: Duration,
    armed: Option<Armed>,
    own: OwnedNode<Z>,
    /// Why it is lost.
    reason: Mutex<Option<LostReason>>,
    /// The data version of the own znode, which counts the transactions for which it is the receipt; `None` while one is in
    /// flight, and after its future was dropped. Locked by the transaction that is in flight.
    receipt: futures_util::lock::Mutex<Option<i32>>,
    /// None where nobody observes it.
    hold: Option<Arc<Hold>>,
}

/// The origin of a tenure and its rules.
pub(crate) struct Grant {
    /// The recipe's name in spans and metrics.
    pub recipe: &'static str,
    pub path: String,
    /// The incarnation of the znode.
    pub czxid: i64,
    /// The fencing token: the czxid, or the zxid of the transaction that granted the hold.
    pub token: i64,
    pub data: Vec<u8>,
    pub armed: Armed,
    pub on_suspect: OnSuspect,
    pub margin: Duration,
}

impl Grant {
    /// A grant to the first contender: its czxid is the token.
    ///
    /// # Errors
    ///
    /// `BadInput` for a margin that has become too great. The contender's clean-up starts before the caller drops its watch.
    pub(crate) fn of_contender<Z: ZooKeeper>(
        zk: &Z,
        recipe: &'static str,
        contender: OwnContender,
        data: &[u8],
        on_suspect: OnSuspect,
        margin: Option<Duration>,
    ) -> Result<Self, Error> {
        let OwnContender { path, czxid, armed } = contender;
        let margin = margin_in(zk, margin)?;
        Ok(Grant { recipe, path, czxid, token: czxid, data: data.to_vec(), armed, on_suspect, margin })
    }
}

impl<Z: ZooKeeper> Tenure<Z> {
    pub(crate) fn new(zk: &Z, mut grant: Grant) -> Self {
        let own = OwnedNode::new(zk, std::mem::take(&mut grant.path), Some(grant.czxid), None);
        Tenure::of(zk, own, grant)
    }

    /// A tenure of a znode that is already watched.
    pub(crate) fn of(zk: &Z, own: OwnedNode<Z>, grant: Grant) -> Self {
        let Grant { recipe, token, data, armed, on_suspect, margin, .. } = grant;
        own.confirm(zk.status());
        let (reason, receipt) = (Mutex::new(None), futures_util::lock::Mutex::new(Some(0)));
        let (zk, armed) = (zk.clone(), Some(armed));
        let hold = Hold::granted(&zk, recipe, own.path(), token);
        Tenure { zk, recipe, token, data, on_suspect, margin, armed, own, reason, receipt, hold }
    }

    pub(crate) fn zk(&self) -> &Z {
        &self.zk
    }

    pub(crate) fn path(&self) -> &str {
        self.own.path()
    }

    /// The fencing token.
    pub(crate) fn token(&self) -> i64 {
        self.token
    }

    /// Returns the state. Sends nothing.
    pub(crate) fn state(&self) -> HoldState {
        let status = self.zk.status();
        let until = self.zk.safe_until().before(self.margin);
        let mut lost_for = locked(&self.reason);
        if let Some(reason) = *lost_for {
            return HoldState::Lost(reason);
        }
        let lost = match status.state {
            _ if self.own.is_removed() => Some(LostReason::Removed),
            State::Over(_) => Some(LostReason::SessionOver),
            _ if self.zk.now() >= until => Some(LostReason::DeadlinePassed),
            _ => None,
        };
        match lost {
            Some(reason) => HoldState::Lost(self.lose_in(&mut lost_for, reason)),
            None if status.is_connected() && self.own.is_confirmed(status) => HoldState::Held,
            None => HoldState::Suspect { until },
        }
    }

    /// Continues the tenure with another znode; the present one is known to be deleted.
    fn moved_to(mut self, own: OwnedNode<Z>, armed: Armed) -> Self {
        if let Some(old) = self.armed.replace(armed) {
            old.done();
        }
        self.hold = self.hold.map(|hold| hold.moved(&self.zk, own.path()));
        self.own = own;
        *self.receipt.get_mut() = Some(0);
        self
    }

    /// Adopts a watch on the own znode that was armed before the grant.
    pub(crate) fn is_watched_by(&self, watch: Shared<Z::Watch>) {
        self.own.is_watched_by(watch);
    }

    /// Takes the clean-up duty, for callers that end the tenure themselves.
    pub(crate) fn take_duty(&mut self) -> Option<Armed> {
        self.armed.take()
    }

    /// Marks the tenure as lost; returns the first reason.
    pub(crate) fn lose(&self, reason: LostReason) -> LostReason {
        self.lose_in(&mut locked(&self.reason), reason)
    }

    fn lose_in(&self, lost_for: &mut Option<LostReason>, reason: LostReason) -> LostReason {
        *lost_for.get_or_insert_with(|| {
            self.hold.iter().for_each(|hold| hold.lost(&reason));
            reason
        })
    }

    /// Resolves when the holder must stop, by its policy.
    pub(crate) async fn lost(&self) -> Stop {
        let stop = loop {
            match self.state() {
                HoldState::Lost(reason) => break Stop::Lost(reason),
                HoldState::Suspect { until } if self.on_suspect == OnSuspect::Stop => {
                    break Stop::Suspect { until };
                }
                _ => self.next_news().await,
            }
        };
        if let (Stop::Suspect { until }, Some(hold)) = (&stop, &self.hold) {
            hold.told_to_stop(until.since(self.zk.now()));
        }
        stop
    }

    /// Resolves when the tenure is confirmed or lost.
    pub(crate) async fn resumed(&self) -> Result<(), LostReason> {
        loop {
            match self.state() {
                HoldState::Held => return Ok(()),
                HoldState::Lost(reason) => return Err(reason),
                HoldState::Suspect { .. } => self.next_news().await,
            }
        }
    }

    /// Resolves when the holder was asked to release.
    ///
    /// # Errors
    ///
    /// The reason, if the tenure is lost before.
    pub(crate) async fn revoked(&self) -> Result<(), LostReason> {
        loop {
            if self.own.is_asked() {
                return Ok(());
            }
            match self.state() {
                HoldState::Lost(reason) => return Err(reason),
                _ => self.next_news().await,
            }
        }
    }

    /// Confirms what can be confirmed, then waits for a change of the state.
    async fn next_news(&self) {
        let until = self.zk.safe_until().before(self.margin);
        self.own.news(self.zk.sleep_until(until)).await;
    }

    /// Drives `work`, and drops it when the holder must stop.
    pub(crate) fn run<T>(&self, work: impl Future<Output = T>) -> impl Future<Output = Result<T, Stop>> {
        first(self.lost(), work).map(|end| match end {
            Either::Left(stop) => Err(stop),
            Either::Right(output) => Ok(output),
        })
    }

    /// As [`run`](Self::run), and drops the work also when the holder was asked to release: then without a reason to stop.
    pub(crate) fn run_until_revoked<T>(
        &self,
        work: impl Future<Output = T>,
    ) -> impl Future<Output = Result<T, Option<Stop>>> {
        // The other future reports a lost tenure.
        let revoked = async {
            if self.revoked().await.is_err() {
                std::future::pending::<()>().await;
            }
        };
        first(self.lost(), first(revoked, work)).map(|end| match end {
            Either::Left(stop) => Err(Some(stop)),
            Either::Right(Either::Left(())) => Err(None),
            Either::Right(Either::Right(output)) => Ok(output),
        })
    }

    /// The check that fences a transaction: the znode's name is unique and ends with the session.
    pub(crate) fn fence(&self) -> Op {
        Op::Check { path: self.path().to_owned(), version: None }
    }

    pub(crate) async fn transact(&self, ops: Vec<Op>) -> Result<Vec<OpResult>, Error> {
        operation!(target: TARGET, &self.zk, self.recipe, "transact", self.path()).of(self.guarded(ops)).await
    }

    async fn guarded(&self, ops: Vec<Op>) -> Result<Vec<OpResult>, Error> {
        let guarded = std::iter::once(self.fence()).chain(ops).collect();
        let status = connected(&self.zk).await?;
        match self.zk.multi(guarded).await {
            Ok(mut results) => {
                self.own.confirm(status);
                results.remove(0);
                Ok(results)
            }
            Err(e) => Err(self.of_guarded(e, status)),
        }
    }

    pub(crate) async fn transact_once(&self, ops: Vec<Op>) -> Result<(), Error> {
        let operation = operation!(unnamed: TARGET, &self.zk, self.recipe, "transact_once", self.path());
        let applied = operation.of(self.guarded_once(ops)).await;
        applied.map_err(|error| error.at("transact_once", self.path()))
    }

    async fn guarded_once(&self, ops: Vec<Op>) -> Result<(), Error> {
        // The next transaction is sent when the outcome of this one is known: its receipt would be taken for this one's.
        let mut known = self.receipt.lock().await;
        let mut version = match *known {
            Some(version) => version,
            None => self.read_version().await?,
        };
        let mut in_doubt = false;
        loop {
            let status = connected(&self.zk).await?;
            let receipt =
                Op::Set { path: self.path().to_owned(), data: self.data.clone(), version: Some(version) };
            *known = None;
            match self.zk.multi(std::iter::once(receipt).chain(ops.iter().cloned()).collect()).await {
                Ok(_) => break,
                Err(e) if e.is_transient() => {
                    in_doubt |= e.is_outcome_unknown();
                    again(&self.zk, status, e).await?;
                }
                // An earlier attempt may have been applied.
                Err(e) if in_doubt && e.says_nothing_of_the_tree() => {
                    return Err(ErrorKind::ConnectionLoss.into());
                }
                // The version has moved on: by an earlier attempt, or by another client's write.
                Err(Error { kind: ErrorKind::Multi { index: 0, cause }, .. })
                    if *cause == ErrorKind::BadVersion && in_doubt =>
                {
                    let found = barrier_read::data(&self.zk, self.path()).await;
                    let found = match found.and_then(|found| found.ok_or_else(|| self.removed())) {
                        Err(e) if !e.is_outcome_unknown() => return Err(ErrorKind::ConnectionLoss.into()),
                        found => found?,
                    };
                    match outcome_at(version, &self.data, &found) {
                        WriteOutcome::Applied => break,
                        WriteOutcome::NotApplied => (version, in_doubt) = (found.stat.version, false),
                        WriteOutcome::Unknown => return Err(ErrorKind::ConnectionLoss.into()),
                    }
                }
                // Another client has written to the receipt.
                Err(Error { kind: ErrorKind::Multi { index: 0, cause }, .. })
                    if *cause == ErrorKind::BadVersion =>
                {
                    version = self.read_version().await?;
                }
                Err(e @ Error { kind: ErrorKind::Multi { index: 0, .. }, .. }) if in_doubt => {
                    // Without the receipt the outcome is unknown.
                    let _ = self.of_guarded(e, status);
                    return Err(ErrorKind::ConnectionLoss.into());
                }
                Err(e) => {
                    if !e.is_outcome_unknown() {
                        *known = Some(version);
                    }
                    return Err(self.of_guarded(e, status));
                }
            }
        }
        *known = Some(version.wrapping_add(1));
        Ok(())
    }

    /// Reads the receipt's version.
    async fn read_version(&self) -> Result<i32, Error> {
        let stat = barrier_read::stat(&self.zk, self.path()).await?;
        stat.map(|stat| stat.version).ok_or_else(|| self.removed())
    }

    fn removed(&self) -> Error {
        self.lose(LostReason::Removed);
        ErrorKind::Removed(self.path().to_owned()).into()
    }

    /// Maps the error of a fenced transaction to the caller's operations.
    fn of_guarded(&self, error: Error, sent_at: Status) -> Error {
        match error {
            // The fence was denied, which says nothing about the znode.
            Error { kind: ErrorKind::Multi { index: 0, cause }, .. } if cause.says_nothing_of_the_tree() => {
                *cause
            }
            Error { kind: ErrorKind::Multi { index: 0, .. }, .. } => self.removed(),
            Error { kind: ErrorKind::Multi { index, cause }, .. } => {
                self.own.confirm(sent_at);
                ErrorKind::Multi { index: index - 1, cause }.into()
            }
            other => other,
        }
    }

    /// Deletes the own znode. If dropped, or if the time is over, the clean-up duty does.
    pub(crate) async fn release(self, until: Option<Time>) -> Result<Released, Error> {
        let (zk, path) = (self.zk.clone(), self.path().to_owned());
        let operation = operation!(target: TARGET, &zk, self.recipe, "release", &path);
        operation.telling(within(&zk, until, self.end(|zk| zk.delete(&path, None)))).await
    }

    /// As [`release`](Self::release), with the caller's `delete`, which returns `NoNode` if the own znode is gone already.
    pub(crate) async fn end<D>(mut self, delete: impl Fn(&Z) -> D) -> Result<Released, Error>
    where
        D: Future<Output = Result<(), Error>>,
    {
        let lost = match self.state() {
            HoldState::Lost(reason) => Some(reason),
            _ => None,
        };
        let (mut tried, mut refused) = (false, 0);
        let released = loop {
            let status = match connected(&self.zk).await {
                Ok(status) => status,
                Err(_) => break Released::WasLost(lost.unwrap_or(LostReason::SessionOver)),
            };
            match delete(&self.zk).await {
                Ok(()) => break lost.map_or(Released::Clean, Released::WasLost),
                // The name is never reused: after a lost reply, gone means deleted.
                Err(e) if e.is_no_node() && tried => {
                    break lost.map_or(Released::Clean, Released::WasLost);
                }
                Err(e) if e.is_no_node() => break Released::WasLost(lost.unwrap_or(LostReason::Removed)),
                Err(e) if e.is_session_over() => {
                    break Released::WasLost(lost.unwrap_or(LostReason::SessionOver));
                }
                Err(e) if e.is_connection_loss() => {
                    tried = true;
                    observe::second_try(&self.zk);
                    if self.zk.status() == status {
                        self.zk.changed(status).await;
                    }
                }
                // The next contender waits until it is deleted.
                Err(e) if e.is_retryable_refusal() => {
                    refused += 1;
                    observe::second_try(&self.zk);
                    back_off(&self.zk, refused).await;
                }
                Err(e) => return Err(if tried { e.while_in_doubt() } else { e }),
            }
        };
        if let Some(armed) = self.armed.take() {
            armed.done();
        }
        Ok(released)
    }
}

impl<Z: ZooKeeper> std::fmt::Debug for Tenure<Z> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Hold").field("path", &self.path()).field("token", &self.token).finish_non_exhaustive()
    }
}
