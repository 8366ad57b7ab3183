//! Barrier reads: a settling write, which changes nothing, goes ahead of the read. The server orders both behind every
//! request of this session that is in flight, so the result is final as far as this session is concerned.

use super::retry::{connected, present, unless_again};
use crate::zk::duty::{answered, settle};
use crate::zk::{Data, Error, Stat, ZooKeeper};
use std::future::Future;

/// Reads the stat of a znode; `None` if there is no such znode.
pub(crate) async fn stat<Z: ZooKeeper>(zk: &Z, path: &str) -> Result<Option<Stat>, Error> {
    behind(zk, path, || zk.exists(path)).await
}

/// Reads the data of a znode; `None` if there is no such znode.
pub(crate) async fn data<Z: ZooKeeper>(zk: &Z, path: &str) -> Result<Option<Data>, Error> {
    present(behind(zk, path, || zk.get(path)).await)
}

async fn behind<Z: ZooKeeper, T, F: Future<Output = Result<T, Error>>>(
    zk: &Z,
    path: &str,
    read: impl Fn() -> F,
) -> Result<T, Error> {
    loop {
        let status = connected(zk).await?;
        let (settled, found) = (settle(zk, path), read());
        let Some(()) = unless_again(zk, status, answered(Some(settled)).await).await? else { continue };
        if let Some(found) = unless_again(zk, status, found.await).await? {
            return Ok(found);
        }
    }
}
