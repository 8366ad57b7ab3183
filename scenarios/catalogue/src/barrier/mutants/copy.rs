//! A copy of the barrier, in which a [`Mutation`] makes one step wrong.
//!
//! Its waiters follow the steps of `zk_recipes::barrier`, in their plainest form; it is raised and lowered as the right
//! one is.

use crate::barrier::workload::{Gate, PATH, new};
use crate::copies::{connected, lost};
use futures_util::future::{Either, select};
use std::pin::pin;
use std::time::Duration;
use zk_checker::history::Verb;
use zk_recipes::zk::{Error, ErrorKind, EventKind, ZooKeeper};
use zk_recipes::{Barrier, While};

/// The steps that can be wrong.
pub struct Mutation {
    /// Only the end of the barrier lets a waiter pass.
    pub only_its_end: bool,
    /// A waiter who finds no barrier leaves no watch behind.
    pub no_watch_left: bool,
    /// The effect of the end of a waiter's session.
    pub end_of_session: EndOfSession,
    /// A waiter for one barrier passes when that barrier is deleted, even if another one stands by then.
    pub edge: bool,
}

impl Mutation {
    /// No wrong step.
    pub const RIGHT: Mutation =
        Mutation { only_its_end: true, no_watch_left: true, end_of_session: EndOfSession::Fails, edge: true };
}

/// The effect of the end of a waiter's session.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum EndOfSession {
    /// The wait fails.
    Fails,
    /// The waiter passes.
    Opens,
    /// The waiter is not notified.
    Unheard,
}

/// The copy.
#[derive(Clone)]
pub struct MutantBarrier<Z: ZooKeeper> {
    zk: Z,
    right: Barrier<Z>,
    mutation: &'static Mutation,
}

impl<Z: ZooKeeper> MutantBarrier<Z> {
    /// A barrier with that lifetime.
    pub fn new(zk: &Z, lives: While, mutation: &'static Mutation) -> Self {
        MutantBarrier { zk: zk.clone(), right: new(zk, lives), mutation }
    }

    async fn wait_without_limit(&self, verb: Verb) -> Result<(), Error> {
        let (zk, mutation) = (&self.zk, self.mutation);
        let mut waited_for = None;
        loop {
            let status = connected(zk).await?;
            let (stat, watch) = match zk.exists_watch(PATH).await {
                Ok(answer) => answer,
                Err(e) if e.is_connection_loss() => {
                    lost(zk, status).await?;
                    continue;
                }
                Err(e) => return Err(e),
            };
            let Some(stat) = stat else {
                if !mutation.no_watch_left {
                    // Like a client library that cannot remove a watch.
                    std::mem::forget(watch);
                }
                return Ok(());
            };
            if mutation.edge && verb == Verb::Wait && *waited_for.get_or_insert(stat.czxid) != stat.czxid {
                return Ok(());
            }
            let event = if mutation.only_its_end {
                watch.await
            } else {
                match select(watch, pin!(zk.changed(status))).await {
                    Either::Left((event, _)) => event,
                    Either::Right((now, _)) => return now.over().map_or(Ok(()), Err),
                }
            };
            match event {
                Ok(event) if !mutation.only_its_end => {
                    drop(event);
                    return Ok(());
                }
                Ok(event) if mutation.edge && verb == Verb::Wait && event.kind == EventKind::NodeDeleted => {
                    return Ok(());
                }
                Ok(_) => {}
                Err(e) => return Err(e),
            }
        }
    }
}

impl<Z: ZooKeeper> Gate for MutantBarrier<Z> {
    async fn raise(&self) -> Result<(), Error> {
        self.right.raise().await
    }

    async fn lower(&self) -> Result<(), Error> {
        self.right.lower().await
    }

    async fn wait(&self, verb: Verb, limit: Duration) -> Result<(), Error> {
        let until = self.zk.now() + limit;
        let waiting = async {
            match (self.wait_without_limit(verb).await, self.mutation.end_of_session) {
                (Err(e), EndOfSession::Opens) if e.is_session_over() => Ok(()),
                (Err(e), EndOfSession::Unheard) if e.is_session_over() => std::future::pending().await,
                (ended, _) => ended,
            }
        };
        match select(pin!(waiting), pin!(self.zk.sleep_until(until))).await {
            Either::Left((result, _)) => result,
            Either::Right(_) => Err(ErrorKind::TimedOut.into()),
        }
    }
}
