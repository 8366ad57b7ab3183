//! A copy of the barrier in which one step can be exchanged for a wrong one.
//!
//! The steps are those of `zk_recipes::barrier`, in their plainest form; [`Bend`] is what may differ.

use crate::barrier::workload::Gate;
use futures_util::future::{Either, select};
use std::marker::PhantomData;
use std::pin::pin;
use std::time::Duration;
use zk_checker::history::Verb;
use zk_recipes::zk::{Error, EventKind, Status, ZooKeeper};
use zk_recipes::{Barrier, BarrierOptions, Parents, While};

/// The steps that may be wrong.
pub trait Bend: Clone + Send + Sync + 'static {
    /// Whether only the end of the barrier lets anybody pass.
    const ONLY_ITS_END: bool = true;
    /// Whether a barrier that does not stand is left without a watch.
    const NO_WATCH_LEFT: bool = true;
    /// Whether the end of the session ends the wait.
    const ENDS_WITH_SESSION: bool = true;
    /// Whether the end of the session lets it pass.
    const END_OF_SESSION_OPENS: bool = false;
    /// Whether who waits for one barrier passes when that one has gone, whatever stands then.
    const EDGE: bool = true;
}

/// The bent barrier.
#[derive(Clone)]
pub struct Bent<Z: ZooKeeper, B> {
    zk: Z,
    path: String,
    right: Barrier<Z>,
    bend: PhantomData<B>,
}

impl<Z: ZooKeeper, B: Bend> Bent<Z, B> {
    async fn wait_without_limit(&self, verb: Verb) -> Result<(), Error> {
        let zk = &self.zk;
        let mut waited_for = None;
        loop {
            let status = connected(zk).await?;
            let (stat, watch) = match zk.exists_watch(&self.path).await {
                Ok(answer) => answer,
                Err(Error::ConnectionLoss) => {
                    lost(zk, status).await?;
                    continue;
                }
                Err(e) => return Err(e),
            };
            let Some(stat) = stat else {
                if !B::NO_WATCH_LEFT {
                    // As a client library does that has no way to take a watch back.
                    std::mem::forget(watch);
                }
                return Ok(());
            };
            if B::EDGE && verb == Verb::Wait && *waited_for.get_or_insert(stat.czxid) != stat.czxid {
                return Ok(());
            }
            let event = if B::ONLY_ITS_END {
                watch.await
            } else {
                match select(watch, pin!(zk.changed(status))).await {
                    Either::Left((event, _)) => event,
                    Either::Right((now, _)) => return now.over().map_or(Ok(()), Err),
                }
            };
            match event {
                Ok(event) if !B::ONLY_ITS_END => {
                    drop(event);
                    return Ok(());
                }
                Ok(event) if B::EDGE && verb == Verb::Wait && event.kind == EventKind::NodeDeleted => {
                    return Ok(());
                }
                Ok(_) => {}
                Err(e) => return Err(e),
            }
        }
    }
}

impl<Z: ZooKeeper, B: Bend> Gate<Z> for Bent<Z, B> {
    fn on(zk: &Z, path: &str, lives: While) -> Result<Self, Error> {
        let right = Barrier::new(zk, path, BarrierOptions { parents: Parents::Container, lives })?;
        Ok(Bent { zk: zk.clone(), path: path.to_owned(), right, bend: PhantomData })
    }

    async fn raise(&self) -> Result<(), Error> {
        self.right.raise().await
    }

    async fn lower(&self) -> Result<(), Error> {
        self.right.lower().await
    }

    async fn wait(&self, verb: Verb, limit: Duration) -> Result<(), Error> {
        let until = self.zk.now() + limit;
        let waiting = async {
            match self.wait_without_limit(verb).await {
                // It listens to the barrier alone.
                Err(e) if e.is_session_over() && B::END_OF_SESSION_OPENS => Ok(()),
                Err(e) if e.is_session_over() && !B::ENDS_WITH_SESSION => std::future::pending().await,
                ended => ended,
            }
        };
        match select(pin!(waiting), pin!(self.zk.sleep_until(until))).await {
            Either::Left((result, _)) => result,
            Either::Right(_) => Err(Error::TimedOut),
        }
    }
}

/// Waits until requests can leave.
pub async fn connected<Z: ZooKeeper>(zk: &Z) -> Result<Status, Error> {
    let mut status = zk.status();
    while !status.is_connected() {
        if let Some(over) = status.over() {
            return Err(over);
        }
        status = zk.changed(status).await;
    }
    Ok(status)
}

/// After a lost connection: waits for news of it.
pub async fn lost<Z: ZooKeeper>(zk: &Z, before: Status) -> Result<(), Error> {
    if zk.status() == before {
        zk.changed(before).await;
    }
    connected(zk).await.map(drop)
}
