//! Clean-up duties, which outlive a dropped future.
//!
//! 1. [`arm`](super::Runtime::arm) registers a [`Duty`] before the request is sent that makes it necessary.
//! 2. Dropping [`Armed`] starts the duty: its first request is sent at once, so later requests of the caller come behind
//!    it.
//! 3. [`Armed::done`] ends it instead. Only a confirmed result may do that (CURATOR-678).
//! 4. [`discharge`] executes the duty while the session lives: over reconnects and over refusals, with a growing backoff,
//!    regardless of the caller's limits. An absent znode is success (CURATOR-42). The session's end ends the duty.

use std::any::Any;
use std::fmt;
use std::future::Future;
use std::sync::Arc;

use super::backoff::back_off;
use super::{Data, Error, ErrorKind, Listing, Op, OpResult, Stat, Status, ZooKeeper, path};

/// A clean-up: the znodes that must not be leaked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Duty {
    /// Every child of `directory` whose name contains the guid and that this session owns.
    Guid {
        /// The directory.
        directory: String,
        /// The guid in the notation of the recipe.
        guid: String,
        /// The connection over which it was armed: see [`Status::connection`].
        connection: u32,
    },
    /// The znode of this name, which is never reused.
    Path(String),
    /// The znode of a name that other clients may use: only the incarnation that this handle created.
    Fixed {
        /// The znode.
        path: String,
        /// The incarnation; if it is not known, one that this session owns.
        czxid: Option<i64>,
        /// The connection over which it was armed: see [`Status::connection`].
        connection: u32,
    },
    /// As `Fixed`, and the name stays reserved within this handle until the duty is done.
    Claim {
        /// The znode.
        path: String,
        /// The incarnation; if it is not known, one that this session owns.
        czxid: Option<i64>,
        /// The connection over which it was armed: see [`Status::connection`].
        connection: u32,
        /// Released when the duty is done.
        reserved: Reserved,
    },
    /// The znode of a name that other clients may use, identified by its data. A client that replaces it writes to the gate
    /// in the same transaction, so the duty never deletes a replacement.
    ///
    /// No transaction can check which incarnation it deletes: if a client outside the recipe deletes the znode, and another
    /// makes its own, both between the duty's read and its transaction, the duty deletes that one.
    Replaceable {
        /// The znode, an ephemeral of this session.
        path: String,
        /// Its data.
        data: Vec<u8>,
        /// The znode whose data version changes when it is replaced.
        gate: String,
        /// The connection over which it was armed: see [`Status::connection`].
        connection: u32,
    },
    /// Writes in one transaction. A refusal means that nothing is left to do.
    Multi(Vec<Op>),
    /// Alternative transactions, and a duty behind them.
    FirstOf {
        /// The alternatives: the first that is not refused.
        all: Vec<Vec<Op>>,
        /// Begins when the alternatives are done. Beside them, it might read what they are about to delete, and delete what
        /// another client has made since.
        then: Option<Box<Duty>>,
    },
    /// As `Multi`, if a znode of a name that other clients may use has these data: the mark of an attempt whose outcome is
    /// unknown.
    Marked {
        /// The znode.
        path: String,
        /// The data that only the attempt wrote.
        data: Vec<u8>,
        /// The writes.
        ops: Vec<Op>,
        /// The connection over which it was armed: see [`Status::connection`].
        connection: u32,
    },
}

impl Duty {
    /// The duty that begins when this one is done.
    fn then(&self) -> Option<&Duty> {
        match self {
            Duty::FirstOf { then, .. } => then.as_deref(),
            _ => None,
        }
    }

    /// The znode or directory of the duty, for spans.
    fn about(&self) -> &str {
        match self {
            Duty::Guid { directory, .. } => directory,
            Duty::Path(path)
            | Duty::Fixed { path, .. }
            | Duty::Claim { path, .. }
            | Duty::Replaceable { path, .. }
            | Duty::Marked { path, .. } => path,
            Duty::Multi(ops) => ops.first().map(Op::path).unwrap_or_default(),
            Duty::FirstOf { all, .. } => all.iter().flatten().next().map(Op::path).unwrap_or_default(),
        }
    }
}

