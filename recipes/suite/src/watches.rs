//! Watches: what fires them, and when.

use futures_util::future::join;

use super::{Site, below, catch_up, close, make, make_ephemeral, must, not_now, now, refused, tells};
use zk_recipes::zk::{CreateMode, Error, ErrorKind, Event, EventKind, Op, ZooKeeper};

/// Asserts that a watch has fired: the notification comes before the reply that shows the change.
fn fired(what: &str, watch: impl Future<Output = Result<Event, Error>>, kind: EventKind, path: &str) {
    let event = must(what, now(what, watch));
    assert_eq!(event, Event { kind, path: path.to_owned() }, "{what}");
}

pub(super) async fn a_data_watch_fires_on_set<S: Site>(_: &S, zk: &S::Zk, home: &str) {
    let (found, watch) = must("get_watch", zk.get_watch(home).await);
    assert_eq!(found.data, b"data");
    must("set", zk.set(home, b"new", None).await);
    fired("the event of a set", watch, EventKind::NodeDataChanged, home);
}

pub(super) async fn a_data_watch_fires_on_delete<S: Site>(_: &S, zk: &S::Zk, home: &str) {
    let (_, watch) = must("get_watch", zk.get_watch(home).await);
    must("delete", zk.delete(home, None).await);
    fired("the event of a delete", watch, EventKind::NodeDeleted, home);
}

pub(super) async fn a_data_watch_does_not_see_children<S: Site>(_: &S, zk: &S::Zk, home: &str) {
    let (_, mut data) = must("get_watch", zk.get_watch(home).await);
    make(zk, &below(home, "a")).await;
    not_now("the data watch's event", &mut data);
    let (_, mut children) = must("children_watch", zk.children_watch(home).await);
    must("set", zk.set(home, b"new", None).await);
    must("set", zk.set(&below(home, "a"), b"new", None).await);
    not_now("the child watch's event", &mut children);
    fired("the event of the set", data, EventKind::NodeDataChanged, home);
}

pub(super) async fn an_exists_watch_waits_for_a_create<S: Site>(_: &S, zk: &S::Zk, home: &str) {
    let path = below(home, "later");
    let (stat, mut watch) = must("exists_watch", zk.exists_watch(&path).await);
    assert_eq!(stat, None);
    make(zk, &below(home, "other")).await;
    not_now("the event", &mut watch);
    make(zk, &path).await;
    fired("the event of the create", watch, EventKind::NodeCreated, &path);
}

pub(super) async fn an_exists_watch_sees_a_change<S: Site>(_: &S, zk: &S::Zk, home: &str) {
    let (stat, watch) = must("exists_watch", zk.exists_watch(home).await);
    assert!(stat.is_some());
    must("set", zk.set(home, b"new", None).await);
    fired("the event of the set", watch, EventKind::NodeDataChanged, home);
    let (_, watch) = must("exists_watch", zk.exists_watch(home).await);
    must("delete", zk.delete(home, None).await);
    fired("the event of the delete", watch, EventKind::NodeDeleted, home);
}

pub(super) async fn a_child_watch_fires_on_create_and_delete<S: Site>(_: &S, zk: &S::Zk, home: &str) {
    let child = below(home, "a");
    let (listing, watch) = must("children_watch", zk.children_watch(home).await);
    assert!(listing.names.is_empty());
    make(zk, &child).await;
    fired("the event of the create", watch, EventKind::NodeChildrenChanged, home);
    let (listing, mut watch) = must("children_watch", zk.children_watch(home).await);
    assert_eq!(listing.names, ["a"]);
    make(zk, &below(&child, "grandchild")).await;
    must("delete", zk.delete(&below(&child, "grandchild"), None).await);
    not_now("the event", &mut watch);
    must("delete", zk.delete(&child, None).await);
    fired("the event of the delete", watch, EventKind::NodeChildrenChanged, home);
}

pub(super) async fn a_child_watch_fires_when_the_parent_goes<S: Site>(_: &S, zk: &S::Zk, home: &str) {
    let (_, watch) = must("children_watch", zk.children_watch(home).await);
    must("delete", zk.delete(home, None).await);
    fired("the event of the delete", watch, EventKind::NodeDeleted, home);
}

pub(super) async fn a_child_watch_on_an_ephemeral<S: Site>(_: &S, zk: &S::Zk, home: &str) {
    let path = below(home, "e");
    make_ephemeral(zk, &path).await;
    let (_, mut watch) = must("children_watch", zk.children_watch(&path).await);
    must("set", zk.set(&path, b"new", None).await);
    not_now("the event", &mut watch);
    must("delete", zk.delete(&path, None).await);
    fired("the event of the delete", watch, EventKind::NodeDeleted, &path);
}

pub(super) async fn a_session_that_closes_fires_watches<S: Site>(site: &S, zk: &S::Zk, home: &str) {
    let other = site.open().await;
    let path = below(home, "e");
    make_ephemeral(&other, &path).await;
    catch_up(zk).await;
    let (_, watch) = must("children_watch", zk.children_watch(&path).await);
    close(&other).await;
    tells(zk, watch, EventKind::NodeDeleted, &path).await;
}

