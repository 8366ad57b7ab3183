//! Clean-up duties.

use super::{
    Site, below, catch_up, close, is_there, make, make_ephemeral, must, names_in, now, stat_of, tells,
};
use zk_recipes::zk::{CreateMode, Duty, EventKind, Guid, Op, Runtime, ZooKeeper};

fn path_duty(path: &str) -> Duty {
    Duty::Path(path.to_owned())
}

/// A duty that deletes what has the guid in its name.
fn guid_duty<Z: ZooKeeper>(zk: &Z, directory: &str, guid: Guid) -> Duty {
    let connection = zk.status().connection;
    Duty::Guid { directory: directory.to_owned(), guid: guid.to_string(), connection }
}

pub(super) async fn a_dropped_duty_deletes<S: Site>(_: &S, zk: &S::Zk, home: &str) {
    let path = below(home, "a");
    let armed = zk.arm(path_duty(&path));
    make(zk, &path).await;
    let (_, watch) = must("exists_watch", zk.exists_watch(&path).await);
    drop(armed);
    tells(zk, watch, EventKind::NodeDeleted, &path).await;
}

pub(super) async fn a_duty_leaves_when_dropped<S: Site>(_: &S, zk: &S::Zk, home: &str) {
    let path = below(home, "a");
    make(zk, &path).await;
    drop(zk.arm(path_duty(&path)));
    let found = zk.exists(&path);
    assert_eq!(must("exists", found.await), None, "the read was called after the drop");
}

pub(super) async fn a_duty_that_is_done_deletes_nothing<S: Site>(site: &S, zk: &S::Zk, home: &str) {
    let other = site.open().await;
    let path = below(home, "a");
    make(&other, &path).await;
    other.arm(path_duty(&path)).done();
    assert!(is_there(&other, &path).await);
    close(&other).await;
    catch_up(zk).await;
    assert!(is_there(zk, &path).await, "nothing was left to be done at the close either");
}

pub(super) async fn a_narrowed_duty_does_the_new_thing<S: Site>(_: &S, zk: &S::Zk, home: &str) {
    let (a, b) = (below(home, "a"), below(home, "b"));
    make(zk, &a).await;
    make(zk, &b).await;
    let mut armed = zk.arm(path_duty(&a));
    armed.narrow(path_duty(&b));
    drop(armed);
    assert!(!is_there(zk, &b).await);
    assert!(is_there(zk, &a).await);
}

pub(super) async fn a_duty_finds_its_guid<S: Site>(site: &S, zk: &S::Zk, home: &str) {
    let other = site.open().await;
    let (guid, spared) = (zk.guid(), zk.guid());
    let armed = zk.arm(guid_duty(zk, home, guid));
    let mine = below(home, &format!("{guid}-lock-"));
    let mine = must("create", zk.create(&mine, b"", CreateMode::EphemeralSequential).await).path;
    make_ephemeral(zk, &below(home, &format!("{spared}-lock-"))).await;
    make_ephemeral(&other, &below(home, &format!("{guid}-of-another"))).await;
    make(zk, &below(home, &format!("{guid}-of-nobody"))).await;
    catch_up(zk).await;
    let (_, watch) = must("exists_watch", zk.exists_watch(&mine).await);
    drop(armed);
    tells(zk, watch, EventKind::NodeDeleted, &mine).await;
    let names = must("children", zk.children(home).await).names;
    assert!(names.contains(&format!("{spared}-lock-")), "another guid of the session is spared: {names:?}");
    close(zk).await;
    // The end of the session has deleted its own; the duty must not have deleted the others'.
    catch_up(&other).await;
    let names = names_in(&other, home).await;
    assert_eq!(names, [format!("{guid}-of-another"), format!("{guid}-of-nobody")]);
    close(&other).await;
}

