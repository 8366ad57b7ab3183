//! The guard of a held lock, which is the same for every lock, and the modes in which a lock is held.
//!
//! | mode | granted by |
//! |---|---|
//! | [`Exclusive`] | [`Lock`](crate::Lock) |
//! | [`Read`], [`Write`] | [`SharedLock`](crate::SharedLock) |
//! | [`Revocable`]`<Read>`, [`Revocable`]`<Write>` | [`RevocableLock`](crate::RevocableLock) |
//! | [`Revocable`]`<Read>`, [`Revocable`]`<Exclusive>` | [`PriorityLock`](crate::PriorityLock) |
//! | [`Permits`] | [`Semaphore`](crate::Semaphore) |
//!
//! A function over any hold is generic over the [`Mode`]:
//!
//! ```
//! use zk_recipes::guard::Mode;
//! use zk_recipes::zk::{Error, Op, ZooKeeper};
//! use zk_recipes::{Guard, Lock, LockOptions};
//!
//! async fn write_report<Z: ZooKeeper, M: Mode>(held: &Guard<Z, M>, report: Op) -> Result<(), Error> {
//!     held.transact(vec![report]).await.map(drop)
//! }
//! # sim_zk::doc_example(|zk| async move {
//! # let lock = Lock::new(&zk, "/locks/report", LockOptions::default())?;
//! # let report = Op::Create { path: "/report".into(), data: vec![], mode: zk_recipes::zk::CreateMode::Persistent };
//! let held = lock.acquire().await?;
//! write_report(&held, report).await
//! # });
//! ```

use crate::call::{Call, Work};
use crate::observe::Outcome;
use crate::parts::hold_methods::hold_methods;
use crate::parts::naming::Marks;
use crate::parts::tenure::{HoldState, Interrupt, LostReason, Released, RunUntil, Stop, Tenure};
use crate::zk::{Error, Op, OpResult, ZooKeeper};
use futures_util::{FutureExt, TryFutureExt};
use std::fmt;
use std::future::Future;
use std::marker::PhantomData;

mod sealed {
    /// What no other crate can implement.
    pub trait Sealed {}
}

/// How a lock is held. Sealed: the modes of this module are all.
pub trait Mode: sealed::Sealed + Send + Sync + 'static {
    /// Why [`Guard::run`] drops its work: a [`Stop`], or, of a hold that can be revoked, an [`Interrupt`].
    type Interrupt: std::error::Error + From<Stop> + Send + Sync + 'static;

    /// The interrupt of a holder that was asked to release, if it can be.
    #[doc(hidden)]
    fn revoked() -> Option<Self::Interrupt> {
        None
    }
}

/// A mode in which no holder can be asked to release: [`Exclusive`], [`Read`], [`Write`] or [`Permits`].
pub trait Irrevocable: Mode {}

/// The mode of a writer that can be downgraded: [`Write`] or [`Revocable`]`<Write>`.
pub trait Downgrade: Mode {
    /// The mode of the reader that it becomes.
    type Reader: Mode<Interrupt = Self::Interrupt>;
}

/// Held by one client alone.
#[derive(Debug)]
pub enum Exclusive {}

/// Held by a reader, which may share the lock with other readers.
#[derive(Debug)]
pub enum Read {}

/// Held by a writer alone; it can be downgraded.
#[derive(Debug)]
pub enum Write {}

/// Held by as many clients at a time as there are permits for.
#[derive(Debug)]
pub enum Permits {}

/// Held in the mode `M` by a client that can be asked to release.
#[derive(Debug)]
pub struct Revocable<M>(PhantomData<M>, std::convert::Infallible);

macro_rules! irrevocable {
    ($($mode:ty),*) => {$(
        impl sealed::Sealed for $mode {}
        impl Mode for $mode {
            type Interrupt = Stop;
        }
        impl Irrevocable for $mode {}
    )*};
}

irrevocable!(Exclusive, Read, Write, Permits);

impl<M> sealed::Sealed for Revocable<M> {}

impl<M: Irrevocable> Mode for Revocable<M> {
    type Interrupt = Interrupt;

    fn revoked() -> Option<Interrupt> {
        Some(Interrupt::Revoked)
    }
}

impl Downgrade for Write {
    type Reader = Read;
}

impl Downgrade for Revocable<Write> {
    type Reader = Revocable<Read>;
}

/// The guard of a held lock.
///
/// # Cancellation
///
/// Dropping the guard releases in the background; [`release`](Self::release) also waits for the outcome and returns it.
#[must_use = "dropping the guard releases the lock"]
pub struct Guard<Z: ZooKeeper, M: Mode> {
    tenure: Tenure<Z>,
    marks: Marks,
    run_until: RunUntil,
    mode: PhantomData<fn() -> M>,
}

impl<Z: ZooKeeper, M: Irrevocable> Guard<Z, M> {
    hold_methods!(once);
}