/// A value that a duty keeps until it is done or abandoned.
#[derive(Clone)]
pub struct Reserved(Arc<dyn Any + Send + Sync>);

impl Reserved {
    /// Keeps `what`.
    pub fn new(what: Arc<dyn Any + Send + Sync>) -> Self {
        Reserved(what)
    }
}

impl PartialEq for Reserved {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Reserved {}

impl fmt::Debug for Reserved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Reserved")
    }
}

/// The id of an armed duty within its handle.
pub type DutyId = u64;

/// The execution of armed duties by a handle. For implementations of [`ZooKeeper`].
pub trait Discharge: Send + Sync {
    /// Starts the duty. Called from a `drop`, so it must not wait.
    fn start(self: Arc<Self>, id: DutyId, duty: Duty);
    /// Ends a duty that is done or was never needed.
    fn done(&self, id: DutyId);
}

/// An armed duty: dropping it starts the duty, [`done`](Self::done) ends it.
#[must_use = "dropping an armed duty starts it"]
pub struct Armed {
    id: DutyId,
    duty: Option<Duty>,
    by: Arc<dyn Discharge>,
}

impl Armed {
    /// Arms a duty. For implementations of [`ZooKeeper`].
    pub fn new(id: DutyId, duty: Duty, by: Arc<dyn Discharge>) -> Self {
        Armed { id, duty: Some(duty), by }
    }

    /// Ends the duty, which is known to be done.
    pub fn done(mut self) {
        self.duty = None;
        self.by.done(self.id);
    }

    /// Replaces the duty by a more precise one.
    pub fn narrow(&mut self, duty: Duty) {
        self.duty = Some(duty);
    }
}

impl Drop for Armed {
    fn drop(&mut self) {
        if let Some(duty) = self.duty.take() {
            self.by.clone().start(self.id, duty);
        }
    }
}

impl fmt::Debug for Armed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Armed").field("id", &self.id).field("duty", &self.duty).finish()
    }
}

/// Observation of clean-ups, which the module `observe` implements for every handle: so this module names neither spans nor
/// metrics.
pub(crate) trait ObserveCleanUp: ZooKeeper {
    /// Drives a clean-up that concerns the znode `about`. It counts as begun at the call.
    fn observe_clean_up<W>(&self, about: &str, work: W) -> impl Future<Output = ()> + Send + use<Self, W>
    where
        W: Future<Output = Result<(), Error>> + Send;
}

/// Executes a duty until it is done or the session is over. The first request is sent at the call.
///
/// For implementations of [`ZooKeeper`]: run the future beside the handle, and count it among what
/// [`close`](ZooKeeper::close) waits for.
pub fn discharge<Z: ZooKeeper>(zk: &Z, duty: Duty) -> impl Future<Output = ()> + Send + use<Z> {
    let observer = zk;
    let zk = zk.clone();
    // The first attempt is made outside the future, so that its request is sent now.
    let seen = zk.status();
    let first = seen.is_connected().then(|| (seen, Try::begin(&zk, &duty, seen)));
    let about = duty.about().to_owned();
    // Boxed, since each layer of observation and the task would copy the states of all kinds of duty.
    let work = Box::pin(async move {
        let mut first = first;
        let (mut ended, mut next) = (Ok(()), Some(&duty));
        while let Some(duty) = next {
            let mut refused = 0;
            let done = loop {
                let (seen, attempt) = match first.take() {
                    Some(begun) => begun,
                    None => {
                        let mut seen = zk.status();
                        while !seen.is_connected() {
                            if let Some(over) = seen.over() {
                                return Err(over);
                            }
                            seen = zk.changed(seen).await;
                        }
                        (seen, Try::begin(&zk, duty, seen))
                    }
                };
                match attempt.finish(&zk).await {
                    // The loss may be reported before the change of state: wait for that.
                    Err(e) if e.is_connection_loss() && zk.status() == seen => drop(zk.changed(seen).await),
                    Err(e) if e.is_connection_loss() => {}
                    // Gone already is done.
                    Ok(()) | Err(Error { kind: ErrorKind::NoNode, .. }) => break Ok(()),
                    // Only this client can do it, and other clients wait for it.
                    Err(e) if e.says_nothing_of_the_tree() => {
                        refused += 1;
                        back_off(&zk, refused).await;
                    }
                    // The session is over and deletes its ephemerals, or the tree is such that a retry cannot help.
                    Err(e) => break Err(e),
                }
            };
            ended = ended.and(done);
            next = duty.then();
        }
        ended
    });
    observer.observe_clean_up(&about, work)
}

