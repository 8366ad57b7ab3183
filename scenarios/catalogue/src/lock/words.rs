//! The words of the lock.

use super::workload::{self as lock, DIRECTORY, LOCK};
use crate::prelude::*;
use sim_zk::SimClient;
use std::future::Future;
use zk_harness::stage::hold::Holding;
use zk_recipes::guard::Exclusive;
use zk_recipes::{Guard, Lock, LockOptions};

/// One lock.
pub fn objects(names: &mut Names) -> Vec<Object> {
    lock::objects(names, &Setting { clients: 0, rounds: 0, timeout: TIMEOUT, pace: Pace::SIMULATED })
}

impl Actor {
    /// Begins to wait for the lock, in the client's own process.
    pub fn asks(&self) -> impl Future<Output = Option<Holding<Guard<SimClient, Exclusive>>>> + Send + use<> {
        self.begins_to_acquire(LOCK, |zk| async move {
            let lock = Lock::new(&zk, DIRECTORY, LockOptions::default())?;
            lock.acquire().await
        })
    }

    /// Waits for the lock.
    ///
    /// # Panics
    ///
    /// If the lock is not granted.
    pub async fn acquires(&self) -> Holding<Guard<SimClient, Exclusive>> {
        self.asks().await.expect("the lock is granted")
    }
}
