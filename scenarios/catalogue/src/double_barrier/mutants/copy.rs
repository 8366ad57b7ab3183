//! The double barrier of ZooKeeper's recipes page, corrected until it is right on a fault-free network, in which a
//! [`Mutation`] makes one step wrong.
//!
//! The corrections: each round has a directory of its own; `ready` is not counted, clients check for its presence, and
//! the last client to leave deletes it.
//!
//! 1. Enter: `exists(ready)` with a watch; create an ephemeral znode; list. If there are enough znodes, create `ready`
//!    and return. Otherwise wait for `ready`, unless it existed.
//! 2. Leave: list. No znodes: return. Only ours: delete it and `ready`, and return. Ours the lowest: wait for the
//!    deletion of the highest. Otherwise delete ours and wait for the deletion of the lowest. List again.

use crate::copies::{connected, lost};
use crate::double_barrier::workload::{Meeting, Participation, Setup};
use futures_util::FutureExt;
use futures_util::future::{Either, Shared, select};
use std::future::Future;
use std::pin::pin;
use std::time::Duration;
use zk_recipes::zk::{Armed, CreateMode, Duty, Error, ErrorKind, EventKind, Op, ZooKeeper, path};

/// The steps that can be wrong.
pub struct Mutation {
    /// Each round has a directory of its own.
    pub fresh_path: bool,
    /// `ready` is not counted as a participant.
    pub ready_is_nobody: bool,
    /// The number of participants that may be missing.
    pub missing: usize,
    /// The last participant to leave deletes `ready`.
    pub ready_goes: bool,
    /// A `ready` znode exists.
    pub has_ready: bool,
    /// Only `ready` ends the wait.
    pub only_ready: bool,
    /// A leaving participant waits for the others.
    pub leave_waits: bool,
    /// Each phase has a watch of its own.
    pub own_watches: bool,
    /// Deletes the znode that was created, not the name that was asked for.
    pub deletes_its_own: bool,
    /// Waits for the lowest znode only, not for the whole directory.
    pub watches_one: bool,
}

impl Mutation {
    /// No wrong step.
    pub const RIGHT: Mutation = Mutation {
        fresh_path: true,
        ready_is_nobody: true,
        missing: 0,
        ready_goes: true,
        has_ready: true,
        only_ready: true,
        leave_waits: true,
        own_watches: true,
        deletes_its_own: true,
        watches_one: true,
    };
}

/// The copy.
pub struct MutantDoubleBarrier<Z: ZooKeeper> {
    zk: Z,
    root: &'static str,
    directory: String,
    participants: usize,
    round: u32,
    mutation: &'static Mutation,
}

/// A participant's place inside.
pub struct Inside<Z: ZooKeeper> {
    zk: Z,
    directory: String,
    round: u32,
    /// The znode that was asked for, and the one that was created.
    asked: String,
    own: String,
    armed: Option<Armed>,
    ready: Option<Shared<Z::Watch>>,
    mutation: &'static Mutation,
}

impl<Z: ZooKeeper> MutantDoubleBarrier<Z> {
    /// The double barrier of a round.
    pub fn new(zk: &Z, setup: &Setup, round: u32, mutation: &'static Mutation) -> Self {
        let root = setup.path;
        let directory = if mutation.fresh_path { format!("{root}/{round}") } else { root.to_owned() };
        let participants = setup.participants;
        MutantDoubleBarrier { zk: zk.clone(), root, directory, participants, round, mutation }
    }

    fn ready(&self) -> String {
        path::join(&self.directory, "ready")
    }

    async fn register(&self, asked: &str) -> Result<String, Error> {
        let (zk, mutation) = (&self.zk, self.mutation);
        let mode =
            if mutation.deletes_its_own { CreateMode::Ephemeral } else { CreateMode::EphemeralSequential };
        loop {
            let status = connected(zk).await?;
            match zk.create(asked, &[], mode).await {
                Ok(created) => return Ok(created.path),
                Err(e) if e.is_node_exists() => return Ok(asked.to_owned()),
                Err(e) if e.is_no_node() => {
                    for level in ["/steps", self.root, &self.directory] {
                        let _ = zk.create(level, &[], CreateMode::Persistent).await;
                    }
                }
                Err(e) if e.is_connection_loss() => lost(zk, status).await?,
                Err(e) => return Err(e),
            }
        }
    }

