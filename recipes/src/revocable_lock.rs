//! A revocable shared lock: its holders and waiters can be asked, or forced, to release.
//!
//! 1. Join as in the [shared lock](crate::shared_lock). As soon as the own znode's name is known, read it and arm a watch
//!    on its data, off the critical path; the revocation word may be there already.
//! 2. After a notification read the own znode again. A waiter that was asked leaves the queue; a waiter behind it is not
//!    woken by the revocation.
//! 3. A holder learns of it by [`revoked`](Guard::revoked), finishes, and releases.
//! 4. Ask: write the revocation word into one contender's znode.
//! 5. Force: ask, and delete that znode when the grace period ends.
//!
//! After "Revocable Shared Locks" of ZooKeeper's recipes page, whose "freaking laser beams" are step 5. The page omits a
//! revocation that is written before its owner watches, a successor that takes the write for a deletion, and a revocation
//! that hits a new holder: here it targets one znode, and names are unique.

use crate::call::{Call, Work};
use crate::guard::{Guard, Mode, Read, Revocable, Write};
use crate::observe::operation;
use crate::parts::contenders::{Contender, Contenders, OwnContender};
use crate::parts::lock_methods::lock_methods;
use crate::parts::naming::{Naming, READ, Role, WRITE};
use crate::parts::owned_node::OwnedNode;
use crate::parts::parents::Parents;
use crate::parts::revoke::{self, Fate};
use crate::parts::select::{first, while_connected};
use crate::parts::setters::setters;
use crate::parts::tenure::{Grant, OnSuspect, Tenure, margin_in};
use crate::shared_lock::conflicts;
use crate::zk::{Error, ErrorKind, ZooKeeper, path};
use futures_util::future::Either;
use std::time::Duration;

pub use crate::parts::tenure::RunUntil;

const RECIPE: &str = "revocable_lock";

/// Options of a revocable lock. By default: [`RunUntil::Revoked`], standard names, containers, [`OnSuspect::Stop`], a tenth of the timeout as margin, no data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RevocableLockOptions {
    /// When a guard's `run` drops its work.
    pub run_until: RunUntil,
    /// Names of the znodes and the revocation word; all clients of the directory must agree. Kazoo has no such word.
    pub naming: Naming,
    /// How a missing directory is created.
    pub parents: Parents,
    /// The policy of a holder while the connection is lost.
    pub on_suspect: OnSuspect,
    /// How long before the end of the session the holder stops: at most half of the session timeout; `None` for a tenth.
    /// The margin covers clock drift over one timeout and the time that the holder takes to stop.
    pub margin: Option<Duration>,
    /// Data of the contender's znode until its owner is asked to release; not the revocation word itself.
    pub data: Vec<u8>,
}

setters!(RevocableLockOptions {
    with_run_until(run_until: RunUntil),
    with_naming(naming: Naming),
    with_parents(parents: Parents),
    with_on_suspect(on_suspect: OnSuspect),
    with_margin(margin: Option<Duration>, into),
    with_data(data: Vec<u8>, into),
});

/// A lock of readers and writers whose owners can be asked, or forced, to release. With [`write`](Self::write) alone it is
/// a revocable mutex.
///
/// # Promises
///
/// * All that [`SharedLock`](crate::SharedLock) promises.
/// * *Delivered.* A revocation reaches the contender's owner on every acquire, even if it was written before the owner
///   could watch.
/// * *Waiters leave.* A waiter that is asked leaves the queue, and its call fails with [`Error::is_revoked`].
/// * *Targeted.* A revocation wakes only the contender that it is for.
/// * *No force by default.* Only [`force`](Self::force) deletes a contender, and not before the grace period is over.
///
/// Not promised: that a holder consents; that a forced holder knows before the next one is granted, though its transactions
/// are refused at once.
///
/// # Cost
///
/// As the shared lock, and one request and one watch for the own znode, off the critical path. Asking costs one request;
/// forcing costs three, and the grace period.
///
/// # Examples
///
/// ```
/// use zk_recipes::{Fate, RevocableLock, RevocableLockOptions};
///
/// # sim_zk::doc_example(|zk| async move {
/// let lock = RevocableLock::new(&zk, "/locks/index", RevocableLockOptions::default())?;
/// let held = lock.write().await?;
///
/// // Another client revokes it:
/// let contenders = lock.contenders().await?;
/// assert_eq!(lock.ask(&contenders[0]).await?, Fate::Asked);
///
/// held.revoked().await.expect("it is held still");
/// held.release().await?;
/// # Ok(())
/// # });
/// ```
#[derive(Clone, Debug)]
pub struct RevocableLock<Z: ZooKeeper> {
    zk: Z,
    contenders: Contenders,
    word: &'static str,
    options: RevocableLockOptions,
}

