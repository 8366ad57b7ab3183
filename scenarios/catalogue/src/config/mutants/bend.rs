//! The right configuration with another way to follow it, or another way to write: for those that are broken in it.

use crate::claims::connected;
use crate::config::workload::{Configuration, Follows};
use std::collections::BTreeMap;
use std::future::Future;
use std::marker::PhantomData;
use zk_recipes::config::{Config, Snapshot, Update, Versioned};
use zk_recipes::zk::{Data, Error, ZooKeeper};

/// The steps that may be wrong. Each has its right form as default.
pub(super) trait Step: Send + Sync + 'static {
    /// Reading and arming are one request.
    const ARMS_BY_READING: bool = true;
    /// It arms again after every notification.
    const ARMS_AFTER_A_CHANGE: bool = true;
    /// A conditional write has the version that was read.
    const WRITES_WITH_VERSION: bool = true;
}

/// A configuration of which one step is broken.
pub(super) struct Broken<Z: ZooKeeper, S> {
    zk: Z,
    path: String,
    right: Config<Z>,
    step: PhantomData<S>,
}

impl<Z: ZooKeeper, S> Clone for Broken<Z, S> {
    fn clone(&self) -> Self {
        Broken { zk: self.zk.clone(), path: self.path.clone(), right: self.right.clone(), step: PhantomData }
    }
}

fn versioned(found: Data) -> Versioned {
    let Data { data, stat } = found;
    Versioned { data, czxid: stat.czxid, mzxid: stat.mzxid, version: stat.version }
}

impl<Z: ZooKeeper, S: Step> Configuration<Z> for Broken<Z, S> {
    type Updates = BrokenUpdates<Z, S>;

    fn on(zk: &Z, path: &str) -> Result<Self, Error> {
        let right = <Config<Z> as Configuration<Z>>::on(zk, path)?;
        Ok(Broken { zk: zk.clone(), path: path.to_owned(), right, step: PhantomData })
    }

    fn follow(&self) -> Self::Updates {
        let (zk, path) = (self.zk.clone(), self.path.clone());
        BrokenUpdates { zk, path, watch: None, last: -1, has_read: false, step: PhantomData }
    }

    fn get(&self) -> impl Future<Output = Result<Option<Versioned>, Error>> + Send {
        self.right.get()
    }

    async fn compare_and_set(&self, expected: Option<&Versioned>, data: &[u8]) -> Result<Versioned, Error> {
        match expected {
            Some(_) if !S::WRITES_WITH_VERSION => self.right.put(data).await,
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

/// What follows it.
pub(super) struct BrokenUpdates<Z: ZooKeeper, S> {
    zk: Z,
    path: String,
    watch: Option<Z::Watch>,
    /// The mzxid of the value that was told last; zero: that there is none.
    last: i64,
    has_read: bool,
    step: PhantomData<S>,
}

impl<Z: ZooKeeper, S: Step> BrokenUpdates<Z, S> {
    /// The value, and a watch on it or on its absence.
    async fn read(&mut self) -> Result<Option<Data>, Error> {
        if !S::ARMS_BY_READING {
            let found = match self.zk.get(&self.path).await {
                Ok(found) => Some(found),
                Err(Error::NoNode) => None,
                Err(e) => return Err(e),
            };
            self.watch = Some(self.zk.exists_watch(&self.path).await?.1);
            return Ok(found);
        }
        if !S::ARMS_AFTER_A_CHANGE && self.has_read {
            return self.zk.get(&self.path).await.map(Some);
        }
        loop {
            match self.zk.get_watch(&self.path).await {
                Ok((found, watch)) => {
                    (self.watch, self.has_read) = (Some(watch), true);
                    return Ok(Some(found));
                }
                Err(Error::NoNode) => {
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

impl<Z: ZooKeeper, S: Step> Follows for BrokenUpdates<Z, S> {
    async fn next(&mut self) -> Result<Update, Error> {
        loop {
            match self.watch.take() {
                Some(watch) => drop(watch.await?),
                // Nothing will tell it any more.
                None if self.last >= 0 => std::future::pending().await,
                None => {}
            }
            connected(&self.zk).await?;
            let found = match self.read().await {
                Ok(found) => found,
                Err(Error::ConnectionLoss) => {
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
