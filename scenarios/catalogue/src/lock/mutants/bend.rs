//! A copy of the lock in which one step can be exchanged for a wrong one.
//!
//! The steps are those of `zk_recipes::lock`, in their plainest form; [`Bend`] is what may differ. What a bend does not
//! name stays right, so that a run shows what the wrong step alone does.

use crate::lock::workload::Exclusive;
use futures_util::future::{Either, select};
use std::future::Future;
use std::marker::PhantomData;
use std::pin::pin;
use std::time::Duration;
use zk_harness::holding::Held;
use zk_recipes::zk::duty::settle;
use zk_recipes::zk::{Armed, CreateMode, Duty, Error, State, Status, ZooKeeper, path};
use zk_recipes::{LostReason, Released, Stop};

/// The steps that may be wrong.
pub trait Bend: Clone + Send + Sync + 'static {
    /// Whether the znode's name begins with the attempt's guid, by which it is found after a lost reply.
    const GUID: bool = true;
    /// Whether a write goes ahead of the list in which it is looked for.
    const SETTLES: bool = true;
    /// What a waiter watches.
    const WATCHES: Watches = Watches::Nearest;
    /// Whether a waiter is told by a watch; else it looks again and again.
    const IS_TOLD: bool = true;
    /// Whether a waiter that was woken looks again before it holds.
    const LOOKS_AGAIN: bool = true;
    /// Whether it looks again if the one ahead is gone already when it is to be watched.
    const SEES_THAT_IT_IS_GONE: bool = true;
    /// What becomes of a time limit.
    const LIMIT: Limit = Limit::Kept;
    /// How it behaves as holder.
    const HABITS: Habits = Habits { stops: true, tries_until_certain: true, number_is_token: false };

    /// By what the line is in order.
    fn rank(name: &str) -> Option<&str> {
        number(name)
    }
}

/// What a waiter watches.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Watches {
    /// The znode just ahead, and only that one.
    Nearest,
    /// The first in line.
    First,
    /// The directory.
    Directory,
}

/// What becomes of a caller's time limit.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// It counts from the call.
    Kept,
    /// It counts from the last wake-up.
    Renewed,
    /// When it is over the lock is taken for granted.
    Overlooked,
    /// When it is over whoever stands first is taken for dead, and its znode is deleted.
    Forced,
}

/// How a holder behaves.
#[derive(Clone, Copy)]
pub struct Habits {
    /// Whether it stops when it must.
    pub stops: bool,
    /// Whether a delete that failed is sent again.
    pub tries_until_certain: bool,
    /// Whether the number at the end of the name is taken for the token.
    pub number_is_token: bool,
}

/// The bent lock.
pub struct Bent<Z: ZooKeeper, B> {
    zk: Z,
    directory: String,
    bend: PhantomData<B>,
}

impl<Z: ZooKeeper, B> Clone for Bent<Z, B> {
    fn clone(&self) -> Self {
        Bent { zk: self.zk.clone(), directory: self.directory.clone(), bend: PhantomData }
    }
}

/// The bent lock, held.
pub struct Guard<Z: ZooKeeper> {
    pub(crate) place: Place<Z>,
    pub(crate) habits: Habits,
}

pub(crate) struct Place<Z: ZooKeeper> {
    pub(crate) zk: Z,
    pub(crate) path: String,
    czxid: i64,
    armed: Option<Armed>,
}

/// Names of the children, and the connection over which they were asked for.
pub(crate) struct Look {
    pub(crate) names: Vec<String>,
    pub(crate) connection: u32,
}

impl<Z: ZooKeeper, B: Bend> Bent<Z, B> {
    /// Joins the line under a name with that mark.
    pub(crate) async fn join(&self, mark: &str) -> Result<(Place<Z>, Option<Look>), Error> {
        let zk = &self.zk;
        let guid = zk.guid().to_string();
        let name = if B::GUID { format!("{guid}-{mark}-") } else { format!("{mark}-") };
        let prefix = path::join(&self.directory, &name);
        loop {
            let status = connected(zk).await?;
            let duty = Duty::Guid {
                directory: self.directory.clone(),
                guid: guid.clone(),
                connection: status.connection,
            };
            let mut armed = zk.arm(duty);
            let create = zk.create(&prefix, &[], CreateMode::EphemeralSequential);
            let list = zk.children(&self.directory);
            match create.await {
                Ok(created) => {
                    armed.narrow(Duty::Path(created.path.clone()));
                    let czxid = created.stat.czxid;
                    let place = Place { zk: zk.clone(), path: created.path, czxid, armed: Some(armed) };
                    let look = match list.await {
                        Ok(listing) => Some(Look { names: listing.names, connection: status.connection }),
                        Err(Error::ConnectionLoss) => None,
                        Err(e) => return Err(e),
                    };
                    return Ok((place, look));
                }
                Err(Error::NoNode) => make_all(zk, &self.directory).await?,
                Err(Error::ConnectionLoss) if B::GUID => {
                    lost(zk, status).await?;
                    if let Some((path, czxid)) = self.find(&guid).await? {
                        armed.narrow(Duty::Path(path.clone()));
                        return Ok((Place { zk: zk.clone(), path, czxid, armed: Some(armed) }, None));
                    }
                }
                // Without a guid there is nothing to look for.
                Err(Error::ConnectionLoss) => lost(zk, status).await?,
                Err(e) => return Err(e),
            }
            armed.done();
        }
    }

