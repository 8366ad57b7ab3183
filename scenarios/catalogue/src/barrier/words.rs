//! The words of the barrier.

use super::workload::{self as barrier, GATE, PATH};
use crate::prelude::*;
use std::future::Future;
use zk_recipes::{Barrier, BarrierOptions};

/// One barrier.
pub fn gate(names: &mut Names) -> Vec<Object> {
    barrier::objects(names, &Setting { clients: 0, rounds: 0, timeout: TIMEOUT, pace: Pace::SIMULATED })
}

impl Actor {
    /// Raises the barrier.
    pub async fn raises(&self) {
        let raise = |zk| async move { Barrier::new(&zk, PATH, BarrierOptions::default())?.raise().await };
        self.does(Call::new(GATE, Verb::Raise), raise).await.done().expect("it is raised");
    }

    /// Lowers the barrier.
    pub async fn lowers(&self) {
        let lower = |zk| async move { Barrier::new(&zk, PATH, BarrierOptions::default())?.lower().await };
        self.does(Call::new(GATE, Verb::Lower), lower).await.done().expect("it is lowered");
    }

    /// Begins to wait at the current barrier.
    pub fn waits_at_the_gate(&self) -> impl Future<Output = Ended<()>> + Send + use<> {
        let wait = |zk| async move { Barrier::new(&zk, PATH, BarrierOptions::default())?.wait().await };
        self.does(Call::new(GATE, Verb::Wait), wait)
    }
}
