//! A copy of the shared lock in which one step can be exchanged for a wrong one.
//!
//! The steps are those of `zk_recipes::shared_lock`, in their plainest form, without the downgrade; [`BendShared`] is what
//! may differ. What a bend does not name stays right.

use crate::lock::mutants::bend::{self, Bend, Bent, Guard, Look, connected, lost, number};
use crate::shared_lock::workload::Shared;
use futures_util::future::{Either, select};
use std::future::Future;
use std::marker::PhantomData;
use std::pin::pin;
use std::time::Duration;
use zk_recipes::NotDowngraded;
use zk_recipes::zk::{Error, ZooKeeper, path};

/// The steps that may be wrong.
pub trait BendShared: Clone + Send + Sync + 'static {
    /// Of the names in a list, for whom a reader or writer waits; for nobody if it may enter.
    fn in_the_way<'a>(reads: bool, own: &str, names: &'a [String]) -> Option<&'a String> {
        nearest_ahead(reads, own, names)
    }

    /// Whether it looks again when that one has gone, before it enters.
    const LOOKS_AGAIN: bool = true;
}

/// The right one: of those ahead the nearest writer, and for a writer the nearest of any kind.
pub fn nearest_ahead<'a>(reads: bool, own: &str, names: &'a [String]) -> Option<&'a String> {
    ahead(own, names).filter(|name| !reads || is_writer(name)).max_by_key(|name| number(name))
}

/// Those with smaller numbers.
pub fn ahead<'a>(own: &str, names: &'a [String]) -> impl Iterator<Item = &'a String> {
    names.iter().filter(move |name| number(name) < number(own))
}

/// Whether a name is a writer's.
pub fn is_writer(name: &str) -> bool {
    name.contains("-write-")
}

/// All else is right.
#[derive(Clone)]
struct Right;

impl Bend for Right {}

/// The bent lock.
pub struct BentShared<Z: ZooKeeper, B> {
    zk: Z,
    directory: String,
    line: Bent<Z, Right>,
    bend: PhantomData<B>,
}

impl<Z: ZooKeeper, B> Clone for BentShared<Z, B> {
    fn clone(&self) -> Self {
        let (zk, directory, line) = (self.zk.clone(), self.directory.clone(), self.line.clone());
        BentShared { zk, directory, line, bend: PhantomData }
    }
}

impl<Z: ZooKeeper, B: BendShared> BentShared<Z, B> {
    /// Joins, and waits for its turn; `wait` or gives up at the first look.
    async fn enter(&self, reads: bool, wait: bool) -> Result<Option<Guard<Z>>, Error> {
        let (place, look) = self.line.join(if reads { "read" } else { "write" }).await?;
        let is_ours = self.turn(reads, &place.path, look, wait).await?;
        Ok(is_ours.then_some(Guard { place, habits: Right::HABITS }))
    }

    async fn turn(&self, reads: bool, own: &str, mut look: Option<Look>, wait: bool) -> Result<bool, Error> {
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
            let Some(nearest) = B::in_the_way(reads, own_name, &look.names) else {
                let now = zk.status();
                if now.is_connected() && now.connection == look.connection {
                    return Ok(true);
                }
                continue;
            };
            if !wait {
                return Ok(false);
            }
            match zk.children_watch(&path::join(&self.directory, nearest)).await {
                Ok((_, watch)) => {
                    watch.await?;
                    if !B::LOOKS_AGAIN && zk.status().is_connected() {
                        return Ok(true);
                    }
                }
                Err(Error::NoNode) => {}
                Err(Error::ConnectionLoss) => lost(zk, status).await?,
                Err(e) => return Err(e),
            }
        }
    }

    async fn enter_within(&self, reads: bool, limit: Duration) -> Result<Guard<Z>, Error> {
        let timer = self.zk.sleep_until(self.zk.now() + limit);
        match select(pin!(self.enter(reads, true)), pin!(timer)).await {
            Either::Left((result, _)) => Ok(result?.expect("it waits until it is its turn")),
            Either::Right(_) => Err(Error::TimedOut),
        }
    }
}

impl<Z: ZooKeeper, B: BendShared> Shared<Z> for BentShared<Z, B> {
    type Read = Guard<Z>;
    type Write = Guard<Z>;

    fn on(zk: &Z, directory: &str) -> Result<Self, Error> {
        let line = <Bent<Z, Right> as crate::lock::workload::Exclusive<Z>>::on(zk, directory)?;
        Ok(BentShared { zk: zk.clone(), directory: directory.to_owned(), line, bend: PhantomData })
    }

    async fn read(&self) -> Result<Guard<Z>, Error> {
        Ok(self.enter(true, true).await?.expect("it waits until it is its turn"))
    }

    async fn write(&self) -> Result<Guard<Z>, Error> {
        Ok(self.enter(false, true).await?.expect("it waits until it is its turn"))
    }

    fn read_within(&self, limit: Duration) -> impl Future<Output = Result<Guard<Z>, Error>> + Send {
        self.enter_within(true, limit)
    }

    fn write_within(&self, limit: Duration) -> impl Future<Output = Result<Guard<Z>, Error>> + Send {
        self.enter_within(false, limit)
    }

    fn try_read(&self) -> impl Future<Output = Result<Option<Guard<Z>>, Error>> + Send {
        self.enter(true, false)
    }

    fn try_write(&self) -> impl Future<Output = Result<Option<Guard<Z>>, Error>> + Send {
        self.enter(false, false)
    }

    async fn downgrade(write: Guard<Z>) -> Result<Guard<Z>, NotDowngraded<bend::Guard<Z>>> {
        Err(NotDowngraded { guard: write, error: Error::Unimplemented })
    }
}
