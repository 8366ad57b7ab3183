//! Sets of values that are published and read as a whole: steps 3 to 5 of the [configuration](super).

use super::index::{Index, PREFIX, Set, validate_key};
use super::{Config, ConfigOptions, RECIPE, Versioned, is_at};
use crate::observe::operation;
use crate::parts::parents::Parents;
use crate::parts::retry::{again, connected, present, unless_again};
use crate::parts::setters::setters;
use crate::zk::duty::{answered, settle};
use crate::zk::{CreateMode, Data, Error, ErrorKind, Op, OpResult, Stat, ZooKeeper, path};
use std::collections::BTreeMap;

/// A published set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// The values, by key.
    pub values: BTreeMap<String, Vec<u8>>,
    /// The pointer to them, which the next publication may expect.
    pub pointer: Versioned,
}

/// Options of a [`ConfigSet`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConfigSetOptions {
    /// How missing parents of the set's znode are created.
    pub parents: Parents,
    /// The number of published sets that are kept, at least 2: a snapshot of an older one starts again.
    pub keep: usize,
}

impl Default for ConfigSetOptions {
    /// Containers; two sets.
    fn default() -> Self {
        ConfigSetOptions { parents: Parents::Container, keep: 2 }
    }
}

setters!(ConfigSetOptions {
    with_parents(parents: Parents),
    with_keep(keep: usize),
});

/// A configuration of many values, which are published and read together: the value of its znode points to the newest
/// set.
///
/// # Promises
///
/// * *Sets.* A published set is read whole or not at all.
/// * *Writers.* A publication succeeds exactly if no other write came in between.
/// * Nothing is published over another incarnation if the expected value is a pointer to a set: the transaction checks
///   it.
///
/// The pointer is a [`Config`], with its promises.
///
/// # Cost
///
/// A publication: one request. A snapshot: two requests.
///
/// # Examples
///
/// ```
/// use std::collections::BTreeMap;
/// use zk_recipes::config::{ConfigSet, ConfigSetOptions};
///
/// # sim_zk::doc_example(|zk| async move {
/// let limits = ConfigSet::new(&zk, "/config/limits", ConfigSetOptions::default())?;
/// let values = BTreeMap::from([("jobs".to_owned(), b"8".to_vec()), ("mails".to_owned(), b"100".to_vec())]);
/// let pointer = limits.publish(&values, None).await?;
/// let snapshot = limits.snapshot().await?.expect("it is published");
/// assert_eq!((snapshot.values, snapshot.pointer), (values, pointer));
/// # Ok(())
/// # });
/// ```
#[derive(Clone, Debug)]
pub struct ConfigSet<Z: ZooKeeper> {
    pointer: Config<Z>,
    keep: usize,
}

impl<Z: ZooKeeper> ConfigSet<Z> {
    /// The set at `path`. Sends nothing.
    ///
    /// # Errors
    ///
    /// As [`Config::new`]; fewer than 2 sets are to be kept.
    pub fn new(zk: &Z, path: &str, options: ConfigSetOptions) -> Result<Self, Error> {
        let ConfigSetOptions { parents, keep } = options;
        let pointer = Config::new(zk, path, ConfigOptions { parents })?;
        if keep < 2 {
            return Err(ErrorKind::BadInput(format!("{keep} sets are too few to keep: 2 at least")).into());
        }
        Ok(ConfigSet { pointer, keep })
    }

    /// The znode as a value, which holds the pointer: another set is published when it changes, so [`Config::follow`]
    /// tells when to read the [`snapshot`](Self::snapshot) again.
    pub fn pointer(&self) -> &Config<Z> {
        &self.pointer
    }

