//! A copy of the lock, and of the shared lock without its downgrade, in which a [`Mutation`] makes one step wrong.
//!
//! The steps are those of `zk_recipes::lock`, in their plainest form. All steps but the mutated one are right, so that
//! a run shows the effect of the wrong step alone.

use crate::copies::{connected, lost, make_all};
use crate::lock::workload::Exclusive;
use crate::prelude::*;
use futures_util::future::{Either, select};
use std::pin::pin;
use std::sync::OnceLock;
use std::time::Duration;
use zk_recipes::zk::duty::settle;
use zk_recipes::zk::{Armed, CreateMode, Duty, State, Status, path};
use zk_recipes::{LostReason, Released, Stop};

/// The steps that can be wrong.
pub struct Mutation {
    /// The znode's name begins with the attempt's guid, by which the client finds it after a lost reply.
    pub guid: bool,
    /// The client writes before it lists the children to look for its znode.
    pub settles: bool,
    /// The znode that a waiter watches.
    pub watches: Watches,
    /// A waiter polls instead of watching.
    pub polls: bool,
    /// A woken waiter lists again before it holds.
    pub looks_again: bool,
    /// A waiter lists again if its predecessor is already gone when it sets the watch.
    pub sees_that_it_is_gone: bool,
    /// The effect of a time limit.
    pub limit: Limit,
    /// The holder stops when its session may be over.
    pub stops: bool,
    /// The holder retries a failed delete.
    pub tries_until_certain: bool,
    /// The fencing token is the number at the end of the name.
    pub number_is_token: bool,
    /// Each write has a clone of the guard, and deletes the znode when it drops the clone.
    pub drops_a_clone: bool,
    /// The order of the waiters.
    pub rank: fn(&str) -> Option<&str>,
    /// The name for which the contender named `own` waits, among the listed names.
    pub ahead: for<'a> fn(mutation: &Mutation, own: &str, names: &'a [String]) -> Option<&'a String>,
}

impl Mutation {
    /// No wrong step.
    pub const RIGHT: Mutation = Mutation {
        guid: true,
        settles: true,
        watches: Watches::Nearest,
        polls: false,
        looks_again: true,
        sees_that_it_is_gone: true,
        limit: Limit::Kept,
        stops: true,
        tries_until_certain: true,
        number_is_token: false,
        drops_a_clone: false,
        rank: number,
        ahead: nearest,
    };
}

/// The znode that a waiter watches.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Watches {
    /// The predecessor's.
    Nearest,
    /// The first contender's.
    First,
    /// The directory.
    Directory,
}

/// The effect of a caller's time limit.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// It counts from the call.
    Kept,
    /// It counts from the last wake-up.
    Renewed,
    /// At its end the waiter believes that it holds the lock.
    Overlooked,
    /// At its end the waiter believes that the first contender is dead, and deletes its znode.
    Forced,
}

/// The copy.
#[derive(Clone)]
pub struct MutantLock<Z: ZooKeeper> {
    zk: Z,
    directory: &'static str,
    mutation: &'static Mutation,
}

/// The copy, held.
pub struct Guard<Z: ZooKeeper> {
    place: OwnZnode<Z>,
    mutation: &'static Mutation,
    /// Why it is lost, once it has been notified.
    lost: OnceLock<LostReason>,
}

struct OwnZnode<Z: ZooKeeper> {
    zk: Z,
    path: String,
    czxid: i64,
    armed: Option<Armed>,
}

/// Names of the children, and the connection over which the client listed them.
struct Look {
    names: Vec<String>,
    connection: u32,
}

impl<Z: ZooKeeper> MutantLock<Z> {
    /// A lock on that directory.
    pub fn new(zk: &Z, directory: &'static str, mutation: &'static Mutation) -> Self {
        MutantLock { zk: zk.clone(), directory, mutation }
    }

    /// Joins under a name with that prefix.
    async fn join(&self, mark: &str) -> Result<(OwnZnode<Z>, Option<Look>), Error> {
        let zk = &self.zk;
        let guid = zk.guid().to_string();
        let name = if self.mutation.guid { format!("{guid}-{mark}-") } else { format!("{mark}-") };
        let prefix = path::join(self.directory, &name);
        loop {
            let status = connected(zk).await?;
            let duty = Duty::Guid {
                directory: self.directory.to_owned(),
                guid: guid.clone(),
                connection: status.connection,
            };
            let mut armed = zk.arm(duty);
            let create = zk.create(&prefix, &[], CreateMode::EphemeralSequential);
            let list = zk.children(self.directory);
            match create.await {
                Ok(created) => {
                    armed.narrow(Duty::Path(created.path.clone()));
                    let czxid = created.stat.czxid;
                    let place = OwnZnode { zk: zk.clone(), path: created.path, czxid, armed: Some(armed) };
                    let look = match list.await {
                        Ok(listing) => Some(Look { names: listing.names, connection: status.connection }),
                        Err(e) if e.is_connection_loss() => None,
                        Err(e) => return Err(e),
                    };
                    return Ok((place, look));
                }
                Err(e) if e.is_no_node() => make_all(zk, self.directory).await?,
                Err(e) if e.is_connection_loss() && self.mutation.guid => {
                    lost(zk, status).await?;
                    if let Some((path, czxid)) = self.find(&guid).await? {
                        armed.narrow(Duty::Path(path.clone()));
                        return Ok((OwnZnode { zk: zk.clone(), path, czxid, armed: Some(armed) }, None));
                    }
                }
                // Without a guid the client cannot look for its znode.
                Err(e) if e.is_connection_loss() => lost(zk, status).await?,
                Err(e) => return Err(e),
            }
            armed.done();
        }
    }