    async fn find(&self, guid: &str) -> Result<Option<(String, i64)>, Error> {
        let zk = &self.zk;
        loop {
            let status = connected(zk).await?;
            let settled = B::SETTLES.then(|| settle(zk, &self.directory));
            let list = zk.children(&self.directory);
            if let Some(settled) = settled
                && let Err(Error::ConnectionLoss) = settled.await
            {
                lost(zk, status).await?;
                continue;
            }
            let names = match list.await {
                Ok(listing) => listing.names,
                Err(Error::NoNode) => return Ok(None),
                Err(Error::ConnectionLoss) => {
                    lost(zk, status).await?;
                    continue;
                }
                Err(e) => return Err(e),
            };
            let Some(name) = names.iter().find(|name| name.contains(guid)) else { return Ok(None) };
            let path = path::join(&self.directory, name);
            match zk.exists(&path).await {
                Ok(Some(stat)) if stat.ephemeral_owner == zk.session() => {
                    return Ok(Some((path, stat.czxid)));
                }
                Ok(_) => {}
                Err(Error::ConnectionLoss) => lost(zk, status).await?,
                Err(e) => return Err(e),
            }
        }
    }

    /// Waits for its turn; `wait` or gives up at the first look. `patience` is how long it waits between two wake-ups.
    async fn turn(
        &self,
        own: &str,
        mut look: Option<Look>,
        wait: bool,
        patience: Option<Duration>,
    ) -> Result<bool, Error> {
        let (zk, own_name) = (&self.zk, path::split(own).1);
        loop {
            let status = connected(zk).await?;
            let look = match look.take() {
                Some(look) => look,
                None => match zk.children(&self.directory).await {
                    Ok(listing) => Look { names: listing.names, connection: status.connection },
                    Err(Error::NoNode) => return Err(Error::Removed(own.to_owned())),
                    Err(Error::ConnectionLoss) => {
                        lost(zk, status).await?;
                        continue;
                    }
                    Err(e) => return Err(e),
                },
            };
            if !look.names.iter().any(|name| name == own_name) {
                return Err(Error::Removed(own.to_owned()));
            }
            let ahead = || look.names.iter().filter(|name| B::rank(name) < B::rank(own_name));
            let Some(nearest) = ahead().max_by_key(|name| B::rank(name)) else {
                let now = zk.status();
                if now.is_connected() && now.connection == look.connection {
                    return Ok(true);
                }
                continue;
            };
            if !wait {
                return Ok(false);
            }
            if !B::IS_TOLD {
                continue;
            }
            let watched = match B::WATCHES {
                Watches::Nearest => path::join(&self.directory, nearest),
                Watches::First => {
                    let first = ahead().min_by_key(|name| B::rank(name)).unwrap_or(nearest);
                    path::join(&self.directory, first)
                }
                Watches::Directory => self.directory.clone(),
            };
            match zk.children_watch(&watched).await {
                // Between the list and the watch the one ahead may have gone: the directory's children are in the answer.
                Ok((listing, watch))
                    if B::WATCHES != Watches::Directory || listing.names.contains(nearest) =>
                {
                    match patience {
                        None => drop(watch.await?),
                        Some(patience) => {
                            let timer = zk.sleep_until(zk.now() + patience);
                            match select(watch, pin!(timer)).await {
                                Either::Left((event, _)) => drop(event?),
                                Either::Right(_) => return Err(Error::TimedOut),
                            }
                        }
                    }
                    if !B::LOOKS_AGAIN && zk.status().is_connected() {
                        return Ok(true);
                    }
                }
                Err(Error::NoNode) if !B::SEES_THAT_IT_IS_GONE => std::future::pending().await,
                Ok(_) | Err(Error::NoNode) => {}
                Err(Error::ConnectionLoss) => lost(zk, status).await?,
                Err(e) => return Err(e),
            }
        }
    }

    async fn enter(&self, wait: bool, patience: Option<Duration>) -> Result<Option<Guard<Z>>, Error> {
        let (place, look) = self.join("lock").await?;
        let is_ours = self.turn(&place.path, look, wait, patience).await?;
        Ok(is_ours.then_some(Guard { place, habits: B::HABITS }))
    }

