//! A lock whose waiters all watch the directory, instead of each the znode just ahead: every release wakes everybody,
//! and every newcomer too. The page calls it the herd effect.
//!
//! Caught by MX-13 (cost) in the first run in which two wait. It does no other harm.

use super::no_guid::connected;
use crate::workloads::lock::{Exclusive, Held};
use std::future::Future;
use std::time::Duration;
use zk_recipes::zk::{Armed, CreateMode, Duty, Error, ZooKeeper, path};
use zk_recipes::{LostReason, Released, Stop};

/// The broken lock.
#[derive(Clone)]
pub struct WatchAll<Z: ZooKeeper> {
    zk: Z,
    directory: String,
}

/// The broken lock, held.
pub struct Guard<Z: ZooKeeper> {
    zk: Z,
    path: String,
    czxid: i64,
    armed: Option<Armed>,
}

impl<Z: ZooKeeper> WatchAll<Z> {
    async fn enter(&self, wait: bool) -> Result<Option<Guard<Z>>, Error> {
        let zk = &self.zk;
        let guid = zk.guid().to_string();
        let prefix = path::join(&self.directory, &format!("{guid}-lock-"));
        connected(zk).await?;
        let duty = |connection| Duty::Guid { directory: self.directory.clone(), guid: guid.clone(), connection };
        let created = loop {
            connected(zk).await?;
            // Connection 0 was never: so the duty settles before it looks.
            let armed = zk.arm(duty(0));
            match zk.create(&prefix, &[], CreateMode::EphemeralSequential).await {
                Ok(created) => {
                    break Guard {
                        zk: zk.clone(),
                        path: created.path,
                        czxid: created.stat.czxid,
                        armed: Some(armed),
                    };
                }
                Err(Error::NoNode) => super::no_guid::make_all(zk, &self.directory).await?,
                // Dropping the duty takes whatever the lost create has made.
                Err(Error::ConnectionLoss) => drop(armed),
                Err(e) => return Err(e),
            }
        };
        let rank = |name: &str| name.rsplit('-').next().map(str::to_owned);
        loop {
            connected(zk).await?;
            // The bug: one watch of all waiters on one znode.
            let (listing, watch) = match zk.children_watch(&self.directory).await {
                Ok(found) => found,
                Err(Error::ConnectionLoss) => continue,
                Err(e) => return Err(e),
            };
            let own = path::split(&created.path).1;
            if !listing.names.iter().any(|name| name == own) {
                return Err(Error::Removed(created.path.clone()));
            }
            if listing.names.iter().all(|name| rank(name) >= rank(own)) {
                return Ok(Some(created));
            }
            if !wait {
                return Ok(None);
            }
            watch.await?;
        }
    }
}

impl<Z: ZooKeeper> Exclusive<Z> for WatchAll<Z> {
    type Guard = Guard<Z>;

    fn on(zk: &Z, directory: &str) -> Result<Self, Error> {
        Ok(WatchAll { zk: zk.clone(), directory: directory.to_owned() })
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

    async fn release(mut self) -> Result<Released, Error> {
        loop {
            connected(&self.zk).await?;
            match self.zk.delete(&self.path, None).await {
                Ok(()) | Err(Error::NoNode) => break,
                Err(Error::ConnectionLoss) => {}
                Err(e) => return Err(e),
            }
        }
        if let Some(armed) = self.armed.take() {
            armed.done();
        }
        Ok(Released::Clean)
    }
}
