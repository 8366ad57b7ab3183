//! Promises to clean up that outlive a dropped future.
//!
//! 1. [`arm`](super::ZooKeeper::arm) registers a [`Duty`] before the request is sent that makes it necessary.
//! 2. Dropping [`Armed`] starts the duty: its first request leaves at once, so that whatever the caller sends next
//!    comes behind it.
//! 3. [`Armed::done`] ends it instead. Only a confirmed end may do that (CURATOR-678).
//! 4. [`discharge`] does what the duty says, for as long as the session lives: over reconnects and whatever the
//!    caller's limits are; a znode that is gone already is done (CURATOR-42). It is forgotten with the session.

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use super::{Error, Status, ZooKeeper, path};

/// What must not stay behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Duty {
    /// Every child of `directory` whose name contains the guid and that this session owns.
    Guid {
        /// The directory.
        directory: String,
        /// What the names contain: a guid as the recipe writes it.
        guid: String,
        /// The connection over which it was armed: see [`Status::connection`].
        connection: u32,
    },
    /// The znode of this name, which nobody will ever use again.
    Path(String),
}

/// Names one armed duty of one handle.
pub type DutyId = u64;

/// What a handle does with its armed duties. For those who implement [`ZooKeeper`].
pub trait Discharge: Send + Sync {
    /// The duty is due: begin now. Called from a `drop`, so it may not wait.
    fn start(&self, id: DutyId, duty: Duty);
    /// The duty is done or was never needed.
    fn done(&self, id: DutyId);
}

/// A duty as a value: dropping it starts the duty, [`done`](Self::done) ends it.
#[must_use = "dropping an armed duty starts it"]
pub struct Armed {
    id: DutyId,
    duty: Option<Duty>,
    by: Arc<dyn Discharge>,
}

impl Armed {
    /// For those who implement [`ZooKeeper`].
    pub fn new(id: DutyId, duty: Duty, by: Arc<dyn Discharge>) -> Self {
        Armed { id, duty: Some(duty), by }
    }

    /// The duty is known to be done.
    pub fn done(mut self) {
        self.duty = None;
        self.by.done(self.id);
    }

    /// The same promise, told more precisely.
    pub fn narrow(&mut self, duty: Duty) {
        self.duty = Some(duty);
    }
}

impl Drop for Armed {
    fn drop(&mut self) {
        if let Some(duty) = self.duty.take() {
            self.by.start(self.id, duty);
        }
    }
}

impl fmt::Debug for Armed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Armed").field("id", &self.id).field("duty", &self.duty).finish()
    }
}

/// Does what a duty says, until it is done or the session is over. The first request leaves at the call.
///
/// For those who implement [`ZooKeeper`]: run the future beside the handle, and count it among what
/// [`close`](ZooKeeper::close) waits for.
pub fn discharge<Z: ZooKeeper>(zk: &Z, duty: Duty) -> impl Future<Output = ()> + Send + use<Z> {
    let zk = zk.clone();
    // The first try is made here, outside the future, so that its request leaves now.
    let seen = zk.status();
    let first = seen.is_connected().then(|| (seen, Try::begin(&zk, &duty, seen)));
    async move {
        let mut first = first;
        loop {
            let (seen, attempt) = match first.take() {
                Some(begun) => begun,
                None => {
                    let mut seen = zk.status();
                    while !seen.is_connected() {
                        if seen.over().is_some() {
                            return;
                        }
                        seen = zk.changed(seen).await;
                    }
                    (seen, Try::begin(&zk, &duty, seen))
                }
            };
            match attempt.finish(&zk).await {
                // The loss may be reported before the state: then wait for the state first.
                Err(Error::ConnectionLoss) if zk.status() == seen => drop(zk.changed(seen).await),
                Err(Error::ConnectionLoss) => {}
                // Done; or over, and the session's end takes everything along; or refused, and asking again is no help.
                _ => return,
            }
        }
    }
}

/// One try at a duty, whose first request has left.
enum Try<S, L, D> {
    Find { settle: Option<S>, list: L, directory: String, guid: String },
    Delete(D),
}

impl Try<(), (), ()> {
    #[allow(clippy::type_complexity, reason = "three anonymous futures, named nowhere else")]
    fn begin<Z: ZooKeeper>(
        zk: &Z,
        duty: &Duty,
        seen: Status,
    ) -> Try<
        impl Future<Output = Result<Vec<super::OpResult>, Error>> + Send + use<Z>,
        impl Future<Output = Result<super::Listing, Error>> + Send + use<Z>,
        impl Future<Output = Result<(), Error>> + Send + use<Z>,
    > {
        match duty {
            Duty::Guid { directory, guid, connection } => Try::Find {
                // On one connection the list comes behind whatever was sent; after another one nothing is certain.
                settle: (seen.connection != *connection).then(|| settle(zk, directory)),
                list: zk.children(directory),
                directory: directory.clone(),
                guid: guid.clone(),
            },
            Duty::Path(path) => Try::Delete(zk.delete(path, None)),
        }
    }
}

impl<S, L, D> Try<S, L, D>
where
    S: Future<Output = Result<Vec<super::OpResult>, Error>>,
    L: Future<Output = Result<super::Listing, Error>>,
    D: Future<Output = Result<(), Error>>,
{
    async fn finish<Z: ZooKeeper>(self, zk: &Z) -> Result<(), Error> {
        match self {
            Try::Delete(delete) => delete.await,
            Try::Find { settle, list, directory, guid } => {
                // Its own result says nothing; that it was answered says that nothing of ours is still on its way.
                if let Some(settle) = settle
                    && let Err(e @ (Error::ConnectionLoss | Error::SessionOver(_))) = settle.await
                {
                    return Err(e);
                }
                let names = list.await?.names;
                for name in names.iter().filter(|name| name.contains(&guid)) {
                    let path = path::join(&directory, name);
                    let ours = zk.exists(&path).await?.is_some_and(|stat| stat.ephemeral_owner == zk.session());
                    if ours {
                        match zk.delete(&path, None).await {
                            Ok(()) | Err(Error::NoNode) => {}
                            Err(e) => return Err(e),
                        }
                    }
                }
                Ok(())
            }
        }
    }
}

/// A write that changes nothing, in order to know: any write of a session is ordered behind everything of it that is
/// still on its way, so a read behind it is final. `sync` does the same on a follower but not on the leader itself.
///
/// Only *that* it was answered counts; its own result says nothing.
pub fn settle<Z: ZooKeeper>(
    zk: &Z,
    path: &str,
) -> impl Future<Output = Result<Vec<super::OpResult>, Error>> + Send + use<Z> {
    zk.multi(vec![super::Op::Check { path: path.to_owned(), version: None }])
}
