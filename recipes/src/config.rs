//! Configuration: a value, or a set of values, with many followers and few writers.
//!
//! 1. Follow: read the value with a watch, in a loop.
//! 2. Conditional write: write with the version that was read, unless that incarnation of the znode is known to be gone.
//!    The reply's czxid tells whether it was that one. Unconditional: write, or create.
//! 3. Publish a set: one transaction writes the pointer, with the version that was read, and the values below a directory
//!    of their own, whose name is a guid; it deletes old sets. It checks that the current set exists: a set goes with its
//!    pointer, so the pointer is the one that was read.
//! 4. Snapshot: read the pointer, then the values that it names, pipelined. If they are gone a newer set was published:
//!    start again.
//! 5. Lost reply: a barrier read tells whether the write was applied.
//!
//! ZooKeeper's recipes page says that configuration needs no more than the API. That leaves to the caller that reading and
//! watching in two requests misses writes in between, and that values written one by one are read torn.

mod index;

use crate::observe::operation;
use crate::parts::barrier_read;
use crate::parts::parents::Parents;
use crate::parts::retry::{again, connected, present, reconnected, unless_again, until_answered};
use crate::zk::duty::{answered, settle};
use crate::zk::{CreateMode, Data, Error, Op, OpResult, Stat, ZooKeeper, path};
use index::{Index, PREFIX, Set};
use std::collections::BTreeMap;
use std::future::Future;

const RECIPE: &str = "config";

use crate::parts::watch_loop::Incarnations;
pub use crate::parts::watch_loop::{Update, Updates, Versioned};

/// Options of a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigOptions {
    /// How missing parents of the configuration's znode are created.
    pub parents: Parents,
    /// The number of published sets that are kept, at least 2: a snapshot of an older one starts again.
    pub keep: usize,
}

impl Default for ConfigOptions {
    /// Containers; two sets.
    fn default() -> Self {
        ConfigOptions { parents: Parents::Container, keep: 2 }
    }
}

/// A configuration: the value of one znode, or the set to which it points.
///
/// # Promises
///
/// * *Followers* see values in the order of their writes, never go back, even after a reconnect, and always get the last
///   one; see [`Updates`].
/// * *Writers.* A conditional write succeeds exactly if no other write came in between.
/// * *Sets.* A published set is read whole or not at all.
///
/// A value is identified by incarnation and version. This recipe deletes no value; if another client deletes and recreates
/// the znode, that is another incarnation with another czxid:
///
/// * A conditional write for one incarnation never succeeds on another: the caller gets a conflict.
/// * Nothing is sent once this object, a clone of it, or an [`Updates`] of it has seen a later incarnation, or once a write
///   has reported that the expected one is gone.
/// * Nothing is published over another incarnation if the expected value is a pointer to a set: the transaction checks it.
/// * Nothing is written over another incarnation that has another version.
///
/// One case remains: another client has deleted and recreated the znode of a plain value, it has reached exactly the
/// expected version, and this object has seen none of it. A server compares only versions, so it applies the write; the
/// reply shows the other czxid, and the caller gets a conflict although the other value was replaced. To exclude that case,
/// write an empty value instead of deleting the znode, or publish a set.
///
/// A writer that finds another incarnation after a lost reply cannot know whether its write was applied, and gets an
/// unknown outcome. If its value was deleted and replaced meanwhile, it may get a conflict.
///
/// Not promised: every intermediate value.
///
/// # Cost
///
/// A write or a publication: one request. A change costs a follower one notification and one request. A snapshot: two
/// requests.
///
/// # Examples
///
/// ```
/// use zk_recipes::config::{Config, ConfigOptions, Update};
///
/// # sim_zk::doc_example(|zk| async move {
/// let config = Config::new(&zk, "/config/limits", ConfigOptions::default())?;
/// let mut updates = config.follow();
/// assert_eq!(updates.next().await?, Update::Missing);
/// let first = config.put(b"100").await?;
/// assert_eq!(updates.next().await?, Update::Value(first.clone()));
/// config.compare_and_set(Some(&first), b"200").await?;
/// assert!(config.compare_and_set(Some(&first), b"300").await.is_err_and(|e| e.is_conflict()));
/// # Ok(())
/// # });
/// ```
#[derive(Clone, Debug)]
pub struct Config<Z: ZooKeeper> {
    zk: Z,
    path: String,
    options: ConfigOptions,
    incarnations: Incarnations,
}

