//! Holding: what the guards of locks, elections and their like have in common.
//!
//! A hold is a value, made only by a grant. It is lost when its session ends, when somebody else deletes its znode, and
//! when so much time has passed without an answer that the session may have ended at the server: `safe_until`, less a
//! margin for clocks that drift and tasks that are slow to stop.

use crate::race::{connected, first, reconnected};
use crate::zk::duty::settle;
use crate::zk::{Armed, Error, Op, OpResult, Stat, State, Status, Time, ZooKeeper};
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Either, Shared};
use std::future::Future;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

/// What a holder does when it can no longer be sure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum OnSuspect {
    /// It stops as soon as the connection is lost.
    #[default]
    Stop,
    /// It goes on until the instant from which the session may have ended. Only sound if a server that answers is in
    /// touch with its leader: with the usual settings, for session timeouts from 16.5 seconds on.
    UntilDeadline,
}

/// How a hold stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HoldState {
    /// It is held.
    Held,
    /// Not connected, or connected again and not confirmed: nobody else can hold it before `until`.
    Suspect {
        /// The instant from which it counts as lost.
        until: Time,
    },
    /// Lost, for good.
    Lost(LostReason),
}

/// Why a hold is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LostReason {
    /// The session has ended.
    SessionOver,
    /// The session may have ended: nothing was answered for too long.
    DeadlinePassed,
    /// Somebody else deleted the znode.
    Removed,
}

/// Why a holder must stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stop {
    /// The policy is [`OnSuspect::Stop`], and the connection was lost.
    Suspect {
        /// The instant from which the hold counts as lost.
        until: Time,
    },
    /// The hold is lost.
    Lost(LostReason),
}

/// How a release went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Released {
    /// It was held to the end.
    Clean,
    /// It had been lost before.
    WasLost(LostReason),
}

/// What a guard is made of.
pub(crate) struct Hold<Z: ZooKeeper> {
    zk: Z,
    path: String,
    czxid: i64,
    data: Vec<u8>,
    on_suspect: OnSuspect,
    margin: Duration,
    armed: Option<Armed>,
    inner: Mutex<Inner<Z>>,
}

struct Inner<Z: ZooKeeper> {
    lost: Option<LostReason>,
    /// The connection over which the znode was last known to be ours.
    confirmed: u32,
    /// Told when somebody deletes the znode; armed when somebody asks to be told.
    own: Option<Shared<Z::Watch>>,
    /// A reading of the own znode that is under way, and the connection it was sent on: it goes on when whoever waits
    /// for it is dropped.
    reading: Option<(Status, Reading<Z::Watch>)>,
    /// The version of the own znode's data, which counts the transactions for which it is the receipt; `None` while
    /// one of them is under way, and after it was dropped there.
    version: Option<i32>,
}

/// What a reading of the own znode gives: its stat, and the watch if one was to be armed. Several tasks may wait for it,
/// as for the watch.
type Reading<W> = Shared<BoxFuture<'static, Result<(Option<Stat>, Option<Shared<W>>), Error>>>;

/// Where a hold came from, and by which rules it is held.
pub(crate) struct Grant {
    pub path: String,
    pub czxid: i64,
    pub data: Vec<u8>,
    pub armed: Armed,
    pub on_suspect: OnSuspect,
    pub margin: Duration,
}

impl<Z: ZooKeeper> Hold<Z> {
    pub(crate) fn new(zk: &Z, grant: Grant) -> Self {
        let Grant { path, czxid, data, armed, on_suspect, margin } = grant;
        let confirmed = zk.status().connection;
        let inner = Inner { lost: None, confirmed, own: None, reading: None, version: Some(0) };
        let armed = Some(armed);
        Hold { zk: zk.clone(), path, czxid, data, on_suspect, margin, armed, inner: Mutex::new(inner) }
    }

    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    pub(crate) fn czxid(&self) -> i64 {
        self.czxid
    }

    fn inner(&self) -> MutexGuard<'_, Inner<Z>> {
        // Nothing is left half done in there by a panic.
        self.inner.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// How it stands now: local and cheap.
    pub(crate) fn state(&self) -> HoldState {
        let status = self.zk.status();
        let until = self.zk.safe_until().before(self.margin);
        let mut inner = self.inner();
        if let Some(reason) = inner.lost {
            return HoldState::Lost(reason);
        }
        let lost = match status.state {
            State::Over(_) => Some(LostReason::SessionOver),
            _ if self.zk.now() >= until => Some(LostReason::DeadlinePassed),
            _ => None,
        };
        inner.lost = lost;
        match lost {
            Some(reason) => HoldState::Lost(reason),
            None if status.is_connected() && status.connection == inner.confirmed => HoldState::Held,
            None => HoldState::Suspect { until },
        }
    }

