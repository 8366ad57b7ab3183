//! A copy of the name service, over a claim in which a [`Mutation`] makes one step wrong.

use crate::claims::{Claim, Mutation, claim, over};
use crate::copies::connected;
use crate::names::workload::{self as names, NameService, Registered};
use std::future::Future;
use zk_recipes::Released;
use zk_recipes::zk::{Error, ZooKeeper};

/// The copy.
#[derive(Clone)]
pub(super) struct MutantNames<Z> {
    pub zk: Z,
    pub mutation: &'static Mutation,
}

/// A name of the copy, registered.
pub(super) struct MutantName<Z> {
    claim: Claim<Z>,
    mutation: &'static Mutation,
}

impl<Z: ZooKeeper> NameService<Z> for MutantNames<Z> {
    type Registered = MutantName<Z>;

    async fn register(&self, name: &str, data: &[u8]) -> Result<Self::Registered, Error> {
        let mutation = self.mutation;
        let claim = claim(&self.zk, names::DIRECTORY, name, data, mutation).await?;
        Ok(MutantName { claim, mutation })
    }
}

impl<Z: ZooKeeper> Registered<Z> for MutantName<Z> {
    fn czxid(&self) -> i64 {
        self.claim.czxid
    }

    fn lost(&self) -> impl Future<Output = ()> + Send {
        over(&self.claim.zk, &self.claim.path)
    }

    async fn release(self, present: Z) -> Result<Option<Released>, Error> {
        let releases_its_own = self.mutation.releases_its_own;
        let Claim { zk, path, czxid, armed: _armed } = self.claim;
        let zk = if releases_its_own { zk } else { present };
        loop {
            connected(&zk).await?;
            if releases_its_own {
                match zk.exists(&path).await {
                    Ok(Some(stat)) if stat.czxid == czxid => {}
                    Ok(_) => return Ok(None),
                    Err(e) if e.is_connection_loss() => continue,
                    Err(e) => return Err(e),
                }
            }
            match zk.delete(&path, None).await {
                Ok(()) => return Ok(None),
                Err(e) if e.is_no_node() => return Ok(None),
                Err(e) if e.is_connection_loss() => {}
                Err(e) => return Err(e),
            }
        }
    }
}
