//! The double barrier of ZooKeeper's recipes page, mended until it holds on a calm network, so that one step can be exchanged
//! for a wrong one.
//!
//! What is mended: each round has a directory of its own; `ready` does not count, its presence is looked at, and the last to
//! leave takes it along.
//!
//! 1. Enter: `exists(ready)` with a watch; create an ephemeral znode; list. Enough: create `ready`, and in. Otherwise wait
//!    for `ready`, unless it was there.
//! 2. Leave: list. Nobody: out. We alone: delete our znode and `ready`, and out. We the lowest: wait for the end of the
//!    highest. Otherwise delete our znode and wait for the end of the lowest. List again.

use crate::barrier::mutants::bend::{connected, lost};
use crate::double_barrier::workload::{Meeting, Place, Setup, object};
use futures_util::FutureExt;
use futures_util::future::{Either, Shared, select};
use std::future::Future;
use std::marker::PhantomData;
use std::pin::pin;
use std::time::Duration;
use zk_checker::history::{Names, Object, ObjectId};
use zk_harness::target::Setting;
use zk_recipes::zk::{Armed, CreateMode, Duty, Error, EventKind, Op, ZooKeeper, path};
use zk_recipes::{Leave, Reuse};

/// The steps that may be wrong.
pub trait Bend: Send + Sync + 'static {
    /// Whether each round has a directory of its own.
    const FRESH_PATH: bool = true;
    /// Whether `ready` is left out of the count.
    const READY_IS_NOBODY: bool = true;
    /// How many may be missing.
    const MISSING: usize = 0;
    /// Whether the last to leave takes `ready` along.
    const READY_GOES: bool = true;
    /// Whether there is a `ready` at all.
    const HAS_READY: bool = true;
    /// Whether only `ready` ends the wait.
    const ONLY_READY: bool = true;
    /// Whether who leaves waits for the others.
    const LEAVE_WAITS: bool = true;
    /// Whether each phase has a watch of its own.
    const OWN_WATCHES: bool = true;
    /// Whether the znode is deleted that was made.
    const DELETES_ITS_OWN: bool = true;
    /// Whether only the lowest is waited for, and not the whole directory.
    const WATCHES_ONE: bool = true;
}

const PATH: &str = "/steps/all";

fn setup(setting: &Setting) -> Setup {
    let participants = usize::from(setting.clients);
    let (object, reuse, leave) = (ObjectId(0), Reuse::Generations, Leave::Keeper);
    Setup { path: PATH, object, participants, reuse, leave }
}

/// One double barrier, for all clients.
pub fn objects(names: &mut Names, setting: &Setting) -> Vec<Object> {
    vec![object(names, &setup(setting))]
}

/// The bent double barrier.
pub struct Bent<Z: ZooKeeper, B> {
    zk: Z,
    directory: String,
    participants: usize,
    round: u32,
    bend: PhantomData<B>,
}

/// A place in it.
pub struct Inside<Z: ZooKeeper, B> {
    zk: Z,
    directory: String,
    round: u32,
    /// The znode that was asked for, and the one that was made.
    asked: String,
    own: String,
    armed: Option<Armed>,
    ready: Option<Shared<Z::Watch>>,
    bend: PhantomData<fn() -> B>,
}

impl<Z: ZooKeeper, B: Bend> Bent<Z, B> {
    fn ready(&self) -> String {
        path::join(&self.directory, "ready")
    }

    async fn register(&self, asked: &str) -> Result<String, Error> {
        let zk = &self.zk;
        let mode = if B::DELETES_ITS_OWN { CreateMode::Ephemeral } else { CreateMode::EphemeralSequential };
        loop {
            let status = connected(zk).await?;
            match zk.create(asked, &[], mode).await {
                Ok(created) => return Ok(created.path),
                Err(Error::NodeExists) => return Ok(asked.to_owned()),
                Err(Error::NoNode) => {
                    for level in ["/steps", PATH, &self.directory] {
                        let _ = zk.create(level, &[], CreateMode::Persistent).await;
                    }
                }
                Err(Error::ConnectionLoss) => lost(zk, status).await?,
                Err(e) => return Err(e),
            }
        }
    }

