//! Clean-up duties.

use super::{Site, below, catch_up, close, make, make_ephemeral, must, now, soon, start};
use crate::zk::{CreateMode, Duty, EventKind, Op, ZooKeeper};

fn path_duty(path: &str) -> Duty {
    Duty::Path(path.to_owned())
}

pub(super) async fn a_dropped_duty_deletes<S: Site>(site: &S) {
    let (zk, directory) = start(site).await;
    let path = below(&directory, "a");
    let armed = zk.arm(path_duty(&path));
    make(&zk, &path).await;
    let (_, watch) = must("exists_watch", zk.exists_watch(&path).await);
    drop(armed);
    let event = must("the watch", soon(&zk, "the deletion by the duty", watch).await);
    assert_eq!(event.kind, EventKind::NodeDeleted);
    close(zk).await;
}

pub(super) async fn a_duty_leaves_when_dropped<S: Site>(site: &S) {
    let (zk, directory) = start(site).await;
    let path = below(&directory, "a");
    make(&zk, &path).await;
    drop(zk.arm(path_duty(&path)));
    let found = zk.exists(&path);
    assert_eq!(must("exists", found.await), None, "the read was called after the drop");
    close(zk).await;
}

pub(super) async fn a_duty_that_is_done_deletes_nothing<S: Site>(site: &S) {
    let (zk, directory) = start(site).await;
    let other = site.open().await;
    let path = below(&directory, "a");
    make(&other, &path).await;
    other.arm(path_duty(&path)).done();
    assert!(must("exists", other.exists(&path).await).is_some());
    close(other).await;
    catch_up(&zk).await;
    assert!(
        must("exists", zk.exists(&path).await).is_some(),
        "nothing was left to be done at the close either"
    );
    close(zk).await;
}

pub(super) async fn a_narrowed_duty_does_the_new_thing<S: Site>(site: &S) {
    let (zk, directory) = start(site).await;
    let (a, b) = (below(&directory, "a"), below(&directory, "b"));
    make(&zk, &a).await;
    make(&zk, &b).await;
    let mut armed = zk.arm(path_duty(&a));
    armed.narrow(path_duty(&b));
    drop(armed);
    assert_eq!(must("exists", zk.exists(&b).await), None);
    assert!(must("exists", zk.exists(&a).await).is_some());
    close(zk).await;
}

pub(super) async fn a_duty_finds_its_guid<S: Site>(site: &S) {
    let (zk, directory) = start(site).await;
    let other = site.open().await;
    let (guid, spared) = (zk.guid(), zk.guid());
    let duty = Duty::Guid {
        directory: directory.clone(),
        guid: guid.to_string(),
        connection: zk.status().connection,
    };
    let armed = zk.arm(duty);
    let mine = below(&directory, &format!("{guid}-lock-"));
    let mine = must("create", zk.create(&mine, b"", CreateMode::EphemeralSequential).await).path;
    make_ephemeral(&zk, &below(&directory, &format!("{spared}-lock-"))).await;
    make_ephemeral(&other, &below(&directory, &format!("{guid}-of-another"))).await;
    make(&zk, &below(&directory, &format!("{guid}-of-nobody"))).await;
    catch_up(&zk).await;
    let (_, watch) = must("exists_watch", zk.exists_watch(&mine).await);
    drop(armed);
    let event = must("the watch", soon(&zk, "the deletion by the duty", watch).await);
    assert_eq!(event.kind, EventKind::NodeDeleted);
    let names = must("children", zk.children(&directory).await).names;
    assert!(names.contains(&format!("{spared}-lock-")), "another guid of the session is spared: {names:?}");
    close(zk.clone()).await;
    // The end of the session has deleted its own; the duty must not have deleted the others'.
    catch_up(&other).await;
    let mut names = must("children", other.children(&directory).await).names;
    names.sort();
    assert_eq!(names, [format!("{guid}-of-another"), format!("{guid}-of-nobody")]);
    close(other).await;
}

pub(super) async fn a_duty_without_a_znode_is_done<S: Site>(site: &S) {
    let (zk, directory) = start(site).await;
    let missing = below(&directory, "no");
    let connection = zk.status().connection;
    drop(zk.arm(path_duty(&missing)));
    drop(zk.arm(Duty::Guid { directory: missing.clone(), guid: zk.guid().to_string(), connection }));
    drop(zk.arm(Duty::Guid {
        directory: directory.clone(),
        guid: zk.guid().to_string(),
        connection: connection + 1,
    }));
    must("exists", zk.exists(&directory).await);
    // An unfinished duty would block the close.
    let begun = zk.now();
    close(zk.clone()).await;
    assert!(zk.now().since(begun) < super::LIMIT, "close has waited for a duty in vain");
}

pub(super) async fn a_fixed_duty_spares_another_incarnation<S: Site>(site: &S) {
    let (zk, directory) = start(site).await;
    let other = site.open().await;
    let connection = zk.status().connection;
    let fixed = |path: &str, czxid| Duty::Fixed { path: path.to_owned(), czxid, connection };
    // Ours, by its czxid; then a later one of the same name; then one of another session, its czxid not known.
    let (ready, next, theirs) =
        (below(&directory, "ready"), below(&directory, "next"), below(&directory, "theirs"));
    let made = must("create", zk.create(&ready, b"", CreateMode::Ephemeral).await);
    let first = must("create", zk.create(&next, b"", CreateMode::Ephemeral).await);
    must("delete", zk.delete(&next, None).await);
    make_ephemeral(&zk, &next).await;
    make_ephemeral(&other, &theirs).await;
    catch_up(&zk).await;
    let (_, watch) = must("exists_watch", zk.exists_watch(&ready).await);
    drop(zk.arm(fixed(&next, Some(first.stat.czxid))));
    drop(zk.arm(fixed(&theirs, None)));
    drop(zk.arm(fixed(&ready, Some(made.stat.czxid))));
    must("the watch", soon(&zk, "the deletion by the duty", watch).await);
    assert!(must("exists", zk.exists(&next).await).is_some(), "a later incarnation is spared");
    assert!(must("exists", zk.exists(&theirs).await).is_some(), "another session's znode is spared");
    close(other).await;
    close(zk).await;
}