pub(super) async fn a_duty_without_a_znode_is_done<S: Site>(_: &S, zk: &S::Zk, home: &str) {
    let missing = below(home, "no");
    drop(zk.arm(path_duty(&missing)));
    drop(zk.arm(guid_duty(zk, &missing, zk.guid())));
    let connection = zk.status().connection + 1;
    drop(zk.arm(Duty::Guid { directory: home.to_owned(), guid: zk.guid().to_string(), connection }));
    drop(zk.arm(Duty::Guid {
        directory: home.to_owned(),
        guid: zk.guid().to_string(),
        connection: connection + 1,
    }));
    must("exists", zk.exists(home).await);
    // An unfinished duty would block the close.
    let begun = zk.now();
    close(zk).await;
    assert!(zk.now().since(begun) < super::LIMIT, "close has waited for a duty in vain");
}

pub(super) async fn a_fixed_duty_spares_another_incarnation<S: Site>(site: &S, zk: &S::Zk, home: &str) {
    let other = site.open().await;
    let connection = zk.status().connection;
    let fixed = |path: &str, czxid| Duty::Fixed { path: path.to_owned(), czxid, connection };
    // Ours, by its czxid; then a later one of the same name; then one of another session, its czxid not known.
    let (ready, next, theirs) = (below(home, "ready"), below(home, "next"), below(home, "theirs"));
    let made = must("create", zk.create(&ready, b"", CreateMode::Ephemeral).await);
    let first = must("create", zk.create(&next, b"", CreateMode::Ephemeral).await);
    must("delete", zk.delete(&next, None).await);
    make_ephemeral(zk, &next).await;
    make_ephemeral(&other, &theirs).await;
    catch_up(zk).await;
    let (_, watch) = must("exists_watch", zk.exists_watch(&ready).await);
    drop(zk.arm(fixed(&next, Some(first.stat.czxid))));
    drop(zk.arm(fixed(&theirs, None)));
    drop(zk.arm(fixed(&ready, Some(made.stat.czxid))));
    tells(zk, watch, EventKind::NodeDeleted, &ready).await;
    assert!(is_there(zk, &next).await, "a later incarnation is spared");
    assert!(is_there(zk, &theirs).await, "another session's znode is spared");
    close(&other).await;
}

pub(super) async fn a_duty_of_several_writes_is_one_transaction<S: Site>(_: &S, zk: &S::Zk, home: &str) {
    let (a, b) = (below(home, "a"), below(home, "b"));
    make(zk, &a).await;
    let delete = |path: &str| Op::Delete { path: path.to_owned(), version: None };
    drop(zk.arm(Duty::Multi(vec![delete(&a), delete(&b)])));
    assert!(is_there(zk, &a).await, "one of the two cannot be deleted, so neither is");
    make(zk, &b).await;
    drop(zk.arm(Duty::Multi(vec![delete(&a), delete(&b)])));
    assert!(!is_there(zk, &a).await);
    assert!(!is_there(zk, &b).await);
}

pub(super) async fn a_duty_behind_another_begins_when_that_is_done<S: Site>(_: &S, zk: &S::Zk, home: &str) {
    let (first, last) = (below(home, "first"), below(home, "last"));
    let (early, late, absent) = (below(&first, "a"), below(&last, "a"), below(home, "absent"));
    make(zk, &first).await;
    make(zk, &last).await;
    make(zk, &early).await;
    let delete = |path: &str| vec![Op::Delete { path: path.to_owned(), version: None }];
    // Two round trips, then none of the alternatives is possible.
    for _ in 0..2 {
        let all = vec![delete(&absent), delete(&early)];
        make(zk, &late).await;
        let (_, watch) = must("exists_watch", zk.exists_watch(&late).await);
        drop(zk.arm(Duty::FirstOf { all, then: Some(Box::new(path_duty(&late))) }));
        tells(zk, watch, EventKind::NodeDeleted, &late).await;
        assert!(!is_there(zk, &early).await, "it came first");
        let (first, last) = (stat_of(zk, &first).await, stat_of(zk, &last).await);
        assert!(first.pzxid < last.pzxid, "one behind the other: {first:?}, {last:?}");
    }
}

