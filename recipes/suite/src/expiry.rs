//! Session expiry: a server reports it at the reconnect.

use futures_util::StreamExt;
use futures_util::future::join;

use super::{Site, below, close, every_method, make_ephemeral, must, now, refused, tells};
use zk_recipes::zk::{ErrorKind, EventKind, Over, Runtime, State, ZooKeeper};

const EXPIRED: ErrorKind = ErrorKind::SessionOver(Over::Expired);

pub(super) async fn an_expired_session_is_over_for_all<S: Site>(site: &S, zk: &S::Zk, home: &str) {
    let other = site.open().await;
    let (session, before) = (zk.session(), zk.status());
    make_ephemeral(zk, &below(home, "e")).await;
    let (_, data) = must("get_watch", zk.get_watch(home).await);
    let (_, children) = must("children_watch", zk.children_watch(home).await);
    let (_, missing) = must("exists_watch", zk.exists_watch(&below(home, "no")).await);
    let mut tree = must("watch_tree", zk.watch_tree(&below(home, "tree")).await);
    let (_, gone) = must("children_watch", other.children_watch(home).await);
    let changed = zk.changed(before);

    // A request during the expiry is answered, fails with connection loss, or with the end of the session.
    let calls = async {
        loop {
            match zk.get(home).await {
                Ok(_) => {}
                Err(error) if error.is_connection_loss() => {}
                end => break refused("the last call", end, EXPIRED),
            }
        }
    };
    join(site.expire(zk), calls).await;

    let over = zk.status();
    assert_eq!(
        (over.state, over.over(), zk.session()),
        (State::Over(Over::Expired), Some(EXPIRED.into()), session)
    );
    assert!(over.changes > before.changes, "{before:?}, then {over:?}");
    assert!(zk.safe_until() <= zk.now(), "a session that has expired is not safe any more");
    now("the change of status", changed);
    refused("the data watch", now("its end", data), EXPIRED);
    refused("the child watch", now("its end", children), EXPIRED);
    refused("the exists watch", now("its end", missing), EXPIRED);
    let told: Vec<_> = std::iter::from_fn(|| now("the end of the tree watch", tree.next())).collect();
    assert_eq!(told.last(), Some(&Err(EXPIRED.into())), "the tree watch tells the end last: {told:?}");
    for (method, answer) in every_method(zk, home) {
        refused(method, answer.await, EXPIRED);
    }
    close(zk).await;
    assert_eq!(zk.status(), over, "to close what is over changes nothing");
    tells(&other, gone, EventKind::NodeChildrenChanged, home).await;
    close(&other).await;
}
