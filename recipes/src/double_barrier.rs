//! A double barrier: so many participants begin together and end together, round after round.
//!
//! The barrier's znode holds how many it is for, and its data version is the number of the generation that is open for
//! joining. Each generation has a directory of that number below it, where participants register; the directory's data
//! version counts who has ever joined, and `ready` in it says that it has opened.
//!
//! *Enter* (`enter.rs`, `join.rs`, `open.rs`)
//!
//! 1. Find out which generation is open for joining, watching for that to change.
//! 2. Join it, in one transaction: check the generation, create an ephemeral sequential znode, count the join. The answer
//!    says how many are registered.
//! 3. Enough: open it, in one transaction: nobody has joined since the list, all in the list are there, `ready` is
//!    created, the next generation begins.
//! 4. Not enough: wait until the next generation begins.
//! 5. Look whether we are in the roster of those with whom it opened.
//! 6. Out of time: leave in one transaction that checks that it has not opened; if it has, we are in.
//!
//! *Leave* (`leave.rs`)
//!
//! 1. Delete our znode while `ready` is there, and wait for the end of `ready`.
//! 2. Who opened it is the keeper: it waits for the others, one by one from the highest, and goes last, with `ready`.
//! 3. `ready` has gone too early: the keeper keeps the others all the same if it is there, else the lowest that is left.
//!
//! After "Double Barriers" of ZooKeeper's recipes page, where participants count the children and watch for `ready` by
//! themselves: there an entrant that dies between count and `ready` is counted all the same, a `ready` that comes and goes
//! while somebody is away is never seen, and nobody says which round it belongs to. Here the transactions say.

mod enter;
mod join;
mod leave;
mod open;
mod roster;

use crate::observe::operation;
use crate::parts::guard::guard_methods;
use crate::parts::parents::Parents;
use crate::parts::select::within;
use crate::parts::tenure::{HoldState, LostReason, Stop, Tenure};
use crate::zk::{Armed, Error, ZooKeeper, path};
use enter::Entering;
use futures_util::future::Shared;
use leave::Leaving;
use roster::{MEMBER, Roster};
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

/// The recipe's name in spans and metrics.
const RECIPE: &str = "double_barrier";

/// Whether a double barrier is used more than once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reuse {
    /// Round after round: who comes late joins the next one.
    Generations,
    /// Once: who comes late is told [`Error::Late`]. The barrier's znode stays, so that this is remembered.
    Once,
}

/// How participants wait for each other at the end. All must agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Leave {
    /// All go when they are done, and wait for the keeper, who watches one after the other.
    Keeper,
    /// One after the other, in the order of joining: the load is shared evenly, but who is slow holds up those behind.
    Chain,
}

/// Options of a double barrier. There are no defaults: all participants must mean the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DoubleBarrierOptions {
    /// How many begin together.
    pub participants: usize,
    /// Who we are, so that a process that was started again and its dying former session count once. `None`: every enter
    /// is somebody new.
    pub id: Option<String>,
    /// Whether it is used more than once.
    pub reuse: Reuse,
    /// How they wait for each other at the end.
    pub leave: Leave,
    /// What becomes of the barrier's parent if it does not exist. The barrier itself is always made: to stay with
    /// [`Parents::Persistent`], and else as a container.
    pub parents: Parents,
}

/// A double barrier on a path.
///
/// # Promises
///
/// * *Begin together.* An enter returns [`Inside`] only if, in the transaction that opened its generation, all of the
///   roster were registered, and they are at least as many as the options say. Nothing else is counted: not `ready`, not
///   who has given up, not one [id](DoubleBarrierOptions::id) twice.
/// * *Nobody is left behind.* Every participant registered then gets in, and nobody else does.
/// * *End together.* A leave returns only when nobody of the roster is left, by leaving or by the end of its session.
/// * *Nobody waits for one special process*: whoever dies, the others go on.
///
/// Not promised: that the roster stays alive after the opening; that a registered participant which is cut off for a while
/// does not hold up the others.
///
/// # Cost
///
/// Enter: four requests; who waits is woken once. Leave: two requests and one notification; the keeper is woken at most
/// once for each of the others.
///
/// # Examples
///
/// ```
/// use zk_recipes::{DoubleBarrier, DoubleBarrierOptions, Leave, Parents, Reuse};
///
/// # sim_zk::doc_example_of(|[left, right]| async move {
/// let options = |id: &str| DoubleBarrierOptions {
///     participants: 2,
///     id: Some(id.to_owned()),
///     reuse: Reuse::Generations,
///     leave: Leave::Keeper,
///     parents: Parents::Container,
/// };
/// // Two sessions, as in two processes.
/// let left = DoubleBarrier::new(&left, "/step", options("left"))?;
/// let right = DoubleBarrier::new(&right, "/step", options("right"))?;
/// let (left, right) = futures_util::future::try_join(left.enter(), right.enter()).await?;
/// assert_eq!(left.roster(), ["left", "right"]);
/// assert_eq!((left.generation(), right.generation()), (0, 0));
/// futures_util::future::try_join(left.leave(), right.leave()).await?;
/// # Ok(())
/// # });
/// ```
#[derive(Clone, Debug)]
pub struct DoubleBarrier<Z: ZooKeeper> {
    zk: Z,
    path: String,
    options: DoubleBarrierOptions,
    /// The generation that was open for joining when it was last seen, or −1.
    next: Arc<AtomicI64>,
}

