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
mod sets;

pub use sets::{ConfigSet, ConfigSetOptions, Snapshot};

use crate::observe::operation;
use crate::parts::barrier_read;
use crate::parts::parents::Parents;
use crate::parts::retry::{again, connected, present, reconnected, until_answered};
use crate::parts::setters::setters;
use crate::parts::watch_loop::{Incarnations, Updates, Versioned};
use crate::zk::{CreateMode, Data, Error, ErrorKind, Stat, ZooKeeper, path};
use std::future::Future;

const RECIPE: &str = "config";

/// Options of a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConfigOptions {
    /// How missing parents of the configuration's znode are created.
    pub parents: Parents,
}

impl Default for ConfigOptions {
    /// Containers.
    fn default() -> Self {
        ConfigOptions { parents: Parents::Container }
    }
}

setters!(ConfigOptions {
    with_parents(parents: Parents),
});

/// A configuration: the value of one znode. Many values that change together are a [`ConfigSet`].
///
/// # Promises
///
/// * *Followers* see values in the order of their writes, never go back, even after a reconnect, and always get the last
///   one; see [`Updates`].
/// * *Writers.* A conditional write succeeds exactly if no other write came in between.
///
/// A value is identified by incarnation and version. This recipe deletes no value; if another client deletes and recreates
/// the znode, that is another incarnation with another czxid:
///
/// * A conditional write for one incarnation never succeeds on another: the caller gets a conflict.
/// * Nothing is sent once this object, a clone of it, or an [`Updates`] of it has seen a later incarnation, or once a write
///   has reported that the expected one is gone.
/// * Nothing is written over another incarnation that has another version.
///
/// One case remains: another client has deleted and recreated the znode of a plain value, it has reached exactly the
/// expected version, and this object has seen none of it. A server compares only versions, so it applies the write; the
/// reply shows the other czxid, and the caller gets a conflict although the other value was replaced. To exclude that case,
/// write an empty value instead of deleting the znode, or publish a [`ConfigSet`].
///
/// A writer that finds another incarnation after a lost reply cannot know whether its write was applied, and gets an
/// unknown outcome. If its value was deleted and replaced meanwhile, it may get a conflict.
///
/// Not promised: every intermediate value; that a write which a leader has sent is applied before it must stop, or before the
/// next leader begins. A write through [`Term::transact`](crate::Term::transact) is applied only while the term goes on.
///
/// # Cost
///
/// A write: one request. A change costs a follower one notification and one request.
///
/// # Examples
///
/// ```
/// use zk_recipes::{Config, ConfigOptions, Update};
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

impl<Z: ZooKeeper> Config<Z> {
    /// The configuration at `path`. Sends nothing.
    ///
    /// # Errors
    ///
    /// [`Error::is_bad_input`]: the path is not absolute, is the root, lies in ZooKeeper's own directory, or
    /// violates ZooKeeper's path rules.
    pub fn new(zk: &Z, path: &str, options: ConfigOptions) -> Result<Self, Error> {
        path::validate_directory(path)?;
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

    /// Returns the current value of the connected server, which may be stale: one read, without a [`sync`](ZooKeeper::sync).
    ///
    /// In the session of its term, a new leader reads every write that was applied before the deletion of the former leader's
    /// candidate: the list that granted the term lacks that candidate, and a session never gets an older answer. A stale value
    /// is a conflict in [`compare_and_set`](Self::compare_and_set).
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
        if let (Some(expected), Error { kind: ErrorKind::NoNode, .. }) = (expected, refused) {
            self.incarnations.lost(expected.czxid);
        }
        ErrorKind::Conflict.into()
    }

    /// Writes if no other write came since `expected` was read; `None` expects that there is no value.
    ///
    /// # Cancellation
    ///
    /// The outcome of a dropped call is unknown: it is applied once or not at all, and not after the end of the
    /// session. An unpolled future blocks no other call.
    ///
    /// # When the connection is lost
    ///
    /// Retries unless incarnation, version and value show that the write was applied.
    ///
    /// # Errors
    ///
    /// [`Error::is_conflict`] when another client wrote in between, or deleted the value: nothing was written, except in
    /// the one case described at [`Config`]; [`Error::is_outcome_unknown`] when the outcome of a lost reply cannot be
    /// found; [`Error::is_bad_input`] for data that do not fit into a request; [`Error::is_denied`]; with
    /// [`Parents::MustExist`] also [`Error::is_no_node`].
    pub async fn compare_and_set(
        &self,
        expected: Option<&Versioned>,
        data: &[u8],
    ) -> Result<Versioned, Error> {
        let operation = operation!(&self.zk, RECIPE, "compare_and_set", &self.path);
        operation.of(self.replace(expected, data)).await
    }

