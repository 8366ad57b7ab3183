//! The words of the shared lock.

use super::workload::{self as shared_lock, LOCK};
use crate::prelude::*;
use sim_zk::SimClient;
use std::future::Future;
use zk_harness::stage::hold::Holding;
use zk_recipes::guard::{Read, Write};
use zk_recipes::{Guard, SharedLock, SharedLockOptions};

const SETTING: Setting = Setting { clients: 0, rounds: 0, timeout: TIMEOUT, pace: Pace::SIMULATED };

/// One shared lock.
pub fn shared(names: &mut Names) -> Vec<Object> {
    shared_lock::objects(names, &SETTING)
}

fn lock(zk: &SimClient) -> Result<SharedLock<SimClient>, Error> {
    SharedLock::new(zk, shared_lock::DIRECTORY, SharedLockOptions::default())
}

impl Actor {
    /// Begins to wait for a reader's hold.
    pub fn asks_to_read(
        &self,
    ) -> impl Future<Output = Option<Holding<Guard<SimClient, Read>>>> + Send + use<> {
        let read = |zk| async move { lock(&zk)?.read().await };
        let asking = self.does_and_then(Call::new(LOCK, Verb::Read), nothing, read, |actor, op, guard| {
            actor.believes(LOCK, op, guard)
        });
        async move { asking.await.done() }
    }

    /// Begins to wait for a writer's hold.
    pub fn asks_to_write(
        &self,
    ) -> impl Future<Output = Option<Holding<Guard<SimClient, Write>>>> + Send + use<> {
        let write = |zk| async move { lock(&zk)?.write().await };
        let asking = self.does_and_then(Call::new(LOCK, Verb::Write), nothing, write, |actor, op, guard| {
            actor.believes(LOCK, op, guard)
        });
        async move { asking.await.done() }
    }

    /// Begins to downgrade to a reader.
    pub fn begins_to_downgrade(
        &self,
        holding: Holding<Guard<SimClient, Write>>,
    ) -> impl Future<Output = Option<Holding<Guard<SimClient, Read>>>> + Send + use<> {
        let downgrade = |guard: Guard<SimClient, Write>| async move { Ok(guard.downgrade().await?) };
        self.begins_to_turn(holding, Verb::Downgrade, downgrade)
    }
}
