//! A revocable lock of readers and writers with priorities, which may ask or force less urgent holders to release.
//!
//! Waiters are znodes in `<l>/line`, holders in `<l>/held`, since a newcomer may rank first while another client holds. Two
//! data versions are gates: that of `<l>` changes with every writer's grant, that of `<l>/line` with every reader's.
//!
//! 1. Join: create an ephemeral sequential znode in `line` whose name has role and priority, pipelined with a look.
//! 2. Look: read the gates, the waiters and the holders, in this order. A reader may be granted if no writer holds the lock
//!    and no waiting writer ranks before it; a writer if no client does either.
//! 3. Grant, in one transaction: check and change the gates, delete the waiter's znode, create the holder's. A grant to
//!    another client since the look changes a gate: then look again.
//! 4. Wait: watch the nearest waiter that goes first, or if there is none a conflicting holder; look again when it goes.
//! 5. Preempt: if all conflicting holders are less urgent, ask or force them to release.
//! 6. Release: delete the own znode among the holders.
//!
//! ZooKeeper's recipes page mentions such a lock and gives no protocol.

mod attempt;
mod node_names;

use crate::call::{Call, Work};
use crate::guard::{Exclusive, Guard, Mode, Read, Revocable};
use crate::observe::operation;
use crate::parts::contenders::{Contenders, czxids, is_good};
use crate::parts::naming::{Marks, Priority, READ, Role, WRITE};
use crate::parts::parents::Parents;
use crate::parts::revoke::{self, Fate};
use crate::parts::select::within;
use crate::parts::setters::setters;
use crate::parts::tenure::{OnSuspect, RunUntil, margin_in};
use crate::zk::{Error, ErrorKind, ZooKeeper, path};
use attempt::Attempt;
use node_names::ContenderName;
use std::time::Duration;

/// The revocation word.
const WORD: &str = "unlock";

const RECIPE: &str = "priority_lock";

/// The treatment of holders that are less urgent than a waiter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Preempt {
    /// Wait for them.
    #[default]
    Never,
    /// Ask them to release.
    Ask,
    /// Ask them to release, and delete their znodes when the grace period ends.
    Force {
        /// The grace period, by the waiter's clock, from the reply to the revocation.
        grace: Duration,
    },
}

/// Options of a priority lock. By default: [`Preempt::Never`], [`RunUntil::Revoked`], containers, [`OnSuspect::Stop`], a tenth of the timeout as margin, no data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PriorityLockOptions {
    /// The treatment of less urgent holders.
    pub preempt: Preempt,
    /// When a guard's `run` drops its work.
    pub run_until: RunUntil,
    /// How missing directories are created: the lock's, and `line` and `held` below it.
    pub parents: Parents,
    /// The policy of a holder while the connection is lost.
    pub on_suspect: OnSuspect,
    /// How long before the end of the session the holder stops: at most half of the session timeout; `None` for a tenth.
    /// The margin covers clock drift over one timeout and the time that the holder takes to stop.
    pub margin: Option<Duration>,
    /// Data of the znodes until their owner is asked to release; not the revocation word itself, `unlock`.
    pub data: Vec<u8>,
}

setters!(PriorityLockOptions {
    with_preempt(preempt: Preempt),
    with_run_until(run_until: RunUntil),
    with_parents(parents: Parents),
    with_on_suspect(on_suspect: OnSuspect),
    with_margin(margin: Option<Duration>, into),
    with_data(data: Vec<u8>, into),
});

/// A holder of a priority lock, or a waiter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PriorityContender {
    /// The full path of the znode. A grant replaces it.
    pub path: String,
    /// The priority.
    pub priority: Priority,
    /// Whether it writes.
    pub writes: bool,
    /// Whether it holds the lock.
    pub holds: bool,
}

