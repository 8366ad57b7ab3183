//! A barrier: clients wait while its znode exists.
//!
//! 1. Raise: create the znode; an existing one will do. Lower: delete it; an absent one will do.
//! 2. Wait: list the znode's children with a watch. No such znode: pass. Otherwise remember its incarnation.
//! 3. When it is deleted, pass without another read. After any other notification read again: pass if the znode is absent
//!    or another incarnation, otherwise wait.
//!
//! After "Barriers" of ZooKeeper's recipes page, with two changes. The page uses `exists`, which on an open barrier leaks a
//! watch (CURATOR-654): a child watch on an absent znode arms nothing. And the page reads again after the event, so a
//! barrier that is lowered and raised at once stops the waiters that it had released: here the deletion itself lets them
//! pass. [`wait_until_down`](Barrier::wait_until_down) has the page's meaning.

use crate::call::{Call, Work};
use crate::observe::{self, operation};
use crate::parts::parents::{Parents, behind};
use crate::parts::retry::{Doubt, connected, present, until_answered, until_written};
use crate::parts::select::within;
use crate::parts::setters::setters;
use crate::zk::{CreateMode, Error, ErrorKind, EventKind, ZooKeeper, path};

const RECIPE: &str = "barrier";

/// The lifetime of a raised barrier that no client lowers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum While {
    /// Until it is lowered.
    #[default]
    Permanent,
    /// Until the session that raised it ends: a crashed controller blocks no client.
    SessionLives,
}

/// Options of a barrier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BarrierOptions {
    /// How missing parents are created when the barrier is raised.
    pub parents: Parents,
    /// The lifetime of the raised barrier.
    pub lives: While,
}

setters!(BarrierOptions {
    with_parents(parents: Parents),
    with_lives(lives: While),
});

