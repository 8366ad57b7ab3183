//! The words of the semaphore.

use super::workload::{self as semaphore, SEMAPHORE};
use crate::prelude::*;
use sim_zk::SimClient;
use std::future::Future;
use zk_harness::stage::hold::Holding;
use zk_recipes::Guard;
use zk_recipes::guard::Permits;

/// A hold of permits in a story.
pub type HeldPermits = Holding<Guard<SimClient, Permits>>;

/// One semaphore.
pub fn objects(names: &mut Names) -> Vec<Object> {
    semaphore::objects(names, &Setting { clients: 0, rounds: 0, timeout: TIMEOUT, pace: Pace::SIMULATED })
}

impl Actor {
    /// Begins to wait for so many permits, in the client's own process.
    pub fn asks_for_permits(&self, permits: u32) -> impl Future<Output = Option<HeldPermits>> + Send + use<> {
        let me = self.number();
        let given = move |journal: &mut Journal, at, op: OpId| semaphore::tell(journal, at, me, op, permits);
        let acquire = move |zk: SimClient| async move { semaphore::new(&zk).acquire(permits).await };
        let call = Call::new(SEMAPHORE, Verb::Acquire);
        let asking =
            self.does_and_then(call, given, acquire, |actor, op, guard| actor.believes(SEMAPHORE, op, guard));
        async move { asking.await.done() }
    }

    /// Waits for so many permits.
    ///
    /// # Panics
    ///
    /// If they are not granted.
    pub async fn acquires_permits(&self, permits: u32) -> HeldPermits {
        self.asks_for_permits(permits).await.expect("they are granted")
    }

    /// Changes the number of permits.
    pub async fn sets_permits(&self, permits: u32) {
        let me = self.number();
        let given = move |journal: &mut Journal, at, op: OpId| {
            journal.given(at, me, op, &permits.to_string(), 0);
        };
        let set = move |zk: SimClient| async move { semaphore::new(&zk).set_permits(permits).await };
        let ended = self.does_and_then(Call::new(SEMAPHORE, Verb::Resize), given, set, |_, _, ()| ()).await;
        assert!(ended.done().is_some(), "it is changed");
    }
}