    /// Deletes the first znode in line.
    async fn break_in(&self) -> Result<(), Error> {
        let names = self.zk.children(&self.directory).await?.names;
        if let Some(first) = names.iter().min_by_key(|name| B::rank(name)) {
            let _ = self.zk.delete(&path::join(&self.directory, first), None).await;
        }
        Ok(())
    }

    /// Waits for that long, and holds in any case.
    async fn enter_anyway(&self, limit: Duration) -> Result<Guard<Z>, Error> {
        let timer = self.zk.sleep_until(self.zk.now() + limit);
        let (place, look) = self.join("lock").await?;
        match select(pin!(self.turn(&place.path, look, true, None)), pin!(timer)).await {
            Either::Left((turn, _)) => drop(turn?),
            Either::Right(_) => {}
        }
        Ok(Guard { place, habits: B::HABITS })
    }
}

/// The number at the end of a name.
pub(crate) fn number(name: &str) -> Option<&str> {
    name.rsplit('-').next()
}

/// Waits until requests can leave.
pub(crate) async fn connected<Z: ZooKeeper>(zk: &Z) -> Result<Status, Error> {
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
pub(crate) async fn lost<Z: ZooKeeper>(zk: &Z, before: Status) -> Result<(), Error> {
    if zk.status() == before {
        zk.changed(before).await;
    }
    connected(zk).await.map(drop)
}

/// Makes a directory and whatever is missing above it, in one flight.
async fn make_all<Z: ZooKeeper>(zk: &Z, directory: &str) -> Result<(), Error> {
    let ends = directory.match_indices('/').map(|(at, _)| at).skip(1).chain([directory.len()]);
    let making: Vec<_> = ends.map(|end| zk.create(&directory[..end], &[], CreateMode::Container)).collect();
    for made in making {
        match made.await {
            Ok(_) | Err(Error::NodeExists | Error::ConnectionLoss | Error::NoNode) => {}
            Err(e) => return Err(e),
        }
    }
    Ok(())
}

impl<Z: ZooKeeper, B: Bend> Exclusive<Z> for Bent<Z, B> {
    type Guard = Guard<Z>;

    fn on(zk: &Z, directory: &str) -> Result<Self, Error> {
        Ok(Bent { zk: zk.clone(), directory: directory.to_owned(), bend: PhantomData })
    }

    async fn acquire(&self) -> Result<Guard<Z>, Error> {
        Ok(self.enter(true, None).await?.expect("it waits until it is its turn"))
    }

    async fn acquire_within(&self, limit: Duration) -> Result<Guard<Z>, Error> {
        match B::LIMIT {
            Limit::Kept | Limit::Forced => {}
            Limit::Renewed => {
                let granted = self.enter(true, Some(limit)).await?;
                return Ok(granted.expect("it waits until it is its turn"));
            }
            Limit::Overlooked => return self.enter_anyway(limit).await,
        }
        let timer = self.zk.sleep_until(self.zk.now() + limit);
        match select(pin!(self.acquire()), pin!(timer)).await {
            Either::Left((result, _)) => result,
            Either::Right(_) if B::LIMIT == Limit::Forced => {
                self.break_in().await?;
                Err(Error::TimedOut)
            }
            Either::Right(_) => Err(Error::TimedOut),
        }
    }

    fn try_acquire(&self) -> impl Future<Output = Result<Option<Guard<Z>>, Error>> + Send {
        self.enter(false, None)
    }
}

impl<Z: ZooKeeper> Held for Guard<Z> {
    fn token(&self) -> i64 {
        let number = number(&self.place.path).and_then(|number| number.parse().ok());
        if self.habits.number_is_token { number.unwrap_or(0) } else { self.place.czxid }
    }

    async fn lost(&self) -> Stop {
        if !self.habits.stops {
            return std::future::pending().await;
        }
        let zk = &self.place.zk;
        let mut status = zk.status();
        let deadline = || zk.safe_until().before(zk.timeout() / 10);
        while status.is_connected() && zk.now() < deadline() {
            let timer = zk.sleep_until(deadline());
            let _ = select(pin!(zk.changed(status)), pin!(timer)).await;
            status = zk.status();
        }
        match status.state {
            State::Over(_) => Stop::Lost(LostReason::SessionOver),
            _ => Stop::Lost(LostReason::DeadlinePassed),
        }
    }

    async fn release(mut self) -> Result<Released, Error> {
        let zk = self.place.zk.clone();
        loop {
            let status = connected(&zk).await?;
            match zk.delete(&self.place.path, None).await {
                Ok(()) | Err(Error::NoNode) => break,
                Err(Error::ConnectionLoss) if !self.habits.tries_until_certain => break,
                Err(Error::ConnectionLoss) => lost(&zk, status).await?,
                Err(e) => return Err(e),
            }
        }
        if let Some(armed) = self.place.armed.take() {
            armed.done();
        }
        Ok(Released::Clean)
    }
}