    async fn enter_without_limit(&self) -> Result<Inside<Z>, Error> {
        let (zk, mutation) = (&self.zk, self.mutation);
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
            mutation,
        };
        let began = zk.status();
        let mut seen = if mutation.has_ready { self.look().await? } else { (false, None) };
        inside.own = self.register(&inside.asked).await?;
        loop {
            let status = connected(zk).await?;
            // Without `ready` clients watch the children themselves.
            let list = if mutation.has_ready {
                zk.children(&self.directory).await.map(|list| (list, None))
            } else {
                zk.children_watch(&self.directory).await.map(|(list, watch)| (list, Some(watch)))
            };
            let (list, children) = match list {
                Ok(answer) => answer,
                Err(e) if e.is_connection_loss() => {
                    lost(zk, status).await?;
                    continue;
                }
                Err(e) => return Err(e),
            };
            let counts = |name: &&String| *name != "ready" || !mutation.ready_is_nobody;
            if list.names.iter().filter(counts).count() + mutation.missing >= self.participants {
                if mutation.has_ready {
                    let create = zk.create(&self.ready(), &[], CreateMode::Persistent);
                    if mutation.own_watches {
                        match create.await {
                            Ok(_) => {}
                            Err(e) if e.is_node_exists() => {}
                            Err(e) if e.is_connection_loss() => {
                                lost(zk, status).await?;
                                continue;
                            }
                            Err(e) => return Err(e),
                        }
                    }
                }
                inside.ready = seen.1.filter(|_| !mutation.own_watches).map(FutureExt::shared);
                return Ok(inside);
            }
            if let Some(children) = children {
                children.await?;
                continue;
            }
            // Wait for `ready`, unless it existed.
            while !seen.0 {
                let status = if mutation.only_ready { zk.status() } else { began };
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
                seen.0 |= is_ready || !mutation.only_ready;
            }
            return Ok(inside);
        }
    }

    /// Whether `ready` exists, and a watch on it.
    async fn look(&self) -> Result<(bool, Option<Z::Watch>), Error> {
        loop {
            let status = connected(&self.zk).await?;
            match self.zk.exists_watch(&self.ready()).await {
                Ok((stat, watch)) => return Ok((stat.is_some(), Some(watch))),
                Err(e) if e.is_connection_loss() => lost(&self.zk, status).await?,
                Err(e) => return Err(e),
            }
        }
    }
}

impl<Z: ZooKeeper> Inside<Z> {
    async fn leave_without_limit(&mut self) -> Result<(), Error> {
        let (zk, mutation) = (self.zk.clone(), self.mutation);
        if let Some(ready) = self.ready.take() {
            // One watcher for both phases: any notification means that all have left.
            let deleting = zk.delete(&self.asked, None);
            ready.await?;
            drop(deleting);
            return Ok(());
        }
        if !mutation.leave_waits {
            return self.delete().await;
        }
        let own = path::split(&self.own).1.to_owned();
        loop {
            let status = connected(&zk).await?;
            let mut names = match zk.children(&self.directory).await {
                Ok(list) => list.names,
                Err(e) if e.is_no_node() => return Ok(()),
                Err(e) if e.is_connection_loss() => {
                    lost(&zk, status).await?;
                    continue;
                }
                Err(e) => return Err(e),
            };
            names.retain(|name| name != "ready");
            names.sort();
            let is_there = names.contains(&own) && mutation.deletes_its_own;
            let (Some(lowest), Some(highest)) = (names.first(), names.last()) else {
                if !mutation.watches_one {
                    // No client knows that it is the last.
                    let _ = zk.delete(&path::join(&self.directory, "ready"), None).await;
                }
                return Ok(());
            };
            if names.len() == 1 && is_there {
                let mut ops = vec![Op::Delete { path: self.own.clone(), version: None }];
                if mutation.ready_goes && mutation.has_ready {
                    ops.push(Op::Delete { path: path::join(&self.directory, "ready"), version: None });
                }
                match zk.multi(ops).await {
                    Err(e) if e.is_connection_loss() => lost(&zk, status).await?,
                    Ok(_) => return Ok(()),
                    Err(_) => self.delete().await?,
                }
                continue;
            }
            // The lowest znode stays until the others are deleted.
            let keeps = is_there && *lowest == own && mutation.watches_one;
            if !keeps && (is_there || !mutation.deletes_its_own) {
                self.delete().await?;
            }
            let awaited = if mutation.watches_one {
                path::join(&self.directory, if keeps { highest } else { lowest })
            } else {
                self.directory.clone()
            };
            match zk.children_watch(&awaited).await {
                Ok((list, _)) if !mutation.watches_one && list.names.iter().all(|name| name == "ready") => {}
                Ok((_, watch)) => drop(watch.await?),
                Err(e) if e.is_no_node() => {}
                Err(e) if e.is_connection_loss() => lost(&zk, status).await?,
                Err(e) => return Err(e),
            }
        }
    }

    async fn delete(&mut self) -> Result<(), Error> {
        loop {
            let status = connected(&self.zk).await?;
            match self.zk.delete(&self.asked, None).await {
                Err(e) if e.is_connection_loss() => lost(&self.zk, status).await?,
                // "If it still exists".
                Err(e) if !e.is_no_node() => return Err(e),
                _ => {
                    if let Some(armed) = self.armed.take() {
                        armed.done();
                    }
                    return Ok(());
                }
            }
        }
    }
}

impl<Z: ZooKeeper> Meeting for MutantDoubleBarrier<Z> {
    type Participation = Inside<Z>;
    const MAY_GIVE_UP: bool = false;

    async fn enter(&self, limit: Duration) -> Result<Inside<Z>, Error> {
        let until = self.zk.now() + limit;
        match select(pin!(self.enter_without_limit()), pin!(self.zk.sleep_until(until))).await {
            Either::Left((result, _)) => result,
            Either::Right(_) => Err(ErrorKind::TimedOut.into()),
        }
    }
}

impl<Z: ZooKeeper> Participation for Inside<Z> {
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