/// What a check, or the name and number of one member in a list of them, costs beside its texts.
const MEMBER_OVERHEAD_BYTES: usize = 24;

impl<Z: ZooKeeper> DoubleBarrier<Z> {
    /// The double barrier whose znode is `path`. Sends nothing.
    ///
    /// # Errors
    ///
    /// [`is_bad_input`](Error::is_bad_input): no participants, or more than fit into one request (some thousands); a path
    /// that is not absolute, is the root, lies in ZooKeeper's own directory, or violates ZooKeeper's path rules; an id that
    /// cannot be part of a znode's name.
    pub fn new(zk: &Z, path: &str, options: DoubleBarrierOptions) -> Result<Self, Error> {
        path::validate_directory(path)?;
        let bad = |why: String| Err(Error::BadInput(why));
        if options.participants == 0 {
            return bad("a double barrier is for one participant at the least".into());
        }
        if let Some(id) = &options.id
            && (id.is_empty() || id.contains('/'))
        {
            return bad(format!("id {id:?} cannot be part of a znode's name"));
        }
        let barrier = DoubleBarrier {
            zk: zk.clone(),
            path: path.to_owned(),
            options,
            next: Arc::new(AtomicI64::new(-1)),
        };
        let longest = format!("{}{}", barrier.prefix(i32::MAX, crate::zk::Guid(0)), "0".repeat(10));
        path::validate(&longest)?;
        // To open it, all members are checked, and their names are written down twice.
        let name = path::split(&longest).1.len();
        let each = longest.len() + 2 * name + MEMBER_OVERHEAD_BYTES;
        let bytes = each.saturating_mul(barrier.options.participants).saturating_add(4 * longest.len() + 256);
        if bytes > path::MAX_REQUEST_BYTES {
            let (of, most) = (barrier.options.participants, path::MAX_REQUEST_BYTES);
            return bad(format!(
                "to open it for {of} takes a request of {bytes} bytes; a server takes {most}"
            ));
        }
        Ok(barrier)
    }

    /// Registers, and waits until enough are there.
    ///
    /// # Cancellation
    ///
    /// Dropping the future gives up: the own znode is deleted in the background, and `ready` if we made it. If it has opened
    /// with us by then, the others see us leave.
    ///
    /// A future that is left unpolled holds up no other call, but once it has registered it counts: others begin together with
    /// it, and wait for it at the end.
    ///
    /// # When the connection is lost
    ///
    /// The registration stays as long as the session does. One whose reply was lost is looked for by its guid. An opening
    /// cannot be missed: it has moved the barrier's version.
    ///
    /// # Errors
    ///
    /// [`Error::Late`] with [`Reuse::Once`]; [`is_mismatch`](Error::is_mismatch) when the barrier is for another number of
    /// participants; [`is_removed`](Error::is_removed) when another client deleted our znode;
    /// [`is_session_over`](Error::is_session_over); [`is_denied`](Error::is_denied); with [`Parents::MustExist`] also
    /// [`Error::NoNode`].
    pub async fn enter(&self) -> Result<Inside<Z>, Error> {
        let operation = operation!(&self.zk, RECIPE, "enter", &self.path);
        operation.of(async { Entering::new(self).enter().await }).await
    }