/// A published set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// The values, by key.
    pub values: BTreeMap<String, Vec<u8>>,
    /// The pointer to them, which the next publication may expect.
    pub pointer: Versioned,
}

impl<Z: ZooKeeper> Config<Z> {
    /// The configuration at `path`. Sends nothing.
    ///
    /// # Errors
    ///
    /// [`Error::is_bad_input`]: the path is not absolute, is the root, lies in ZooKeeper's own directory, or
    /// violates ZooKeeper's path rules; fewer than 2 sets are to be kept.
    pub fn new(zk: &Z, path: &str, options: ConfigOptions) -> Result<Self, Error> {
        path::validate_directory(path)?;
        if options.keep < 2 {
            return Err(Error::BadInput(format!("{} sets are too few to keep: 2 at least", options.keep)));
        }
        let incarnations = Incarnations::default();
        Ok(Config { zk: zk.clone(), path: path.to_owned(), options, incarnations })
    }

    /// Follows the value. Sends nothing.
    pub fn follow(&self) -> Updates<Z> {
        let updates = Updates::new(&self.zk, RECIPE, self.path.clone(), |found| {
            Versioned::new(found.data, &found.stat)
        });
        updates.noting(&self.incarnations)
    }

    /// Returns the current value of the connected server, which may be stale.
    ///
    /// # Errors
    ///
    /// [`Error::is_session_over`], [`Error::is_denied`].
    pub async fn get(&self) -> Result<Option<Versioned>, Error> {
        operation!(&self.zk, RECIPE, "get", &self.path).attempt(self.read()).await
    }

    async fn read(&self) -> Result<Option<Versioned>, Error> {
        let found = present(until_answered(&self.zk, || self.zk.get(&self.path)).await)?;
        Ok(found.map(|found| self.seen(found.data, &found.stat)))
    }

    /// A value that was read.
    fn seen(&self, data: Vec<u8>, stat: &Stat) -> Versioned {
        self.incarnations.saw(stat);
        Versioned::new(data, stat)
    }

    /// Reads the znode behind a settling write.
    async fn settled(&self) -> Result<Option<Data>, Error> {
        let found = barrier_read::data(&self.zk, &self.path).await?;
        if let Some(found) = &found {
            self.incarnations.saw(&found.stat);
        }
        Ok(found)
    }

    /// Whether the expected value is known to be gone, so that a write would meet another incarnation or none.
    fn is_gone(&self, expected: Option<&Versioned>) -> bool {
        expected.is_some_and(|expected| self.incarnations.is_gone(expected.czxid))
    }

    /// The conflict of a write that another client's write or delete has overtaken.
    fn conflict(&self, expected: Option<&Versioned>, refused: &Error) -> Error {
        if let (Some(expected), Error::NoNode) = (expected, refused) {
            self.incarnations.lost(expected.czxid);
        }
        Error::Conflict
    }

    /// Writes if no other write came since `expected` was read; `None` expects that there is no value.
    ///
    /// # Cancellation
    ///
    /// The outcome of a dropped call is unknown. An unpolled future blocks no other call.
    ///
    /// # When the connection is lost
    ///
    /// Retries unless incarnation, version and value show that the write was applied.
    ///
    /// # Errors
    ///
    /// [`Error::is_conflict`] when another client wrote in between, or deleted the value: nothing was written, except in
    /// the one case described at [`Config`]; [`Error::is_outcome_unknown`] when the outcome of a lost reply cannot be
    /// found; [`Error::is_bad_input`] for data that do not fit into a request; [`Error::is_denied`].
    pub async fn compare_and_set(
        &self,
        expected: Option<&Versioned>,
        data: &[u8],
    ) -> Result<Versioned, Error> {
        let operation = operation!(&self.zk, RECIPE, "compare_and_set", &self.path);
        operation.of(self.replace(expected, data)).await
    }

    async fn replace(&self, expected: Option<&Versioned>, data: &[u8]) -> Result<Versioned, Error> {
        path::validate_size(&self.path, data)?;
        let ours = |found: &Data| found.data == data;
        match expected {
            None => {
                self.conditionally(None, ours, || async {
                    let created = self.zk.create(&self.path, data, CreateMode::Persistent).await?;
                    Ok((data.to_vec(), created.stat))
                })
                .await
            }
            Some(expected) => {
                self.conditionally(Some(expected), ours, || async {
                    let stat = self.zk.set(&self.path, data, Some(expected.version)).await?;
                    Ok((data.to_vec(), stat))
                })
                .await
            }
        }
    }