impl<Z: ZooKeeper> RevocableLock<Z> {
    /// The lock on `directory`. Sends nothing.
    ///
    /// # Errors
    ///
    /// [`Error::is_bad_input`]: the path is not absolute, is the root, lies in ZooKeeper's own directory, or
    /// violates ZooKeeper's path rules; the data do not fit into a request, or equal the revocation word; the naming has
    /// none; the margin is greater than half of the session timeout.
    pub fn new(zk: &Z, directory: &str, options: RevocableLockOptions) -> Result<Self, Error> {
        let bad = |why: &str| Err(ErrorKind::BadInput(why.to_owned()).into());
        let Some(word) = options.naming.word() else {
            return bad("this naming has no word that asks an owner to go");
        };
        if options.data == word.as_bytes() {
            return bad("the data are the word that asks an owner to go");
        }
        let (marks, parents) = (options.naming.shared(), options.parents);
        let contenders = Contenders { directory: directory.to_owned(), marks, parents };
        contenders.validate(zk, &options.data)?;
        margin_in(zk, options.margin)?;
        Ok(RevocableLock { zk: zk.clone(), contenders, word, options })
    }

    async fn acquire_as(&self, role: Role) -> Result<Tenure<Z>, Error> {
        margin_in(&self.zk, self.options.margin)?;
        let (contender, look) = self.contenders.join(&self.zk, role, &self.options.data).await?;
        let own = self.watched(&contender);
        let turn = self.contenders.wait_turn(&self.zk, &contender, look, conflicts(role));
        match first(own.must_go(), turn).await {
            Either::Left(error) => return Err(error),
            Either::Right(turn) => _ = turn?,
        }
        self.tenure(contender, own)
    }

    async fn try_acquire_as(&self, role: Role) -> Result<Option<Tenure<Z>>, Error> {
        margin_in(&self.zk, self.options.margin)?;
        let attempt = async {
            let (contender, look) = self.contenders.join(&self.zk, role, &self.options.data).await?;
            let own = self.watched(&contender);
            let is_ours = self.contenders.is_turn(&self.zk, &contender, look, conflicts(role)).await?;
            is_ours.then(|| self.tenure(contender, own)).transpose()
        };
        while_connected(&self.zk, attempt).await
    }

    /// Step 1: watches the own znode as soon as its name is known.
    fn watched(&self, contender: &OwnContender) -> OwnedNode<Z> {
        let own = OwnedNode::new(&self.zk, contender.path.clone(), Some(contender.czxid), Some(self.word));
        own.watch_now();
        own
    }

    fn tenure(&self, contender: OwnContender, own: OwnedNode<Z>) -> Result<Tenure<Z>, Error> {
        let RevocableLockOptions { data, on_suspect, margin, .. } = &self.options;
        let grant = Grant::of_contender(&self.zk, RECIPE, contender, data, *on_suspect, *margin)?;
        Ok(Tenure::of(&self.zk, own, grant))
    }

    fn guard<M: Mode>(&self, tenure: Tenure<Z>) -> Guard<Z, M> {
        Guard::new(tenure, self.contenders.marks, self.options.run_until)
    }

    /// Asks exactly this contender to release: [`Fate::Asked`], or [`Fate::Gone`] if it was already gone.
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
    /// [`Error::is_bad_input`] for a znode outside this queue, [`Error::is_session_over`], [`Error::is_denied`].
    pub async fn ask(&self, contender: &Contender) -> Result<Fate, Error> {
        self.validate(contender)?;
        let operation = operation!(&self.zk, RECIPE, "ask", &contender.path);
        operation.telling(revoke::ask(&self.zk, &contender.path, self.word)).await
    }

    /// Asks a contender to release, and deletes its znode if it is still there when the grace period ends:
    /// [`Fate::Yielded`], [`Fate::Forced`], or [`Fate::Gone`] if it was already gone, or went as the grace period ended.
    /// The grace period runs by this client's clock, from the reply to the revocation.
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
    pub async fn force(&self, contender: &Contender, grace: Duration) -> Result<Fate, Error> {
        self.validate(contender)?;
        let operation = operation!(&self.zk, RECIPE, "force", &contender.path);
        operation.telling(revoke::force(&self.zk, &contender.path, self.word, grace)).await
    }

    fn validate(&self, contender: &Contender) -> Result<(), Error> {
        path::validate(&contender.path)?;
        let (directory, name) = path::split(&contender.path);
        if directory != self.contenders.directory || self.contenders.marks.number(name).is_none() {
            let why = format!("{} does not stand in line for {}", contender.path, self.contenders.directory);
            return Err(ErrorKind::BadInput(why).into());
        }
        Ok(())
    }
}

lock_methods!(
    shared RevocableLock,
    Revocable<Read>,
    Revocable<Write>,
    "[`Error::is_revoked`] when it was asked to release while it waited: it has left the queue."
);
lock_methods!(list RevocableLock, contenders);
