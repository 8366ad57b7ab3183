//! Names of which one step is wrong.

use crate::claims::{Claim, Step, claim, connected, over};
use crate::names::workload::{self as names, NameService, Registered};
use std::future::Future;
use zk_recipes::zk::{Error, ZooKeeper};

/// Names of which one step is broken.
#[derive(Clone)]
pub(super) struct Broken<Z, S> {
    zk: Z,
    step: S,
}

/// One of them, registered.
pub(super) struct BrokenName<Z, S> {
    claim: Claim<Z>,
    _step: S,
}

impl<Z: ZooKeeper, S: Step + Default> NameService<Z> for Broken<Z, S> {
    type Registered = BrokenName<Z, S>;

    fn on(zk: &Z, _: bool) -> Result<Self, Error> {
        Ok(Broken { zk: zk.clone(), step: S::default() })
    }

    fn register(
        &self,
        name: &str,
        data: &[u8],
    ) -> impl Future<Output = Result<Self::Registered, Error>> + Send {
        let (zk, step) = (self.zk.clone(), self.step.clone());
        let (name, data) = (name.to_owned(), data.to_vec());
        async move {
            let claim = claim::<Z, S>(&zk, names::DIRECTORY, &name, &data).await?;
            Ok(BrokenName { claim, _step: step })
        }
    }
}

impl<Z: ZooKeeper, S: Step> Registered<Z> for BrokenName<Z, S> {
    fn czxid(&self) -> i64 {
        self.claim.czxid
    }

    fn lost(&self) -> impl Future<Output = ()> + Send {
        over(&self.claim.zk, &self.claim.path)
    }

    async fn release(self, present: Z) -> Result<(), Error> {
        let Claim { zk, path, czxid, armed: _armed } = self.claim;
        let zk = if S::RELEASES_ITS_OWN { zk } else { present };
        loop {
            connected(&zk).await?;
            if S::RELEASES_ITS_OWN {
                match zk.exists(&path).await {
                    Ok(Some(stat)) if stat.czxid == czxid => {}
                    Ok(_) => return Ok(()),
                    Err(Error::ConnectionLoss) => continue,
                    Err(e) => return Err(e),
                }
            }
            match zk.delete(&path, None).await {
                Ok(()) | Err(Error::NoNode) => return Ok(()),
                Err(Error::ConnectionLoss) => {}
                Err(e) => return Err(e),
            }
        }
    }
}
