//! A barrier: while its znode exists, those who come wait.
//!
//! 1. Raise: create the znode; if it is there, it stands. Lower: delete it; if it is gone, it is down.
//! 2. Wait: list the znode's children with a watch. No such znode: pass. Otherwise remember which incarnation it is.
//! 3. When it is deleted, pass, without asking again. After any other event read as in 2: no such znode, or another
//!    incarnation, and we pass; otherwise wait on.
//!
//! After "Barriers" of ZooKeeper's recipes page, with two steps changed. The page asks `exists` with a watch, which on an
//! open barrier leaves a watch behind (CURATOR-654): listing a missing znode arms nothing. And the page asks again after the
//! event, so that a barrier that was lowered and raised at once holds those who had been let go: here the deletion itself
//! lets them pass. Who wants the page's meaning waits [until it is down](Barrier::wait_until_down).

use crate::observe::{self, operation};
use crate::parts::parents::{Parents, behind};
use crate::parts::retry::{again, connected};
use crate::parts::select::within;
use crate::zk::{CreateMode, Error, EventKind, ZooKeeper, path};
use std::future::Future;
use std::time::Duration;

/// The recipe's name in spans and metrics.
const RECIPE: &str = "barrier";

/// How long a raised barrier stands, if nobody lowers it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum While {
    /// Until it is lowered.
    #[default]
    Permanent,
    /// As long as the session that raised it lives: a controller that dies holds nobody up.
    SessionLives,
}

/// Options of a barrier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BarrierOptions {
    /// What becomes of a parent that does not exist, when the barrier is raised.
    pub parents: Parents,
    /// How long it stands.
    pub lives: While,
}

/// A barrier on a path.
///
/// # Promises
///
/// * Whoever [waits](Self::wait) passes only when the barrier is seen not to stand, or when the one that it waited for
///   has gone.
/// * Once that one has gone it does pass, even if the barrier is raised again at once.
/// * No watch is left, however a wait ends.
///
/// Not promised: arbitration between several who raise and lower (use a [`Lock`](crate::Lock)).
///
/// # Cost
///
/// Waiting: one request, one watch, one notification when the barrier goes.
///
/// # Examples
///
/// ```
/// use zk_recipes::{Barrier, BarrierOptions};
///
/// # sim_zk::doc_example(|zk| async move {
/// let gate = Barrier::new(&zk, "/gate", BarrierOptions::default())?;
/// gate.raise().await?;
/// let mut waiting = Box::pin(gate.wait());
/// # use futures_util::FutureExt;
/// assert!(waiting.as_mut().now_or_never().is_none(), "it stands");
/// gate.lower().await?;
/// waiting.await?;
/// # Ok(())
/// # });
/// ```
#[derive(Clone, Debug)]
pub struct Barrier<Z: ZooKeeper> {
    zk: Z,
    path: String,
    options: BarrierOptions,
}

impl<Z: ZooKeeper> Barrier<Z> {
    /// The barrier whose znode is `path`. Sends nothing.
    ///
    /// # Errors
    ///
    /// [`is_bad_input`](Error::is_bad_input): the path is not absolute, is the root, lies in ZooKeeper's own directory, or
    /// violates ZooKeeper's path rules.
    pub fn new(zk: &Z, path: &str, options: BarrierOptions) -> Result<Self, Error> {
        path::validate_directory(path)?;
        path::validate_size(path, &[])?;
        Ok(Barrier { zk: zk.clone(), path: path.to_owned(), options })
    }

    /// Puts the barrier up; if one stands already, that is as good, however long it will.
    ///
    /// # Cancellation
    ///
    /// Dropping the future leaves open whether it stands: raise it again, or lower it.
    ///
    /// # When the connection is lost
    ///
    /// It is asked again: the znode may be there then, and that is what was wanted.
    ///
    /// # Errors
    ///
    /// [`is_session_over`](Error::is_session_over); [`is_denied`](Error::is_denied); with [`Parents::MustExist`] also
    /// [`Error::NoNode`].
    pub async fn raise(&self) -> Result<(), Error> {
        operation!(&self.zk, RECIPE, "raise", &self.path).of(self.create()).await
    }

    async fn create(&self) -> Result<(), Error> {
        let mode = match self.options.lives {
            While::Permanent => CreateMode::Persistent,
            While::SessionLives => CreateMode::Ephemeral,
        };
        let mut is_missing = false;
        loop {
            let status = connected(&self.zk).await?;
            // Pipelined: missing levels if there are any, the create.
            let making = match is_missing {
                true => Some(self.options.parents.make_for(&self.zk, &self.path)?),
                false => None,
            };
            let create = self.zk.create(&self.path, &[], mode);
            match behind(making, create).await? {
                Ok(_) | Err(Error::NodeExists) => return Ok(()),
                Err(Error::NoNode) => is_missing = true,
                Err(e) => again(&self.zk, status, e).await?,
            }
        }
    }