    /// Publishes a set of values, if no other write came since `expected` was read; `None` expects that there is
    /// nothing. Returns the pointer.
    ///
    /// # Cancellation
    ///
    /// The outcome of a dropped call is unknown: it is applied once or not at all, and not after the end of the
    /// session.
    ///
    /// # When the connection is lost
    ///
    /// Retries unless the set's directory shows that the publication was applied.
    ///
    /// # Errors
    ///
    /// As [`Config::compare_and_set`]; [`Error::is_bad_input`] also for a key that is empty,
    /// has a slash, or violates ZooKeeper's path rules.
    pub async fn publish(
        &self,
        values: &BTreeMap<String, Vec<u8>>,
        expected: Option<&Versioned>,
    ) -> Result<Versioned, Error> {
        let operation = operation!(&self.pointer.zk, RECIPE, "publish", &self.pointer.path);
        operation.of(self.write_set(values, expected)).await
    }

    async fn write_set(
        &self,
        values: &BTreeMap<String, Vec<u8>>,
        expected: Option<&Versioned>,
    ) -> Result<Versioned, Error> {
        let name = format!("{PREFIX}{}", self.pointer.zk.guid());
        let mut index = Index::of(expected);
        // While the set exists its pointer was not deleted: a znode with children cannot be.
        let mut pins = index
            .0
            .first()
            .map(|set| Op::Check { path: path::join(&self.pointer.path, &set.name), version: None });
        let retired = index.push(Set { name, keys: values.keys().cloned().collect() }, self.keep);
        let directory = path::join(&self.pointer.path, &index.newest().name);
        let pointer = index.encode();
        let mut ops = self.pointing(&pointer, expected);
        ops.extend(pins.clone());
        ops.push(make(&directory, &[]));
        for (key, value) in values {
            validate_key(key)?;
            ops.push(make(&path::join(&directory, key), value));
        }
        let mut last = ops.len();
        ops.extend(retired.iter().flat_map(|set| set.deletion(&self.pointer.path)));
        path::validate_total(self.pointer.zk.max_request_bytes(), &ops, || "the set makes".to_owned())?;
        loop {
            let status = connected(&self.pointer.zk).await?;
            if self.pointer.is_gone(expected) {
                return Err(ErrorKind::Conflict.into());
            }
            let refused = match self.pointer.zk.multi(ops.clone()).await {
                Ok(results) => return self.published(results, pointer, expected),
                Err(Error { kind: ErrorKind::Multi { index, cause }, .. }) => (index, *cause),
                Err(e) if e.is_retryable_refusal() => {
                    again(&self.pointer.zk, status, e).await?;
                    continue;
                }
                Err(e) if e.is_connection_loss() => {
                    let found = self.find(&directory, &pointer, expected).await;
                    match found.map_err(Error::while_in_doubt)? {
                        Some(stat) => return Ok(Versioned::new(pointer, &stat)),
                        None => continue,
                    }
                }
                Err(e) => return Err(e),
            };
            match refused {
                (0, Error { kind: ErrorKind::NoNode, .. }) if expected.is_none() => {
                    self.pointer.make_directory().await?
                }
                (
                    0,
                    e @ Error {
                        kind: ErrorKind::NoNode | ErrorKind::NodeExists | ErrorKind::BadVersion, ..
                    },
                ) => {
                    return Err(self.pointer.conflict(expected, &e));
                }
                // The pointer has changed, or another client has deleted its set: then the pointer can be replaced all
                // the same.
                (PINS, Error { kind: ErrorKind::NoNode, .. }) if pins.take().is_some() => {
                    let found = self.pointer.settled().await?;
                    let is_same =
                        |found: &Data| expected.is_some_and(|expected| is_at(&found.stat, expected));
                    if !found.as_ref().is_some_and(is_same) {
                        return Err(ErrorKind::Conflict.into());
                    }
                    ops.remove(PINS);
                    last -= 1;
                }
                // An old set has changed: then it stays.
                (at, Error { kind: ErrorKind::NoNode | ErrorKind::NotEmpty, .. }) if at >= last => {
                    ops.truncate(last)
                }
                (index, cause) => return Err(ErrorKind::Multi { index, cause: Box::new(cause) }.into()),
            }
        }
    }

