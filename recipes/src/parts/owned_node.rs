//! The caller's own znode, watched for its deletion and for a revocation.
//!
//! 1. *Read* it and arm a watch in one request: for revocable owners as soon as the name is known, otherwise when the
//!    caller first waits. The answer counts like a notification, since the revocation word may be there already.
//! 2. A notification says that the znode was deleted or written; then read again, since watches are one-shot.
//! 3. After a reconnect the same read *confirms* that the znode is still ours.
//!
//! Owners that cannot be revoked use a child watch: an ephemeral has no children, so it fires at the deletion only. A
//! revocation is a write, so revocable owners use a data watch.

use super::locked::locked;
use super::select::first;
use crate::observe;
use crate::zk::backoff::{back_off_denied, back_off_on};
use crate::zk::{Data, Error, ErrorKind, EventKind, Listing, Stat, Status, ZooKeeper};
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};
use std::future::Future;
use std::sync::{Mutex, MutexGuard};

/// The retry count that a refused read counts as: the smallest with the longest backoff.
const REFUSED: u32 = 16;

/// The own znode and its known state.
pub(crate) struct OwnedNode<Z: ZooKeeper> {
    zk: Z,
    path: String,
    /// The incarnation of the path; `None` if no other client ever uses the name.
    czxid: Option<i64>,
    /// The revocation word.
    word: Option<&'static str>,
    inner: Mutex<NodeState<Z>>,
}

struct NodeState<Z: ZooKeeper> {
    is_removed: bool,
    is_asked: bool,
    /// The data version of the last read.
    version: i32,
    /// The connection over which the znode was last confirmed.
    confirmed: u32,
    watch: Option<Shared<Z::Watch>>,
    /// Consecutive reads that an access list has denied.
    denied: u32,
    /// A read in flight and its connection. It continues when its waiter is dropped.
    reading: Option<(Status, Reading<Z::Watch>)>,
}

/// The result of a read.
#[derive(Clone)]
struct NodeRead<W> {
    stat: Stat,
    data: Vec<u8>,
    /// The watch, if one was armed.
    watch: Option<W>,
}

/// `None`: the znode is gone. Several tasks may wait for the read, as for the watch.
type Reading<W> = Shared<BoxFuture<'static, Result<Option<NodeRead<Shared<W>>>, Error>>>;

