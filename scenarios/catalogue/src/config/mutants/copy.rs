//! The right configuration with a different way to follow or to write, in which a [`Mutation`] makes one step wrong.

use crate::config::workload::{Configuration, Follows, new};
use crate::copies::connected;
use std::collections::BTreeMap;
use std::future::Future;
use zk_recipes::config::{ConfigSet, Snapshot};
use zk_recipes::zk::{Data, Error, ZooKeeper};
use zk_recipes::{Update, Versioned};

/// The steps that can be wrong.
pub(super) struct Mutation {
    /// One request reads the value and arms the watch.
    pub arms_by_reading: bool,
    /// A follower arms its watch again after every notification.
    pub arms_after_a_change: bool,
    /// A conditional write carries the version that was read.
    pub writes_with_version: bool,
}

impl Mutation {
    /// No wrong step.
    pub const RIGHT: Mutation =
        Mutation { arms_by_reading: true, arms_after_a_change: true, writes_with_version: true };
}

/// The copy.
#[derive(Clone)]
pub(super) struct MutantConfig<Z: ZooKeeper> {
    zk: Z,
    path: String,
    right: ConfigSet<Z>,
    mutation: &'static Mutation,
}

impl<Z: ZooKeeper> MutantConfig<Z> {
    /// The copy over that session.
    pub(super) fn new(zk: &Z, path: &str, mutation: &'static Mutation) -> Self {
        MutantConfig { zk: zk.clone(), path: path.to_owned(), right: new(zk, path), mutation }
    }
}

fn versioned(found: Data) -> Versioned {
    let Data { data, stat } = found;
    Versioned { data, czxid: stat.czxid, mzxid: stat.mzxid, version: stat.version }
}

impl<Z: ZooKeeper> Configuration for MutantConfig<Z> {
    type Updates = MutantUpdates<Z>;

    fn follow(&self) -> Self::Updates {
        let (zk, path) = (self.zk.clone(), self.path.clone());
        MutantUpdates { zk, path, watch: None, last: -1, has_read: false, mutation: self.mutation }
    }

    fn get(&self) -> impl Future<Output = Result<Option<Versioned>, Error>> + Send {
        self.right.get()
    }

    async fn compare_and_set(&self, expected: Option<&Versioned>, data: &[u8]) -> Result<Versioned, Error> {
        match expected {
            Some(_) if !self.mutation.writes_with_version => self.right.put(data).await,
            expected => self.right.compare_and_set(expected, data).await,
        }
    }

    fn put(&self, data: &[u8]) -> impl Future<Output = Result<Versioned, Error>> + Send {
        self.right.put(data)
    }

    fn publish(
        &self,
        values: &BTreeMap<String, Vec<u8>>,
        expected: Option<&Versioned>,
    ) -> impl Future<Output = Result<Versioned, Error>> + Send {
        self.right.publish(values, expected)
    }

    fn snapshot(&self) -> impl Future<Output = Result<Option<Snapshot>, Error>> + Send {
        self.right.snapshot()
    }
}

/// A follower of the copy.
pub(super) struct MutantUpdates<Z: ZooKeeper> {
    zk: Z,
    path: String,
    watch: Option<Z::Watch>,
    /// The mzxid of the last value that was reported; zero if it was reported missing.
    last: i64,
    has_read: bool,
    mutation: &'static Mutation,
}

impl<Z: ZooKeeper> MutantUpdates<Z> {
    /// The value, and a watch on it or on its absence.
    async fn read(&mut self) -> Result<Option<Data>, Error> {
        if !self.mutation.arms_by_reading {
            let found = match self.zk.get(&self.path).await {
                Ok(found) => Some(found),
                Err(e) if e.is_no_node() => None,
                Err(e) => return Err(e),
            };
            self.watch = Some(self.zk.exists_watch(&self.path).await?.1);
            return Ok(found);
        }
        if !self.mutation.arms_after_a_change && self.has_read {
            return self.zk.get(&self.path).await.map(Some);
        }
        loop {
            match self.zk.get_watch(&self.path).await {
                Ok((found, watch)) => {
                    (self.watch, self.has_read) = (Some(watch), true);
                    return Ok(Some(found));
                }
                Err(e) if e.is_no_node() => {
                    if let (None, watch) = self.zk.exists_watch(&self.path).await? {
                        self.watch = Some(watch);
                        return Ok(None);
                    }
                }
                Err(e) => return Err(e),
            }
        }
    }
}

impl<Z: ZooKeeper> Follows for MutantUpdates<Z> {
    async fn next(&mut self) -> Result<Update, Error> {
        loop {
            match self.watch.take() {
                Some(watch) => drop(watch.await?),
                // Without a watch no further notification comes.
                None if self.last >= 0 => std::future::pending().await,
                None => {}
            }
            connected(&self.zk).await?;
            let found = match self.read().await {
                Ok(found) => found,
                Err(e) if e.is_connection_loss() => {
                    self.last = self.last.min(-1);
                    continue;
                }
                Err(e) => return Err(e),
            };
            let now = found.as_ref().map_or(0, |found| found.stat.mzxid);
            if std::mem::replace(&mut self.last, now) != now {
                return Ok(found.map_or(Update::Missing, |found| Update::Value(versioned(found))));
            }
        }
    }
}