    async fn replace(&self, expected: Option<&Versioned>, data: &[u8]) -> Result<Versioned, Error> {
        path::validate_size(self.zk.max_request_bytes(), &self.path, data)?;
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
                return Err(ErrorKind::Conflict.into());
            }
            match write().await {
                Ok((data, stat)) => {
                    let written = self.seen(data, &stat);
                    return if is_same(&stat) { Ok(written) } else { Err(ErrorKind::Conflict.into()) };
                }
                Err(e) if e.is_no_node() && expected.is_none() => self.make_directory().await?,
                Err(
                    e @ Error {
                        kind: ErrorKind::NoNode | ErrorKind::NodeExists | ErrorKind::BadVersion, ..
                    },
                ) => {
                    return Err(self.conflict(expected, &e));
                }
                Err(e) if e.is_retryable_refusal() => again(&self.zk, status, e).await?,
                Err(Error { kind: ErrorKind::ConnectionLoss, .. }) => {
                    reconnected(&self.zk, status).await?;
                    match self.settled().await.map_err(Error::while_in_doubt)? {
                        None if expected.is_none() => {}
                        Some(found) if is_same(&found.stat) && found.stat.version == next => {
                            return match ours(&found) {
                                true => Ok(Versioned::new(found.data, &found.stat)),
                                // Another client's write took that version.
                                false => Err(ErrorKind::Conflict.into()),
                            };
                        }
                        Some(found) if expected.is_some_and(|e| is_at(&found.stat, e)) => {}
                        // Our write may have been applied and replaced.
                        _ => return Err(ErrorKind::ConnectionLoss.into()),
                    }
                }
                Err(e) => return Err(e),
            }
        }
    }

    /// The parent of the znode is missing: creates it, if that is allowed.
    async fn make_directory(&self) -> Result<(), Error> {
        until_answered(&self.zk, || async {
            self.options.parents.make_for(&self.zk, &self.path)?.done().await
        })
        .await
    }

    /// Writes unconditionally.
    ///
    /// # Cancellation
    ///
    /// The outcome of a dropped call is unknown: it is applied once or not at all, and not after the end of the
    /// session.
    ///
    /// # Errors
    ///
    /// [`Error::is_outcome_unknown`] when the reply was lost and another value is there: a retry might
    /// undo a later write; [`Error::is_bad_input`] for data that do not fit into a request; [`Error::is_denied`]; with
    /// [`Parents::MustExist`] also [`Error::is_no_node`].
    pub async fn put(&self, data: &[u8]) -> Result<Versioned, Error> {
        operation!(&self.zk, RECIPE, "put", &self.path).of(self.write(data)).await
    }

    async fn write(&self, data: &[u8]) -> Result<Versioned, Error> {
        path::validate_size(self.zk.max_request_bytes(), &self.path, data)?;
        loop {
            let status = connected(&self.zk).await?;
            let written = match self.zk.set(&self.path, data, None).await {
                Err(e) if e.is_no_node() => {
                    self.zk.create(&self.path, data, CreateMode::Persistent).await.map(|c| c.stat)
                }
                written => written,
            };
            match written {
                Ok(stat) => return Ok(self.seen(data.to_vec(), &stat)),
                Err(e) if e.is_no_node() => self.make_directory().await?,
                Err(e) if e.is_node_exists() => {}
                Err(e) if e.is_retryable_refusal() => again(&self.zk, status, e).await?,
                Err(e) if e.is_connection_loss() => {
                    reconnected(&self.zk, status).await?;
                    return match self.settled().await.map_err(Error::while_in_doubt)? {
                        Some(found) if found.data == data => Ok(Versioned::new(found.data, &found.stat)),
                        _ => Err(ErrorKind::ConnectionLoss.into()),
                    };
                }
                Err(e) => return Err(e),
            }
        }
    }
}

fn is_at(stat: &Stat, expected: &Versioned) -> bool {
    (stat.czxid, stat.version) == (expected.czxid, expected.version)
}
