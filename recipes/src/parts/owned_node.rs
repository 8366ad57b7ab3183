//! One's own znode, watched: whether it is there still, and whether its owner was asked to release.
//!
//! 1. *Read* it, and arm a watch by that very read: as soon as the name is known where the owner can be asked to release,
//!    else when the caller waits for it. The answer counts like any other: the word may be there already.
//! 2. An event says that it is gone, or that it was written: then read it again.
//! 3. After a reconnect the same read *confirms* that it is ours still.
//!
//! Where nobody can be asked to release it is watched by listing its children: an ephemeral has none, so the watch fires at
//! its deletion and at nothing else. A word is data, so there it is a watch on data.

use super::select::first;
use crate::observe;
use crate::zk::backoff::{back_off, back_off_denied};
use crate::zk::{Data, Error, EventKind, Listing, Stat, Status, ZooKeeper};
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};
use std::future::Future;
use std::sync::{Mutex, MutexGuard};

/// As after how many refusals a reading that was refused is recreated: the fewest after which the pause is the longest.
const REFUSED: u32 = 16;

/// One's own znode, and what is known of it.
pub(crate) struct OwnedNode<Z: ZooKeeper> {
    zk: Z,
    path: String,
    /// Which incarnation of the path it is; `None` if nobody else ever bears that name.
    czxid: Option<i64>,
    /// What others write into it to ask its owner to go.
    word: Option<&'static str>,
    inner: Mutex<Known<Z>>,
}

struct Known<Z: ZooKeeper> {
    is_removed: bool,
    is_asked: bool,
    /// The version of its data when it was last read.
    version: i32,
    /// The connection over which it was last known to be ours.
    confirmed: u32,
    watch: Option<Shared<Z::Watch>>,
    /// How many readings in a row an access list has refused.
    denied: u32,
    /// A reading that is under way, and the connection it was sent on: it goes on when whoever waits for it is dropped.
    reading: Option<(Status, Reading<Z::Watch>)>,
}

/// What a reading found.
#[derive(Clone)]
struct NodeRead<W> {
    stat: Stat,
    data: Vec<u8>,
    /// If one was to be armed.
    watch: Option<W>,
}

/// `None`: it is gone. Several tasks may wait for it, as for the watch.
type Reading<W> = Shared<BoxFuture<'static, Result<Option<NodeRead<Shared<W>>>, Error>>>;