    /// Takes the barrier down; if there is none, that is as good.
    ///
    /// # Cancellation
    ///
    /// Dropping the future leaves open whether it stands: lower it again.
    ///
    /// # When the connection is lost
    ///
    /// The request is retried.
    ///
    /// # Errors
    ///
    /// [`is_session_over`](Error::is_session_over); [`is_denied`](Error::is_denied); [`Error::NotEmpty`] if somebody has put
    /// znodes below it.
    pub async fn lower(&self) -> Result<(), Error> {
        operation!(&self.zk, RECIPE, "lower", &self.path).of(self.delete()).await
    }

    async fn delete(&self) -> Result<(), Error> {
        loop {
            let status = connected(&self.zk).await?;
            match self.zk.delete(&self.path, None).await {
                Ok(()) | Err(Error::NoNode) => return Ok(()),
                Err(e) => again(&self.zk, status, e).await?,
            }
        }
    }

    /// Waits until the barrier that stands now has gone; returns at once if none stands.
    ///
    /// "Now" is the state of the server that answers, which may lag behind what others have written.
    ///
    /// # Cancellation
    ///
    /// Dropping the future removes its watch. A future that is left unpolled holds up no other call.
    ///
    /// # When the connection is lost
    ///
    /// The watch is armed again after the reconnect, and tells what has happened in between.
    ///
    /// # Errors
    ///
    /// [`is_session_over`](Error::is_session_over): whether it still stands is not known then.
    /// [`is_denied`](Error::is_denied).
    pub async fn wait(&self) -> Result<(), Error> {
        operation!(&self.zk, RECIPE, "wait", &self.path).of(self.passing()).await
    }

    async fn passing(&self) -> Result<(), Error> {
        let mut waited_for = None;
        loop {
            let Some((czxid, watch)) = self.look().await? else { return Ok(()) };
            // Another incarnation: the one that was waited for has gone.
            if *waited_for.get_or_insert(czxid) != czxid {
                return Ok(());
            }
            // Only the end of this incarnation lets us pass; any other event is a reason to look again.
            observe::waits(&self.path);
            if watch.await?.kind == EventKind::NodeDeleted {
                return Ok(());
            }
        }
    }

    /// As [`wait`](Self::wait), but for at most `limit`, counted from the call.
    ///
    /// # Errors
    ///
    /// [`is_timed_out`](Error::is_timed_out) when the limit is over.
    pub fn wait_within(&self, limit: Duration) -> impl Future<Output = Result<(), Error>> + Send + '_ {
        let until = self.zk.now() + limit;
        let operation = operation!(&self.zk, RECIPE, "wait", &self.path);
        operation.of(within(&self.zk, until, self.passing()))
    }

    /// Waits until no barrier is seen to stand: who is let go and finds the barrier raised again waits on, so that a barrier
    /// that is raised again and again may hold it up for ever.
    ///
    /// # Cancellation
    ///
    /// As [`wait`](Self::wait).
    ///
    /// # When the connection is lost
    ///
    /// As [`wait`](Self::wait).
    ///
    /// # Errors
    ///
    /// As [`wait`](Self::wait).
    pub async fn wait_until_down(&self) -> Result<(), Error> {
        operation!(&self.zk, RECIPE, "wait_until_down", &self.path).of(self.finding_it_down()).await
    }

    async fn finding_it_down(&self) -> Result<(), Error> {
        while let Some((_, watch)) = self.look().await? {
            observe::waits(&self.path);
            watch.await?;
        }
        Ok(())
    }

    /// As [`wait_until_down`](Self::wait_until_down), but for at most `limit`, counted from the call.
    ///
    /// # Errors
    ///
    /// [`is_timed_out`](Error::is_timed_out) when the limit is over.
    pub fn wait_until_down_within(
        &self,
        limit: Duration,
    ) -> impl Future<Output = Result<(), Error>> + Send + '_ {
        let until = self.zk.now() + limit;
        let operation = operation!(&self.zk, RECIPE, "wait_until_down", &self.path);
        operation.of(within(&self.zk, until, self.finding_it_down()))
    }

    /// Step 2: which incarnation stands, with a watch on its end. A list and not a stat: on a missing znode it leaves
    /// nothing armed, and writing into the barrier wakes nobody.
    async fn look(&self) -> Result<Option<(i64, Z::Watch)>, Error> {
        loop {
            let status = connected(&self.zk).await?;
            match self.zk.children_watch(&self.path).await {
                Ok((listing, watch)) => return Ok(Some((listing.stat.czxid, watch))),
                Err(Error::NoNode) => return Ok(None),
                Err(e) => again(&self.zk, status, e).await?,
            }
        }
    }
}
