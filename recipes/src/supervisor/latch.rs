//! A leader latch: an election for code that only asks.

use super::Supervisor;
use super::hold::Hold;
use super::policy::Ended;
use super::sessions::Connect;
use crate::election::{Election, ElectionOptions, Term};
use crate::parts::locked::locked;
use crate::parts::tenure::{HoldState, LostReason, OnSuspect, Released, Stop};
use crate::zk::{Error, ZooKeeper};
use std::convert::Infallible;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// An election for code that only asks whether it leads, as Curator's `LeaderLatch`: see [`Supervisor::latch`].
///
/// Clones speak of the same candidacy.
pub struct LeaderLatch<C: Connect> {
    supervisor: Supervisor<C>,
    path: Arc<str>,
    options: ElectionOptions,
    slot: Slot<C::Zk>,
}

/// The present term. It is asked under the lock only, so its keeper has the other reference.
type Slot<Z> = Arc<Mutex<Option<Arc<Term<Z>>>>>;

impl<C: Connect> Supervisor<C> {
    /// A latch on the election in `path`. Stands for election as long as [`LeaderLatch::run`] is polled.
    ///
    /// # Examples
    ///
    /// ```
    /// use zk_recipes::ElectionOptions;
    /// use zk_recipes::supervisor::Supervisor;
    /// # use futures_util::FutureExt;
    ///
    /// # sim_zk::doc_example_supervised(|connect| async move {
    /// # let supervisor = Supervisor::new(connect);
    /// let latch = supervisor.latch("/jobs/leader", ElectionOptions::default());
    /// let running = latch.run();       // spawned as a task, for example
    /// # assert!(running.now_or_never().is_none());
    /// if latch.has_leadership() {
    ///     // what only the leader does
    /// }
    /// # Ok(())
    /// # });
    /// ```
    pub fn latch(&self, path: &str, options: ElectionOptions) -> LeaderLatch<C> {
        LeaderLatch { supervisor: self.clone(), path: path.into(), options, slot: Slot::default() }
    }
}

impl<C: Connect> LeaderLatch<C> {
    /// Stands for election, leads, and stands again after each loss.
    ///
    /// # Cancellation
    ///
    /// Dropping the future resigns in the background.
    ///
    /// # Errors
    ///
    /// See [`Ended`]. It returns only with one.
    pub async fn run(&self) -> Result<Infallible, Ended<Infallible>> {
        let stand = |zk: C::Zk| {
            let election = Election::new(&zk, &self.path, self.options.clone());
            async move { Ok(Latched::new(&self.slot, election?.stand().await?)) }
        };
        self.supervisor.serve(&self.path, stand).await
    }

    /// Returns whether this client leads now. Sends nothing, and is false from the moment at which a leader must stop, also while
    /// [`run`](Self::run) is not polled.
    pub fn has_leadership(&self) -> bool {
        self.token().is_some()
    }

    /// Returns the fencing token of the leader, if this client leads now.
    pub fn token(&self) -> Option<i64> {
        let slot = locked(&self.slot);
        let term = slot.as_ref()?;
        let may_act = match term.state() {
            HoldState::Held => true,
            HoldState::Suspect { .. } => self.options.on_suspect == OnSuspect::UntilDeadline,
            HoldState::Lost(_) => false,
        };
        may_act.then(|| term.token())
    }
}

impl<C: Connect> Clone for LeaderLatch<C> {
    fn clone(&self) -> Self {
        LeaderLatch {
            supervisor: self.supervisor.clone(),
            path: self.path.clone(),
            options: self.options.clone(),
            slot: self.slot.clone(),
        }
    }
}

impl<C: Connect> fmt::Debug for LeaderLatch<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LeaderLatch").field("path", &self.path).field("token", &self.token()).finish()
    }
}

/// A term that the latch shows while it lasts.
struct Latched<Z: ZooKeeper> {
    /// Taken by `give_back`.
    term: Option<Arc<Term<Z>>>,
    slot: Slot<Z>,
}

impl<Z: ZooKeeper> Latched<Z> {
    fn new(slot: &Slot<Z>, term: Term<Z>) -> Self {
        let term = Arc::new(term);
        *locked(slot) = Some(term.clone());
        Latched { term: Some(term), slot: slot.clone() }
    }

    fn term(&self) -> &Term<Z> {
        self.term.as_ref().expect("it is not given back")
    }

    /// Leads no longer. The term, if it was not taken before.
    fn take(&mut self) -> Option<Term<Z>> {
        drop(locked(&self.slot).take());
        self.term.take().and_then(Arc::into_inner)
    }
}

impl<Z: ZooKeeper> Hold for Latched<Z> {
    async fn lost(&self) -> Stop {
        self.term().lost().await
    }

    async fn resumed(&self) -> Result<(), LostReason> {
        self.term().resumed().await
    }

    async fn give_back(mut self, limit: Duration) -> Result<Released, Error> {
        let term = self.take().expect("it is given back once");
        term.resign().within(limit).await
    }
}

impl<Z: ZooKeeper> Drop for Latched<Z> {
    fn drop(&mut self) {
        drop(self.take());
    }
}
