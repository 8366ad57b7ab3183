//! An exclusive lock that grants in the order of the requests.
//!
//! 1. Join: create an ephemeral sequential znode under the lock's directory, pipelined with a list of the directory.
//! 2. Look: if the own znode is first, the lock is held; its czxid is the fencing token.
//! 3. Otherwise watch the znode just ahead, and only that one, which avoids a thundering herd; look again when it goes.
//! 4. Release: delete the own znode.
//!
//! After "Locks" of ZooKeeper's recipes page, which omits lost replies, holders that must stop in time, a fencing token,
//! and the clean-up after a cancellation.

use crate::call::{Call, Work};
use crate::guard::{Exclusive, Guard};
use crate::observe::operation;
use crate::parts::contenders::{Contender, Contenders};
use crate::parts::lock_methods::lock_methods;
use crate::parts::naming::{Naming, Role};
use crate::parts::parents::Parents;
use crate::parts::select::within;
use crate::parts::setters::setters;
use crate::parts::tenure::{Grant, OnSuspect, RunUntil, Tenure, margin_in};
use crate::zk::{Error, ZooKeeper};
use std::time::Duration;

const RECIPE: &str = "lock";

/// The only role in the queue of an exclusive lock.
const LOCK: Role = 0;

/// Every contender excludes every other.
const EVERYBODY: fn(Role) -> bool = |_| true;

/// Options of a lock. By default: standard names, containers, [`OnSuspect::Stop`], a tenth of the timeout as margin, no data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LockOptions {
    /// Names of the znodes; all clients of the directory must agree.
    pub naming: Naming,
    /// How a missing directory is created.
    pub parents: Parents,
    /// The policy of a holder while the connection is lost.
    pub on_suspect: OnSuspect,
    /// How long before the end of the session the holder stops: at most half of the session timeout; `None` for a tenth.
    /// The margin covers clock drift over one timeout and the time that the holder takes to stop.
    pub margin: Option<Duration>,
    /// Data of the contender's znode, for operators: the client's address, for example.
    pub data: Vec<u8>,
}

setters!(LockOptions {
    with_naming(naming: Naming),
    with_parents(parents: Parents),
    with_on_suspect(on_suspect: OnSuspect),
    with_margin(margin: Option<Duration>, into),
    with_data(data: Vec<u8>, into),
});

/// An exclusive lock on a directory.
///
/// # Promises
///
/// * *Effects.* Through [`Guard::transact`], or on a store that refuses smaller [tokens](Guard::token), the effects
///   of two holds never interleave: regardless of clocks, networks and pauses.
/// * *Belief.* At most one guard at a time may act, as long as clocks drift by less than the margin within one session
///   timeout, holders stop within the margin, and an answering server is in touch with its leader.
/// * *Order.* Grants follow the order in which the znodes were created, among contenders that do not give up.
/// * *No thundering herd.* One release wakes at most one waiter.
/// * *No leaks.* However an acquire ends without a guard, its znode is deleted, at the latest by the expiry of the session.
///
/// Not promised: exclusion of effects that are not fenced, by a holder whose process is paused; re-entrancy, since a second
/// acquire by the same task waits for itself.
///
/// # Cost
///
/// Uncontended: two requests in one round trip, and one to release. Waiting: one watch, on the znode just ahead, and one
/// list when it fires. A list has 52 bytes for each contender: with 10,000 of them, half a megabyte for each that joins or takes
/// over. One session may have some 30,000 contenders, fewer with longer paths: see `Options::max_ephemeral_bytes` of the client.
///
/// # Examples
///
/// ```
/// # use std::time::Duration;
/// use zk_recipes::{Lock, LockOptions, Released};
///
/// # sim_zk::doc_example(|zk| async move {
/// let lock = Lock::new(&zk, "/locks/printer", LockOptions::default())?;
/// let held = lock.acquire().await?;
/// println!("printing under token {}", held.token());
/// assert_eq!(held.release().await?, Released::Clean);
/// # Ok(())
/// # });
/// ```
#[derive(Clone, Debug)]
pub struct Lock<Z: ZooKeeper> {
    zk: Z,
    contenders: Contenders,
    options: LockOptions,
}

