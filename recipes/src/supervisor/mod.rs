//! A supervisor: work that lasts longer than a session.
//!
//! A recipe is right for one session, and everything made from a session ends with it. A [`Supervisor`] opens one session after
//! the other, and makes in each what it was given: a candidacy, a lock, a membership, a follower, a consumer. The name is that
//! of Erlang's supervisors, which restart what has failed.
//!
//! # Design
//!
//! 1. **Sessions.** All clones of a supervisor share one session at a time, with a number. The first call that needs a session
//!    opens it, and the calls that need one meanwhile wait for the same attempt. When it is over, the next one is opened after a
//!    pause that is drawn, so that a thousand clients do not come back in one instant. While the connection is lost, nothing is
//!    opened: the session may live, and its znodes with it.
//! 2. **Holds.** [`keep`](Supervisor::keep) is the loop below everything: acquire something in the present session, run the work
//!    while it is held, give it back. [`lead`](Supervisor::lead), [`hold`](Supervisor::hold), [`serve`](Supervisor::serve) and
//!    [`run`](Supervisor::run) are `keep` with an election, a lock, something without work, and the session itself.
//! 3. **Stop.** The work is a future, and it is dropped at the instant at which its holder must stop: by the policy
//!    [`OnSuspect`] of the hold as soon as the connection is lost, or a margin before the session may end at the servers. If
//!    the hold turns out to last, the same hold goes on with new work; else the supervisor acquires again.
//! 4. **One at a time.** The next work begins when the future of the one before is gone. With [`OnStop::Wait`] the work is not
//!    dropped but has to end by itself, and until then no other begins.
//! 5. **Failures.** Work that returns an error or panics is treated by [`OnFailure`]: return it, start again, or give the hold
//!    back first. The pauses double, and a limit of failures in a row ends the call.
//! 6. **Followers.** [`follow`](Supervisor::follow) makes a follower again in each session, and hands on only what is new. A
//!    session begins with a write that its server has applied, so what a server answers in a new session is never older than
//!    what an earlier session of this process was answered. If it is older, the ensemble has lost writes, and the follower says so.
//! 7. **Shutdown.** [`shutdown`](Supervisor::shutdown) ends all calls, waits until their work is gone, and closes the session,
//!    which deletes its znodes in one transaction. Work that does not end in time is named, and the session stays: what it
//!    holds is not given away while it may act.
//!
//! The supervisor spawns no task. Each call is a future that its caller awaits, joins or spawns, and a dropped call gives back
//! what it held. Time, pauses and random numbers come through the trait [`Connect`], so the simulation runs the same code.

mod consume;
mod follow;
mod held;
mod hold;
mod keep;
mod latch;
mod persistent_node;
mod policy;
mod registry;
mod sessions;
mod shown;

pub use follow::{Follow, Followed, Follower, News};
pub use held::Held;
pub use hold::{Hold, Session};
pub use latch::LeaderLatch;
pub use persistent_node::{Lifetime, PersistentNode, PersistentNodeOptions};
pub use policy::{Backoff, Ended, OnFailure, OnStop, Panicked, Policy};
pub use registry::NotShutDown;
pub use sessions::{Connect, SessionChange, SessionChanges};

use crate::election::{Election, ElectionOptions, Term};
use crate::guard::{Exclusive, Guard};
use crate::lock::{Lock, LockOptions};
use crate::zk::Error;
use futures_util::TryFutureExt;
use keep::Failure;
use sessions::Shared;
use std::convert::Infallible;
use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::time::Duration;

#[allow(unused_imports, reason = "the documentation names it")]
use crate::parts::tenure::OnSuspect;