/// A lock of readers and writers with priorities on a directory. The data of the directory belong to the lock.
///
/// # Promises
///
/// * *Effects.* Through `transact`, or on a store that checks [tokens](Guard::token), the effects of a writer's
///   hold never interleave with those of another hold: regardless of clocks, networks and pauses. Tokens grow in the order
///   of the grants.
/// * *Belief.* While a writer's guard may act no other guard may, under the conditions of [`Lock`](crate::Lock).
/// * *Order.* No grant passes a conflicting contender that it has seen to be more urgent, or as urgent and earlier.
/// * *No implicit preemption.* A newcomer, however urgent, does not take the lock from a holder, unless [`Preempt`] says
///   so.
/// * *Delivered.* A revocation reaches the owner, holder or waiter, as in [`RevocableLock`](crate::RevocableLock).
/// * *No leaks.* However a call ends without a guard, its znodes are deleted, at the latest by the expiry of the session.
///
/// Not promised: freedom from starvation for the less urgent; strict order against a client that joins between a look and a
/// grant.
///
/// # Cost
///
/// Uncontended: six requests in two round trips, and one to release. Waiting: a watch on the conflicting znode and one on
/// the own znode; three reads for each wake-up, and two requests for the grant.
///
/// # Examples
///
/// ```
/// use zk_recipes::{Preempt, Priority, PriorityLock, PriorityLockOptions};
///
/// # sim_zk::doc_example(|zk| async move {
/// let lock = PriorityLock::new(&zk, "/locks/index", PriorityLockOptions::default())?;
/// let rebuild = lock.write(Priority(9)).await?;
///
/// let urgent = PriorityLockOptions::default().with_preempt(Preempt::Ask);
/// let lock = PriorityLock::new(&zk, "/locks/index", urgent)?;
/// let (repair, _) = futures_util::future::join(lock.write(Priority(1)), async {
///     rebuild.revoked().await.expect("it is held still");
///     rebuild.release().await
/// })
/// .await;
/// assert!(repair.is_ok());
/// # Ok(())
/// # });
/// ```
#[derive(Clone, Debug)]
pub struct PriorityLock<Z: ZooKeeper> {
    zk: Z,
    directory: String,
    contenders: Contenders,
    held: String,
    options: PriorityLockOptions,
}

impl<Z: ZooKeeper> PriorityLock<Z> {
    /// The lock on `directory`. Sends nothing.
    ///
    /// # Errors
    ///
    /// [`Error::is_bad_input`]: the path is not absolute, is the root, lies in ZooKeeper's own directory, or
    /// violates ZooKeeper's path rules; the data do not fit into a request, or equal the revocation word; the margin is
    /// greater than half of the session timeout.
    pub fn new(zk: &Z, directory: &str, options: PriorityLockOptions) -> Result<Self, Error> {
        path::validate_directory(directory)?;
        if options.data == WORD.as_bytes() {
            return Err(
                ErrorKind::BadInput("the data are the word that asks an owner to go".to_owned()).into()
            );
        }
        let (waiting, held) = (path::join(directory, "line"), path::join(directory, "held"));
        margin_in(zk, options.margin)?;
        // A grant is the longest request: it names five znodes.
        path::validate_size(
            zk.max_request_bytes(),
            &path::join(&waiting, &"x".repeat(64)).repeat(5),
            &options.data,
        )?;
        let contenders = Contenders {
            directory: waiting,
            marks: Marks::standard(node_names::INFIXES),
            parents: options.parents,
        };
        Ok(PriorityLock { zk: zk.clone(), directory: directory.to_owned(), contenders, held, options })
    }

    /// Waits until no writer holds the lock, and none that is more urgent, or as urgent and earlier, waits for it.
    ///
    /// # Cancellation
    ///
    /// Dropping the future gives up: its znodes are deleted in the background, even while a reply is in flight, and its
    /// watches are removed. Revocations that were sent stand, but no holder is forced any more. Nothing is sent before the
    /// first poll.
    ///
    /// An unpolled future blocks no other call, but its znode stays among the waiters or holders, and contenders behind it
    /// wait for it. Drop it to give up.
    ///
    /// # When the connection is lost
    ///
    /// The place in the queue, or among the holders, lasts as long as the session. The outcome of a lost reply is found
    /// out.
    ///
    /// # With a limit
    ///
    /// When it is over, the error is [`Error::is_timed_out`], and the clean-up is under way.
    ///
    /// # Errors
    ///
    /// [`Error::is_session_over`]; [`Error::is_revoked`] when it was asked to release while it
    /// waited: it has left the queue; [`Error::is_removed`] when another client deleted its znode;
    /// [`Error::is_denied`]; with [`Parents::MustExist`] also [`Error::is_no_node`];
    /// [`Error::is_bad_input`] when a reconnect has made the session timeout too short for the margin.
    pub fn read(
        &self,
        priority: Priority,
    ) -> Call<Z, impl Work<Output = Result<Guard<Z, Revocable<Read>>, Error>>> {
        Call::new(&self.zk, move |until| {
            operation!(&self.zk, RECIPE, "read", &self.directory).of(within(
                &self.zk,
                until,
                self.hold_as(READ, priority),
            ))
        })
    }

    /// Waits until no client holds the lock, and none that is more urgent, or as urgent and earlier, waits for it.
    ///
    /// # Cancellation, When the connection is lost, With a limit, Errors
    ///
    /// As [`read`](Self::read).
    pub fn write(
        &self,
        priority: Priority,
    ) -> Call<Z, impl Work<Output = Result<Guard<Z, Revocable<Exclusive>>, Error>>> {
        Call::new(&self.zk, move |until| {
            operation!(&self.zk, RECIPE, "write", &self.directory).of(within(
                &self.zk,
                until,
                self.hold_as(WRITE, priority),
            ))
        })
    }

