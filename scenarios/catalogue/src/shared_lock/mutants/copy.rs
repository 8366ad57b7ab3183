//! The copy of the lock as a shared lock without its downgrade, and the rules by which its readers and writers wait.

use crate::lock::mutants::copy::{Guard, MutantLock, Mutation, number};
use crate::shared_lock::workload::Shared;
use std::future::Future;
use std::time::Duration;
use zk_recipes::NotDowngraded;
use zk_recipes::zk::{Error, ZooKeeper};

/// No wrong step.
pub const RIGHT: Mutation = Mutation { ahead: nearest, ..Mutation::RIGHT };

/// The right predecessor: for a reader the nearest writer ahead, for a writer the nearest contender ahead.
pub fn nearest<'a>(_: &Mutation, own: &str, names: &'a [String]) -> Option<&'a String> {
    ahead(own, names).filter(|name| is_writer(own) || is_writer(name)).max_by_key(|name| number(name))
}

/// The contenders with smaller numbers.
pub fn ahead<'a>(own: &str, names: &'a [String]) -> impl Iterator<Item = &'a String> {
    names.iter().filter(move |name| number(name) < number(own))
}

/// Whether a name is a writer's.
pub fn is_writer(name: &str) -> bool {
    name.contains("-write-")
}

impl<Z: ZooKeeper> Shared for MutantLock<Z> {
    type Read = Guard<Z>;
    type Write = Guard<Z>;

    fn read(&self) -> impl Future<Output = Result<Guard<Z>, Error>> + Send {
        self.enter("read", None)
    }

    fn write(&self) -> impl Future<Output = Result<Guard<Z>, Error>> + Send {
        self.enter("write", None)
    }

    fn read_within(&self, limit: Duration) -> impl Future<Output = Result<Guard<Z>, Error>> + Send {
        self.enter_within("read", limit)
    }

    fn write_within(&self, limit: Duration) -> impl Future<Output = Result<Guard<Z>, Error>> + Send {
        self.enter_within("write", limit)
    }

    fn try_read(&self) -> impl Future<Output = Result<Option<Guard<Z>>, Error>> + Send {
        self.try_enter("read")
    }

    fn try_write(&self) -> impl Future<Output = Result<Option<Guard<Z>>, Error>> + Send {
        self.try_enter("write")
    }

    async fn downgrade(write: Guard<Z>) -> Result<Guard<Z>, NotDowngraded<Guard<Z>>> {
        Err(NotDowngraded { guard: write, error: Error::Unimplemented })
    }
}