    /// As [`enter`](Self::enter), but for at most `limit`, counted from the call and over all retries.
    ///
    /// # Errors
    ///
    /// As [`enter`](Self::enter); [`is_timed_out`](Error::is_timed_out) when the limit is over: then the others certainly
    /// did not count us. That takes one more answer of the server; if the connection is lost before it comes, or the server
    /// refuses to give it, the error is [`Error::ConnectionLoss`]: they may have counted us, and will see us leave.
    pub fn enter_within(
        &self,
        limit: Duration,
    ) -> impl Future<Output = Result<Inside<Z>, Error>> + Send + '_ {
        let until = self.zk.now() + limit;
        let operation = operation!(&self.zk, RECIPE, "enter", &self.path);
        operation.of(async move {
            let mut entering = Entering::new(self);
            match within(&self.zk, until, entering.enter()).await {
                Err(Error::TimedOut) => entering.give_up().await,
                ended => ended,
            }
        })
    }

    /// The directory of a generation.
    fn directory(&self, generation: i32) -> String {
        path::join(&self.path, &generation.to_string())
    }

    /// What says that a generation has opened.
    fn ready(&self, generation: i32) -> String {
        path::join(&self.directory(generation), "ready")
    }

    /// What our znode's path begins with.
    fn prefix(&self, generation: i32, guid: crate::zk::Guid) -> String {
        let id = self.options.id.as_ref().map(|id| format!("{id}~")).unwrap_or_default();
        path::join(&self.directory(generation), &format!("{id}{}", MEMBER.prefix(guid, 0)))
    }

    /// What the barrier's znode holds.
    fn data(&self) -> Vec<u8> {
        self.options.participants.to_string().into_bytes()
    }

    fn remember(&self, generation: i32) {
        self.next.store(generation.into(), Ordering::Relaxed);
    }

    fn remembered(&self) -> Option<i32> {
        i32::try_from(self.next.load(Ordering::Relaxed)).ok().filter(|generation| *generation >= 0)
    }
}

/// A place inside a double barrier.
///
/// # Cancellation
///
/// Dropping it leaves in the background, without waiting for anybody.
#[must_use = "dropping it leaves the barrier"]
pub struct Inside<Z: ZooKeeper> {
    barrier: DoubleBarrier<Z>,
    generation: i32,
    roster: Roster,
    tenure: Tenure<Z>,
    /// Deletes `ready`, if it is ours: then we are the keeper.
    keeper: Option<Armed>,
    /// The guid of who opened it.
    opener: String,
    /// Tells the end of `ready`.
    ready: Option<Shared<Z::Watch>>,
}

impl<Z: ZooKeeper> std::fmt::Debug for Inside<Z> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (generation, tenure) = (&self.generation, &self.tenure);
        f.debug_struct("Inside").field("generation", generation).field("hold", tenure).finish_non_exhaustive()
    }
}

guard_methods!(held Inside, tenure, "place");

impl<Z: ZooKeeper> Inside<Z> {
    /// Which round it is, counted from 0. It begins anew when the barrier was left unused for so long that the ensemble
    /// took it away.
    pub fn generation(&self) -> i32 {
        self.generation
    }

    /// With whom it opened, ourselves included, in the order of names: ids, or a guid for each that has none.
    pub fn roster(&self) -> Vec<&str> {
        self.roster.ids()
    }

    /// Leaves, and waits until nobody of the roster is left.
    ///
    /// # Cancellation
    ///
    /// Dropping the future leaves in the background, without waiting for anybody.
    ///
    /// # When the connection is lost
    ///
    /// Resumes after the reconnect: a znode that is gone is gone.
    ///
    /// # Errors
    ///
    /// [`is_session_over`](Error::is_session_over): we have left, and do not know who has not;
    /// [`is_denied`](Error::is_denied).
    pub async fn leave(self) -> Result<(), Error> {
        let (zk, path) = (self.barrier.zk.clone(), self.path().to_owned());
        operation!(&zk, RECIPE, "leave", &path).of(async { Leaving::new(self).leave().await }).await
    }

    /// As [`leave`](Self::leave), but waits for at most `limit`, counted from the call.
    ///
    /// # Errors
    ///
    /// [`is_timed_out`](Error::is_timed_out) when the limit is over: we have left, in the background if need be, and others
    /// may not have.
    pub fn leave_within(self, limit: Duration) -> impl Future<Output = Result<(), Error>> + Send {
        let zk = self.barrier.zk.clone();
        let until = zk.now() + limit;
        let operation = operation!(&zk, RECIPE, "leave", self.path());
        operation.of(async move { within(&zk, until, async { Leaving::new(self).leave().await }).await })
    }
}