pub(super) async fn a_missing_znode_arms_nothing<S: Site>(_: &S, zk: &S::Zk, home: &str) {
    let path = below(home, "no");
    refused("get_watch of nothing", zk.get_watch(&path).await.map(drop), ErrorKind::NoNode);
    refused("children_watch of nothing", zk.children_watch(&path).await.map(drop), ErrorKind::NoNode);
    // A later watch on the same path is not affected.
    make(zk, &path).await;
    let (_, mut watch) = must("get_watch", zk.get_watch(&path).await);
    must("exists", zk.exists(&path).await);
    not_now("the event", &mut watch);
}

pub(super) async fn a_watch_sees_only_what_comes_later<S: Site>(_: &S, zk: &S::Zk, home: &str) {
    let set = zk.set(home, b"one", None);
    let armed = zk.get_watch(home);
    must("set", set.await);
    let (found, mut watch) = must("get_watch", armed.await);
    assert_eq!(found.data, b"one");
    must("exists", zk.exists(home).await);
    not_now("the event", &mut watch);
    must("set", zk.set(home, b"two", None).await);
    fired("the event of the second set", watch, EventKind::NodeDataChanged, home);
}

pub(super) async fn a_notification_comes_before_the_reply<S: Site>(site: &S, zk: &S::Zk, home: &str) {
    let other = site.open().await;
    // Another client's change, shown by a read behind a barrier.
    let (_, watch) = must("get_watch", zk.get_watch(home).await);
    must("set", other.set(home, b"new", None).await);
    let (settled, found) = join(zk_recipes::zk::duty::settle(zk, home), zk.get(home)).await;
    must("multi", settled);
    assert_eq!(must("get", found).data, b"new");
    fired("the event of another's set", watch, EventKind::NodeDataChanged, home);
    // Own changes, armed in the same round trip, and in a transaction.
    let armed = zk.children_watch(home);
    let op = Op::Create { path: below(home, "a"), data: Vec::new(), mode: CreateMode::Persistent };
    let multi = zk.multi(vec![op]);
    let (_, watch) = must("children_watch", armed.await);
    must("multi", multi.await);
    fired("the event of the own multi", watch, EventKind::NodeChildrenChanged, home);
    close(&other).await;
}

pub(super) async fn two_watches_on_one_path_both_fire<S: Site>(_: &S, zk: &S::Zk, home: &str) {
    for drop_one in [false, true] {
        let (_, one) = must("get_watch", zk.get_watch(home).await);
        let (_, two) = must("exists_watch", zk.exists_watch(home).await);
        let (_, three) = must("children_watch", zk.children_watch(home).await);
        let one = (!drop_one).then_some(one);
        must("exists", zk.exists(home).await);
        must("set", zk.set(home, b"new", None).await);
        if let Some(one) = one {
            fired("the first one's event", one, EventKind::NodeDataChanged, home);
        }
        fired("the second one's event", two, EventKind::NodeDataChanged, home);
        let path = below(home, if drop_one { "b" } else { "a" });
        make(zk, &path).await;
        fired("the third one's event", three, EventKind::NodeChildrenChanged, home);
    }
}

pub(super) async fn a_path_can_be_watched_again<S: Site>(_: &S, zk: &S::Zk, home: &str) {
    for round in 0..5 {
        let (_, watch) = must("get_watch", zk.get_watch(home).await);
        drop(watch);
        // A watch that is dropped before it was armed must not remove this one either.
        drop(zk.get_watch(home));
        let (_, watch) = must("get_watch", zk.get_watch(home).await);
        must("exists", zk.exists(home).await);
        must("set", zk.set(home, &[round], None).await);
        fired("the second one's event", watch, EventKind::NodeDataChanged, home);
    }
}

pub(super) async fn a_watch_tells_the_first_change<S: Site>(_: &S, zk: &S::Zk, home: &str) {
    let path = below(home, "a");
    make(zk, &path).await;
    let (_, data) = must("get_watch", zk.get_watch(&path).await);
    let (_, children) = must("children_watch", zk.children_watch(&path).await);
    let (_, created) = must("exists_watch", zk.exists_watch(&below(&path, "b")).await);
    let set = zk.set(&path, b"new", None);
    let make = zk.create(&below(&path, "b"), b"", CreateMode::Persistent);
    let undo = zk.delete(&below(&path, "b"), None);
    let end = zk.delete(&path, None);
    must("set", set.await);
    must("create", make.await);
    must("delete", undo.await);
    must("delete", end.await);
    fired("the data watch's event", data, EventKind::NodeDataChanged, &path);
    fired("the child watch's event", children, EventKind::NodeChildrenChanged, &path);
    fired("the exists watch's event", created, EventKind::NodeCreated, &below(&path, "b"));
}