    async fn find(&self, guid: &str) -> Result<Option<(String, i64)>, Error> {
        let zk = &self.zk;
        loop {
            let status = connected(zk).await?;
            let settled = self.mutation.settles.then(|| settle(zk, self.directory));
            let list = zk.children(self.directory);
            if let Some(settled) = settled
                && settled.await.is_err_and(|e| e.is_connection_loss())
            {
                lost(zk, status).await?;
                continue;
            }
            let names = match list.await {
                Ok(listing) => listing.names,
                Err(e) if e.is_no_node() => return Ok(None),
                Err(e) if e.is_connection_loss() => {
                    lost(zk, status).await?;
                    continue;
                }
                Err(e) => return Err(e),
            };
            let Some(name) = names.iter().find(|name| name.contains(guid)) else { return Ok(None) };
            let path = path::join(self.directory, name);
            match zk.exists(&path).await {
                Ok(Some(stat)) if stat.ephemeral_owner == zk.session() => {
                    return Ok(Some((path, stat.czxid)));
                }
                Ok(_) => {}
                Err(e) if e.is_connection_loss() => lost(zk, status).await?,
                Err(e) => return Err(e),
            }
        }
    }

    /// Lists the contenders; `None` if the connection was lost meanwhile.
    async fn look(&self, own: &str, status: Status) -> Result<Option<Look>, Error> {
        match self.zk.children(self.directory).await {
            Ok(listing) => Ok(Some(Look { names: listing.names, connection: status.connection })),
            Err(e) if e.is_no_node() => Err(ErrorKind::Removed(own.to_owned()).into()),
            Err(e) if e.is_connection_loss() => lost(&self.zk, status).await.map(|()| None),
            Err(e) => Err(e),
        }
    }

    /// Waits until it is the first contender, or gives up after the first list unless it `waits`. `patience` is the
    /// limit between two wake-ups.
    async fn turn(
        &self,
        own: &str,
        mut look: Option<Look>,
        waits: bool,
        patience: Option<Duration>,
    ) -> Result<bool, Error> {
        let (zk, mutation, own_name) = (&self.zk, self.mutation, path::split(own).1);
        loop {
            let status = connected(zk).await?;
            if look.is_none() {
                look = self.look(own, status).await?;
            }
            let Some(look) = look.take() else { continue };
            if !look.names.iter().any(|name| name == own_name) {
                return Err(ErrorKind::Removed(own.to_owned()).into());
            }
            let Some(ahead) = (mutation.ahead)(mutation, own_name, &look.names) else {
                let now = zk.status();
                if now.is_connected() && now.connection == look.connection {
                    return Ok(true);
                }
                continue;
            };
            if !waits {
                return Ok(false);
            }
            if !mutation.polls
                && self.wait(status, &look.names, ahead, patience).await?
                && !mutation.looks_again
                && zk.status().is_connected()
            {
                return Ok(true);
            }
        }
    }

    /// Watches, and waits for the notification; false if there is none to wait for.
    async fn wait(
        &self,
        status: Status,
        names: &[String],
        ahead: &String,
        patience: Option<Duration>,
    ) -> Result<bool, Error> {
        let (zk, mutation) = (&self.zk, self.mutation);
        let watched = match mutation.watches {
            Watches::Nearest => path::join(self.directory, ahead),
            Watches::First => path::join(self.directory, mutation.first(names).unwrap_or(ahead)),
            Watches::Directory => self.directory.to_owned(),
        };
        match zk.children_watch(&watched).await {
            // The predecessor may go between the list and the watch: then the reply, which lists the directory's
            // children, lacks it.
            Ok((listing, watch))
                if mutation.watches != Watches::Directory || listing.names.contains(ahead) =>
            {
                let Some(patience) = patience else { return watch.await.map(|_| true) };
                let timer = zk.sleep_until(zk.now() + patience);
                match select(watch, pin!(timer)).await {
                    Either::Left((event, _)) => event.map(|_| true),
                    Either::Right(_) => Err(ErrorKind::TimedOut.into()),
                }
            }
            Err(e) if e.is_no_node() && !mutation.sees_that_it_is_gone => std::future::pending().await,
            Ok(_) => Ok(false),
            Err(e) if e.is_no_node() => Ok(false),
            Err(e) if e.is_connection_loss() => lost(zk, status).await.map(|()| false),
            Err(e) => Err(e),
        }
    }

