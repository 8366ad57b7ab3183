//! The revocable lock over an [intercepted](crate::session) session, or with a wrong way to revoke.

use crate::prelude::*;
use crate::revocable_lock::workload::{Revocable, new};
use crate::session::Intercepted;
use crate::shared_lock::workload::{Shared, Taken};
use std::time::Duration;
use zk_recipes::{Contender, Fate, Guard, NotDowngraded, RevocableLock, guard};

/// The mutant.
#[derive(Clone)]
pub struct MutantRevocableLock<Z: ZooKeeper> {
    zk: Z,
    /// For the client's own holds.
    lock: RevocableLock<Intercepted<Z>>,
    /// For revoking other contenders.
    right: RevocableLock<Z>,
    mutation: &'static Mutation,
}

/// The steps that can be wrong.
pub struct Mutation {
    /// Asks a contender to go before it deletes the znode, and waits for the grace period.
    pub has_grace: bool,
    /// The call of a waiter that was asked to release ends.
    pub ends: bool,
}

impl Mutation {
    /// No wrong step.
    pub const RIGHT: Mutation = Mutation { has_grace: true, ends: true };
}

type Read<Z> = Guard<Intercepted<Z>, guard::Revocable<guard::Read>>;
type Write<Z> = Guard<Intercepted<Z>, guard::Revocable<guard::Write>>;

impl<Z: ZooKeeper> MutantRevocableLock<Z> {
    /// The mutant over that session.
    pub fn new(zk: &Z, intercepted: &Intercepted<Z>, mutation: &'static Mutation) -> Self {
        MutantRevocableLock { zk: zk.clone(), lock: new(intercepted), right: new(zk), mutation }
    }
}

impl<Z: ZooKeeper> Shared for MutantRevocableLock<Z> {
    type Read = Read<Z>;
    type Write = Write<Z>;

    async fn take(&self, call: Call) -> Taken<Read<Z>, Write<Z>> {
        self.lock.take(call).await
    }

    async fn downgrade(write: Write<Z>) -> Result<Read<Z>, NotDowngraded<Write<Z>>> {
        write.downgrade().await
    }
}

impl<Z: ZooKeeper> Revocable for MutantRevocableLock<Z> {
    fn ends_when_asked(&self) -> bool {
        self.mutation.ends
    }

    async fn contenders(&self) -> Result<Vec<Contender>, Error> {
        self.right.contenders().await
    }

    async fn ask(&self, contender: &Contender) -> Result<Fate, Error> {
        self.right.ask(contender).await
    }

    async fn force(&self, contender: &Contender, grace: Duration) -> Result<Fate, Error> {
        if self.mutation.has_grace {
            return self.right.force(contender, grace).await;
        }
        match self.zk.delete(&contender.path, None).await {
            Ok(()) => Ok(Fate::Forced),
            Err(e) if e.is_no_node() => Ok(Fate::Gone),
            Err(e) => Err(e),
        }
    }
}
