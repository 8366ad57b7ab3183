//! Transactions.

use super::{
    MODES, Site, below, catch_up, close, is_there, make, make_ephemeral, must, not_now, refused, soon,
    stat_of,
};
use zk_recipes::zk::{CreateMode, ErrorKind, Op, OpResult, ZooKeeper};

fn create(path: &str, mode: CreateMode) -> Op {
    Op::Create { path: path.to_owned(), data: b"data".to_vec(), mode }
}

fn check(path: &str, version: Option<i32>) -> Op {
    Op::Check { path: path.to_owned(), version }
}

fn because(index: usize, cause: ErrorKind) -> ErrorKind {
    ErrorKind::Multi { index, cause: Box::new(cause.into()) }
}

pub(super) async fn a_multi_is_applied_at_once<S: Site>(_: &S, zk: &S::Zk, home: &str) {
    let (a, s, old) = (below(home, "a"), below(home, "s-"), below(home, "old"));
    make(zk, &old).await;
    let results = must(
        "multi",
        zk.multi(vec![
            check(home, Some(0)),
            create(&a, CreateMode::Ephemeral),
            create(&s, CreateMode::PersistentSequential),
            Op::Set { path: home.to_owned(), data: b"set".to_vec(), version: Some(0) },
            Op::Delete { path: old.clone(), version: None },
        ])
        .await,
    );
    let s = format!("{s}0000000002");
    let found = must("get", zk.get(home).await);
    let mut seen = found.stat;
    // The result of a set is the stat at that operation, before the last one has taken a child away.
    if let Some(OpResult::Set(stat)) = results.get(3) {
        (seen.cversion, seen.num_children, seen.pzxid) = (stat.cversion, stat.num_children, stat.pzxid);
    }
    let expected = [
        OpResult::Checked,
        OpResult::Created(a.clone()),
        OpResult::Created(s.clone()),
        OpResult::Set(seen),
        OpResult::Deleted,
    ];
    assert_eq!(results, expected);
    assert_eq!(found.data, b"set");
    let a = stat_of(zk, &a).await;
    let s = stat_of(zk, &s).await;
    assert_eq!((a.czxid, s.czxid), (found.stat.mzxid, found.stat.mzxid), "one transaction, one zxid");
    assert_eq!((a.ephemeral_owner, found.stat.pzxid), (zk.session(), found.stat.mzxid));
    assert!(!is_there(zk, &old).await);
}

pub(super) async fn a_multi_sees_its_own_operations<S: Site>(_: &S, zk: &S::Zk, home: &str) {
    let (a, b) = (below(home, "a"), below(home, "a/b"));
    let ops = vec![
        create(&a, CreateMode::Persistent),
        create(&b, CreateMode::Persistent),
        Op::Set { path: a.clone(), data: b"new".to_vec(), version: Some(0) },
        check(&a, Some(1)),
        Op::Delete { path: b, version: None },
        Op::Delete { path: a.clone(), version: Some(1) },
    ];
    must("multi", zk.multi(ops).await);
    assert!(!is_there(zk, &a).await);
}

pub(super) async fn a_multi_is_all_or_nothing<S: Site>(_: &S, zk: &S::Zk, home: &str) {
    let a = below(home, "a");
    let made = || create(&a, CreateMode::Persistent);
    let cases = [
        (Op::Delete { path: below(home, "no"), version: None }, ErrorKind::NoNode),
        (Op::Set { path: home.to_owned(), data: Vec::new(), version: Some(7) }, ErrorKind::BadVersion),
        (made(), ErrorKind::NodeExists),
        (Op::Delete { path: home.to_owned(), version: None }, ErrorKind::NotEmpty),
        (check(home, Some(7)), ErrorKind::BadVersion),
    ];
    for (op, cause) in cases {
        let multi = zk.multi(vec![check(home, None), made(), op.clone(), check("/", None)]).await;
        refused(&format!("a multi with {op:?}"), multi, because(2, cause));
        assert!(!is_there(zk, &a).await, "nothing of a refused multi is applied");
    }
    let stat = stat_of(zk, home).await;
    assert_eq!((stat.version, stat.cversion), (0, 0), "{stat:?}");
}

pub(super) async fn a_refused_multi_uses_no_number<S: Site>(_: &S, zk: &S::Zk, home: &str) {
    let prefix = below(home, "s-");
    let wrong = vec![create(&prefix, CreateMode::PersistentSequential), check(&below(home, "no"), None)];
    refused("a multi with a check that fails", zk.multi(wrong).await, because(1, ErrorKind::NoNode));
    let next = must("create", zk.create(&prefix, b"", CreateMode::PersistentSequential).await);
    assert_eq!(next.path, format!("{prefix}0000000000"));
}

