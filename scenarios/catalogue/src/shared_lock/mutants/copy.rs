//! The copy of the lock as a shared lock without its downgrade, and the predecessors of its readers and writers.

use crate::lock::mutants::copy::{Guard, MutantLock, Mutation, number};
use crate::prelude::*;
use crate::shared_lock::workload::{Granted, Shared, Taken};
use zk_recipes::NotDowngraded;

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

    async fn take(&self, call: Call) -> Taken<Guard<Z>, Guard<Z>> {
        match call.verb {
            Verb::Read | Verb::TryRead => Ok(self.take_as("read", call).await?.map(Granted::Read)),
            _ => Ok(self.take_as("write", call).await?.map(Granted::Write)),
        }
    }

    async fn downgrade(write: Guard<Z>) -> Result<Guard<Z>, NotDowngraded<Guard<Z>>> {
        Err(NotDowngraded { guard: write, error: ErrorKind::Unimplemented.into() })
    }
}