    fn lose(&self, reason: LostReason) -> LostReason {
        *self.inner().lost.get_or_insert(reason)
    }

    /// Resolves when the holder must stop, by its policy.
    pub(crate) async fn lost(&self) -> Stop {
        loop {
            match self.state() {
                HoldState::Lost(reason) => return Stop::Lost(reason),
                HoldState::Suspect { until } if self.on_suspect == OnSuspect::Stop => {
                    return Stop::Suspect { until };
                }
                _ => self.next_news().await,
            }
        }
    }

    /// Resolves when it is held again, or lost.
    pub(crate) async fn resumed(&self) -> Result<(), LostReason> {
        loop {
            match self.state() {
                HoldState::Held => return Ok(()),
                HoldState::Lost(reason) => return Err(reason),
                HoldState::Suspect { .. } => self.next_news().await,
            }
        }
    }

    /// Waits for whatever may change the state, after having confirmed what can be confirmed.
    async fn next_news(&self) {
        let status = self.zk.status();
        let until = self.zk.safe_until().before(self.margin);
        let timer = self.zk.sleep_until(until);
        if status.is_connected() && self.needs_reading(status) {
            // An answer, or the deadline: the answer may come too late.
            first(self.read_own(status), timer).await;
            return;
        }
        first(self.own_event(), first(self.zk.changed(status), timer)).await;
    }

    fn needs_reading(&self, status: Status) -> bool {
        let inner = self.inner();
        inner.own.is_none() || inner.confirmed != status.connection
    }

    /// Asks whether the own znode is still ours, and arms the watch on it if need be.
    async fn read_own(&self, status: Status) {
        let (sent_at, reading) = {
            let mut inner = self.inner();
            let arm = inner.own.is_none();
            inner.reading.get_or_insert_with(|| (status, self.ask_own(arm))).clone()
        };
        let answer = reading.clone().await;
        {
            let mut inner = self.inner();
            // One of those who waited takes the answer down, the others look again.
            if !inner.reading.as_ref().is_some_and(|(_, current)| current.ptr_eq(&reading)) {
                return;
            }
            inner.reading = None;
            if let Ok((_, Some(watch))) = &answer {
                inner.own = Some(watch.clone());
            }
        }
        match answer {
            Ok((Some(stat), _)) if stat.czxid == self.czxid && stat.ephemeral_owner == self.zk.session() => {
                self.confirm(sent_at);
            }
            Ok(_) => drop(self.lose(LostReason::Removed)),
            Err(Error::SessionOver(_)) => drop(self.lose(LostReason::SessionOver)),
            // Lost, or refused: not again on this connection, lest we ask and ask.
            Err(_) => drop(self.zk.changed(sent_at).await),
        }
    }

    /// The znode was seen over this connection, and was ours.
    fn confirm(&self, over: Status) {
        let mut inner = self.inner();
        inner.confirmed = inner.confirmed.max(over.connection);
    }

    /// Sends the question: with a watch if none is armed.
    fn ask_own(&self, arm: bool) -> Reading<Z::Watch> {
        if !arm {
            let stat = self.zk.exists(&self.path);
            return async move { Ok((stat.await?, None)) }.boxed().shared();
        }
        let listing = self.zk.children_watch(&self.path);
        let answer = async move {
            match listing.await {
                Ok((listing, watch)) => Ok((Some(listing.stat), Some(watch.shared()))),
                Err(Error::NoNode) => Ok((None, None)),
                Err(e) => Err(e),
            }
        };
        answer.boxed().shared()
    }

    /// Resolves when the watch on the own znode fires.
    async fn own_event(&self) {
        let own = self.inner().own.clone();
        let Some(own) = own else { return std::future::pending().await };
        let event = own.await;
        let mut inner = self.inner();
        inner.own = None;
        if event.is_ok() {
            // It has no children, so it can only have been deleted.
            inner.lost.get_or_insert(LostReason::Removed);
        }
    }

    /// Drives `work`, and drops it when the holder must stop.
    pub(crate) async fn run<T>(&self, work: impl Future<Output = T>) -> Result<T, Stop> {
        match first(self.lost(), work).await {
            Either::Left(stop) => Err(stop),
            Either::Right(output) => Ok(output),
        }
    }

    /// The check that holds exactly as long as this hold does: the name is unique, and goes with the session.
    pub(crate) fn fence(&self) -> Op {
        Op::Check { path: self.path.clone(), version: None }
    }

