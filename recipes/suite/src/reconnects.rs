//! Behaviour across reconnects.

use futures_util::future::join_all;

use super::{
    Site, back, below, catch_up, close, is_there, make, make_ephemeral, must, not_now, reconnect, refused,
    soon, tells,
};
use zk_recipes::zk::{CreateMode, Duty, ErrorKind, EventKind, Runtime, State, ZooKeeper};

pub(super) async fn a_reconnect_is_counted<S: Site>(site: &S, zk: &S::Zk, _: &str) {
    let (session, timeout, before) = (zk.session(), zk.timeout(), zk.status());
    let mut seen = vec![before];
    site.cut(zk).await;
    while seen.last().is_none_or(|status| status.connection == before.connection) {
        let last = seen[seen.len() - 1];
        seen.push(soon(zk, "a change of status", zk.changed(last)).await);
    }
    for pair in seen.windows(2) {
        assert!(pair[0].changes < pair[1].changes, "changes are counted: {seen:?}");
    }
    let after = zk.status();
    assert_eq!((after.state, after.over()), (State::Connected, None));
    assert_eq!(after.connection, before.connection + 1);
    assert_eq!(after.changes, before.changes + 2, "lost, and found again: {seen:?}");
    assert_eq!(zk.session(), session, "it is the same session");
    assert!(zk.timeout() <= timeout, "the smaller of both timeouts is reckoned with");
}

pub(super) async fn ephemerals_outlive_a_connection<S: Site>(site: &S, zk: &S::Zk, home: &str) {
    let made = make_ephemeral(zk, &below(home, "e")).await;
    reconnect(site, zk).await;
    let found = must("exists", zk.exists(&made.path).await);
    assert_eq!(found, Some(made.stat), "nor is what this session was answered ever contradicted");
}

pub(super) async fn what_is_caught_by_a_cut_is_done_once_or_not_at_all<S: Site>(
    site: &S,
    zk: &S::Zk,
    home: &str,
) {
    let prefix = below(home, "s-");
    let before = zk.status();
    let caught: Vec<_> = (0..10).map(|_| zk.create(&prefix, b"", CreateMode::PersistentSequential)).collect();
    site.cut(zk).await;
    let answers = join_all(caught).await;
    let (answered, lost): (Vec<_>, Vec<_>) = answers.into_iter().partition(Result::is_ok);
    for answer in &lost {
        assert_eq!(answer.as_ref().err(), Some(&ErrorKind::ConnectionLoss.into()));
    }
    back(zk, before).await;
    catch_up(zk).await;
    let names = must("children", zk.children(home).await).names;
    assert!((answered.len()..=10).contains(&names.len()), "{} answered, {names:?}", answered.len());
    for (number, answer) in answered.into_iter().enumerate() {
        let path = must("create", answer).path;
        assert_eq!(path, format!("{prefix}{number:010}"), "what was lost came behind");
        assert!(names.iter().any(|name| path.ends_with(name.as_str())), "{path} is not among {names:?}");
    }
}

pub(super) async fn requests_wait_for_a_connection_or_fail<S: Site>(site: &S, zk: &S::Zk, home: &str) {
    let before = zk.status();
    site.cut(zk).await;
    let called = zk.set(home, b"new", None);
    let answer = soon(zk, "an answer to what was called meanwhile", called).await;
    back(zk, before).await;
    catch_up(zk).await;
    let found = must("get", zk.get(home).await);
    match answer {
        Ok(stat) => assert_eq!(found.stat, stat),
        Err(why) => assert_eq!(why, ErrorKind::ConnectionLoss),
    }
}

pub(super) async fn watches_outlive_a_connection<S: Site>(site: &S, zk: &S::Zk, home: &str) {
    let other = site.open().await;
    let [set, gone, grown, later, still] =
        ["set", "gone", "grown", "later", "still"].map(|name| below(home, name));
    for path in [&set, &gone, &grown, &still] {
        make(zk, path).await;
    }
    let (_, data) = must("get_watch", zk.get_watch(&set).await);
    let (_, end) = must("exists_watch", zk.exists_watch(&gone).await);
    let (_, children) = must("children_watch", zk.children_watch(&grown).await);
    let (_, created) = must("exists_watch", zk.exists_watch(&later).await);
    let (_, mut quiet) = must("get_watch", zk.get_watch(&still).await);
    let before = zk.status();
    site.cut(zk).await;
    // The changes may come before or after the reconnect: they are reported either way.
    must("set", other.set(&set, b"new", None).await);
    must("delete", other.delete(&gone, None).await);
    make(&other, &below(&grown, "child")).await;
    make(&other, &later).await;
    back(zk, before).await;
    catch_up(zk).await;
    for (watch, kind, path) in [
        (data, EventKind::NodeDataChanged, set),
        (end, EventKind::NodeDeleted, gone),
        (children, EventKind::NodeChildrenChanged, grown),
        (created, EventKind::NodeCreated, later),
    ] {
        tells(zk, watch, kind, &path).await;
    }
    not_now("the event of what did not change", &mut quiet);
    must("set", zk.set(&still, b"new", None).await);
    assert_eq!(must("the watch", soon(zk, "its event", quiet).await).path, still, "it is armed again");
    close(&other).await;
}

pub(super) async fn duties_outlive_a_connection<S: Site>(site: &S, zk: &S::Zk, home: &str) {
    let connection = zk.status().connection;
    let guid = zk.guid().to_string();
    let prefix = below(home, &format!("{guid}-lock-"));
    let own = must("create", zk.create(&prefix, b"", CreateMode::EphemeralSequential).await).path;
    let plain = make(zk, &below(home, "plain")).await.path;
    let fixed = make_ephemeral(zk, &below(home, "fixed")).await;
    let found = zk.arm(Duty::Guid { directory: home.to_owned(), guid, connection });
    let named = zk.arm(Duty::Path(plain.clone()));
    let mine = zk.arm(Duty::Fixed { path: fixed.path.clone(), czxid: Some(fixed.stat.czxid), connection });
    let watches = [&own, &plain, &fixed.path].map(|path| zk.exists_watch(path));
    let before = zk.status();
    let watches = join_all(watches).await;
    site.cut(zk).await;
    drop((found, named, mine));
    back(zk, before).await;
    for (watch, path) in watches.into_iter().zip([&own, &plain, &fixed.path]) {
        let (_, watch) = must("exists_watch", watch);
        tells(zk, watch, EventKind::NodeDeleted, path).await;
    }
}

pub(super) async fn a_reconnected_session_ends_as_any<S: Site>(site: &S, zk: &S::Zk, home: &str) {
    let other = site.open().await;
    make_ephemeral(zk, &below(home, "e")).await;
    reconnect(site, zk).await;
    close(zk).await;
    refused("exists", zk.exists(home).await, ErrorKind::SessionOver(zk_recipes::zk::Over::Closed));
    catch_up(&other).await;
    assert!(!is_there(&other, &below(home, "e")).await);
    close(&other).await;
}
