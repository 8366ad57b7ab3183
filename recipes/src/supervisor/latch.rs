//! A leader latch: an election for code that only asks.

use super::Supervisor;
use super::policy::Ended;
use super::sessions::Connect;
use super::shown::{Shown, Slot};
use crate::election::{Election, ElectionOptions, Term};
use crate::parts::tenure::{HoldState, OnSuspect};
use std::convert::Infallible;
use std::fmt;
use std::sync::Arc;

/// An election for code that only asks whether it leads, as Curator's `LeaderLatch`: see [`Supervisor::latch`].
///
/// Clones speak of the same candidacy.
pub struct LeaderLatch<C: Connect> {
    supervisor: Supervisor<C>,
    path: Arc<str>,
    options: ElectionOptions,
    slot: Slot<Term<C::Zk>>,
}

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
            async move { Ok(Shown::new(&self.slot, election?.stand().await?)) }
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
        self.slot.with(|slot| {
            let term = slot.as_ref()?;
            let may_act = match term.state() {
                HoldState::Held => true,
                HoldState::Suspect { .. } => self.options.on_suspect == OnSuspect::UntilDeadline,
                HoldState::Lost(_) => false,
            };
            may_act.then(|| term.token())
        })
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