impl<Z: ZooKeeper, M: Mode> Guard<Z, M> {
    hold_methods!(held tenure, "lock");
    hold_methods!(fenced);

    /// The hold of a contender whose znode has those marks.
    pub(crate) fn new(tenure: Tenure<Z>, marks: Marks, run_until: RunUntil) -> Self {
        Guard { tenure, marks, run_until, mode: PhantomData }
    }

    /// Returns the fencing token: the czxid of the znode with which this hold was won. It grows with every grant, also when
    /// the directory is deleted and made again. A store is safe from late writes if it refuses a writer whose token is smaller
    /// than any that it has seen, and a reader whose token is smaller than the largest of a writer.
    pub fn token(&self) -> i64 {
        self.tenure.token()
    }

    /// Drives `work`, and drops it when the holder must stop; by default also when a holder that is [`Revocable`] was asked to
    /// release: see [`RunUntil`]. Requests that `work` has sent by then stay sent.
    ///
    /// # Errors
    ///
    /// The reason for the stop.
    pub fn run<T>(&self, work: impl Future<Output = T>) -> impl Future<Output = Result<T, M::Interrupt>> {
        match M::revoked().filter(|_| self.run_until == RunUntil::Revoked) {
            Some(revoked) => {
                let ended = self.tenure.run_until_revoked(work);
                ended.map_err(|stop| stop.map_or(revoked, From::from)).left_future()
            }
            None => self.tenure.run(work).map_err(From::from).right_future(),
        }
    }

    /// Releases the lock, and waits until the release is certain.
    ///
    /// # Cancellation
    ///
    /// Dropping the future leaves the same delete to the background.
    ///
    /// # When the connection is lost
    ///
    /// It waits for the reconnect, or for the end of the session.
    ///
    /// # With a limit
    ///
    /// When it is over, the error is [`Error::is_timed_out`], and the same is left to the background.
    ///
    /// # Errors
    ///
    /// Only what is unexpected for an own znode, such as [`Error::is_denied`].
    pub fn release(self) -> Call<Z, impl Work<Output = Result<Released, Error>>> {
        Call::new(&self.tenure.zk().clone(), |until| self.tenure.release(until))
    }
}

impl<Z: ZooKeeper, M: Irrevocable> Guard<Z, Revocable<M>> {
    /// Resolves when the holder was asked to release. The lock stays held until it is released.
    ///
    /// # Cancellation
    ///
    /// Cancel-safe: may be dropped and called again at any time.
    ///
    /// # Errors
    ///
    /// The reason, when the hold is lost before.
    pub async fn revoked(&self) -> Result<(), LostReason> {
        self.tenure.revoked().await
    }
}

impl<Z: ZooKeeper, M: Downgrade> Guard<Z, M> {
    /// Downgrades to a reader, and admits the readers that wait for this writer. No other contender comes in between; the
    /// token stays.
    ///
    /// # Cancellation
    ///
    /// Dropping the future releases the lock, held as reader or writer by then. While it is unpolled, the lock stays held.
    ///
    /// # When the connection is lost
    ///
    /// The transaction is idempotent, and is retried.
    ///
    /// # Errors
    ///
    /// With the unchanged guard: [`Error::is_exhausted`] when the directory's counter has run out, so that no place can be
    /// taken over; [`Error::is_removed`] and [`Error::is_session_over`] when the hold is lost; [`Error::is_denied`];
    /// [`Error::is_revoked`] when the writer was asked to release.
    pub async fn downgrade(self) -> Result<Guard<Z, M::Reader>, NotDowngraded<Guard<Z, M>>> {
        let Guard { tenure, marks, run_until, .. } = self;
        match tenure.downgrade(marks).await {
            Ok(tenure) => Ok(Guard::new(tenure, marks, run_until)),
            Err((tenure, error)) => Err(NotDowngraded { guard: Guard::new(tenure, marks, run_until), error }),
        }
    }
}

impl<Z: ZooKeeper, M: Mode> fmt::Debug for Guard<Z, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guard").field("hold", &self.tenure).finish_non_exhaustive()
    }
}

/// A failed downgrade with the writer's guard. Converting it to an [`Error`] releases the lock.
#[derive(Debug)]
pub struct NotDowngraded<G> {
    /// The unchanged guard.
    pub guard: G,
    /// The reason.
    pub error: Error,
}

impl<G> Outcome for NotDowngraded<G> {
    fn outcome(&self) -> &'static str {
        self.error.outcome()
    }

    fn at(self, operation: &'static str, path: &str) -> Self {
        NotDowngraded { error: self.error.at(operation, path), ..self }
    }
}

impl<G> fmt::Display for NotDowngraded<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not downgraded: {}", self.error)
    }
}

impl<G: fmt::Debug> std::error::Error for NotDowngraded<G> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}

impl<G> From<NotDowngraded<G>> for Error {
    fn from(not: NotDowngraded<G>) -> Error {
        not.error
    }
}