/// Keeps work alive over any number of sessions.
///
/// A clone shares the sessions, and may have another [`Policy`].
///
/// # Promises
///
/// * *Stop in time.* The work of a hold is dropped, or has been told to stop, before its session can have ended at the servers:
///   with the margins of the hold. A future is dropped at its next `.await`; what blocks a thread asks its hold for the
///   [state](crate::Term::state).
/// * *One at a time.* A call runs at most one incarnation of its work at a time.
/// * *Again.* As long as the policy allows it and nobody shuts the supervisor down, a call acquires again after each loss, in
///   the same session or in the next one.
/// * *Fencing.* The tokens of the incarnations of a call grow, as long as the ensemble keeps its data: servers that come back
///   empty count from the beginning.
/// * *Followers* never go back from one session to the next, or [say so](Followed::is_rollback).
/// * *Nothing is left.* A call that has ended, or was dropped, has given back what it held, or its session has ended.
///
/// Not promised: that something is held at every instant; that the work is not started again.
///
/// # Cost
///
/// While nothing changes, the pings of one session. After the end of a session: one new session, and for each call what its
/// recipe costs to acquire.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use zk_recipes::ElectionOptions;
/// use zk_recipes::supervisor::Supervisor;
///
/// # sim_zk::doc_example_supervised(|connect| async move {
/// let supervisor = Supervisor::new(connect);
/// let led = supervisor.lead("/jobs/leader", ElectionOptions::default(), async |term| {
///     term.acknowledge(b"10.0.0.7:4711").await?;
///     Ok::<_, zk_recipes::Error>(term.token())
/// });
/// assert!(led.await.is_ok_and(|token| token > 0));
/// supervisor.shutdown(Duration::from_secs(5)).await?;
/// # Ok(())
/// # });
/// ```
pub struct Supervisor<C: Connect> {
    shared: Arc<Shared<C>>,
    policy: Policy,
}

impl<C: Connect> Clone for Supervisor<C> {
    fn clone(&self) -> Self {
        Supervisor { shared: self.shared.clone(), policy: self.policy.clone() }
    }
}

impl<C: Connect> fmt::Debug for Supervisor<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Supervisor").field("session", &self.number()).field("policy", &self.policy).finish()
    }
}

impl<C: Connect> Supervisor<C> {
    /// A supervisor that opens sessions with `connect`. Opens nothing before the first call.
    pub fn new(connect: C) -> Self {
        Supervisor { shared: Arc::new(Shared::new(connect)), policy: Policy::default() }
    }

    /// The same supervisor with another policy for the calls of this value. Other clones keep theirs.
    #[must_use]
    pub fn with_policy(&self, policy: Policy) -> Self {
        Supervisor { shared: self.shared.clone(), policy }
    }

    /// Returns the number of sessions that have begun.
    pub fn number(&self) -> u32 {
        self.shared.number()
    }

    /// Returns the present session, and opens one if there is none. It ends like any other: see [`run`](Self::run) for work that
    /// outlasts it.
    ///
    /// # Cancellation
    ///
    /// A dropped call leaves the attempt to the other calls that wait for it; the last one ends it.
    ///
    /// # Errors
    ///
    /// [`Ended::NoSession`] when no session can be opened and waiting cannot help, or the policy has given up;
    /// [`Ended::ShutDown`].
    pub async fn session(&self) -> Result<Session<C::Zk>, Ended<Infallible>> {
        self.shared.session(&self.policy).await
    }

    /// Follows the sessions: each begins, is suspect, resumed, and ends. Opens none.
    pub fn changes(&self) -> SessionChanges<C> {
        SessionChanges::new(&self.shared)
    }

    /// Stands in the election on `path`, and runs `work` while elected, in one session after the other. When the work is done,
    /// resigns and returns its value; with [`Policy::stands_again`] stands again.
    ///
    /// # Cancellation
    ///
    /// Dropping the future drops the work, and then resigns in the background.
    ///
    /// # Errors
    ///
    /// See [`Ended`].
    pub async fn lead<W, T, E>(
        &self,
        path: &str,
        options: ElectionOptions,
        work: impl FnMut(Held<Term<C::Zk>>) -> W,
    ) -> Result<T, Ended<E>>
    where
        W: Future<Output = Result<T, E>>,
    {
        let stand = |zk: C::Zk| {
            let election = Election::new(&zk, path, options.clone());
            async move { election?.stand().await }
        };
        self.keep(path, stand, work).await
    }

    /// Acquires the lock on `path`, and runs `work` while it is held, in one session after the other. When the work is done,
    /// releases the lock and returns the value.
    ///
    /// # Cancellation
    ///
    /// Dropping the future drops the work, and then releases in the background.
    ///
    /// # Errors
    ///
    /// See [`Ended`].
    pub async fn hold<W, T, E>(
        &self,
        path: &str,
        options: LockOptions,
        work: impl FnMut(Held<Guard<C::Zk, Exclusive>>) -> W,
    ) -> Result<T, Ended<E>>
    where
        W: Future<Output = Result<T, E>>,
    {
        let acquire = |zk: C::Zk| {
            let lock = Lock::new(&zk, path, options.clone());
            async move { lock?.acquire().await }
        };
        self.keep(path, acquire, work).await
    }