    pub(crate) async fn transact(&self, ops: Vec<Op>) -> Result<Vec<OpResult>, Error> {
        let guarded = std::iter::once(self.fence()).chain(ops).collect();
        let status = connected(&self.zk).await?;
        match self.zk.multi(guarded).await {
            Ok(mut results) => {
                self.confirm(status);
                results.remove(0);
                Ok(results)
            }
            Err(e) => Err(self.of_guarded(e, status)),
        }
    }

    pub(crate) async fn transact_once(&mut self, ops: Vec<Op>) -> Result<(), Error> {
        let known = self.inner().version;
        let mut version = match known {
            Some(version) => version,
            None => self.read_version().await?,
        };
        let mut in_doubt = false;
        loop {
            let status = connected(&self.zk).await?;
            let receipt =
                Op::Set { path: self.path.clone(), data: self.data.clone(), version: Some(version) };
            self.inner().version = None;
            match self.zk.multi(std::iter::once(receipt).chain(ops.iter().cloned()).collect()).await {
                Ok(_) => break,
                Err(Error::ConnectionLoss) => {
                    in_doubt = true;
                    reconnected(&self.zk, status).await?;
                }
                Err(Error::Multi { index: 0, cause }) if *cause == Error::BadVersion => {
                    if in_doubt {
                        // The receipt has moved on: it was applied, and its answer was lost.
                        break;
                    }
                    // Somebody else has written to the receipt.
                    version = self.read_version().await?;
                }
                Err(e @ Error::Multi { index: 0, .. }) if in_doubt => {
                    // Without the receipt nobody knows.
                    let _ = self.of_guarded(e, status);
                    return Err(Error::ConnectionLoss);
                }
                Err(e) => {
                    if !e.is_outcome_unknown() {
                        self.inner().version = Some(version);
                    }
                    return Err(self.of_guarded(e, status));
                }
            }
        }
        self.inner().version = Some(version.wrapping_add(1));
        Ok(())
    }

    /// The receipt's version, behind everything that is still on its way.
    async fn read_version(&self) -> Result<i32, Error> {
        loop {
            let status = connected(&self.zk).await?;
            let (settled, stat) = (settle(&self.zk, &self.path), self.zk.exists(&self.path));
            // That the read behind it is answered says that it was.
            drop(settled);
            match stat.await {
                Ok(Some(stat)) => return Ok(stat.version),
                Ok(None) => {
                    self.lose(LostReason::Removed);
                    return Err(Error::Removed(self.path.clone()));
                }
                Err(Error::ConnectionLoss) => drop(reconnected(&self.zk, status).await?),
                Err(e) => return Err(e),
            }
        }
    }

    /// An error of a transaction with the fence in front, told as one of the caller's operations.
    fn of_guarded(&self, error: Error, sent_at: Status) -> Error {
        match error {
            Error::Multi { index: 0, .. } => {
                self.lose(LostReason::Removed);
                Error::Removed(self.path.clone())
            }
            Error::Multi { index, cause } => {
                self.confirm(sent_at);
                Error::Multi { index: index - 1, cause }
            }
            other => other,
        }
    }

    /// Deletes the own znode; dropped midway, the duty goes on.
    pub(crate) async fn release(mut self) -> Result<Released, Error> {
        let lost = match self.state() {
            HoldState::Lost(reason) => Some(reason),
            _ => None,
        };
        let mut tried = false;
        let released = loop {
            let status = match connected(&self.zk).await {
                Ok(status) => status,
                Err(_) => break Released::WasLost(lost.unwrap_or(LostReason::SessionOver)),
            };
            match self.zk.delete(&self.path, None).await {
                Ok(()) => break lost.map_or(Released::Clean, Released::WasLost),
                // The name is never used again: after a lost answer, gone means done.
                Err(Error::NoNode) if tried => break lost.map_or(Released::Clean, Released::WasLost),
                Err(Error::NoNode) => break Released::WasLost(lost.unwrap_or(LostReason::Removed)),
                Err(Error::SessionOver(_)) => {
                    break Released::WasLost(lost.unwrap_or(LostReason::SessionOver));
                }
                Err(Error::ConnectionLoss) => {
                    tried = true;
                    if self.zk.status() == status {
                        self.zk.changed(status).await;
                    }
                }
                Err(e) => return Err(e),
            }
        };
        if let Some(armed) = self.armed.take() {
            armed.done();
        }
        Ok(released)
    }
}

impl<Z: ZooKeeper> std::fmt::Debug for Hold<Z> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Hold").field("path", &self.path).field("czxid", &self.czxid).finish_non_exhaustive()
    }
}