impl<Z: ZooKeeper> Lock<Z> {
    /// The lock on `directory`. Sends nothing.
    ///
    /// # Errors
    ///
    /// [`Error::is_bad_input`]: the path is not absolute, is the root, lies in ZooKeeper's own directory, or violates
    /// ZooKeeper's path rules; the data do not fit into a request; the margin is greater than half of the session timeout.
    pub fn new(zk: &Z, directory: &str, options: LockOptions) -> Result<Self, Error> {
        let contenders = Contenders {
            directory: directory.to_owned(),
            marks: options.naming.lock(),
            parents: options.parents,
        };
        contenders.validate(zk, &options.data)?;
        margin_in(zk, options.margin)?;
        Ok(Lock { zk: zk.clone(), contenders, options })
    }

    /// Waits for the lock.
    ///
    /// # Cancellation
    ///
    /// Dropping the future gives up: the znode is deleted in the background, even while the reply to its create is in
    /// flight, and the watch is removed. Nothing is sent before the first poll.
    ///
    /// An unpolled future blocks no other call, but its znode stays in the queue: contenders behind it wait for it, as for
    /// a holder. Drop it to give up.
    ///
    /// # When the connection is lost
    ///
    /// The place in the queue lasts as long as the session. After a lost reply the znode is looked for by its guid, and the
    /// create is retried only if there is none.
    ///
    /// # With a limit
    ///
    /// When it is over, the error is [`Error::is_timed_out`], and the clean-up is under way.
    ///
    /// # Errors
    ///
    /// [`Error::is_session_over`]; [`Error::is_removed`] when another client deleted our
    /// znode; [`Error::is_denied`]; with [`Parents::MustExist`] also [`Error::is_no_node`];
    /// [`Error::is_bad_input`] when a reconnect has made the session timeout too short for the margin.
    pub fn acquire(&self) -> Call<Z, impl Work<Output = Result<Guard<Z, Exclusive>, Error>>> {
        Call::new(&self.zk, |until| {
            operation!(&self.zk, RECIPE, "acquire", &self.contenders.directory).of(within(
                &self.zk,
                until,
                self.wait_and_guard(),
            ))
        })
    }

    async fn wait_and_guard(&self) -> Result<Guard<Z, Exclusive>, Error> {
        margin_in(&self.zk, self.options.margin)?;
        let contender = self.contenders.join_and_wait(&self.zk, LOCK, &self.options.data, EVERYBODY).await?;
        self.guard(contender)
    }

    /// Takes the lock if no contender is ahead at the first look; `None` otherwise, and after a connection loss.
    ///
    /// # Cancellation
    ///
    /// As [`acquire`](Self::acquire), also when it gives up by itself.
    ///
    /// # Errors
    ///
    /// As [`acquire`](Self::acquire); [`Error::is_retryable_refusal`] when an overloaded server has
    /// refused requests for a third of the session timeout: nothing is leaked.
    pub async fn try_acquire(&self) -> Result<Option<Guard<Z, Exclusive>>, Error> {
        let attempt = async {
            margin_in(&self.zk, self.options.margin)?;
            let contender =
                self.contenders.join_if_free(&self.zk, LOCK, &self.options.data, EVERYBODY).await?;
            contender.map(|contender| self.guard(contender)).transpose()
        };
        operation!(&self.zk, RECIPE, "try_acquire", &self.contenders.directory).attempt(attempt).await
    }

    fn guard(&self, contender: crate::parts::contenders::OwnContender) -> Result<Guard<Z, Exclusive>, Error> {
        let LockOptions { data, on_suspect, margin, .. } = &self.options;
        let grant = Grant::of_contender(&self.zk, RECIPE, contender, data, *on_suspect, *margin)?;
        Ok(Guard::new(Tenure::new(&self.zk, grant), self.contenders.marks, RunUntil::Lost))
    }
}

lock_methods!(evict Lock, contenders);