    /// Keeps something registered: what `register` returns, such as a [`Membership`](crate::Membership) or a
    /// [`Registration`](crate::Registration). Registers again in each session, and when another client has deleted the znode.
    /// `name` stands in logs and in [`NotShutDown`].
    ///
    /// A former session of this client may own the name for as long as its timeout: register with
    /// [`IfTaken::Wait`](crate::IfTaken::Wait), which also waits for a successor, and never deletes its znode.
    ///
    /// # Cancellation
    ///
    /// Dropping the future leaves in the background.
    ///
    /// # Errors
    ///
    /// See [`Ended`]. It returns only with one.
    ///
    /// # Examples
    ///
    /// ```
    /// use zk_recipes::{Group, GroupOptions, IfTaken};
    /// # use futures_util::FutureExt;
    /// # use zk_recipes::supervisor::Supervisor;
    ///
    /// # sim_zk::doc_example_supervised(|connect| async move {
    /// # let supervisor = Supervisor::new(connect);
    /// let options = GroupOptions::default().with_if_taken(IfTaken::Wait);
    /// let member = supervisor.serve("worker w-17", async |zk| {
    ///     Group::new(&zk, "/workers", options.clone())?.join(Some("w-17"), b"10.0.0.17").await
    /// });
    /// # assert!(member.now_or_never().is_none());
    /// # Ok(())
    /// # });
    /// ```
    pub async fn serve<H: Hold, A>(
        &self,
        name: &str,
        register: impl FnMut(C::Zk) -> A,
    ) -> Result<Infallible, Ended<Infallible>>
    where
        A: Future<Output = Result<H, Error>>,
    {
        // The hold is not needed, and comes back at once.
        let for_ever = |_| std::future::pending::<Result<Infallible, _>>();
        self.without_work().keep(name, register, for_ever).await
    }

    /// For calls that have no work of their caller: what stands in its place is always dropped, or its end would be waited for.
    fn without_work(&self) -> Self {
        self.with_policy(self.policy.clone().with_on_stop(OnStop::Drop))
    }

    /// Runs `work` in one session after the other, until it returns a value. The work is dropped when its session must be taken
    /// for lost, by the policy's [`on_suspect`](Policy::on_suspect) and [`margin`](Policy::margin).
    ///
    /// `name` stands in logs and in [`NotShutDown`].
    ///
    /// # Cancellation
    ///
    /// Dropping the future drops the work.
    ///
    /// # Errors
    ///
    /// See [`Ended`].
    pub async fn run<W, T, E>(
        &self,
        name: &str,
        mut work: impl FnMut(Held<Session<C::Zk>>) -> W,
    ) -> Result<T, Ended<E>>
    where
        W: Future<Output = Result<T, E>>,
    {
        let work = move |session| work(session).map_ok(Some).map_err(Failure::Work);
        self.keeping(name, &AtomicU32::new(0), Session::ready, work).await
    }

    /// Ends all calls, waits until their work is gone, and closes the session. The calls return [`Ended::ShutDown`], and so do
    /// later ones.
    ///
    /// `limit` is for all of it. The calls have to be polled meanwhile: by their tasks, or beside this future.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use futures_util::future::join;
    /// # use zk_recipes::{ElectionOptions, Error};
    /// # use zk_recipes::supervisor::Supervisor;
    /// # sim_zk::doc_example_supervised(|connect| async move {
    /// # let stop_signal = std::future::ready(());
    /// # let supervisor = Supervisor::new(connect);
    /// let leads = supervisor.lead("/jobs/leader", ElectionOptions::default(), async |_term| {
    ///     std::future::pending::<Result<(), Error>>().await
    /// });
    /// let stops = async {
    ///     stop_signal.await;
    ///     supervisor.shutdown(Duration::from_secs(5)).await
    /// };
    /// let (led, stopped) = join(leads, stops).await;
    /// stopped?;
    /// assert!(led.is_err_and(|ended| ended.is_shut_down()));
    /// # Ok(())
    /// # });
    /// ```
    ///
    /// # Cancellation
    ///
    /// The calls end all the same, and the session with the last value made from it.
    ///
    /// # Errors
    ///
    /// [`NotShutDown`] names the work that has not ended, and then the session stays open; or it says that the close of the
    /// session was not confirmed.
    pub async fn shutdown(&self, limit: Duration) -> Result<(), NotShutDown> {
        self.shared.shutdown(limit).await
    }
}