pub(super) async fn a_duty_of_several_writes_is_one_transaction<S: Site>(site: &S) {
    let (zk, directory) = start(site).await;
    let (a, b) = (below(&directory, "a"), below(&directory, "b"));
    make(&zk, &a).await;
    let delete = |path: &str| Op::Delete { path: path.to_owned(), version: None };
    drop(zk.arm(Duty::Multi(vec![delete(&a), delete(&b)])));
    assert!(must("exists", zk.exists(&a).await).is_some(), "one of the two cannot be deleted, so neither is");
    make(&zk, &b).await;
    drop(zk.arm(Duty::Multi(vec![delete(&a), delete(&b)])));
    assert_eq!(must("exists", zk.exists(&a).await), None);
    assert_eq!(must("exists", zk.exists(&b).await), None);
    close(zk).await;
}

pub(super) async fn close_waits_for_duties<S: Site>(site: &S) {
    let (zk, directory) = start(site).await;
    let other = site.open().await;
    let (first, last) = (below(&directory, "first"), below(&directory, "last"));
    make(&zk, &first).await;
    make(&zk, &last).await;
    // A duty of many round trips, and beside it a znode that the end of the session takes along.
    let guid = other.guid().to_string();
    for _ in 0..5 {
        let own = below(&first, &format!("{guid}-lock-"));
        must("create", other.create(&own, b"", CreateMode::EphemeralSequential).await);
    }
    make_ephemeral(&other, &below(&last, "e")).await;
    let connection = other.status().connection;
    drop(other.arm(Duty::Guid { directory: first.clone(), guid, connection }));
    must("close", other.close(super::LIMIT).await);
    catch_up(&zk).await;
    let first = must("exists", zk.exists(&first).await).expect("the directory was made");
    let last = must("exists", zk.exists(&last).await).expect("the directory was made");
    assert_eq!((first.num_children, last.num_children), (0, 0), "all ephemerals are gone");
    assert!(
        first.pzxid < last.pzxid,
        "the duty was done by itself, before the session's end: {first:?}, {last:?}"
    );
    // Dropped after the close, a duty is ignored.
    drop(other.arm(path_duty(&directory)));
    assert!(now("status", async { other.status() }).over().is_some());
    assert!(must("exists", zk.exists(&directory).await).is_some());
    close(zk).await;
}

pub(super) async fn an_armed_duty_waits<S: Site>(site: &S) {
    let (zk, directory) = start(site).await;
    let path = below(&directory, "a");
    make(&zk, &path).await;
    let armed = zk.arm(path_duty(&path));
    must("exists", zk.exists(&directory).await);
    assert!(must("exists", zk.exists(&path).await).is_some(), "it is not due yet");
    let begun = zk.now();
    close(zk.clone()).await;
    assert!(zk.now().since(begun) < super::LIMIT, "close has waited for what somebody still holds");
    armed.done();
    let other = site.open().await;
    catch_up(&other).await;
    assert!(must("exists", other.exists(&path).await).is_some());
    close(other).await;
}

pub(super) async fn a_duty_that_is_refused_is_done<S: Site>(site: &S) {
    let (zk, directory) = start(site).await;
    make(&zk, &below(&directory, "child")).await;
    drop(zk.arm(path_duty(&directory)));
    let begun = zk.now();
    close(zk.clone()).await;
    assert!(zk.now().since(begun) < super::LIMIT, "close has waited for what will never be");
    let other = site.open().await;
    catch_up(&other).await;
    assert!(must("exists", other.exists(&directory).await).is_some(), "a znode with children stays");
    close(other).await;
}

pub(super) async fn a_fixed_duty_knows_its_own_by_the_session<S: Site>(site: &S) {
    let (zk, directory) = start(site).await;
    let connection = zk.status().connection;
    let (mine, nobodys) = (below(&directory, "mine"), below(&directory, "nobodys"));
    make_ephemeral(&zk, &mine).await;
    make(&zk, &nobodys).await;
    for path in [&mine, &nobodys] {
        let (_, watch) = must("exists_watch", zk.exists_watch(&mine).await);
        drop(zk.arm(Duty::Fixed { path: path.clone(), czxid: None, connection }));
        if path == &mine {
            must("the watch", soon(&zk, "the deletion by the duty", watch).await);
        }
    }
    // Close waits for the second one, too.
    close(zk).await;
    let other = site.open().await;
    catch_up(&other).await;
    assert!(must("exists", other.exists(&nobodys).await).is_some(), "what is not the session's is spared");
    close(other).await;
}

pub(super) async fn a_duty_comes_behind_what_it_cleans_up<S: Site>(site: &S) {
    let (zk, directory) = start(site).await;
    let guid = zk.guid().to_string();
    let connection = zk.status().connection;
    let armed = zk.arm(Duty::Guid { directory: directory.clone(), guid: guid.clone(), connection });
    // No reply was taken yet: this is the state of an operation that is dropped at its first await.
    drop(zk.create(&below(&directory, &format!("{guid}-lock-")), b"", CreateMode::EphemeralSequential));
    drop(armed);
    close(zk).await;
    let other = site.open().await;
    catch_up(&other).await;
    let found = must("children", other.children(&directory).await);
    assert_eq!((found.names.len(), found.stat.cversion), (0, 2), "made once, and deleted: {found:?}");
    close(other).await;
}