    async fn hold_as<M: Mode>(&self, role: Role, priority: Priority) -> Result<Guard<Z, M>, Error> {
        let tenure = Attempt::run(self, role, priority).await?;
        Ok(Guard::new(tenure, self.contenders.marks, self.options.run_until))
    }

    /// Returns the holders, the more urgent first, then the waiters in order. The list may be stale.
    ///
    /// # Errors
    ///
    /// [`Error::is_transient`], [`Error::is_session_over`], [`Error::is_denied`].
    pub async fn contenders(&self) -> Result<Vec<PriorityContender>, Error> {
        let (held, line) = (self.zk.children(&self.held), self.zk.children(&self.contenders.directory));
        let names = |listing: Result<crate::zk::Listing, Error>| match listing {
            Ok(listing) => Ok(listing.names),
            Err(e) if e.is_no_node() => Ok(Vec::new()),
            Err(e) => Err(e),
        };
        let (held, line) = (names(held.await)?, names(line.await)?);
        let holder = |name: &String| {
            let (role, priority) = node_names::read_held(name)?;
            Some(PriorityContender {
                path: path::join(&self.held, name),
                priority,
                writes: role == WRITE,
                holds: true,
            })
        };
        let mut all: Vec<_> = held.iter().filter_map(holder).collect();
        all.sort_by_key(|holder| holder.priority);
        let mut waiting = Vec::with_capacity(line.len());
        let mut worn = Vec::new();
        for (index, name) in line.iter().enumerate() {
            match ContenderName::read(name) {
                Some(who) if is_good(who.number) => waiting.push((who.rank(0), index, who)),
                Some(who) => worn.push((who, index)),
                None => {}
            }
        }
        let worn = czxids(&self.zk, &self.contenders.directory, &line, worn).await?;
        waiting.extend(worn.into_iter().map(|(who, index, czxid)| (who.rank(czxid), index, who)));
        waiting.sort_unstable_by_key(|(rank, index, _)| (*rank, *index));
        let waiter = |(_, index, who): (_, usize, ContenderName)| {
            let (priority, writes) = (who.priority, who.role == WRITE);
            let path = path::join(&self.contenders.directory, &line[index]);
            PriorityContender { path, priority, writes, holds: false }
        };
        all.extend(waiting.into_iter().map(waiter));
        Ok(all)
    }

    /// Asks exactly this holder or waiter to release: [`Fate::Asked`], or [`Fate::Gone`] if its znode was already gone. A
    /// grant deletes a waiter's znode.
    ///
    /// # Cancellation
    ///
    /// The revocation stands.
    ///
    /// # When the connection is lost
    ///
    /// Retries until it is certain that the contender was asked.
    ///
    /// # Errors
    ///
    /// [`Error::is_bad_input`] for a znode outside this lock, [`Error::is_session_over`], [`Error::is_denied`].
    pub async fn ask(&self, contender: &PriorityContender) -> Result<Fate, Error> {
        self.validate(contender)?;
        let operation = operation!(&self.zk, RECIPE, "ask", &contender.path);
        operation.telling(revoke::ask(&self.zk, &contender.path, WORD)).await
    }

    /// Asks a holder or a waiter to release, and deletes its znode if it is still there when the grace period ends, as
    /// [`RevocableLock::force`](crate::RevocableLock::force).
    ///
    /// # Cancellation
    ///
    /// The revocation stands, and nothing is deleted.
    ///
    /// # When the connection is lost
    ///
    /// Resumes after the reconnect: late, but never early.
    ///
    /// # Errors
    ///
    /// As [`ask`](Self::ask). After [`Error::is_session_over`] the outcome is unknown.
    pub async fn force(&self, contender: &PriorityContender, grace: Duration) -> Result<Fate, Error> {
        self.validate(contender)?;
        let operation = operation!(&self.zk, RECIPE, "force", &contender.path);
        operation.telling(revoke::force(&self.zk, &contender.path, WORD, grace)).await
    }

    fn validate(&self, contender: &PriorityContender) -> Result<(), Error> {
        path::validate(&contender.path)?;
        let (directory, name) = path::split(&contender.path);
        let is_one_of_ours = match directory {
            _ if directory == self.held => node_names::read_held(name).is_some(),
            _ if directory == self.contenders.directory => ContenderName::read(name).is_some(),
            _ => false,
        };
        if is_one_of_ours {
            return Ok(());
        }
        Err(ErrorKind::BadInput(format!("{} does not contend for {}", contender.path, self.directory)).into())
    }
}
