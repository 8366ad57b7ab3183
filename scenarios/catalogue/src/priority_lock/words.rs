//! The words of the priority lock.

use super::workload::{self as priority_lock, HeldUrgently, Hold, LOCK};
use crate::prelude::*;
use sim_zk::SimClient;
use std::future::Future;
use std::time::Duration;
use zk_harness::stage::hold::Holding;
use zk_recipes::{Preempt, Priority};

/// A hold of the priority lock in a story.
pub type Urgently = Holding<Hold<SimClient>>;

/// One priority lock.
pub fn objects(names: &mut Names) -> Vec<Object> {
    priority_lock::objects(names, &Setting { clients: 0, rounds: 0, timeout: TIMEOUT, pace: Pace::SIMULATED })
}

impl Actor {
    /// Begins to wait for the priority lock, in the client's own process, as a reader or a writer with that priority.
    pub fn asks_urgently(
        &self,
        verb: Verb,
        priority: u16,
        preempt: Preempt,
    ) -> impl Future<Output = Option<Urgently>> + Send + use<> {
        let me = self.number();
        let given = move |journal: &mut Journal, at, op: OpId| {
            priority_lock::tell(journal, at, me, op, Priority(priority), preempt);
        };
        let acquire = move |zk: SimClient| async move {
            let lock = priority_lock::new(&zk, preempt)?;
            priority_lock::acquire(&lock, verb, Priority(priority), Duration::ZERO).await
        };
        let asking = self.does_and_then(Call::new(LOCK, verb), given, acquire, |actor, op, guard| {
            actor.believes(LOCK, op, guard)
        });
        async move { asking.await.done() }
    }

    /// Begins to wait for a writer's hold of that priority, without asking holders to go.
    pub fn asks_to_write_at(&self, priority: u16) -> impl Future<Output = Option<Urgently>> + Send + use<> {
        self.asks_urgently(Verb::Write, priority, Preempt::Never)
    }

    /// Begins to wait for a reader's hold of that priority, without asking holders to go.
    pub fn asks_to_read_at(&self, priority: u16) -> impl Future<Output = Option<Urgently>> + Send + use<> {
        self.asks_urgently(Verb::Read, priority, Preempt::Never)
    }

    /// Waits until it is asked to go.
    ///
    /// # Panics
    ///
    /// If it loses the lock before.
    pub async fn is_asked_to_go(&self, held: &Urgently) {
        held.guard.revoked().await.expect("it is held still");
        self.journal(|j, at| j.observed(at, self.number(), held.op, LOCK, Seen::Word, "", 0));
    }
}
