//! A lock whose znodes bear no guid: when the reply to its create is lost, it simply creates again.
//!
//! The first znode may exist: then it stands in line and nobody ever deletes it while the session lives. Every other
//! waiter waits for a process that does not know that it is first (ZOOKEEPER-1262; zk-ruby#54).
//!
//! Caught by MX-9 (one znode an acquire) within 20 seeds with lost replies; the harm is MX-8 (progress).

use crate::workloads::lock::{Exclusive, Held};
use std::future::Future;
use std::time::Duration;
use zk_recipes::zk::{CreateMode, Error, ZooKeeper, path};
use zk_recipes::{LostReason, Released, Stop};

/// The broken lock.
#[derive(Clone)]
pub struct NoGuid<Z: ZooKeeper> {
    zk: Z,
    directory: String,
}

/// The broken lock, held.
pub struct Guard<Z: ZooKeeper> {
    zk: Z,
    path: String,
    czxid: i64,
}

impl<Z: ZooKeeper> NoGuid<Z> {
    async fn join(&self) -> Result<(String, i64), Error> {
        let prefix = path::join(&self.directory, "lock-");
        loop {
            connected(&self.zk).await?;
            match self.zk.create(&prefix, &[], CreateMode::EphemeralSequential).await {
                Ok(created) => return Ok((created.path, created.stat.czxid)),
                Err(Error::NoNode) => make_all(&self.zk, &self.directory).await?,
                // The bug: the znode may be there already.
                Err(Error::ConnectionLoss) => {}
                Err(e) => return Err(e),
            }
        }
    }

    async fn turn(&self, own: &str, wait: bool) -> Result<bool, Error> {
        loop {
            connected(&self.zk).await?;
            let mut names = match self.zk.children(&self.directory).await {
                Ok(listing) => listing.names,
                Err(Error::ConnectionLoss) => continue,
                Err(e) => return Err(e),
            };
            names.sort();
            let own_name = path::split(own).1;
            match names.iter().rfind(|name| name.as_str() < own_name) {
                None => return Ok(true),
                Some(_) if !wait => return Ok(false),
                Some(ahead) => match self.zk.children_watch(&path::join(&self.directory, ahead)).await {
                    Ok((_, watch)) => drop(watch.await?),
                    Err(Error::NoNode | Error::ConnectionLoss) => {}
                    Err(e) => return Err(e),
                },
            }
        }
    }

    async fn enter(&self, wait: bool) -> Result<Option<Guard<Z>>, Error> {
        let (path, czxid) = self.join().await?;
        let guard = Guard { zk: self.zk.clone(), path, czxid };
        Ok(self.turn(&guard.path, wait).await?.then_some(guard))
    }
}

/// Waits until requests can leave.
pub(super) async fn connected<Z: ZooKeeper>(zk: &Z) -> Result<(), Error> {
    let mut status = zk.status();
    while !status.is_connected() {
        if let Some(over) = status.over() {
            return Err(over);
        }
        status = zk.changed(status).await;
    }
    Ok(())
}

/// Makes a directory and whatever is missing above it.
pub(super) async fn make_all<Z: ZooKeeper>(zk: &Z, directory: &str) -> Result<(), Error> {
    let ends = directory.match_indices('/').map(|(at, _)| at).skip(1).chain([directory.len()]);
    for end in ends {
        match zk.create(&directory[..end], &[], CreateMode::Persistent).await {
            Ok(_) | Err(Error::NodeExists | Error::ConnectionLoss | Error::NoNode) => {}
            Err(e) => return Err(e),
        }
    }
    Ok(())
}

impl<Z: ZooKeeper> Exclusive<Z> for NoGuid<Z> {
    type Guard = Guard<Z>;

    fn on(zk: &Z, directory: &str) -> Result<Self, Error> {
        Ok(NoGuid { zk: zk.clone(), directory: directory.to_owned() })
    }

    async fn acquire(&self) -> Result<Guard<Z>, Error> {
        Ok(self.enter(true).await?.expect("it waits until it is its turn"))
    }

    fn acquire_within(&self, _: Duration) -> impl Future<Output = Result<Guard<Z>, Error>> + Send {
        self.acquire()
    }

    fn try_acquire(&self) -> impl Future<Output = Result<Option<Guard<Z>>, Error>> + Send {
        self.enter(false)
    }
}

impl<Z: ZooKeeper> Held for Guard<Z> {
    fn token(&self) -> i64 {
        self.czxid
    }

    async fn lost(&self) -> Stop {
        let mut status = self.zk.status();
        while status.is_connected() {
            status = self.zk.changed(status).await;
        }
        Stop::Lost(LostReason::SessionOver)
    }

    async fn release(self) -> Result<Released, Error> {
        loop {
            connected(&self.zk).await?;
            match self.zk.delete(&self.path, None).await {
                Ok(()) | Err(Error::NoNode) => return Ok(Released::Clean),
                Err(Error::ConnectionLoss) => {}
                Err(e) => return Err(e),
            }
        }
    }
}

impl<Z: ZooKeeper> Drop for Guard<Z> {
    fn drop(&mut self) {
        drop(self.zk.delete(&self.path, None));
    }
}