/// One attempt, whose first request is sent.
enum Try<S, L, D, E, M, G> {
    Find { settle: Option<S>, list: L, directory: String, guid: String },
    Delete(D),
    Identify { settle: Option<S>, exists: E, path: String, czxid: Option<i64> },
    Compare { settle: Option<S>, gate: E, get: G, replaceable: Replaceable },
    Together(M, Vec<Vec<Op>>),
    Recognise { settle: Option<S>, get: G, data: Vec<u8>, ops: Vec<Op> },
}

/// See [`Duty::Replaceable`].
struct Replaceable {
    path: String,
    data: Vec<u8>,
    gate: String,
}

impl Try<(), (), (), (), (), ()> {
    #[allow(clippy::type_complexity, reason = "anonymous futures, named nowhere else")]
    fn begin<Z: ZooKeeper>(
        zk: &Z,
        duty: &Duty,
        seen: Status,
    ) -> Try<
        impl Future<Output = Result<Vec<OpResult>, Error>> + Send + use<Z>,
        impl Future<Output = Result<Listing, Error>> + Send + use<Z>,
        impl Future<Output = Result<(), Error>> + Send + use<Z>,
        impl Future<Output = Result<Option<Stat>, Error>> + Send + use<Z>,
        impl Future<Output = Result<Vec<OpResult>, Error>> + Send + use<Z>,
        impl Future<Output = Result<Data, Error>> + Send + use<Z>,
    > {
        // On the same connection a read comes behind earlier requests; on another one it needs a settling write.
        let settled = |armed: u32, path: &str| (seen.connection != armed).then(|| settle(zk, path));
        match duty {
            Duty::Guid { directory, guid, connection } => Try::Find {
                settle: settled(*connection, directory),
                list: zk.children(directory),
                directory: directory.clone(),
                guid: guid.clone(),
            },
            Duty::Path(path) => Try::Delete(zk.delete(path, None)),
            Duty::Fixed { path, czxid, connection } | Duty::Claim { path, czxid, connection, .. } => {
                Try::Identify {
                    settle: settled(*connection, path),
                    exists: zk.exists(path),
                    path: path.clone(),
                    czxid: *czxid,
                }
            }
            Duty::Replaceable { path, data, gate, connection } => Try::Compare {
                settle: settled(*connection, gate),
                gate: zk.exists(gate),
                get: zk.get(path),
                replaceable: Replaceable { path: path.clone(), data: data.clone(), gate: gate.clone() },
            },
            Duty::Multi(ops) => Try::Together(zk.multi(ops.clone()), Vec::new()),
            Duty::FirstOf { all, .. } => {
                let mut all = all.clone().into_iter();
                Try::Together(zk.multi(all.next().unwrap_or_default()), all.collect())
            }
            Duty::Marked { path, data, ops, connection } => Try::Recognise {
                settle: settled(*connection, path),
                get: zk.get(path),
                data: data.clone(),
                ops: ops.clone(),
            },
        }
    }
}

