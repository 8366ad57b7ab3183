//! Session expiry: a server reports it at the reconnect.

use futures_util::StreamExt;
use futures_util::future::join;

use super::{Site, below, close, make_ephemeral, must, now, refused, soon, start};
use crate::zk::{CreateMode, Error, EventKind, Op, Over, State, ZooKeeper};

const EXPIRED: Error = Error::SessionOver(Over::Expired);

pub(super) async fn an_expired_session_is_over_for_all<S: Site>(site: &S) {
    let (zk, directory) = start(site).await;
    let other = site.open().await;
    let (session, before) = (zk.session(), zk.status());
    let own = make_ephemeral(&zk, &below(&directory, "e")).await.path;
    let (_, data) = must("get_watch", zk.get_watch(&directory).await);
    let (_, children) = must("children_watch", zk.children_watch(&directory).await);
    let (_, missing) = must("exists_watch", zk.exists_watch(&below(&directory, "no")).await);
    let mut tree = must("watch_tree", zk.watch_tree(&below(&directory, "tree")).await);
    let (_, gone) = must("children_watch", other.children_watch(&directory).await);
    let changed = zk.changed(before);

    // A request during the expiry is answered, fails with connection loss, or with the end of the session.
    let calls = async {
        loop {
            match zk.get(&directory).await {
                Ok(_) | Err(Error::ConnectionLoss) => {}
                end => break refused("the last call", end, EXPIRED),
            }
        }
    };
    join(site.expire(&zk), calls).await;

    let over = zk.status();
    assert_eq!((over.state, over.over(), zk.session()), (State::Over(Over::Expired), Some(EXPIRED), session));
    assert!(over.changes > before.changes, "{before:?}, then {over:?}");
    assert!(zk.safe_until() <= zk.now(), "a session that has expired is not safe any more");
    now("the change of status", changed);
    refused("the data watch", now("its end", data), EXPIRED);
    refused("the child watch", now("its end", children), EXPIRED);
    refused("the exists watch", now("its end", missing), EXPIRED);
    let told: Vec<_> = std::iter::from_fn(|| now("the end of the tree watch", tree.next())).collect();
    assert_eq!(told.last(), Some(&Err(EXPIRED)), "the tree watch tells the end last: {told:?}");
    refused("create", zk.create(&own, b"", CreateMode::Ephemeral).await, EXPIRED);
    refused("exists", zk.exists(&directory).await, EXPIRED);
    refused("get_watch", zk.get_watch(&directory).await.map(drop), EXPIRED);
    refused("multi", zk.multi(vec![Op::Check { path: directory.clone(), version: None }]).await, EXPIRED);
    refused("watch_tree", zk.watch_tree(&directory).await.map(drop), EXPIRED);
    close(zk.clone()).await;
    assert_eq!(zk.status(), over, "to close what is over changes nothing");
    let event = must("the watch", soon(&other, "the end of the ephemeral", gone).await);
    assert_eq!((event.kind, event.path), (EventKind::NodeChildrenChanged, directory));
    close(other).await;
}