pub(super) async fn a_delete_fires_all_that_it_concerns<S: Site>(_: &S, zk: &S::Zk, home: &str) {
    let path = below(home, "a");
    make(zk, &path).await;
    let (_, data) = must("get_watch", zk.get_watch(&path).await);
    let (_, exists) = must("exists_watch", zk.exists_watch(&path).await);
    let (_, children) = must("children_watch", zk.children_watch(&path).await);
    let (_, parent) = must("children_watch", zk.children_watch(home).await);
    let (_, mut above) = must("get_watch", zk.get_watch(home).await);
    must("delete", zk.delete(&path, None).await);
    fired("the data watch's event", data, EventKind::NodeDeleted, &path);
    fired("the exists watch's event", exists, EventKind::NodeDeleted, &path);
    fired("the child watch's event", children, EventKind::NodeDeleted, &path);
    fired("the parent's event", parent, EventKind::NodeChildrenChanged, home);
    not_now("the event of the parent's data", &mut above);
}

pub(super) async fn a_multi_fires_watches<S: Site>(_: &S, zk: &S::Zk, home: &str) {
    let (a, b) = (below(home, "a"), below(home, "b"));
    make(zk, &a).await;
    let (_, data) = must("get_watch", zk.get_watch(home).await);
    let (_, gone) = must("exists_watch", zk.exists_watch(&a).await);
    let (_, made) = must("exists_watch", zk.exists_watch(&b).await);
    let (_, children) = must("children_watch", zk.children_watch(home).await);
    let ops = vec![
        Op::Set { path: home.to_owned(), data: Vec::new(), version: None },
        Op::Delete { path: a.clone(), version: None },
        Op::Create { path: b.clone(), data: Vec::new(), mode: CreateMode::Ephemeral },
    ];
    must("multi", zk.multi(ops).await);
    fired("the event of the set", data, EventKind::NodeDataChanged, home);
    fired("the event of the delete", gone, EventKind::NodeDeleted, &a);
    fired("the event of the create", made, EventKind::NodeCreated, &b);
    fired("the event of the children", children, EventKind::NodeChildrenChanged, home);
}

pub(super) async fn what_changes_nothing_fires_nothing<S: Site>(_: &S, zk: &S::Zk, home: &str) {
    make(zk, &below(home, "a")).await;
    let (_, mut data) = must("get_watch", zk.get_watch(home).await);
    let (_, mut children) = must("children_watch", zk.children_watch(home).await);
    let (_, mut missing) = must("exists_watch", zk.exists_watch(&below(home, "no")).await);
    refused("a set", zk.set(home, b"", Some(7)).await, ErrorKind::BadVersion);
    refused("a delete", zk.delete(home, None).await, ErrorKind::NotEmpty);
    refused("a delete", zk.delete(&below(home, "no"), None).await, ErrorKind::NoNode);
    let twice = zk.create(&below(home, "a"), b"", CreateMode::Persistent).await;
    refused("a create", twice, ErrorKind::NodeExists);
    let orphan = zk.create(&below(home, "no/child"), b"", CreateMode::Persistent).await;
    refused("a create", orphan, ErrorKind::NoNode);
    let check = Op::Check { path: home.to_owned(), version: Some(0) };
    must("multi", zk.multi(vec![check]).await);
    must("sync", zk.sync(home).await);
    must("get", zk.get(home).await);
    not_now("the data watch's event", &mut data);
    not_now("the child watch's event", &mut children);
    not_now("the exists watch's event", &mut missing);
}

pub(super) async fn watches_of_one_kind_outlive_those_of_another<S: Site>(_: &S, zk: &S::Zk, home: &str) {
    let (_, data) = must("get_watch", zk.get_watch(home).await);
    let (_, children) = must("children_watch", zk.children_watch(home).await);
    drop(children);
    must("exists", zk.exists(home).await);
    must("set", zk.set(home, b"new", None).await);
    fired("the data watch's event", data, EventKind::NodeDataChanged, home);
    let (_, data) = must("get_watch", zk.get_watch(home).await);
    let (_, children) = must("children_watch", zk.children_watch(home).await);
    drop(data);
    must("exists", zk.exists(home).await);
    make(zk, &below(home, "a")).await;
    fired("the child watch's event", children, EventKind::NodeChildrenChanged, home);
}

pub(super) async fn each_session_has_watches_of_its_own<S: Site>(site: &S, zk: &S::Zk, home: &str) {
    let other = site.open().await;
    catch_up(&other).await;
    let (_, mine) = must("get_watch", zk.get_watch(home).await);
    let (_, theirs) = must("get_watch", other.get_watch(home).await);
    drop(must("get_watch", zk.get_watch(home).await));
    must("set", zk.set(home, b"new", None).await);
    fired("the own event", mine, EventKind::NodeDataChanged, home);
    catch_up(&other).await;
    fired("the other's event", theirs, EventKind::NodeDataChanged, home);
    close(&other).await;
}
