//! The watch loop: successive values of one znode, for configuration and names.
//!
//! 1. Read the value and arm a watch in one request. Return the value if it is newer than the last one: after a reconnect a
//!    stale read may be older than the notification.
//! 2. If there is no value, arm a watch for its creation. Report its absence once.
//! 3. After any notification read again, since watches are one-shot.

use super::followed::{News, into_stream};
use super::retry::{again, connected};
use crate::observe::{self, operation};
use crate::zk::{Data, Error, ErrorKind, Stat, ZooKeeper};
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

/// A value with its version and incarnation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Versioned {
    /// The value.
    pub data: Vec<u8>,
    /// The zxid of the transaction that created the znode.
    pub czxid: i64,
    /// The zxid of the transaction that wrote the value; it grows with every write.
    pub mzxid: i64,
    /// The number of writes since the znode was created.
    pub version: i32,
}

impl Versioned {
    pub(crate) fn new(data: Vec<u8>, stat: &Stat) -> Self {
        Versioned { data, czxid: stat.czxid, mzxid: stat.mzxid, version: stat.version }
    }
}

/// Known incarnations of a znode: the smallest czxid that may still exist. A later incarnation proves that all before it
/// are gone for good.
#[derive(Clone, Debug, Default)]
pub(crate) struct Incarnations(Arc<AtomicI64>);

impl Incarnations {
    /// Notes an incarnation that exists.
    pub(crate) fn saw(&self, stat: &Stat) {
        self.0.fetch_max(stat.czxid, Ordering::Relaxed);
    }

    /// Notes an incarnation that is gone.
    pub(crate) fn lost(&self, czxid: i64) {
        self.0.fetch_max(czxid.saturating_add(1), Ordering::Relaxed);
    }

    /// Whether the incarnation is known to be gone.
    pub(crate) fn is_gone(&self, czxid: i64) -> bool {
        czxid < self.0.load(Ordering::Relaxed)
    }
}

/// A change of a followed value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Update {
    /// The current value.
    Value(Versioned),
    /// There is no value.
    Missing,
}

/// A stream of the values of one znode.
///
/// # Promises
///
/// Values come in the order of their writes and never go back, even after a reconnect. Each was current at some instant
/// after the one before; the last one always comes. Not promised: every intermediate value.
///
/// # Cost
///
/// One notification, one request and one round trip a change; one watch.
pub struct Updates<Z: ZooKeeper> {
    zk: Z,
    /// The recipe's name in spans and metrics.
    recipe: &'static str,
    path: String,
    /// Decodes the data.
    shown: fn(Data) -> Versioned,
    watch: Option<Z::Watch>,
    /// The mzxid of the last value returned.
    mzxid: i64,
    /// `Missing` was returned, and no value since.
    is_missing: bool,
    /// Shared with the writers.
    incarnations: Incarnations,
}

into_stream!(of Updates, Update);

impl News for Update {
    fn zxid(&self) -> Option<i64> {
        match self {
            Update::Value(value) => Some(value.mzxid),
            Update::Missing => None,
        }
    }

    fn says_the_same(&self, known: &Self) -> bool {
        self == known
    }
}

impl<Z: ZooKeeper> Updates<Z> {
    pub(crate) fn new(zk: &Z, recipe: &'static str, path: String, shown: fn(Data) -> Versioned) -> Self {
        let incarnations = Incarnations::default();
        Updates {
            zk: zk.clone(),
            recipe,
            path,
            shown,
            watch: None,
            mzxid: 0,
            is_missing: false,
            incarnations,
        }
    }

    /// Notes the incarnations that it sees.
    pub(crate) fn noting(self, incarnations: &Incarnations) -> Self {
        Updates { incarnations: incarnations.clone(), ..self }
    }

    /// Returns the next change: the current value at first, then every change, or the last of several.
    ///
    /// # Cancellation, When the connection is lost
    ///
    /// Cancel-safe: may be dropped and called again at any time without missing a notification. The watch goes with this
    /// value. Resumes after the reconnect.
    ///
    /// # Errors
    ///
    /// [`Error::is_session_over`], from then on always; [`Error::is_denied`].
    pub async fn next(&mut self) -> Result<Update, Error> {
        let operation = operation!(unnamed: "zk_recipes::follow", &self.zk, self.recipe, "next", &self.path);
        operation.of(self.news()).await.map_err(|error| error.at("next", &self.path))
    }

    async fn news(&mut self) -> Result<Update, Error> {
        loop {
            if let Some(watch) = &mut self.watch {
                observe::waits(&self.path);
                let event = watch.await;
                self.watch = None;
                event?;
            }
            if let Some(news) = self.read().await? {
                return Ok(news);
            }
        }
    }

    /// Steps 1 and 2, once. `None`: no news, or read again.
    async fn read(&mut self) -> Result<Option<Update>, Error> {
        let status = connected(&self.zk).await?;
        match self.zk.get_watch(&self.path).await {
            Ok((data, watch)) => {
                self.incarnations.saw(&data.stat);
                self.watch = Some(watch);
                if data.stat.mzxid <= self.mzxid {
                    return Ok(None);
                }
                self.mzxid = data.stat.mzxid;
                self.is_missing = false;
                Ok(Some(Update::Value((self.shown)(data))))
            }
            Err(Error { kind: ErrorKind::NoNode, .. }) => match self.zk.exists_watch(&self.path).await {
                Ok((None, watch)) => {
                    self.watch = Some(watch);
                    Ok((!std::mem::replace(&mut self.is_missing, true)).then_some(Update::Missing))
                }
                // Created in between: read it.
                Ok((Some(_), _)) => Ok(None),
                Err(e) => again(&self.zk, status, e).await.map(|()| None),
            },
            Err(e) => again(&self.zk, status, e).await.map(|()| None),
        }
    }
}

impl<Z: ZooKeeper> std::fmt::Debug for Updates<Z> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Updates").field("path", &self.path).finish_non_exhaustive()
    }
}