    /// Joins under a name with that prefix, and waits as the call demands.
    pub async fn take_as(&self, mark: &str, call: Call) -> Result<Option<Guard<Z>>, Error> {
        match call.verb {
            Verb::TryAcquire | Verb::TryRead | Verb::TryWrite => self.try_enter(mark).await,
            _ if call.limit.is_zero() => self.enter(mark, None).await.map(Some),
            _ => self.enter_within(mark, call.limit).await.map(Some),
        }
    }

    fn guard(&self, place: OwnZnode<Z>) -> Guard<Z> {
        Guard { place, mutation: self.mutation, lost: OnceLock::new() }
    }

    async fn enter(&self, mark: &str, patience: Option<Duration>) -> Result<Guard<Z>, Error> {
        let (place, look) = self.join(mark).await?;
        self.turn(&place.path, look, true, patience).await?;
        Ok(self.guard(place))
    }

    async fn enter_within(&self, mark: &str, limit: Duration) -> Result<Guard<Z>, Error> {
        let timer = self.zk.sleep_until(self.zk.now() + limit);
        match select(pin!(self.enter(mark, None)), pin!(timer)).await {
            Either::Left((result, _)) => result,
            Either::Right(_) => {
                if self.mutation.limit == Limit::Forced {
                    self.break_in().await?;
                }
                Err(ErrorKind::TimedOut.into())
            }
        }
    }

    async fn try_enter(&self, mark: &str) -> Result<Option<Guard<Z>>, Error> {
        let (place, look) = self.join(mark).await?;
        let is_ours = self.turn(&place.path, look, false, None).await?;
        Ok(is_ours.then_some(self.guard(place)))
    }

    /// Waits for a limited time, and holds whether or not the lock was granted.
    async fn enter_anyway(&self, limit: Duration) -> Result<Guard<Z>, Error> {
        let timer = self.zk.sleep_until(self.zk.now() + limit);
        let (place, look) = self.join("lock").await?;
        match select(pin!(self.turn(&place.path, look, true, None)), pin!(timer)).await {
            Either::Left((turn, _)) => drop(turn?),
            Either::Right(_) => {}
        }
        Ok(self.guard(place))
    }

    /// Deletes the znode of the first contender.
    async fn break_in(&self) -> Result<(), Error> {
        let names = self.zk.children(self.directory).await?.names;
        if let Some(first) = self.mutation.first(&names) {
            let _ = self.zk.delete(&path::join(self.directory, first), None).await;
        }
        Ok(())
    }
}

impl Mutation {
    fn first<'a>(&self, names: &'a [String]) -> Option<&'a String> {
        names.iter().min_by_key(|name| (self.rank)(name))
    }
}

/// The contender just ahead.
fn nearest<'a>(mutation: &Mutation, own: &str, names: &'a [String]) -> Option<&'a String> {
    let rank = mutation.rank;
    names.iter().filter(|name| rank(name) < rank(own)).max_by_key(|name| rank(name))
}

/// The number at the end of a name.
pub fn number(name: &str) -> Option<&str> {
    name.rsplit('-').next()
}

impl<Z: ZooKeeper> Exclusive for MutantLock<Z> {
    type Guard = Guard<Z>;

    async fn take(&self, call: Call) -> Result<Option<Guard<Z>>, Error> {
        let has_limit = !call.limit.is_zero();
        match self.mutation.limit {
            Limit::Renewed if has_limit => self.enter("lock", Some(call.limit)).await.map(Some),
            Limit::Overlooked if has_limit => self.enter_anyway(call.limit).await.map(Some),
            _ => self.take_as("lock", call).await,
        }
    }
}

impl<Z: ZooKeeper> Held for Guard<Z> {
    fn token(&self) -> i64 {
        let number = number(&self.place.path).and_then(|number| number.parse().ok());
        if self.mutation.number_is_token { number.unwrap_or(0) } else { self.place.czxid }
    }

    fn fence(&self) -> i64 {
        if self.mutation.drops_a_clone {
            drop(self.place.zk.delete(&self.place.path, None));
        }
        self.token()
    }

    async fn lost(&self) -> Stop {
        if !self.mutation.stops {
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
            State::Over(_) => Stop::Lost(*self.lost.get_or_init(|| LostReason::SessionOver)),
            _ if zk.now() < deadline() => Stop::Suspect { until: deadline() },
            _ => Stop::Lost(*self.lost.get_or_init(|| LostReason::DeadlinePassed)),
        }
    }

    async fn release(mut self) -> Result<Released, Error> {
        let zk = self.place.zk.clone();
        loop {
            let status = connected(&zk).await?;
            match zk.delete(&self.place.path, None).await {
                Ok(()) => break,
                Err(e) if e.is_no_node() => break,
                Err(e) if e.is_connection_loss() && !self.mutation.tries_until_certain => break,
                Err(e) if e.is_connection_loss() => lost(&zk, status).await?,
                Err(e) => return Err(e),
            }
        }
        if let Some(armed) = self.place.armed.take() {
            armed.done();
        }
        Ok(self.lost.get().map_or(Released::Clean, |reason| Released::WasLost(*reason)))
    }
}