/// A barrier on a path.
///
/// # Promises
///
/// * A [wait](Self::wait) passes only when the barrier is seen to be down, or when the incarnation that it waited for is
///   gone.
/// * Once that incarnation is gone the wait does pass, even if the barrier is raised again at once.
/// * No wait leaks a watch.
///
/// Not promised: arbitration between several controllers (use a [`Lock`](crate::Lock)).
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
    /// [`Error::is_bad_input`]: the path is not absolute, is the root, lies in ZooKeeper's own directory, or
    /// violates ZooKeeper's path rules.
    pub fn new(zk: &Z, path: &str, options: BarrierOptions) -> Result<Self, Error> {
        path::validate_directory(path)?;
        path::validate_size(zk.max_request_bytes(), path, &[])?;
        Ok(Barrier { zk: zk.clone(), path: path.to_owned(), options })
    }

    /// Raises the barrier; succeeds if it is up already, with whatever lifetime.
    ///
    /// # Cancellation
    ///
    /// The outcome of a dropped call is unknown: raise or lower the barrier again.
    ///
    /// # When the connection is lost
    ///
    /// The create is retried: an existing znode is success.
    ///
    /// # Errors
    ///
    /// [`Error::is_outcome_unknown`]: the session is over, or a reply was lost and the server then refused the retry.
    /// [`Error::is_denied`]; with [`Parents::MustExist`] also [`Error::is_no_node`].
    pub async fn raise(&self) -> Result<(), Error> {
        operation!(&self.zk, RECIPE, "raise", &self.path).of(self.create()).await
    }

    async fn create(&self) -> Result<(), Error> {
        let mode = match self.options.lives {
            While::Permanent => CreateMode::Persistent,
            While::SessionLives => CreateMode::Ephemeral,
        };
        let (mut is_missing, mut doubt) = (false, Doubt::default());
        loop {
            let status = connected(&self.zk).await?;
            // Pipelined: missing levels if there are any, the create.
            let making = match is_missing {
                true => Some(self.options.parents.make_for(&self.zk, &self.path)?),
                false => None,
            };
            let create = self.zk.create(&self.path, &[], mode);
            match behind(making, create).await.map_err(|e| doubt.about(e))? {
                Ok(_) | Err(Error { kind: ErrorKind::NodeExists, .. }) => return Ok(()),
                Err(e) if e.is_no_node() => is_missing = true,
                Err(e) => doubt.again(&self.zk, status, e).await?,
            }
        }
    }

    /// Lowers the barrier; succeeds if it is down already.
    ///
    /// # Cancellation
    ///
    /// The outcome of a dropped call is unknown: lower the barrier again.
    ///
    /// # When the connection is lost
    ///
    /// The delete is retried: an absent znode is success.
    ///
    /// # Errors
    ///
    /// [`Error::is_outcome_unknown`]: the session is over, or a reply was lost and the server then refused the retry.
    /// [`Error::is_denied`]; [`Error::is_not_empty`] if another client has created znodes below it.
    pub async fn lower(&self) -> Result<(), Error> {
        operation!(&self.zk, RECIPE, "lower", &self.path).of(self.delete()).await
    }

    async fn delete(&self) -> Result<(), Error> {
        present(until_written(&self.zk, || self.zk.delete(&self.path, None)).await).map(drop)
    }

    /// Waits until the barrier that is up now has gone; returns at once if it is down.
    ///
    /// "Now" is the state of the answering server, whose reads may be stale.
    ///
    /// # Cancellation
    ///
    /// Dropping the future removes its watch. A future that is left unpolled holds up no other call.
    ///
    /// # When the connection is lost
    ///
    /// The watch is armed again after the reconnect, and reports what happened in between.
    ///
    /// # With a limit
    ///
    /// When it is over, the error is [`Error::is_timed_out`].
    ///
    /// # Errors
    ///
    /// [`Error::is_session_over`]: the state of the barrier is unknown then. [`Error::is_denied`].
    pub fn wait(&self) -> Call<Z, impl Work<Output = Result<(), Error>>> {
        Call::new(&self.zk, |until| {
            operation!(&self.zk, RECIPE, "wait", &self.path).of(within(&self.zk, until, self.passing()))
        })
    }

    async fn passing(&self) -> Result<(), Error> {
        let mut waited_for = None;
        loop {
            let Some((czxid, watch)) = self.look().await? else { return Ok(()) };
            // Another incarnation: the one waited for has gone.
            if *waited_for.get_or_insert(czxid) != czxid {
                return Ok(());
            }
            // Only the deletion of this incarnation lets the wait pass; any other event calls for another read.
            observe::waits(&self.path);
            if watch.await?.kind == EventKind::NodeDeleted {
                return Ok(());
            }
        }
    }

    /// Waits until the barrier is seen to be down: a wait that finds it raised again continues, so repeated raising may
    /// starve it.
    ///
    /// # Cancellation
    ///
    /// As [`wait`](Self::wait).
    ///
    /// # When the connection is lost
    ///
    /// As [`wait`](Self::wait).
    ///
    /// # With a limit
    ///
    /// When it is over, the error is [`Error::is_timed_out`].
    ///
    /// # Errors
    ///
    /// As [`wait`](Self::wait).
    pub fn wait_until_down(&self) -> Call<Z, impl Work<Output = Result<(), Error>>> {
        Call::new(&self.zk, |until| {
            operation!(&self.zk, RECIPE, "wait_until_down", &self.path).of(within(
                &self.zk,
                until,
                self.finding_it_down(),
            ))
        })
    }

    async fn finding_it_down(&self) -> Result<(), Error> {
        while let Some((_, watch)) = self.look().await? {
            observe::waits(&self.path);
            watch.await?;
        }
        Ok(())
    }

    /// Step 2: returns the incarnation, with a watch on its deletion. A child watch: on an absent znode it arms nothing,
    /// and a write to the barrier wakes no waiter.
    async fn look(&self) -> Result<Option<(i64, Z::Watch)>, Error> {
        let found = present(until_answered(&self.zk, || self.zk.children_watch(&self.path)).await)?;
        Ok(found.map(|(listing, watch)| (listing.stat.czxid, watch)))
    }
}
