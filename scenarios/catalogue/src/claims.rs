//! A plain copy of claiming a name, in which single steps can be exchanged: for names and groups that are broken in one of
//! them. It knows no deadlines: what it is broken in shows without them.

use std::future::Future;
use zk_recipes::zk::{Armed, CreateMode, Duty, Error, State, ZooKeeper, path};

/// The steps that may be wrong. Each has its right form as default.
pub(super) trait Step: Clone + Send + Sync + 'static {
    /// What a claim is.
    const MODE: CreateMode = CreateMode::Ephemeral;
    /// A znode that is there already is somebody else's.
    const EXISTS_IS_ANOTHERS: bool = true;
    /// After a lost reply it looks whose the znode is.
    const LOOKS_AFTER_LOSS: bool = true;
    /// It gives back what it has made, and nothing else.
    const RELEASES_ITS_OWN: bool = true;
}

/// What a create of a name came to.
pub(super) struct Claim<Z> {
    pub zk: Z,
    pub path: String,
    pub czxid: i64,
    /// Deletes the znode if nobody else does.
    pub armed: Option<Armed>,
}

/// Makes the directory, and creates the znode in it.
pub(super) async fn claim<Z: ZooKeeper, S: Step>(
    zk: &Z,
    directory: &str,
    name: &str,
    data: &[u8],
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
        match zk.create(&path, data, S::MODE).await {
            Ok(created) => return claimed(created.stat.czxid, armed),
            Err(Error::NoNode) => {
                armed.done();
                make(zk, directory).await?;
            }
            Err(Error::NodeExists) if S::EXISTS_IS_ANOTHERS => {
                armed.done();
                return Err(Error::Taken(path));
            }
            Err(Error::NodeExists) => {
                armed.done();
                if let Some(stat) = zk.exists(&path).await? {
                    return Ok(Claim { zk: zk.clone(), path, czxid: stat.czxid, armed: None });
                }
            }
            Err(Error::ConnectionLoss) if S::LOOKS_AFTER_LOSS => {
                connected(zk).await?;
                // Behind a write of our own nothing of ours is under way any more.
                let _ = zk.delete(&path::join(directory, "nobody"), None).await;
                match zk.exists(&path).await {
                    Ok(Some(stat)) if stat.ephemeral_owner == zk.session() => {
                        return claimed(stat.czxid, armed);
                    }
                    Ok(Some(_)) => {
                        armed.done();
                        return Err(Error::Taken(path));
                    }
                    Ok(None) | Err(Error::ConnectionLoss) => armed.done(),
                    Err(e) => return Err(e),
                }
            }
            Err(Error::ConnectionLoss) => {
                armed.done();
                return Err(Error::Taken(path));
            }
            Err(e) => return Err(e),
        }
    }
}

async fn make<Z: ZooKeeper>(zk: &Z, directory: &str) -> Result<(), Error> {
    match zk.create(directory, &[], CreateMode::Persistent).await {
        Ok(_) | Err(Error::NodeExists) => Ok(()),
        Err(Error::ConnectionLoss) => connected(zk).await,
        Err(e) => Err(e),
    }
}

/// Waits until requests can leave.
pub(super) async fn connected<Z: ZooKeeper>(zk: &Z) -> Result<(), Error> {
    let mut status = zk.status();
    loop {
        match status.state {
            State::Connected => return Ok(()),
            State::Over(why) => return Err(Error::SessionOver(why)),
            State::Suspended => status = zk.changed(status).await,
        }
    }
}

/// Resolves when the session is over, or a znode that it watches has gone.
pub(super) fn over<Z: ZooKeeper>(zk: &Z, watched: &str) -> impl Future<Output = ()> + Send + use<Z> {
    let (zk, mut watching) = (zk.clone(), zk.children_watch(watched));
    let watched = watched.to_owned();
    async move {
        loop {
            let gone = match watching.await {
                // Ephemerals have no children: only their end is told.
                Ok((_, watch)) => watch.await.is_ok(),
                Err(e) => e == Error::NoNode,
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
