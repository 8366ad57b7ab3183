//! Following a value: what configuration and names have in common.
//!
//! 1. Read the value and arm a watch, by one request. Hand it out if it is newer than the last one: a read after a
//!    reconnect may be older than the notification that caused it.
//! 2. If there is none, look for its creation and arm a watch, by one request. Say once that it is missing.
//! 3. Any notification: read again.

use super::retry::{again, connected};
use crate::observe::{self, operation};
use crate::zk::{Data, Error, Stat, ZooKeeper};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

/// A value, and which writing of which incarnation it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Versioned {
    /// The value.
    pub data: Vec<u8>,
    /// The transaction that created its znode.
    pub czxid: i64,
    /// The transaction that wrote it: grows with every writing.
    pub mzxid: i64,
    /// How often it was written since the znode was created.
    pub version: i32,
}

impl Versioned {
    pub(crate) fn new(data: Vec<u8>, stat: &Stat) -> Self {
        Versioned { data, czxid: stat.czxid, mzxid: stat.mzxid, version: stat.version }
    }
}

/// What is known of the incarnations of a znode: the czxid of the oldest that may still be there. A later one shows that all
/// before it are gone, and they never come back.
#[derive(Clone, Debug, Default)]
pub(crate) struct Incarnations(Arc<AtomicI64>);

impl Incarnations {
    /// This one was there.
    pub(crate) fn saw(&self, stat: &Stat) {
        self.0.fetch_max(stat.czxid, Ordering::Relaxed);
    }

    /// This one was there once, and is not any more.
    pub(crate) fn lost(&self, czxid: i64) {
        self.0.fetch_max(czxid.saturating_add(1), Ordering::Relaxed);
    }

    /// Whether this one is known to be gone.
    pub(crate) fn is_gone(&self, czxid: i64) -> bool {
        czxid < self.0.load(Ordering::Relaxed)
    }
}

/// What a follower is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Update {
    /// This is the value now.
    Value(Versioned),
    /// There is none.
    Missing,
}

/// The values of one znode, as they come.
///
/// # Promises
///
/// Values come in the order of their writing and never go back, over reconnects either. Each was current at some instant
/// after the one before; the last one always comes. Not promised: every intermediate value.
///
/// # Cost
///
/// One notification, one request and one round trip a change; one watch.
pub struct Updates<Z: ZooKeeper> {
    zk: Z,
    /// Whose value it isin spans and metrics.
    recipe: &'static str,
    path: String,
    /// What becomes of the data before they are handed out.
    shown: fn(Data) -> Versioned,
    watch: Option<Z::Watch>,
    /// The last value handed out.
    mzxid: i64,
    /// It was told that there is no value, and none was told since.
    is_missing: bool,
    /// For whoever writes.
    incarnations: Incarnations,
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

    /// What it sees of the znode's incarnations is noted there.
    pub(crate) fn noting(self, incarnations: &Incarnations) -> Self {
        Updates { incarnations: incarnations.clone(), ..self }
    }

    /// The next news: at first what stands there now, then every change, or the last of several.
    ///
    /// # Cancellation, When the connection is lost
    ///
    /// Cancel-safe: may be dropped and called again at any time without missing a notification. The watch goes with this
    /// value. Resumes after the reconnect.
    ///
    /// # Errors
    ///
    /// [`is_session_over`](Error::is_session_over), from then on always; [`is_denied`](Error::is_denied).
    pub async fn next(&mut self) -> Result<Update, Error> {
        let operation = operation!(target: "zk_recipes::follow", &self.zk, self.recipe, "next", &self.path);
        operation.of(self.news()).await
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

    /// Steps 1 and 2, once. `None`: nothing new, or ask again.
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
            Err(Error::NoNode) => match self.zk.exists_watch(&self.path).await {
                Ok((None, watch)) => {
                    self.watch = Some(watch);
                    Ok((!std::mem::replace(&mut self.is_missing, true)).then_some(Update::Missing))
                }
                // It is there by now: read it.
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