impl<Z: ZooKeeper> OwnedNode<Z> {
    /// A znode that was just seen over the present connection.
    pub(crate) fn new(zk: &Z, path: String, czxid: Option<i64>, word: Option<&'static str>) -> Self {
        let inner = Known {
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

    /// What others write into it to ask its owner to go.
    pub(crate) fn word(&self) -> Option<&'static str> {
        self.word
    }

    fn inner(&self) -> MutexGuard<'_, Known<Z>> {
        // A panic cannot leave the value half updated.
        self.inner.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Whether another client is known to have deleted it.
    pub(crate) fn is_removed(&self) -> bool {
        self.inner().is_removed
    }

    /// Whether the owner is known to have been asked to release.
    pub(crate) fn is_asked(&self) -> bool {
        self.inner().is_asked
    }

    /// The version of its data when it was last read.
    pub(crate) fn version(&self) -> i32 {
        self.inner().version
    }

    /// Whether it was seen over this connection.
    pub(crate) fn is_confirmed(&self, over: Status) -> bool {
        self.inner().confirmed == over.connection
    }

    /// It was seen over this connection, and was ours.
    pub(crate) fn confirm(&self, over: Status) {
        let mut inner = self.inner();
        inner.confirmed = inner.confirmed.max(over.connection);
    }

    /// Arms the watch now. Nobody waits for the answer: it is taken down when somebody asks to be told.
    pub(crate) fn watch_now(&self) {
        let status = self.zk.status();
        let mut inner = self.inner();
        if status.is_connected() && inner.watch.is_none() {
            let denied = inner.denied;
            inner.reading.get_or_insert_with(|| (status, self.ask(true, denied)));
        }
    }

    /// A watch on it that is armed already.
    pub(crate) fn is_watched_by(&self, watch: Shared<Z::Watch>) {
        self.inner().watch = Some(watch);
    }

    /// Waits for whatever may change what is known, after having asked what can be asked; or until `alarm`.
    pub(crate) async fn news(&self, alarm: impl Future<Output = ()>) {
        let status = self.zk.status();
        if status.is_connected() && self.needs_reading(status) {
            // The answer may come too late, and later than an event that says the same.
            first(self.event(), first(self.read(status), alarm)).await;
            return;
        }
        first(self.event(), first(self.zk.changed(status), alarm)).await;
    }

    /// Resolves when a call that waits in the queue must end: with its error.
    pub(crate) async fn must_go(&self) -> Error {
        loop {
            if let Some(over) = self.zk.status().over() {
                return over;
            }
            if self.is_removed() {
                return Error::Removed(self.path.clone());
            }
            if self.is_asked() {
                return Error::Revoked;
            }
            self.news(std::future::pending()).await;
        }
    }

    fn needs_reading(&self, status: Status) -> bool {
        let inner = self.inner();
        inner.watch.is_none() || inner.confirmed != status.connection
    }

    /// Steps 1 and 3: asks whether it is ours still and what it says, and arms the watch if need be.
    pub(crate) async fn read(&self, status: Status) {
        let (sent_at, reading) = {
            let mut inner = self.inner();
            let (arm, denied) = (inner.watch.is_none(), inner.denied);
            inner.reading.get_or_insert_with(|| (status, self.ask(arm, denied))).clone()
        };
        let answer = reading.clone().await;
        {
            let mut inner = self.inner();
            // One of those who waited takes the answer down, the others look again.
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
        // Lost, or over: not again on this connection, which avoids a retry loop.
        if answer.is_err_and(|e| !e.says_nothing_of_the_tree()) {
            self.zk.changed(sent_at).await;
        }
    }

    fn take_down(&self, inner: &mut Known<Z>, found: &NodeRead<Shared<Z::Watch>>, sent_at: Status) {
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

    /// Sends the question, after so many in a row that were denied: with a watch if none is armed.
    fn ask(&self, arm: bool, denied: u32) -> Reading<Z::Watch> {
        let of_data = |Data { data, stat }, watch| NodeRead { stat, data, watch };
        let of_list = |Listing { stat, .. }, watch| NodeRead { stat, data: Vec::new(), watch };
        let zk = &self.zk;
        match (self.word, arm) {
            (Some(_), true) => {
                let get = zk.get_watch(&self.path);
                self.found(denied, async move {
                    get.await.map(|(data, watch)| of_data(data, Some(watch.shared())))
                })
            }
            (Some(_), false) => {
                let get = zk.get(&self.path);
                self.found(denied, async move { get.await.map(|data| of_data(data, None)) })
            }
            (None, true) => {
                let list = zk.children_watch(&self.path);
                self.found(denied, async move {
                    list.await.map(|(list, watch)| of_list(list, Some(watch.shared())))
                })
            }
            (None, false) => {
                let exists = zk.exists(&self.path);
                self.found(denied, async move {
                    let stat = exists.await?.ok_or(Error::NoNode)?;
                    Ok(NodeRead { stat, data: Vec::new(), watch: None })
                })
            }
        }
    }

    /// That there is no such znode is an answer. What a server refused is asked again after a pause, since a holder still has
    /// to learn whether its znode is there; the pause is part of the reading, so that no task asks, or hears, before another.
    fn found(
        &self,
        denied: u32,
        reading: impl Future<Output = Result<NodeRead<Shared<Z::Watch>>, Error>> + Send + 'static,
    ) -> Reading<Z::Watch> {
        let zk = self.zk.clone();
        let answer = async move {
            match reading.await {
                Ok(found) => Ok(Some(found)),
                Err(Error::NoNode) => Ok(None),
                Err(e) => {
                    if e.is_denied() {
                        back_off_denied(&zk, denied + 1).await;
                    } else if e.says_nothing_of_the_tree() {
                        back_off(&zk, REFUSED).await;
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
        // Another task may have been told before, and have armed the next one.
        if inner.watch.as_ref().is_some_and(|current| current.ptr_eq(&watch)) {
            inner.watch = None;
        }
        // Written: it is read again, since nothing is armed.
        if event.is_ok_and(|event| self.word.is_none() || event.kind == EventKind::NodeDeleted) {
            inner.is_removed = true;
        }
    }
}