pub(super) async fn a_refused_multi_fires_no_watch<S: Site>(_: &S, zk: &S::Zk, home: &str) {
    let (_, mut children) = must("children_watch", zk.children_watch(home).await);
    let (_, mut data) = must("get_watch", zk.get_watch(home).await);
    let set = Op::Set { path: home.to_owned(), data: Vec::new(), version: None };
    let create = create(&below(home, "a"), CreateMode::Persistent);
    let multi = zk.multi(vec![set, create, check(home, Some(7))]).await;
    refused("a multi with a check that fails", multi, because(2, ErrorKind::BadVersion));
    must("exists", zk.exists(home).await);
    not_now("the child watch's event", &mut children);
    not_now("the data watch's event", &mut data);
}

pub(super) async fn a_check_has_its_version<S: Site>(_: &S, zk: &S::Zk, home: &str) {
    must("set", zk.set(home, b"", None).await);
    let checks = vec![check(home, Some(1)), check(home, None)];
    assert_eq!(must("multi", zk.multi(checks).await), [OpResult::Checked, OpResult::Checked]);
    let stale = zk.multi(vec![check(home, Some(0))]).await;
    refused("a check of an old version", stale, because(0, ErrorKind::BadVersion));
    let missing = zk.multi(vec![check(&below(home, "no"), None)]).await;
    refused("a check of nothing", missing, because(0, ErrorKind::NoNode));
}

pub(super) async fn an_empty_multi_is_done<S: Site>(_: &S, zk: &S::Zk, _: &str) {
    assert_eq!(must("multi", zk.multi(Vec::new()).await), []);
}

pub(super) async fn a_refused_multi_tells_index_and_cause<S: Site>(_: &S, zk: &S::Zk, home: &str) {
    let (no, orphan) = (below(home, "no"), below(home, "no/child"));
    let parent = below(home, "e");
    make_ephemeral(zk, &parent).await;
    let delete = |path: &str, version| Op::Delete { path: path.to_owned(), version };
    let set = |path: &str, version| Op::Set { path: path.to_owned(), data: Vec::new(), version };
    let cases = [
        (create(&orphan, CreateMode::Persistent), ErrorKind::NoNode),
        (create(&orphan, CreateMode::EphemeralSequential), ErrorKind::NoNode),
        (create(home, CreateMode::Container), ErrorKind::NodeExists),
        (create(&below(&parent, "child"), CreateMode::Persistent), ErrorKind::NoChildrenForEphemerals),
        (delete(&no, None), ErrorKind::NoNode),
        (delete(&parent, Some(7)), ErrorKind::BadVersion),
        (delete(home, None), ErrorKind::NotEmpty),
        (set(&no, None), ErrorKind::NoNode),
        (set(home, Some(7)), ErrorKind::BadVersion),
        (check(&no, None), ErrorKind::NoNode),
        (check(home, Some(7)), ErrorKind::BadVersion),
    ];
    for (op, cause) in cases {
        for index in 0..3 {
            // Later operations do not matter, even if invalid.
            let mut ops = vec![check("/", None), check(home, Some(0)), check(&no, None)];
            ops.insert(index, op.clone());
            let what = format!("{op:?} as number {index}");
            refused(&what, zk.multi(ops).await, because(index, cause.clone()));
        }
    }
}

pub(super) async fn every_mode_can_be_made_by_a_multi<S: Site>(_: &S, zk: &S::Zk, home: &str) {
    let asked = MODES.map(|mode| below(home, &format!("{mode:?}-")));
    let ops = asked.iter().zip(MODES).map(|(path, mode)| create(path, mode)).collect();
    let results = must("multi", zk.multi(ops).await);
    assert_eq!(results.len(), MODES.len(), "one result an operation, in their order");
    for (number, (result, (asked, mode))) in results.into_iter().zip(asked.iter().zip(MODES)).enumerate() {
        let expected = if mode.is_sequential() { format!("{asked}{number:010}") } else { asked.clone() };
        assert_eq!(result, OpResult::Created(expected.clone()), "{mode:?}");
        let found = must("get", zk.get(&expected).await);
        let owner = if mode.is_ephemeral() { zk.session() } else { zk_recipes::zk::SessionId::default() };
        assert_eq!(
            (found.data.as_slice(), found.stat.ephemeral_owner),
            (b"data".as_slice(), owner),
            "{mode:?}"
        );
    }
}

pub(super) async fn a_multi_is_seen_whole<S: Site>(site: &S, zk: &S::Zk, home: &str) {
    let other = site.open().await;
    catch_up(&other).await;
    let (a, b) = (below(home, "a"), below(home, "b"));
    let (_, watch) = must("exists_watch", other.exists_watch(&a).await);
    let ops = vec![create(&a, CreateMode::Persistent), create(&b, CreateMode::Persistent)];
    let multi = zk.multi(ops);
    must("the watch", soon(&other, "the event of the first create", watch).await);
    let names = must("children", other.children(home).await).names;
    assert_eq!(names.len(), 2, "who sees the first create sees the second: {names:?}");
    must("multi", multi.await);
    close(&other).await;
}
