//! The words of the lock.

use super::hold::Holding;
use super::{Actor, TIMEOUT};
use crate::target::Setting;
use crate::workloads::Pace;
use crate::workloads::lock::{self, DIRECTORY, LOCK};
use sim_zk::SimClient;
use std::future::Future;
use zk_checker::history::{Names, Object};
use zk_recipes::{Lock, LockGuard, LockOptions};

/// One lock.
pub fn objects(names: &mut Names) -> Vec<Object> {
    lock::objects(names, &Setting { clients: 0, rounds: 0, timeout: TIMEOUT, pace: Pace::SIMULATED })
}

impl Actor {
    /// Begins to wait for the lock, in the client's own process.
    pub fn asks(&self) -> impl Future<Output = Option<Holding<LockGuard<SimClient>>>> + Send + use<> {
        self.begins_to_acquire(LOCK, |zk| async move {
            let lock = Lock::new(&zk, DIRECTORY, LockOptions::default())?;
            lock.acquire().await
        })
    }

    /// Waits for the lock.
    ///
    /// # Panics
    ///
    /// If it is not granted.
    pub async fn acquires(&self) -> Holding<LockGuard<SimClient>> {
        self.asks().await.expect("the lock is granted")
    }
}