impl<Z: ZooKeeper> OwnedNode<Z> {
    /// A znode that was just seen over the current connection.
    pub(crate) fn new(zk: &Z, path: String, czxid: Option<i64>, word: Option<&'static str>) -> Self {
        let inner = NodeState {
            is_removed: false,
            is_asked: false,
            version: 0,
            confirmed: zk.status().connection,
            watch: None,
            denied: 0,
            reading: None,
        };
        OwnedNode { zk: zk.clone(), path, czxid, word, inner: Mutex::new(inner) }
    }

    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// The revocation word.
    pub(crate) fn word(&self) -> Option<&'static str> {
        self.word
    }

    fn inner(&self) -> MutexGuard<'_, NodeState<Z>> {
        locked(&self.inner)
    }

    /// Whether the znode is known to be deleted.
    pub(crate) fn is_removed(&self) -> bool {
        self.inner().is_removed
    }

    /// Whether the revocation is known.
    pub(crate) fn is_asked(&self) -> bool {
        self.inner().is_asked
    }

    /// The data version of the last read.
    pub(crate) fn version(&self) -> i32 {
        self.inner().version
    }

    /// Whether the znode was confirmed over this connection.
    pub(crate) fn is_confirmed(&self, over: Status) -> bool {
        self.inner().confirmed == over.connection
    }

    /// Confirms the znode over this connection.
    pub(crate) fn confirm(&self, over: Status) {
        let mut inner = self.inner();
        inner.confirmed = inner.confirmed.max(over.connection);
    }

    /// Arms the watch now. No task waits for the answer until one asks for the state.
    pub(crate) fn watch_now(&self) {
        let status = self.zk.status();
        let mut inner = self.inner();
        if status.is_connected() && inner.watch.is_none() {
            let denied = inner.denied;
            inner.reading.get_or_insert_with(|| (status, self.ask(status, true, denied)));
        }
    }

    /// Adopts a watch that is already armed.
    pub(crate) fn is_watched_by(&self, watch: Shared<Z::Watch>) {
        self.inner().watch = Some(watch);
    }

    /// Waits for a change of the known state, after sending the read that is due, or until `alarm`.
    pub(crate) async fn news(&self, alarm: impl Future<Output = ()>) {
        let status = self.zk.status();
        if status.is_connected() && self.needs_reading(status) {
            // A notification may overtake the answer.
            first(self.event(), first(self.read(status), alarm)).await;
            return;
        }
        first(self.event(), first(self.zk.changed(status), alarm)).await;
    }

    /// Resolves with the error that ends a waiting call.
    pub(crate) async fn must_go(&self) -> Error {
        loop {
            if let Some(over) = self.zk.status().over() {
                return over;
            }
            if self.is_removed() {
                return self.removed().await;
            }
            if self.is_asked() {
                return ErrorKind::Revoked.into();
            }
            self.news(std::future::pending()).await;
        }
    }

    /// The error for a deleted znode. A close of the own session deletes it, too, and the notification comes before the end of
    /// the session: then any request says that the session is over.
    async fn removed(&self) -> Error {
        match self.zk.exists(&self.path).await {
            Err(over) if over.is_session_over() => over,
            _ => ErrorKind::Removed(self.path.clone()).into(),
        }
    }

    fn needs_reading(&self, status: Status) -> bool {
        let inner = self.inner();
        inner.watch.is_none() || inner.confirmed != status.connection
    }

    /// Steps 1 and 3: reads the znode, and arms the watch if none is armed.
    pub(crate) async fn read(&self, status: Status) {
        let (sent_at, reading) = {
            let mut inner = self.inner();
            let (arm, denied) = (inner.watch.is_none(), inner.denied);
            inner.reading.get_or_insert_with(|| (status, self.ask(status, arm, denied))).clone()
        };
        let answer = reading.clone().await;
        {
            let mut inner = self.inner();
            // The first waiter records the answer; the others look again.
            if !inner.reading.as_ref().is_some_and(|(_, current)| current.ptr_eq(&reading)) {
                return;
            }
            inner.reading = None;
            inner.denied = match &answer {
                Err(e) if e.is_denied() => inner.denied + 1,
                _ => 0,
            };
            match &answer {
                Ok(Some(found)) if self.is_ours(found.stat) => self.take_down(&mut inner, found, sent_at),
                Ok(_) => inner.is_removed = true,
                Err(_) => {}
            }
        }
        // Not again on this connection, which avoids a retry loop.
        if answer.is_err_and(|e| !e.says_nothing_of_the_tree()) {
            self.zk.changed(sent_at).await;
        }
    }

    fn take_down(&self, inner: &mut NodeState<Z>, found: &NodeRead<Shared<Z::Watch>>, sent_at: Status) {
        if let Some(watch) = &found.watch {
            inner.watch = Some(watch.clone());
        }
        inner.confirmed = inner.confirmed.max(sent_at.connection);
        inner.version = inner.version.max(found.stat.version);
        if !inner.is_asked && self.word.is_some_and(|word| found.data == word.as_bytes()) {
            inner.is_asked = true;
            observe::revoked(&self.zk, &self.path);
        }
    }

    fn is_ours(&self, stat: Stat) -> bool {
        stat.ephemeral_owner == self.zk.session() && self.czxid.is_none_or(|czxid| stat.czxid == czxid)
    }

    /// Sends the read, with a watch if none is armed; `denied` reads before it were denied in a row.
    fn ask(&self, on: Status, arm: bool, denied: u32) -> Reading<Z::Watch> {
        let of_data = |Data { data, stat }, watch| NodeRead { stat, data, watch };
        let of_list = |Listing { stat, .. }, watch| NodeRead { stat, data: Vec::new(), watch };
        let zk = &self.zk;
        match (self.word, arm) {
            (Some(_), true) => {
                let get = zk.get_watch(&self.path);
                self.found(on, denied, async move {
                    get.await.map(|(data, watch)| of_data(data, Some(watch.shared())))
                })
            }
            (Some(_), false) => {
                let get = zk.get(&self.path);
                self.found(on, denied, async move { get.await.map(|data| of_data(data, None)) })
            }
            (None, true) => {
                let list = zk.children_watch(&self.path);
                self.found(on, denied, async move {
                    list.await.map(|(list, watch)| of_list(list, Some(watch.shared())))
                })
            }
            (None, false) => {
                let exists = zk.exists(&self.path);
                self.found(on, denied, async move {
                    let stat = exists.await?.ok_or(ErrorKind::NoNode)?;
                    Ok(NodeRead { stat, data: Vec::new(), watch: None })
                })
            }
        }
    }

    /// Maps an absent znode to `None`. A refused read ends with a backoff, since the holder must retry it; the backoff is
    /// part of the shared read, so that all waiting tasks continue together. It ends with the connection of the read.
    fn found(
        &self,
        on: Status,
        denied: u32,
        reading: impl Future<Output = Result<NodeRead<Shared<Z::Watch>>, Error>> + Send + 'static,
    ) -> Reading<Z::Watch> {
        let zk = self.zk.clone();
        let answer = async move {
            match reading.await {
                Ok(found) => Ok(Some(found)),
                Err(e) if e.is_no_node() => Ok(None),
                Err(e) => {
                    if e.is_denied() {
                        back_off_denied(&zk, on, denied + 1).await;
                    } else if e.says_nothing_of_the_tree() {
                        back_off_on(&zk, on, REFUSED).await;
                    }
                    Err(e)
                }
            }
        };
        answer.boxed().shared()
    }

    /// Step 2: resolves when the watch fires.
    async fn event(&self) {
        let watch = self.inner().watch.clone();
        let Some(watch) = watch else { return std::future::pending().await };
        let event = watch.clone().await;
        let mut inner = self.inner();
        // Another task may have seen the event before and armed the next watch.
        if inner.watch.as_ref().is_some_and(|current| current.ptr_eq(&watch)) {
            inner.watch = None;
        }
        // A znode that was written is read again. So is one without a word: an adopted watch may be one on the data.
        if event.is_ok_and(|event| event.kind == EventKind::NodeDeleted) {
            inner.is_removed = true;
        }
    }
}
