//! The right lock over a session that alters requests and answers.

use crate::lock::workload::Exclusive;
use crate::session::{Twist, Twisted};
use std::future::Future;
use std::time::Duration;
use zk_recipes::zk::{Error, ZooKeeper};
use zk_recipes::{Lock, LockGuard, LockOptions};

/// The right lock over such a session.
#[derive(Clone)]
pub struct LockOver<Z: ZooKeeper, T: Twist<Z>>(Lock<Twisted<Z, T>>);

impl<Z: ZooKeeper, T: Twist<Z>> LockOver<Z, T> {
    /// With what is altered in hand.
    pub fn with(zk: &Z, directory: &str, twist: T) -> Result<Self, Error> {
        Lock::new(&Twisted::with(zk, twist), directory, LockOptions::default()).map(LockOver)
    }
}

impl<Z: ZooKeeper, T: Twist<Z>> Exclusive<Z> for LockOver<Z, T> {
    type Guard = LockGuard<Twisted<Z, T>>;

    fn on(zk: &Z, directory: &str) -> Result<Self, Error> {
        Self::with(zk, directory, T::default())
    }

    fn acquire(&self) -> impl Future<Output = Result<Self::Guard, Error>> + Send {
        self.0.acquire()
    }

    fn acquire_within(&self, limit: Duration) -> impl Future<Output = Result<Self::Guard, Error>> + Send {
        self.0.acquire_within(limit)
    }

    fn try_acquire(&self) -> impl Future<Output = Result<Option<Self::Guard>, Error>> + Send {
        self.0.try_acquire()
    }
}
