//! The revocable lock over an [intercepted](crate::session) session, or with a wrong way to make others go.

use crate::revocable_lock::workload::{Revocable, new};
use crate::session::Intercepted;
use crate::shared_lock::workload::Shared;
use std::future::Future;
use std::time::Duration;
use zk_recipes::zk::{Error, ZooKeeper};
use zk_recipes::{Contender, Fate, NotDowngraded, RevocableLock, RevocableRead, RevocableWrite};

/// The mutant.
#[derive(Clone)]
pub struct MutantRevocableLock<Z: ZooKeeper> {
    zk: Z,
    /// For the client's own holds.
    lock: RevocableLock<Intercepted<Z>>,
    /// For asking others to go.
    right: RevocableLock<Z>,
    /// The client asks whom it makes go first, and leaves it alone for the grace.
    has_grace: bool,
}

type Read<Z> = RevocableRead<Intercepted<Z>>;
type Write<Z> = RevocableWrite<Intercepted<Z>>;

impl<Z: ZooKeeper> MutantRevocableLock<Z> {
    /// The mutant over that session.
    pub fn new(zk: &Z, intercepted: &Intercepted<Z>, has_grace: bool) -> Self {
        MutantRevocableLock { zk: zk.clone(), lock: new(intercepted), right: new(zk), has_grace }
    }
}

impl<Z: ZooKeeper> Shared for MutantRevocableLock<Z> {
    type Read = Read<Z>;
    type Write = Write<Z>;

    fn read(&self) -> impl Future<Output = Result<Read<Z>, Error>> + Send {
        self.lock.read()
    }

    fn write(&self) -> impl Future<Output = Result<Write<Z>, Error>> + Send {
        self.lock.write()
    }

    fn read_within(&self, limit: Duration) -> impl Future<Output = Result<Read<Z>, Error>> + Send {
        self.lock.read_within(limit)
    }

    fn write_within(&self, limit: Duration) -> impl Future<Output = Result<Write<Z>, Error>> + Send {
        self.lock.write_within(limit)
    }

    fn try_read(&self) -> impl Future<Output = Result<Option<Read<Z>>, Error>> + Send {
        self.lock.try_read()
    }

    fn try_write(&self) -> impl Future<Output = Result<Option<Write<Z>>, Error>> + Send {
        self.lock.try_write()
    }

    fn downgrade(write: Write<Z>) -> impl Future<Output = Result<Read<Z>, NotDowngraded<Write<Z>>>> + Send {
        write.downgrade()
    }
}

impl<Z: ZooKeeper> Revocable for MutantRevocableLock<Z> {
    fn contenders(&self) -> impl Future<Output = Result<Vec<Contender>, Error>> + Send {
        self.right.contenders()
    }

    fn ask(&self, contender: &Contender) -> impl Future<Output = Result<Fate, Error>> + Send {
        self.right.ask(contender)
    }

    async fn force(&self, contender: &Contender, grace: Duration) -> Result<Fate, Error> {
        if self.has_grace {
            return self.right.force(contender, grace).await;
        }
        match self.zk.delete(&contender.path, None).await {
            Ok(()) => Ok(Fate::Forced),
            Err(Error::NoNode) => Ok(Fate::Gone),
            Err(e) => Err(e),
        }
    }
}
