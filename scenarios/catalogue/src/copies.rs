//! Steps that the copies of recipes share: no mutation changes them.

use zk_recipes::zk::{CreateMode, Error, ErrorKind, Status, ZooKeeper};

/// Waits until requests can be sent.
pub async fn connected<Z: ZooKeeper>(zk: &Z) -> Result<Status, Error> {
    let mut status = zk.status();
    while !status.is_connected() {
        if let Some(over) = status.over() {
            return Err(over);
        }
        status = zk.changed(status).await;
    }
    Ok(status)
}

/// After a connection loss: waits until the session has noticed it, and is connected again.
pub async fn lost<Z: ZooKeeper>(zk: &Z, before: Status) -> Result<(), Error> {
    if zk.status() == before {
        zk.changed(before).await;
    }
    connected(zk).await.map(drop)
}

/// Creates a directory and its missing ancestors, pipelined.
pub async fn make_all<Z: ZooKeeper>(zk: &Z, directory: &str) -> Result<(), Error> {
    let ends = directory.match_indices('/').map(|(at, _)| at).skip(1).chain([directory.len()]);
    let making: Vec<_> = ends.map(|end| zk.create(&directory[..end], &[], CreateMode::Container)).collect();
    for made in making {
        match made.await {
            Ok(_) => {}
            Err(e)
                if matches!(
                    e.kind(),
                    ErrorKind::NodeExists | ErrorKind::ConnectionLoss | ErrorKind::NoNode
                ) => {}
            Err(e) => return Err(e),
        }
    }
    Ok(())
}
