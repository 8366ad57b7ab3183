//! The words of the revocable lock.

use super::workload::{self as revocable_lock, name};
use crate::prelude::*;
use crate::shared_lock::workload::LOCK;
use sim_zk::SimClient;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use zk_harness::stage::hold::Holding;
use zk_recipes::guard::{Revocable, Write};
use zk_recipes::{Contender, Fate, Guard, RevocableLock, RevocableLockOptions};

const SETTING: Setting = Setting { clients: 0, rounds: 0, timeout: TIMEOUT, pace: Pace::SIMULATED };

/// One revocable lock.
pub fn revocable(names: &mut Names) -> Vec<Object> {
    revocable_lock::objects(names, &SETTING)
}

/// The grace period before a forced revocation.
pub fn grace() -> Duration {
    revocable_lock::grace(SETTING.pace)
}

fn revocable_of(zk: &SimClient) -> Result<RevocableLock<SimClient>, Error> {
    RevocableLock::new(zk, revocable_lock::DIRECTORY, RevocableLockOptions::default())
}

type RevocableHolding = Holding<Guard<SimClient, Revocable<Write>>>;

impl Actor {
    /// Begins to wait for a revocable hold. `None`: it was asked to go while it waited.
    pub fn asks_revocably(&self) -> impl Future<Output = Option<RevocableHolding>> + Send + use<> {
        let (number, known) = shared_number();
        let actor = self.clone();
        let given = move |_: &mut Journal, _, op: OpId| number.store(op.0, Ordering::Relaxed);
        let write = move |zk| async move {
            let granted = revocable_of(&zk)?.write().await;
            if granted.as_ref().is_err_and(Error::is_revoked) {
                actor.has_heard_the_word(OpId(known.load(Ordering::Relaxed)));
            }
            granted
        };
        let asking = self.does_and_then(Call::new(LOCK, Verb::Write), given, write, |actor, op, guard| {
            actor.believes(LOCK, op, guard)
        });
        async move { asking.await.done() }
    }

    fn has_heard_the_word(&self, op: OpId) {
        self.journal(|j, at| j.observed(at, self.number(), op, LOCK, Seen::Word, "unlock", 0));
    }

    /// Acts as holder until it is asked to go.
    pub fn acts_until_asked_to_go(
        &self,
        holding: RevocableHolding,
    ) -> impl Future<Output = RevocableHolding> + Send + use<> {
        let actor = self.clone();
        let acting = self.process().process.spawn(async move {
            holding.guard.revoked().await.expect("it is not lost");
            actor.has_heard_the_word(holding.op);
            holding
        });
        async move { acting.await.expect("its process lives") }
    }

    /// Asks the owner of a znode to go.
    pub fn asks_to_go(&self, path: &str) -> impl Future<Output = Option<Fate>> + Send + use<> {
        self.tells(path, Verb::Ask)
    }

    /// Asks the owner of a znode to go, and deletes the znode after the grace period.
    pub fn makes_go(&self, path: &str) -> impl Future<Output = Option<Fate>> + Send + use<> {
        self.tells(path, Verb::Force)
    }

    fn tells(&self, path: &str, verb: Verb) -> impl Future<Output = Option<Fate>> + Send + use<> {
        let (number, known) = shared_number();
        let (actor, client) = (self.clone(), self.number());
        let whom = Contender { path: path.to_owned(), number: 0 };
        let path = path.to_owned();
        let given = move |journal: &mut Journal, at, op: OpId| {
            number.store(op.0, Ordering::Relaxed);
            journal.given(at, client, op, &path, 0);
        };
        let tell = move |zk| async move {
            let lock = revocable_of(&zk)?;
            let fate = match verb {
                Verb::Ask => lock.ask(&whom).await?,
                _ => lock.force(&whom, grace()).await?,
            };
            let op = OpId(known.load(Ordering::Relaxed));
            actor.journal(|j, at| j.observed(at, client, op, LOCK, Seen::Fate, name(fate), 0));
            Ok(fate)
        };
        let telling = self.does_and_then(Call::new(LOCK, verb), given, tell, |_, _, fate| fate);
        async move { telling.await.done() }
    }
}

/// The number of an operation, shared with the code that runs within it.
fn shared_number() -> (Arc<AtomicU32>, Arc<AtomicU32>) {
    let number = Arc::new(AtomicU32::new(0));
    (number.clone(), number)
}

impl Stage {
    /// The znode of the last contender for the revocable lock.
    ///
    /// # Panics
    ///
    /// If there is none.
    pub fn last_contender(&self) -> String {
        let is_in_line = |path: &str| path.starts_with(revocable_lock::DIRECTORY) && path.contains("-write-");
        let number = |path: &str| path.rsplit('-').next().map(str::to_owned);
        self.sim().look(|world| {
            let in_line = world.znodes().map(|(path, _)| path).filter(|path| is_in_line(path));
            in_line.max_by_key(|path| number(path)).expect("somebody stands in line").to_owned()
        })
    }
}