    /// Steps 2 and 5: retries a conditional write until its outcome is known. `ours` recognises its result.
    async fn conditionally<W>(
        &self,
        expected: Option<&Versioned>,
        ours: impl Fn(&Data) -> bool,
        write: impl Fn() -> W,
    ) -> Result<Versioned, Error>
    where
        W: Future<Output = Result<(Vec<u8>, Stat), Error>>,
    {
        let is_same = |stat: &Stat| expected.is_none_or(|expected| expected.czxid == stat.czxid);
        let next = expected.map_or(0, |expected| expected.version.wrapping_add(1));
        loop {
            let status = connected(&self.zk).await?;
            if self.is_gone(expected) {
                return Err(Error::Conflict);
            }
            match write().await {
                Ok((data, stat)) => {
                    let written = self.seen(data, &stat);
                    return if is_same(&stat) { Ok(written) } else { Err(Error::Conflict) };
                }
                Err(Error::NoNode) if expected.is_none() => self.make_directory().await?,
                Err(e @ (Error::NoNode | Error::NodeExists | Error::BadVersion)) => {
                    return Err(self.conflict(expected, &e));
                }
                Err(e) if e.is_retryable_refusal() => again(&self.zk, status, e).await?,
                Err(Error::ConnectionLoss) => {
                    reconnected(&self.zk, status).await?;
                    match self.settled().await.map_err(Error::while_in_doubt)? {
                        None if expected.is_none() => {}
                        Some(found) if is_same(&found.stat) && found.stat.version == next => {
                            return match ours(&found) {
                                true => Ok(Versioned::new(found.data, &found.stat)),
                                // Another client's write took that version.
                                false => Err(Error::Conflict),
                            };
                        }
                        Some(found) if expected.is_some_and(|e| is_at(&found.stat, e)) => {}
                        // Our write may have been applied and replaced.
                        _ => return Err(Error::ConnectionLoss),
                    }
                }
                Err(e) => return Err(e),
            }
        }
    }

    /// The parent of the znode is missing: creates it, if that is allowed.
    async fn make_directory(&self) -> Result<(), Error> {
        self.options.parents.make_for(&self.zk, &self.path)?.done().await
    }

    /// Writes unconditionally.
    ///
    /// # Cancellation
    ///
    /// The outcome of a dropped call is unknown.
    ///
    /// # Errors
    ///
    /// [`Error::is_outcome_unknown`] when the reply was lost and another value is there: a retry might
    /// undo a later write. Otherwise as [`compare_and_set`](Self::compare_and_set).
    pub async fn put(&self, data: &[u8]) -> Result<Versioned, Error> {
        operation!(&self.zk, RECIPE, "put", &self.path).of(self.write(data)).await
    }

    async fn write(&self, data: &[u8]) -> Result<Versioned, Error> {
        path::validate_size(&self.path, data)?;
        loop {
            let status = connected(&self.zk).await?;
            let written = match self.zk.set(&self.path, data, None).await {
                Err(Error::NoNode) => {
                    self.zk.create(&self.path, data, CreateMode::Persistent).await.map(|c| c.stat)
                }
                written => written,
            };
            match written {
                Ok(stat) => return Ok(self.seen(data.to_vec(), &stat)),
                Err(Error::NoNode) => self.make_directory().await?,
                Err(Error::NodeExists) => {}
                Err(e) if e.is_retryable_refusal() => again(&self.zk, status, e).await?,
                Err(Error::ConnectionLoss) => {
                    reconnected(&self.zk, status).await?;
                    return match self.settled().await.map_err(Error::while_in_doubt)? {
                        Some(found) if found.data == data => Ok(Versioned::new(found.data, &found.stat)),
                        _ => Err(Error::ConnectionLoss),
                    };
                }
                Err(e) => return Err(e),
            }
        }
    }

    /// Publishes a set of values, if no other write came since `expected` was read; `None` expects that there is nothing.
    /// Returns the pointer.
    ///
    /// # Cancellation
    ///
    /// The outcome of a dropped call is unknown.
    ///
    /// # When the connection is lost
    ///
    /// Retries unless the set's directory shows that the publication was applied.
    ///
    /// # Errors
    ///
    /// As [`compare_and_set`](Self::compare_and_set); [`Error::is_bad_input`] also for a key that is empty,
    /// has a slash, or violates ZooKeeper's path rules.
    pub async fn publish(
        &self,
        values: &BTreeMap<String, Vec<u8>>,
        expected: Option<&Versioned>,
    ) -> Result<Versioned, Error> {
        let operation = operation!(&self.zk, RECIPE, "publish", &self.path);
        operation.of(self.write_set(values, expected)).await
    }

