//! A mutant with stale reads.

use super::WORKLOAD;
use crate::names::workload::{NameService, client, new};
use crate::prelude::*;
use zk_recipes::Versioned;
use zk_recipes::names::{Freshness, Names, Registration};

/// A name service whose synced lookups read from the connected server without a sync: a client does not find a
/// registration that it knows of from another client.
pub(super) static SYNCED_READS_LOCALLY: Workload = WORKLOAD.mutant(
    "names-synced-reads-locally",
    "a name service whose synced lookups are not behind a sync",
    Caught::by(An1),
    &[],
    |_| Plan { rounds: 6, ..Plan::calm() },
    run,
);

fn run<C: Client>(task: Task<C>) -> BoxFuture<'static, ()> {
    client(task, Box::new(|zk: &C::Zk, waits| ReadsLocally(new(zk, waits)))).boxed()
}

#[derive(Clone)]
struct ReadsLocally<Z: ZooKeeper>(Names<Z>);

impl<Z: ZooKeeper> NameService<Z> for ReadsLocally<Z> {
    type Registered = Registration<Z>;

    async fn register(&self, name: &str, data: &[u8]) -> Result<Registration<Z>, Error> {
        self.0.register(name, data).await
    }

    async fn resolve(
        &self,
        names: &Names<Z>,
        name: &str,
        freshness: Freshness,
    ) -> Result<Option<Versioned>, Error> {
        let freshness = match freshness {
            Freshness::Synced => Freshness::Local,
            asked => asked,
        };
        names.resolve(name, freshness).await
    }
}