pub(super) async fn close_waits_for_duties<S: Site>(site: &S, zk: &S::Zk, home: &str) {
    let other = site.open().await;
    let (first, last) = (below(home, "first"), below(home, "last"));
    make(zk, &first).await;
    make(zk, &last).await;
    // A duty of many round trips, and beside it a znode that the end of the session takes along.
    let guid = other.guid();
    for _ in 0..5 {
        let own = below(&first, &format!("{guid}-lock-"));
        must("create", other.create(&own, b"", CreateMode::EphemeralSequential).await);
    }
    make_ephemeral(&other, &below(&last, "e")).await;
    drop(other.arm(guid_duty(&other, &first, guid)));
    close(&other).await;
    catch_up(zk).await;
    let (first, last) = (stat_of(zk, &first).await, stat_of(zk, &last).await);
    assert_eq!((first.num_children, last.num_children), (0, 0), "all ephemerals are gone");
    assert!(
        first.pzxid < last.pzxid,
        "the duty was done by itself, before the session's end: {first:?}, {last:?}"
    );
    // Dropped after the close, a duty is ignored.
    drop(other.arm(path_duty(home)));
    assert!(now("status", async { other.status() }).over().is_some());
    assert!(is_there(zk, home).await);
}

pub(super) async fn an_armed_duty_waits<S: Site>(site: &S, zk: &S::Zk, home: &str) {
    let path = below(home, "a");
    make(zk, &path).await;
    let armed = zk.arm(path_duty(&path));
    must("exists", zk.exists(home).await);
    assert!(is_there(zk, &path).await, "it is not due yet");
    let begun = zk.now();
    close(zk).await;
    assert!(zk.now().since(begun) < super::LIMIT, "close has waited for what somebody still holds");
    armed.done();
    let other = site.open().await;
    catch_up(&other).await;
    assert!(is_there(&other, &path).await);
    close(&other).await;
}

pub(super) async fn a_duty_that_is_refused_is_done<S: Site>(site: &S, zk: &S::Zk, home: &str) {
    make(zk, &below(home, "child")).await;
    drop(zk.arm(path_duty(home)));
    let begun = zk.now();
    close(zk).await;
    assert!(zk.now().since(begun) < super::LIMIT, "close has waited for what will never be");
    let other = site.open().await;
    catch_up(&other).await;
    assert!(is_there(&other, home).await, "a znode with children stays");
    close(&other).await;
}

pub(super) async fn a_fixed_duty_knows_its_own_by_the_session<S: Site>(site: &S, zk: &S::Zk, home: &str) {
    let connection = zk.status().connection;
    let (mine, nobodys) = (below(home, "mine"), below(home, "nobodys"));
    make_ephemeral(zk, &mine).await;
    make(zk, &nobodys).await;
    let (_, watch) = must("exists_watch", zk.exists_watch(&mine).await);
    drop(zk.arm(Duty::Fixed { path: mine.clone(), czxid: None, connection }));
    tells(zk, watch, EventKind::NodeDeleted, &mine).await;
    drop(zk.arm(Duty::Fixed { path: nobodys.clone(), czxid: None, connection }));
    // Close waits for the second one, too.
    close(zk).await;
    let other = site.open().await;
    catch_up(&other).await;
    assert!(is_there(&other, &nobodys).await, "what is not the session's is spared");
    close(&other).await;
}

pub(super) async fn a_duty_comes_behind_what_it_cleans_up<S: Site>(site: &S, zk: &S::Zk, home: &str) {
    let guid = zk.guid();
    let armed = zk.arm(guid_duty(zk, home, guid));
    // No reply was taken yet: this is the state of an operation that is dropped at its first await.
    drop(zk.create(&below(home, &format!("{guid}-lock-")), b"", CreateMode::EphemeralSequential));
    drop(armed);
    close(zk).await;
    let other = site.open().await;
    catch_up(&other).await;
    let found = must("children", other.children(home).await);
    assert_eq!((found.names.len(), found.stat.cversion), (0, 2), "made once, and deleted: {found:?}");
    close(&other).await;
}
