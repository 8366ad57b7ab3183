//! A double barrier: a number of participants begin together and end together, round after round.
//!
//! The barrier's znode has the number of participants as data, and the generation that is open for joining as data version.
//! Each generation has a directory of that number, in which participants register; its data version counts all joins, and
//! the child `ready` marks it as open.
//!
//! *Enter* (`enter.rs`, `join.rs`, `open.rs`)
//!
//! 1. Find the generation that is open for joining. In later rounds it is expected to be the next one.
//! 2. Join in one transaction: check the generation, create an ephemeral sequential znode, count the join. The reply says
//!    how many are registered.
//! 3. Enough: open it in one transaction: check that no participant joined since the list, write to all listed, which are
//!    there then, create `ready`, begin the next generation.
//! 4. Not enough: watch the own znode, which the opening writes. The same watch notices that another client deletes it. If
//!    another client has moved the generation on, the first participant of the next one writes to those left behind.
//! 5. Check that the roster of the opening has the own znode.
//! 6. Time limit over: leave in one transaction that checks that the generation has not opened; if it has, the enter
//!    succeeds.
//!
//! *Leave* (`leave.rs`)
//!
//! 1. Delete the own znode while `ready` exists, and wait for the end of `ready`.
//! 2. The opener is the keeper: it waits for the others, one by one from the highest, and goes last, with `ready`. When one
//!    other was left, the transaction also deletes the directory, which proves that nobody is in it.
//! 3. If `ready` goes too early, the keeper remains the last one if it is there, otherwise the lowest member does.
//!
//! After "Double Barriers" of ZooKeeper's recipes page, where each participant counts the children and watches for `ready`:
//! an entrant that dies between count and `ready` is counted all the same, a `ready` that comes and goes during a
//! disconnect is missed, and rounds cannot be told apart. Here transactions decide.

mod enter;
mod join;
mod leave;
mod open;
mod roster;

use crate::call::{Call, Work};
use crate::observe::operation;
use crate::parts::hold_methods::hold_methods;
use crate::parts::parents::Parents;
use crate::parts::select::within;
use crate::parts::setters::setters;
use crate::parts::tenure::{HoldState, LostReason, Released, Stop, Tenure};
use crate::zk::{Armed, Error, ErrorKind, ZooKeeper, path};
use enter::Entering;
use futures_util::future::Shared;
use leave::Leaving;
use roster::{MEMBER, Roster};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

const RECIPE: &str = "double_barrier";

/// Whether a double barrier is reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reuse {
    /// Reused round after round: a late participant joins the next one.
    Generations,
    /// Used once: a late participant gets [`Error::is_late`]. The barrier's znode stays, to remember it.
    Once,
}

/// How participants wait for each other at the end. All must agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Leave {
    /// All leave when they are done, and wait for the keeper, which watches one after the other.
    Keeper,
    /// One after the other, in the order of joining: the load is shared evenly, but a slow participant blocks those behind
    /// it.
    Chain,
}

/// Options of a double barrier. There are no defaults: all participants must mean the same.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DoubleBarrierOptions {
    /// The number of participants.
    pub participants: usize,
    /// The participant's identity, so that a restarted process and its dying former session count once. `None`: every enter
    /// is a new participant.
    pub id: Option<String>,
    /// Whether the barrier is reused.
    pub reuse: Reuse,
    /// How participants wait for each other at the end.
    pub leave: Leave,
    /// How missing parents of the barrier are created. The barrier itself is always created: persistent with
    /// [`Parents::Persistent`], otherwise as a container.
    pub parents: Parents,
}

impl DoubleBarrierOptions {
    /// As given, without an identity, with [`Parents::Container`].
    pub const fn new(participants: usize, reuse: Reuse, leave: Leave) -> Self {
        DoubleBarrierOptions { participants, id: None, reuse, leave, parents: Parents::Container }
    }

    /// Sets [`id`](field@Self::id).
    #[must_use]
    pub fn with_id<'a>(mut self, id: impl Into<Option<&'a str>>) -> Self {
        self.id = id.into().map(str::to_owned);
        self
    }
}