    async fn enter_without_limit(&self) -> Result<Inside<Z, B>, Error> {
        let zk = &self.zk;
        let asked = path::join(&self.directory, &format!("{}-member-", zk.guid()));
        let armed = zk.arm(Duty::Path(asked.clone()));
        let mut inside = Inside {
            zk: zk.clone(),
            directory: self.directory.clone(),
            round: self.round,
            own: asked.clone(),
            asked,
            armed: Some(armed),
            ready: None,
            bend: PhantomData,
        };
        let began = zk.status();
        let mut seen = if B::HAS_READY { self.look().await? } else { (false, None) };
        inside.own = self.register(&inside.asked).await?;
        loop {
            let status = connected(zk).await?;
            // Without `ready` the children themselves are watched.
            let list = match B::HAS_READY {
                true => zk.children(&self.directory).await.map(|list| (list, None)),
                false => zk.children_watch(&self.directory).await.map(|(list, watch)| (list, Some(watch))),
            };
            let (list, children) = match list {
                Ok(answer) => answer,
                Err(Error::ConnectionLoss) => {
                    lost(zk, status).await?;
                    continue;
                }
                Err(e) => return Err(e),
            };
            let counts = |name: &&String| *name != "ready" || !B::READY_IS_NOBODY;
            if list.names.iter().filter(counts).count() + B::MISSING >= self.participants {
                if B::HAS_READY {
                    let create = zk.create(&self.ready(), &[], CreateMode::Persistent);
                    if B::OWN_WATCHES {
                        match create.await {
                            Ok(_) | Err(Error::NodeExists) => {}
                            Err(Error::ConnectionLoss) => {
                                lost(zk, status).await?;
                                continue;
                            }
                            Err(e) => return Err(e),
                        }
                    }
                }
                inside.ready = seen.1.filter(|_| !B::OWN_WATCHES).map(FutureExt::shared);
                return Ok(inside);
            }
            if let Some(children) = children {
                children.await?;
                continue;
            }
            // Wait for `ready`, unless it was there.
            while !seen.0 {
                let status = if B::ONLY_READY { zk.status() } else { began };
                let Some(watch) = seen.1.take() else {
                    seen = self.look().await?;
                    continue;
                };
                let event = match select(watch, pin!(zk.changed(status))).await {
                    Either::Left((event, _)) => Some(event?),
                    Either::Right((now, watch)) => {
                        if let Some(over) = now.over() {
                            return Err(over);
                        }
                        seen.1 = Some(watch);
                        None
                    }
                };
                let is_ready = event.is_some_and(|event| event.kind == EventKind::NodeCreated);
                seen.0 |= is_ready || !B::ONLY_READY;
            }
            return Ok(inside);
        }
    }

    /// Whether `ready` is there, and a watch on it.
    async fn look(&self) -> Result<(bool, Option<Z::Watch>), Error> {
        loop {
            let status = connected(&self.zk).await?;
            match self.zk.exists_watch(&self.ready()).await {
                Ok((stat, watch)) => return Ok((stat.is_some(), Some(watch))),
                Err(Error::ConnectionLoss) => lost(&self.zk, status).await?,
                Err(e) => return Err(e),
            }
        }
    }
}