    async fn write_set(
        &self,
        values: &BTreeMap<String, Vec<u8>>,
        expected: Option<&Versioned>,
    ) -> Result<Versioned, Error> {
        let name = format!("{PREFIX}{}", self.zk.guid());
        let mut index = Index::of(expected);
        // While the set exists its pointer was not deleted: a znode with children cannot be.
        let mut pins =
            index.0.first().map(|set| Op::Check { path: path::join(&self.path, &set.name), version: None });
        let retired = index.push(Set { name, keys: values.keys().cloned().collect() }, self.options.keep);
        let directory = path::join(&self.path, &index.newest().name);
        let pointer = index.encode();
        let mut ops = self.pointing(&pointer, expected);
        ops.extend(pins.clone());
        ops.push(make(&directory, &[]));
        for (key, value) in values {
            validate_key(key)?;
            ops.push(make(&path::join(&directory, key), value));
        }
        let mut last = ops.len();
        ops.extend(retired.iter().flat_map(|set| set.deletion(&self.path)));
        path::validate_total(&ops, || "the set makes".to_owned())?;
        loop {
            let status = connected(&self.zk).await?;
            if self.is_gone(expected) {
                return Err(Error::Conflict);
            }
            let refused = match self.zk.multi(ops.clone()).await {
                Ok(results) => return self.published(results, pointer, expected),
                Err(Error::Multi { index, cause }) => (index, *cause),
                Err(e) if e.is_retryable_refusal() => {
                    again(&self.zk, status, e).await?;
                    continue;
                }
                Err(Error::ConnectionLoss) => {
                    reconnected(&self.zk, status).await?;
                    let found = self.find(&directory, &pointer, expected).await;
                    match found.map_err(Error::while_in_doubt)? {
                        Some(stat) => return Ok(Versioned::new(pointer, &stat)),
                        None => continue,
                    }
                }
                Err(e) => return Err(e),
            };
            match refused {
                (0, Error::NoNode) if expected.is_none() => self.make_directory().await?,
                (0, e @ (Error::NoNode | Error::NodeExists | Error::BadVersion)) => {
                    return Err(self.conflict(expected, &e));
                }
                // The pointer has changed, or another client has deleted its set: then the pointer can be replaced all the
                // same.
                (PINS, Error::NoNode) if pins.take().is_some() => {
                    let found = self.settled().await?;
                    let is_same =
                        |found: &Data| expected.is_some_and(|expected| is_at(&found.stat, expected));
                    if !found.as_ref().is_some_and(is_same) {
                        return Err(Error::Conflict);
                    }
                    ops.remove(PINS);
                    last -= 1;
                }
                // An old set has changed: then it stays.
                (at, Error::NoNode | Error::NotEmpty) if at >= last => ops.truncate(last),
                (index, cause) => return Err(Error::Multi { index, cause: Box::new(cause) }),
            }
        }
    }

    /// The pointer's write, as the first operation of a transaction. The first pointer is written twice, since the reply to
    /// the second write has its stat.
    fn pointing(&self, pointer: &[u8], expected: Option<&Versioned>) -> Vec<Op> {
        let set =
            |version| Op::Set { path: self.path.clone(), data: pointer.to_vec(), version: Some(version) };
        match expected {
            Some(expected) => vec![set(expected.version)],
            None => vec![make(&self.path, &[]), set(0)],
        }
    }

    fn published(
        &self,
        results: Vec<OpResult>,
        pointer: Vec<u8>,
        expected: Option<&Versioned>,
    ) -> Result<Versioned, Error> {
        let stat = results.iter().find_map(|result| match result {
            OpResult::Set(stat) => Some(*stat),
            _ => None,
        });
        match stat {
            Some(stat) => {
                let published = self.seen(pointer, &stat);
                match expected.is_none_or(|expected| expected.czxid == stat.czxid) {
                    true => Ok(published),
                    false => Err(Error::Conflict),
                }
            }
            None => Err(Error::Unexpected("a transaction without the answer to its write".into())),
        }
    }