    /// The pointer's write, as the first operation of a transaction. The first pointer is written twice, since the
    /// reply to the second write has its stat.
    fn pointing(&self, pointer: &[u8], expected: Option<&Versioned>) -> Vec<Op> {
        let set = |version| Op::Set {
            path: self.pointer.path.clone(),
            data: pointer.to_vec(),
            version: Some(version),
        };
        match expected {
            Some(expected) => vec![set(expected.version)],
            None => vec![make(&self.pointer.path, &[]), set(0)],
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
                let published = self.pointer.seen(pointer, &stat);
                match expected.is_none_or(|expected| expected.czxid == stat.czxid) {
                    true => Ok(published),
                    false => Err(ErrorKind::Conflict.into()),
                }
            }
            None => Err(ErrorKind::Unexpected("a transaction without the answer to its write".into()).into()),
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
            let status = connected(&self.pointer.zk).await?;
            let flight = (
                settle(&self.pointer.zk, &self.pointer.path),
                self.pointer.zk.exists(directory),
                self.pointer.zk.get(&self.pointer.path),
            );
            if let Err(e) = answered(Some(flight.0)).await {
                again(&self.pointer.zk, status, e).await?;
                continue;
            }
            let (set, pointer) = match (flight.1.await, flight.2.await) {
                // Another client may have deleted the directory; no other client writes a pointer with its name.
                (Ok(None), Ok(found)) if found.data == written => return Ok(Some(found.stat)),
                (Ok(set), Ok(found)) => (set, Some(found.stat)),
                (Ok(set), Err(Error { kind: ErrorKind::NoNode, .. })) => (set, None),
                (Err(e), _) | (_, Err(e)) => {
                    again(&self.pointer.zk, status, e).await?;
                    continue;
                }
            };
            pointer.iter().for_each(|stat| self.pointer.incarnations.saw(stat));
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
                    Err(ErrorKind::Conflict.into())
                }
                _ => Err(ErrorKind::ConnectionLoss.into()),
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
        operation!(&self.pointer.zk, RECIPE, "snapshot", &self.pointer.path).attempt(self.read_set()).await
    }

    async fn read_set(&self) -> Result<Option<Snapshot>, Error> {
        let mut gone = None;
        loop {
            let status = connected(&self.pointer.zk).await?;
            let found = present(self.pointer.zk.get(&self.pointer.path).await);
            let Some(found) = unless_again(&self.pointer.zk, status, found).await? else { continue };
            let Some(found) = found else { return Ok(None) };
            self.pointer.incarnations.saw(&found.stat);
            let index = Index::decode(&found.data).filter(|index| !index.0.is_empty());
            let Some(index) = index else {
                return Err(ErrorKind::Mismatch(format!(
                    "{} does not point to a set of values",
                    self.pointer.path
                ))
                .into());
            };
            if gone == Some(found.stat.mzxid) {
                let set = &index.newest().name;
                return Err(ErrorKind::Mismatch(format!(
                    "{} points to {set}, which is not there",
                    self.pointer.path
                ))
                .into());
            }
            match self.values(index.newest()).await {
                Ok(Some(values)) => {
                    let pointer = Versioned::new(found.data, &found.stat);
                    return Ok(Some(Snapshot { values, pointer }));
                }
                // Replaced and deleted by now. If the pointer still names it, another client has deleted it.
                Ok(None) => gone = Some(found.stat.mzxid),
                Err(e) => again(&self.pointer.zk, status, e).await?,
            }
        }
    }

    async fn values(&self, set: &Set) -> Result<Option<BTreeMap<String, Vec<u8>>>, Error> {
        let paths = set.paths(&self.pointer.path);
        if paths.is_empty() {
            return Ok(Some(BTreeMap::new()));
        }
        let found = self.pointer.zk.get_many(&paths).await?;
        let values = set.keys.iter().cloned().zip(found);
        Ok(values.map(|(key, found)| Some((key, found?.data))).collect())
    }
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