setters!(DoubleBarrierOptions {
    with_reuse(reuse: Reuse),
    with_leave(leave: Leave),
    with_parents(parents: Parents),
});

/// A double barrier on a path.
///
/// # Promises
///
/// * *Begin together.* An enter returns [`Inside`] only if all of the roster were registered in the transaction that opened
///   the generation, and they are at least as many as the options say. Nothing else counts: not `ready`, not a participant
///   that gave up, not an [id](DoubleBarrierOptions::id) twice.
/// * *All or none.* Every participant registered then gets in, and no other does.
/// * *End together.* A leave returns only when no participant of the roster is left, by leaving or by the end of its
///   session.
/// * *No special process*: whichever participant dies, the others continue.
///
/// Not promised: that the roster stays alive after the opening; liveness while a registered participant is disconnected,
/// until its session ends, or after another client has written to the barrier's znode, which ends the generation: those
/// registered get [`Error::is_mismatch`] when the next participant enters.
///
/// # Cost
///
/// Enter: three requests, and one more in the first round; a waiter is woken once. Leave: two requests and one notification;
/// the keeper is woken at most once for each of the others.
///
/// # Examples
///
/// ```
/// use zk_recipes::{DoubleBarrier, DoubleBarrierOptions, Leave, Parents, Reuse};
///
/// # sim_zk::doc_example_of(|[left, right]| async move {
/// let options = |id: &str| DoubleBarrierOptions::new(2, Reuse::Generations, Leave::Keeper).with_id(id);
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
    /// The generation last seen open for joining, or −1.
    next: Arc<AtomicI64>,
}

/// The overhead in bytes of a check, or of a name and number in a list.
const MEMBER_OVERHEAD_BYTES: usize = 24;

impl<Z: ZooKeeper> DoubleBarrier<Z> {
    /// The double barrier whose znode is `path`. Sends nothing.
    ///
    /// # Errors
    ///
    /// [`Error::is_bad_input`]: no participants, or more than fit into one request (some thousands); a path
    /// that is not absolute, is the root, lies in ZooKeeper's own directory, or violates ZooKeeper's path rules; an id that
    /// cannot be part of a znode's name.
    pub fn new(zk: &Z, path: &str, options: DoubleBarrierOptions) -> Result<Self, Error> {
        path::validate_directory(path)?;
        let bad = |why: String| Err(ErrorKind::BadInput(why).into());
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
        // The opening checks all members and writes their names twice.
        let name = path::split(&longest).1.len();
        let path = longest.len() + zk.added_bytes();
        let each = path + 2 * name + MEMBER_OVERHEAD_BYTES;
        let bytes = each.saturating_mul(barrier.options.participants).saturating_add(4 * path + 256);
        if bytes > zk.max_request_bytes() {
            let (of, most) = (barrier.options.participants, zk.max_request_bytes());
            return bad(format!(
                "to open it for {of} takes a request of {bytes} bytes; a server takes {most}"
            ));
        }
        Ok(barrier)
    }