    /// Step 5 of a publication: returns the pointer's stat after it, or `None` if it was not applied.
    async fn find(
        &self,
        directory: &str,
        written: &[u8],
        expected: Option<&Versioned>,
    ) -> Result<Option<Stat>, Error> {
        loop {
            let status = connected(&self.zk).await?;
            let flight = (settle(&self.zk, &self.path), self.zk.exists(directory), self.zk.get(&self.path));
            if let Err(e) = answered(Some(flight.0)).await {
                again(&self.zk, status, e).await?;
                continue;
            }
            let (set, pointer) = match (flight.1.await, flight.2.await) {
                // Another client may have deleted the directory; no other client writes a pointer with its name.
                (Ok(None), Ok(found)) if found.data == written => return Ok(Some(found.stat)),
                (Ok(set), Ok(found)) => (set, Some(found.stat)),
                (Ok(set), Err(Error::NoNode)) => (set, None),
                (Err(e), _) | (_, Err(e)) => {
                    again(&self.zk, status, e).await?;
                    continue;
                }
            };
            pointer.iter().for_each(|stat| self.incarnations.saw(stat));
            return match (set, pointer, expected) {
                // The pointer was written by the transaction that created the directory.
                (Some(set), Some(pointer), _) => Ok(Some(Stat {
                    mzxid: set.czxid,
                    version: expected.map_or(1, |expected| expected.version.wrapping_add(1)),
                    ..pointer
                })),
                (None, None, None) => Ok(None),
                (None, Some(pointer), Some(expected)) if is_at(&pointer, expected) => Ok(None),
                // Only later publications delete a set.
                (None, Some(pointer), expected) if !may_be_replaced(&pointer, expected) => {
                    Err(Error::Conflict)
                }
                _ => Err(Error::ConnectionLoss),
            };
        }
    }

    /// Returns the published set; `None` if there is none.
    ///
    /// # When the connection is lost
    ///
    /// Starts again after the reconnect.
    ///
    /// # Errors
    ///
    /// [`Error::is_mismatch`] when the znode has no pointer, or its set was deleted by another client;
    /// [`Error::is_session_over`]; [`Error::is_denied`].
    pub async fn snapshot(&self) -> Result<Option<Snapshot>, Error> {
        operation!(&self.zk, RECIPE, "snapshot", &self.path).attempt(self.read_set()).await
    }

    async fn read_set(&self) -> Result<Option<Snapshot>, Error> {
        let mut gone = None;
        loop {
            let status = connected(&self.zk).await?;
            let found = present(self.zk.get(&self.path).await);
            let Some(found) = unless_again(&self.zk, status, found).await? else { continue };
            let Some(found) = found else { return Ok(None) };
            self.incarnations.saw(&found.stat);
            let index = Index::decode(&found.data).filter(|index| !index.0.is_empty());
            let Some(index) = index else {
                return Err(Error::Mismatch(format!("{} does not point to a set of values", self.path)));
            };
            if gone == Some(found.stat.mzxid) {
                let set = &index.newest().name;
                return Err(Error::Mismatch(format!("{} points to {set}, which is not there", self.path)));
            }
            match self.values(index.newest()).await {
                Ok(Some(values)) => {
                    let pointer = Versioned::new(found.data, &found.stat);
                    return Ok(Some(Snapshot { values, pointer }));
                }
                // Replaced and deleted by now. If the pointer still names it, another client has deleted it.
                Ok(None) => gone = Some(found.stat.mzxid),
                Err(e) => again(&self.zk, status, e).await?,
            }
        }
    }

    async fn values(&self, set: &Set) -> Result<Option<BTreeMap<String, Vec<u8>>>, Error> {
        let paths = set.paths(&self.path);
        if paths.is_empty() {
            return Ok(Some(BTreeMap::new()));
        }
        let found = self.zk.get_many(&paths).await?;
        let values = set.keys.iter().cloned().zip(found);
        Ok(values.map(|(key, found)| Some((key, found?.data))).collect())
    }
}

fn is_at(stat: &Stat, expected: &Versioned) -> bool {
    (stat.czxid, stat.version) == (expected.czxid, expected.version)
}

/// Whether a publication on `expected` may have been applied, replaced and deleted.
fn may_be_replaced(pointer: &Stat, expected: Option<&Versioned>) -> bool {
    match expected {
        None => pointer.version > 1,
        Some(expected) => {
            pointer.czxid != expected.czxid || pointer.version > expected.version.wrapping_add(1)
        }
    }
}

/// The index of the check of the current set in a publication: behind the write of the pointer.
const PINS: usize = 1;

fn make(path: &str, data: &[u8]) -> Op {
    Op::Create { path: path.to_owned(), data: data.to_vec(), mode: CreateMode::Persistent }
}

fn validate_key(key: &str) -> Result<(), Error> {
    crate::names::znode("/", key).map(drop)
}
