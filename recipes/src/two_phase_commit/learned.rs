//! The decision as a participant knows it.

use super::Decision;
use super::record::{Decided, TransactionRecord};
use crate::observe;
use crate::parts::locked::locked;
use crate::parts::retry::Doubt;
use crate::parts::select::first;
use crate::zk::{Error, ZooKeeper};
use futures_util::future::{Either, Shared};
use std::future::Future;
use std::sync::{Mutex, MutexGuard};

/// The known decision.
pub(super) struct Learned<Z: ZooKeeper>(Mutex<Knowledge<Z>>);

struct Knowledge<Z: ZooKeeper> {
    decision: Option<Decision>,
    /// Fires when there is one.
    watch: Option<Shared<Z::Watch>>,
}

impl<Z: ZooKeeper> std::fmt::Debug for Learned<Z> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Learned").field(&self.decision()).finish()
    }
}

impl<Z: ZooKeeper> Learned<Z> {
    pub(super) fn new(decision: Option<Decision>, watch: Option<Shared<Z::Watch>>) -> Self {
        Learned(Mutex::new(Knowledge { decision, watch }))
    }

    fn knowledge(&self) -> MutexGuard<'_, Knowledge<Z>> {
        locked(&self.0)
    }

    pub(super) fn decision(&self) -> Option<Decision> {
        self.knowledge().decision
    }

    /// Records a decision, which is obeyed from now on.
    pub(super) fn learn(&self, decision: Decision) -> Decision {
        let mut knowledge = self.knowledge();
        knowledge.watch = None;
        *knowledge.decision.get_or_insert(decision)
    }

    /// Step 6: waits for the decision.
    pub(super) async fn wait(&self, record: &TransactionRecord<Z>) -> Result<Decision, Error> {
        loop {
            if let Some(decision) = self.decision() {
                return Ok(decision);
            }
            let armed = self.knowledge().watch.clone();
            let watch = match armed {
                Some(watch) => watch,
                None => match record.watch().await? {
                    Decided::Already(decision) => return Ok(self.learn(decision)),
                    Decided::Watched(watch) => self.knowledge().watch.get_or_insert(watch).clone(),
                },
            };
            observe::waits(&record.path);
            watch.clone().await?;
            if let Some(decision) = record.look().await? {
                return Ok(self.learn(decision));
            }
            // A stale read: watch again.
            let mut knowledge = self.knowledge();
            if knowledge.watch.as_ref().is_some_and(|other| other.ptr_eq(&watch)) {
                knowledge.watch = None;
            }
        }
    }

    /// Steps 6 and 7: waits until a limit, then proposes abort.
    pub(super) async fn wait_until(
        &self,
        record: &TransactionRecord<Z>,
        limit: impl Future<Output = ()>,
    ) -> Result<Decision, Error> {
        match first(self.wait(record), limit).await {
            Either::Left(result) => result,
            Either::Right(()) => Ok(self.learn(record.terminate(Doubt::default()).await?)),
        }
    }
}
