//! A plain copy of claiming a name, in which a [`Mutation`] makes one step wrong; the mutants of names and groups use
//! it. It has no deadlines: its mutants are killed without them.

use crate::copies::connected;
use std::future::Future;
use zk_recipes::zk::{Armed, CreateMode, Duty, Error, ErrorKind, ZooKeeper, path};

/// The steps that can be wrong.
pub(super) struct Mutation {
    /// The mode of a claim's znode.
    pub mode: CreateMode,
    /// An existing znode belongs to another client.
    pub exists_is_anothers: bool,
    /// After a lost reply the client checks the znode's owner.
    pub looks_after_loss: bool,
    /// The client deletes only the znode that it created.
    pub releases_its_own: bool,
}

impl Mutation {
    /// No wrong step.
    pub const RIGHT: Mutation = Mutation {
        mode: CreateMode::Ephemeral,
        exists_is_anothers: true,
        looks_after_loss: true,
        releases_its_own: true,
    };
}

/// A name that was claimed.
pub(super) struct Claim<Z> {
    pub zk: Z,
    pub path: String,
    pub czxid: i64,
    /// Deletes the znode at the end.
    pub armed: Option<Armed>,
}

/// Creates the directory, and the znode in it.
pub(super) async fn claim<Z: ZooKeeper>(
    zk: &Z,
    directory: &str,
    name: &str,
    data: &[u8],
    mutation: &Mutation,
) -> Result<Claim<Z>, Error> {
    let path = path::join(directory, name);
    let fixed = |czxid| Duty::Fixed { path: path.clone(), czxid, connection: zk.status().connection };
    let claimed = |czxid, mut armed: Armed| {
        armed.narrow(fixed(Some(czxid)));
        Ok(Claim { zk: zk.clone(), path: path.clone(), czxid, armed: Some(armed) })
    };
    loop {
        connected(zk).await?;
        let armed = zk.arm(fixed(None));
        match zk.create(&path, data, mutation.mode).await {
            Ok(created) => return claimed(created.stat.czxid, armed),
            Err(e) if e.is_no_node() => {
                armed.done();
                make(zk, directory).await?;
            }
            Err(e) if e.is_node_exists() && mutation.exists_is_anothers => {
                armed.done();
                return Err(ErrorKind::Taken(path).into());
            }
            Err(e) if e.is_node_exists() => {
                armed.done();
                if let Some(stat) = zk.exists(&path).await? {
                    return Ok(Claim { zk: zk.clone(), path, czxid: stat.czxid, armed: None });
                }
            }
            Err(e) if e.is_connection_loss() && mutation.looks_after_loss => {
                connected(zk).await?;
                // A reply to a later write of this session proves that no earlier write is in flight.
                let _ = zk.delete(&path::join(directory, "nobody"), None).await;
                match zk.exists(&path).await {
                    Ok(Some(stat)) if stat.ephemeral_owner == zk.session() => {
                        return claimed(stat.czxid, armed);
                    }
                    Ok(Some(_)) => {
                        armed.done();
                        return Err(ErrorKind::Taken(path).into());
                    }
                    Ok(None) => armed.done(),
                    Err(e) if e.is_connection_loss() => armed.done(),
                    Err(e) => return Err(e),
                }
            }
            Err(e) if e.is_connection_loss() => {
                armed.done();
                return Err(ErrorKind::Taken(path).into());
            }
            Err(e) => return Err(e),
        }
    }
}

async fn make<Z: ZooKeeper>(zk: &Z, directory: &str) -> Result<(), Error> {
    match zk.create(directory, &[], CreateMode::Persistent).await {
        Ok(_) => Ok(()),
        Err(e) if e.is_node_exists() => Ok(()),
        Err(e) if e.is_connection_loss() => connected(zk).await.map(drop),
        Err(e) => Err(e),
    }
}

/// Resolves when the session is over, or the watched znode is deleted.
pub(super) fn over<Z: ZooKeeper>(zk: &Z, watched: &str) -> impl Future<Output = ()> + Send + use<Z> {
    let (zk, mut watching) = (zk.clone(), zk.children_watch(watched));
    let watched = watched.to_owned();
    async move {
        loop {
            let gone = match watching.await {
                // Ephemerals have no children: the watch fires only at the deletion.
                Ok((_, watch)) => watch.await.is_ok(),
                Err(e) => e == ErrorKind::NoNode,
            };
            if gone {
                return;
            }
            if connected(&zk).await.is_err() {
                return;
            }
            watching = zk.children_watch(&watched);
        }
    }
}