impl<Z: ZooKeeper, B: Bend> Inside<Z, B> {
    async fn leave_without_limit(&mut self) -> Result<(), Error> {
        let zk = self.zk.clone();
        if let Some(ready) = self.ready.take() {
            // One watcher for both phases: whatever it tells means that all are out.
            let deleting = zk.delete(&self.asked, None);
            ready.await?;
            drop(deleting);
            return Ok(());
        }
        if !B::LEAVE_WAITS {
            return self.delete().await;
        }
        let own = path::split(&self.own).1.to_owned();
        loop {
            let status = connected(&zk).await?;
            let mut names = match zk.children(&self.directory).await {
                Ok(list) => list.names,
                Err(Error::NoNode) => return Ok(()),
                Err(Error::ConnectionLoss) => {
                    lost(&zk, status).await?;
                    continue;
                }
                Err(e) => return Err(e),
            };
            names.retain(|name| name != "ready");
            names.sort();
            let is_there = names.contains(&own) && B::DELETES_ITS_OWN;
            let (Some(lowest), Some(highest)) = (names.first(), names.last()) else {
                if !B::WATCHES_ONE {
                    // Nobody knows that it is the last.
                    let _ = zk.delete(&path::join(&self.directory, "ready"), None).await;
                }
                return Ok(());
            };
            if names.len() == 1 && is_there {
                let mut ops = vec![Op::Delete { path: self.own.clone(), version: None }];
                if B::READY_GOES && B::HAS_READY {
                    ops.push(Op::Delete { path: path::join(&self.directory, "ready"), version: None });
                }
                match zk.multi(ops).await {
                    Err(Error::ConnectionLoss) => lost(&zk, status).await?,
                    Ok(_) => return Ok(()),
                    Err(_) => self.delete().await?,
                }
                continue;
            }
            // The lowest keeps the others.
            let keeps = is_there && *lowest == own && B::WATCHES_ONE;
            if !keeps && (is_there || !B::DELETES_ITS_OWN) {
                self.delete().await?;
            }
            let awaited = match B::WATCHES_ONE {
                true => path::join(&self.directory, if keeps { highest } else { lowest }),
                false => self.directory.clone(),
            };
            match zk.children_watch(&awaited).await {
                Ok((list, _)) if !B::WATCHES_ONE && list.names.iter().all(|name| name == "ready") => {}
                Ok((_, watch)) => drop(watch.await?),
                Err(Error::NoNode) => {}
                Err(Error::ConnectionLoss) => lost(&zk, status).await?,
                Err(e) => return Err(e),
            }
        }
    }

    async fn delete(&mut self) -> Result<(), Error> {
        loop {
            let status = connected(&self.zk).await?;
            match self.zk.delete(&self.asked, None).await {
                // "If it still exists".
                Ok(()) | Err(Error::NoNode) => {
                    if let Some(armed) = self.armed.take() {
                        armed.done();
                    }
                    return Ok(());
                }
                Err(Error::ConnectionLoss) => lost(&self.zk, status).await?,
                Err(e) => return Err(e),
            }
        }
    }
}

impl<Z: ZooKeeper, B: Bend> Meeting<Z> for Bent<Z, B> {
    type Place = Inside<Z, B>;
    const MAY_GIVE_UP: bool = false;

    fn setup(setting: &Setting, _: u32) -> Setup {
        setup(setting)
    }

    fn on(zk: &Z, setup: &Setup, _: Option<String>, round: u32) -> Result<Self, Error> {
        let directory = if B::FRESH_PATH { format!("{}/{round}", setup.path) } else { setup.path.to_owned() };
        Ok(Bent { zk: zk.clone(), directory, participants: setup.participants, round, bend: PhantomData })
    }

    async fn enter(&self, limit: Duration) -> Result<Inside<Z, B>, Error> {
        let until = self.zk.now() + limit;
        match select(pin!(self.enter_without_limit()), pin!(self.zk.sleep_until(until))).await {
            Either::Left((result, _)) => result,
            Either::Right(_) => Err(Error::TimedOut),
        }
    }
}

impl<Z: ZooKeeper, B: Bend> Place for Inside<Z, B> {
    fn opening(&self) -> (u64, String) {
        (self.round.into(), String::new())
    }

    fn lost(&self) -> impl Future<Output = ()> + Send {
        std::future::pending()
    }

    async fn leave(mut self, _: Option<Duration>) -> Result<(), Error> {
        self.leave_without_limit().await
    }
}
