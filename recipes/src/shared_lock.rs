//! A shared lock: many readers or one writer, granted in the order of the requests.
//!
//! 1. Join: create an ephemeral sequential znode whose name says whether it reads or writes, pipelined with a list of the
//!    directory.
//! 2. Look: a reader holds the lock if no writer is ahead, a writer if no contender is.
//! 3. Otherwise watch one znode: a reader the nearest writer ahead, a writer the nearest contender; look again when it
//!    goes.
//! 4. Release: delete the own znode.
//! 5. Downgrade: in one transaction a reader's znode takes the writer's place in the queue.
//!
//! After "Shared Locks" of ZooKeeper's recipes page, with two corrections. Names cannot start with `write-`, since they
//! start with a guid. And a reader watches the nearest writer ahead: watching the lowest would wake it once for every
//! writer, and watching one behind it would never let it in (kazoo#649).

use crate::call::{Call, Work};
use crate::guard::{Guard, Mode, Read, Write};
use crate::parts::contenders::{Contender, Contenders, OwnContender};
use crate::parts::lock_methods::lock_methods;
use crate::parts::naming::{Naming, READ, Role, WRITE};
use crate::parts::parents::Parents;
use crate::parts::setters::setters;
use crate::parts::tenure::{Grant, OnSuspect, RunUntil, Tenure, margin_in};
use crate::zk::{Error, ZooKeeper};
use std::time::Duration;

const RECIPE: &str = "shared_lock";

/// The roles that a contender has to wait for.
pub(crate) fn conflicts(role: Role) -> fn(Role) -> bool {
    match role {
        READ => |ahead| ahead == WRITE,
        _ => |_| true,
    }
}

/// Options of a shared lock. By default: standard names, containers, [`OnSuspect::Stop`], a tenth of the timeout as margin, no data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SharedLockOptions {
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

setters!(SharedLockOptions {
    with_naming(naming: Naming),
    with_parents(parents: Parents),
    with_on_suspect(on_suspect: OnSuspect),
    with_margin(margin: Option<Duration>, into),
    with_data(data: Vec<u8>, into),
});

/// A lock of readers and writers on a directory.
///
/// # Promises
///
/// * *Effects.* Through `transact`, or on a store that checks [tokens](Guard::token), the effects of a writer's hold
///   never interleave with those of another hold: regardless of clocks, networks and pauses.
/// * *Belief.* While a writer's guard may act no other guard may, under the conditions of [`Lock`](crate::Lock).
/// * *Order.* No reader overtakes a writer ahead, and no writer overtakes any contender.
/// * *Readers share.* A reader with no writer ahead does not wait.
/// * *No thundering herd.* A writer's release wakes the readers that waited for it, or one writer; a reader's release wakes
///   at most one contender.
/// * *No leaks.* However an acquire ends without a guard, its znode is deleted, at the latest by the expiry of the session.
///
/// Not promised: upgrades, since two readers that both upgrade would deadlock: release, and acquire again.
///
/// # Cost
///
/// Uncontended: two requests in one round trip, and one to release. Waiting: one watch, and one list when it fires; a
/// writer behind readers may wake once for each. A downgrade: one request.
///
/// # Examples
///
/// ```
/// use zk_recipes::{SharedLock, SharedLockOptions};
///
/// # sim_zk::doc_example(|zk| async move {
/// let shared = SharedLock::new(&zk, "/locks/prices", SharedLockOptions::default())?;
/// let (one, other) = (shared.read().await?, shared.read().await?);
/// assert!(shared.try_write().await?.is_none(), "there are readers");
/// one.release().await?;
/// other.release().await?;
///
/// let written = shared.write().await?;
/// let token = written.token();
/// let read = written.downgrade().await?;
/// assert_eq!(read.token(), token);
/// # Ok(())
/// # });
/// ```
#[derive(Clone, Debug)]
pub struct SharedLock<Z: ZooKeeper> {
    zk: Z,
    contenders: Contenders,
    options: SharedLockOptions,
}

impl<Z: ZooKeeper> SharedLock<Z> {
    /// The lock on `directory`. Sends nothing.
    ///
    /// # Errors
    ///
    /// [`Error::is_bad_input`]: the path is not absolute, is the root, lies in ZooKeeper's own directory, or violates
    /// ZooKeeper's path rules; the data do not fit into a request; the margin is greater than half of the session timeout.
    pub fn new(zk: &Z, directory: &str, options: SharedLockOptions) -> Result<Self, Error> {
        let (marks, parents) = (options.naming.shared(), options.parents);
        let contenders = Contenders { directory: directory.to_owned(), marks, parents };
        contenders.validate(zk, &options.data)?;
        margin_in(zk, options.margin)?;
        Ok(SharedLock { zk: zk.clone(), contenders, options })
    }

    async fn acquire_as(&self, role: Role) -> Result<Tenure<Z>, Error> {
        margin_in(&self.zk, self.options.margin)?;
        let contender =
            self.contenders.join_and_wait(&self.zk, role, &self.options.data, conflicts(role)).await?;
        self.tenure(contender)
    }

    async fn try_acquire_as(&self, role: Role) -> Result<Option<Tenure<Z>>, Error> {
        margin_in(&self.zk, self.options.margin)?;
        let contender =
            self.contenders.join_if_free(&self.zk, role, &self.options.data, conflicts(role)).await?;
        contender.map(|contender| self.tenure(contender)).transpose()
    }

    fn tenure(&self, contender: OwnContender) -> Result<Tenure<Z>, Error> {
        let SharedLockOptions { data, on_suspect, margin, .. } = &self.options;
        let grant = Grant::of_contender(&self.zk, RECIPE, contender, data, *on_suspect, *margin)?;
        Ok(Tenure::new(&self.zk, grant))
    }

    fn guard<M: Mode>(&self, tenure: Tenure<Z>) -> Guard<Z, M> {
        Guard::new(tenure, self.contenders.marks, RunUntil::Lost)
    }
}

lock_methods!(shared SharedLock, Read, Write, "");
lock_methods!(evict SharedLock, contenders);