    /// Registers, and waits until enough participants are registered.
    ///
    /// # Cancellation
    ///
    /// Dropping the future gives up: the own znode is deleted in the background, and so is `ready` if we created it. If the
    /// generation has opened by then, the others see us leave.
    ///
    /// An unpolled future blocks no other call, but once registered it counts: others begin together with it, and wait for
    /// it at the end.
    ///
    /// # When the connection is lost
    ///
    /// The registration lasts as long as the session. After a lost reply it is looked for by its guid. An opening cannot be
    /// missed, since it changes the version of the own znode.
    ///
    /// # With a limit
    ///
    /// When it is over, the error is [`Error::is_timed_out`]: the others certainly did not count us. That takes one more
    /// reply. If the connection is lost before, or the server refuses it, the error is [`Error::is_connection_loss`]: the
    /// others may have counted us, and will see us leave. So it is if another client has deleted the barrier meanwhile, since
    /// nothing tells then whether it had opened.
    ///
    /// # Errors
    ///
    /// [`Error::is_late`] with [`Reuse::Once`]; [`Error::is_mismatch`] when the barrier is for another number of participants;
    /// [`Error::is_removed`] when another client deleted our znode; [`Error::is_session_over`]; [`Error::is_denied`]; with
    /// [`Parents::MustExist`] also [`Error::is_no_node`].
    pub fn enter(&self) -> Call<Z, impl Work<Output = Result<Inside<Z>, Error>>> {
        Call::new(&self.zk, move |until| {
            let operation = operation!(&self.zk, RECIPE, "enter", &self.path);
            operation.of(async move {
                let mut entering = Entering::new(self);
                match within(&self.zk, until, entering.enter()).await {
                    Err(e) if e.is_timed_out() => entering.give_up().await,
                    ended => ended,
                }
            })
        })
    }

    /// The directory of a generation.
    fn directory(&self, generation: i32) -> String {
        path::join(&self.path, &generation.to_string())
    }

    /// The znode that marks a generation as open.
    fn ready(&self, generation: i32) -> String {
        path::join(&self.directory(generation), "ready")
    }

    /// The path of the own znode without its sequence number.
    fn prefix(&self, generation: i32, guid: crate::zk::Guid) -> String {
        let id = self.options.id.as_ref().map(|id| format!("{id}~")).unwrap_or_default();
        path::join(&self.directory(generation), &format!("{id}{}", MEMBER.prefix(guid, 0)))
    }

    /// The data of the barrier's znode.
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

/// A participant inside a double barrier.
///
/// # Cancellation
///
/// Dropping it leaves in the background, without waiting for the others.
#[must_use = "dropping it leaves the barrier"]
pub struct Inside<Z: ZooKeeper> {
    barrier: DoubleBarrier<Z>,
    generation: i32,
    roster: Roster,
    tenure: Tenure<Z>,
    /// Deletes `ready`, if we created it: then we are the keeper.
    keeper: Option<Armed>,
    /// The guid of the opener.
    opener: String,
    /// Fires when `ready` is deleted.
    ready: Option<Shared<Z::Watch>>,
}

impl<Z: ZooKeeper> std::fmt::Debug for Inside<Z> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (generation, tenure) = (&self.generation, &self.tenure);
        f.debug_struct("Inside").field("generation", generation).field("hold", tenure).finish_non_exhaustive()
    }
}

impl<Z: ZooKeeper> Inside<Z> {
    hold_methods!(held tenure, "place");

    /// Returns the generation, counted from 0. It starts again when the ensemble has reaped an unused barrier.
    pub fn generation(&self) -> i32 {
        self.generation
    }

    /// Returns the participants of the opening, ourselves included, in the order of names: ids, or guids of those without
    /// one.
    pub fn roster(&self) -> Vec<&str> {
        self.roster.ids()
    }

    /// Leaves, and waits until no participant of the roster is left. [`Released::WasLost`]: another client had deleted this
    /// participant's znode before.
    ///
    /// # Cancellation
    ///
    /// Dropping the future leaves in the background, without waiting for the others.
    ///
    /// # When the connection is lost
    ///
    /// Resumes after the reconnect.
    ///
    /// # With a limit
    ///
    /// When it is over, the error is [`Error::is_timed_out`]: we have left, if need be in the background, and others may not
    /// have.
    ///
    /// # Errors
    ///
    /// [`Error::is_session_over`], [`Error::is_denied`]: we have left, if need be in the background, and cannot know which others
    /// have not.
    pub fn leave(self) -> Call<Z, impl Work<Output = Result<Released, Error>>> {
        let zk = self.barrier.zk.clone();
        Call::new(&zk.clone(), move |until| async move {
            let path = self.path().to_owned();
            let leaving = within(&zk, until, async { Leaving::new(self).leave().await });
            operation!(&zk, RECIPE, "leave", &path).of(leaving).await
        })
    }
}