impl<S, L, D, E, M, G> Try<S, L, D, E, M, G>
where
    S: Future<Output = Result<Vec<OpResult>, Error>>,
    L: Future<Output = Result<Listing, Error>>,
    D: Future<Output = Result<(), Error>>,
    E: Future<Output = Result<Option<Stat>, Error>>,
    G: Future<Output = Result<Data, Error>>,
    M: Future<Output = Result<Vec<OpResult>, Error>>,
    G: Future<Output = Result<Data, Error>>,
{
    async fn finish<Z: ZooKeeper>(self, zk: &Z) -> Result<(), Error> {
        match self {
            Try::Delete(delete) => delete.await,
            Try::Together(first, others) => {
                let mut done = first.await;
                for ops in others {
                    match done {
                        Ok(_)
                        | Err(Error {
                            kind: ErrorKind::ConnectionLoss | ErrorKind::SessionOver(_), ..
                        }) => break,
                        Err(ref e) if e.says_nothing_of_the_tree() => break,
                        Err(_) => done = zk.multi(ops).await,
                    }
                }
                done.map(drop)
            }
            Try::Recognise { settle, get, data, ops } => {
                answered(settle).await?;
                if get.await?.data == data { zk.multi(ops).await.map(drop) } else { Ok(()) }
            }
            Try::Identify { settle, exists, path, czxid } => {
                answered(settle).await?;
                let Some(stat) = exists.await? else { return Ok(()) };
                let ours = match czxid {
                    Some(czxid) => stat.czxid == czxid,
                    None => stat.ephemeral_owner == zk.session(),
                };
                if ours { zk.delete(&path, None).await } else { Ok(()) }
            }
            Try::Compare { settle, gate, get, replaceable } => {
                answered(settle).await?;
                replaceable.remove(zk, gate.await?, get.await).await
            }
            Try::Find { settle, list, directory, guid } => {
                answered(settle).await?;
                let names = list.await?.names;
                for name in names.iter().filter(|name| name.contains(&guid)) {
                    let path = path::join(&directory, name);
                    let ours =
                        zk.exists(&path).await?.is_some_and(|stat| stat.ephemeral_owner == zk.session());
                    if ours {
                        match zk.delete(&path, None).await {
                            Ok(()) | Err(Error { kind: ErrorKind::NoNode, .. }) => {}
                            Err(e) => return Err(e),
                        }
                    }
                }
                Ok(())
            }
        }
    }
}

impl Replaceable {
    /// Deletes the znode if it has the expected data, unless it was replaced since the gate was read.
    async fn remove<Z: ZooKeeper>(
        &self,
        zk: &Z,
        mut gate: Option<Stat>,
        mut found: Result<Data, Error>,
    ) -> Result<(), Error> {
        loop {
            let (Some(Stat { version, .. }), Data { data, stat }) = (gate, found?) else { return Ok(()) };
            if data != self.data || stat.ephemeral_owner != zk.session() {
                return Ok(());
            }
            let unchanged = Op::Check { path: self.gate.clone(), version: Some(version) };
            let delete = Op::Delete { path: self.path.clone(), version: None };
            match zk.multi(vec![unchanged, delete]).await {
                Err(Error { kind: ErrorKind::Multi { index: 0, cause }, .. })
                    if *cause == ErrorKind::BadVersion =>
                {
                    let (asking, getting) = (zk.exists(&self.gate), zk.get(&self.path));
                    (gate, found) = (asking.await?, getting.await);
                }
                done => return done.map(drop),
            }
        }
    }
}

/// Waits for a settling write. Any reply that its check was executed proves that no earlier request is in flight, whatever
/// the check's result. A write that an overloaded server refused never reached the leader.
pub(crate) async fn answered<S: Future<Output = Result<Vec<OpResult>, Error>>>(
    settle: Option<S>,
) -> Result<(), Error> {
    match settle {
        Some(settle) => match settle.await {
            Err(
                e @ Error {
                    kind:
                        ErrorKind::ConnectionLoss
                        | ErrorKind::SessionOver(_)
                        | ErrorKind::Refused(_)
                        | ErrorKind::Unexpected(_),
                    ..
                },
            ) => Err(e),
            _ => Ok(()),
        },
        None => Ok(()),
    }
}

/// Sends a settling write, which changes nothing: the server orders it behind every request of the session in flight, so a
/// read behind it is final. `sync` does the same on a follower, but not on the leader itself.
///
/// Only the execution of its check counts, not the result.
pub fn settle<Z: ZooKeeper>(
    zk: &Z,
    path: &str,
) -> impl Future<Output = Result<Vec<OpResult>, Error>> + Send + use<Z> {
    zk.multi(vec![Op::Check { path: path.to_owned(), version: None }])
}
