//! The revocable lock over a [twisted](crate::session) session, or with a wrong way to make others go.

use crate::revocable_lock::workload::Revocable;
use crate::session::{Twist, Twisted};
use crate::shared_lock::workload::Shared;
use std::future::Future;
use std::time::Duration;
use zk_recipes::zk::{Error, ZooKeeper};
use zk_recipes::{
    Contender, Fate, NotDowngraded, RevocableLock, RevocableLockOptions, RevocableRead, RevocableWrite,
};

/// What may be wrong: the session, by its [`Twist`], and the way to make somebody go.
pub trait BendRevocable<Z: ZooKeeper>: Twist<Z> {
    /// Whether who is made to go is asked, and left alone for the grace first.
    const HAS_GRACE: bool = true;
}

/// The bent lock.
pub struct BentRevocable<Z: ZooKeeper, T: BendRevocable<Z>> {
    zk: Z,
    lock: RevocableLock<Twisted<Z, T>>,
    /// For asking others.
    right: RevocableLock<Z>,
}

impl<Z: ZooKeeper, T: BendRevocable<Z>> Clone for BentRevocable<Z, T> {
    fn clone(&self) -> Self {
        BentRevocable { zk: self.zk.clone(), lock: self.lock.clone(), right: self.right.clone() }
    }
}

type Read<Z, T> = RevocableRead<Twisted<Z, T>>;
type Write<Z, T> = RevocableWrite<Twisted<Z, T>>;

impl<Z: ZooKeeper, T: BendRevocable<Z>> Shared<Z> for BentRevocable<Z, T> {
    type Read = Read<Z, T>;
    type Write = Write<Z, T>;

    fn on(zk: &Z, directory: &str) -> Result<Self, Error> {
        let lock = RevocableLock::new(&Twisted::over(zk), directory, RevocableLockOptions::default())?;
        let right = RevocableLock::new(zk, directory, RevocableLockOptions::default())?;
        Ok(BentRevocable { zk: zk.clone(), lock, right })
    }

    fn read(&self) -> impl Future<Output = Result<Read<Z, T>, Error>> + Send {
        self.lock.read()
    }

    fn write(&self) -> impl Future<Output = Result<Write<Z, T>, Error>> + Send {
        self.lock.write()
    }

    fn read_within(&self, limit: Duration) -> impl Future<Output = Result<Read<Z, T>, Error>> + Send {
        self.lock.read_within(limit)
    }

    fn write_within(&self, limit: Duration) -> impl Future<Output = Result<Write<Z, T>, Error>> + Send {
        self.lock.write_within(limit)
    }

    fn try_read(&self) -> impl Future<Output = Result<Option<Read<Z, T>>, Error>> + Send {
        self.lock.try_read()
    }

    fn try_write(&self) -> impl Future<Output = Result<Option<Write<Z, T>>, Error>> + Send {
        self.lock.try_write()
    }

    fn downgrade(
        write: Write<Z, T>,
    ) -> impl Future<Output = Result<Read<Z, T>, NotDowngraded<Write<Z, T>>>> + Send {
        write.downgrade()
    }
}

impl<Z: ZooKeeper, T: BendRevocable<Z>> Revocable<Z> for BentRevocable<Z, T> {
    fn contenders(&self) -> impl Future<Output = Result<Vec<Contender>, Error>> + Send {
        self.right.contenders()
    }

    fn ask(&self, contender: &Contender) -> impl Future<Output = Result<Fate, Error>> + Send {
        self.right.ask(contender)
    }

    async fn force(&self, contender: &Contender, grace: Duration) -> Result<Fate, Error> {
        if T::HAS_GRACE {
            return self.right.force(contender, grace).await;
        }
        match self.zk.delete(&contender.path, None).await {
            Ok(()) => Ok(Fate::Forced),
            Err(Error::NoNode) => Ok(Fate::Gone),
            Err(e) => Err(e),
        }
    }
}
