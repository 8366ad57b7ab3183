//! Several operations as one.

use super::{Site, below, close, make, must, not_now, refused, start};
use crate::zk::{CreateMode, Error, Op, OpResult, ZooKeeper};

fn create(path: &str, mode: CreateMode) -> Op {
    Op::Create { path: path.to_owned(), data: b"data".to_vec(), mode }
}

fn check(path: &str, version: Option<i32>) -> Op {
    Op::Check { path: path.to_owned(), version }
}

fn because(index: usize, cause: Error) -> Error {
    Error::Multi { index, cause: Box::new(cause) }
}

pub(super) async fn a_multi_is_applied_at_once<S: Site>(site: &S) {
    let (zk, directory) = start(site).await;
    let (a, s, old) = (below(&directory, "a"), below(&directory, "s-"), below(&directory, "old"));
    make(&zk, &old).await;
    let results = must(
        "multi",
        zk.multi(vec![
            check(&directory, Some(0)),
            create(&a, CreateMode::Ephemeral),
            create(&s, CreateMode::PersistentSequential),
            Op::Set { path: directory.clone(), data: b"set".to_vec(), version: Some(0) },
            Op::Delete { path: old.clone(), version: None },
        ])
        .await,
    );
    let s = format!("{s}0000000002");
    let found = must("get", zk.get(&directory).await);
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
    let a = must("exists", zk.exists(&a).await).expect("the first znode was made");
    let s = must("exists", zk.exists(&s).await).expect("the second znode was made");
    assert_eq!((a.czxid, s.czxid), (found.stat.mzxid, found.stat.mzxid), "one transaction, one zxid");
    assert_eq!((a.ephemeral_owner, found.stat.pzxid), (zk.session(), found.stat.mzxid));
    assert_eq!(must("exists", zk.exists(&old).await), None);
    close(zk).await;
}

pub(super) async fn a_multi_sees_its_own_operations<S: Site>(site: &S) {
    let (zk, directory) = start(site).await;
    let (a, b) = (below(&directory, "a"), below(&directory, "a/b"));
    let ops = vec![
        create(&a, CreateMode::Persistent),
        create(&b, CreateMode::Persistent),
        Op::Set { path: a.clone(), data: b"new".to_vec(), version: Some(0) },
        check(&a, Some(1)),
        Op::Delete { path: b, version: None },
        Op::Delete { path: a.clone(), version: Some(1) },
    ];
    must("multi", zk.multi(ops).await);
    assert_eq!(must("exists", zk.exists(&a).await), None);
    close(zk).await;
}

pub(super) async fn a_multi_is_all_or_nothing<S: Site>(site: &S) {
    let (zk, directory) = start(site).await;
    let a = below(&directory, "a");
    let made = || create(&a, CreateMode::Persistent);
    let cases = [
        (Op::Delete { path: below(&directory, "no"), version: None }, Error::NoNode),
        (Op::Set { path: directory.clone(), data: Vec::new(), version: Some(7) }, Error::BadVersion),
        (made(), Error::NodeExists),
        (Op::Delete { path: directory.clone(), version: None }, Error::NotEmpty),
        (check(&directory, Some(7)), Error::BadVersion),
    ];
    for (op, cause) in cases {
        let multi = zk.multi(vec![check(&directory, None), made(), op.clone(), check("/", None)]).await;
        refused(&format!("a multi with {op:?}"), multi, because(2, cause));
        assert_eq!(must("exists", zk.exists(&a).await), None, "nothing of a refused multi is applied");
    }
    let stat = must("exists", zk.exists(&directory).await).expect("the directory was made");
    assert_eq!((stat.version, stat.cversion), (0, 0), "{stat:?}");
    close(zk).await;
}

pub(super) async fn a_refused_multi_uses_no_number<S: Site>(site: &S) {
    let (zk, directory) = start(site).await;
    let prefix = below(&directory, "s-");
    let wrong =
        vec![create(&prefix, CreateMode::PersistentSequential), check(&below(&directory, "no"), None)];
    refused("a multi with a check that fails", zk.multi(wrong).await, because(1, Error::NoNode));
    let next = must("create", zk.create(&prefix, b"", CreateMode::PersistentSequential).await);
    assert_eq!(next.path, format!("{prefix}0000000000"));
    close(zk).await;
}

pub(super) async fn a_refused_multi_fires_no_watch<S: Site>(site: &S) {
    let (zk, directory) = start(site).await;
    let (_, mut children) = must("children_watch", zk.children_watch(&directory).await);
    let (_, mut data) = must("get_watch", zk.get_watch(&directory).await);
    let set = Op::Set { path: directory.clone(), data: Vec::new(), version: None };
    let create = create(&below(&directory, "a"), CreateMode::Persistent);
    let multi = zk.multi(vec![set, create, check(&directory, Some(7))]).await;
    refused("a multi with a check that fails", multi, because(2, Error::BadVersion));
    must("exists", zk.exists(&directory).await);
    not_now("the child watch's event", &mut children);
    not_now("the data watch's event", &mut data);
    close(zk).await;
}

pub(super) async fn a_check_has_its_version<S: Site>(site: &S) {
    let (zk, directory) = start(site).await;
    must("set", zk.set(&directory, b"", None).await);
    let checks = vec![check(&directory, Some(1)), check(&directory, None)];
    assert_eq!(must("multi", zk.multi(checks).await), [OpResult::Checked, OpResult::Checked]);
    let stale = zk.multi(vec![check(&directory, Some(0))]).await;
    refused("a check of an old version", stale, because(0, Error::BadVersion));
    let missing = zk.multi(vec![check(&below(&directory, "no"), None)]).await;
    refused("a check of nothing", missing, because(0, Error::NoNode));
    close(zk).await;
}

pub(super) async fn an_empty_multi_is_done<S: Site>(site: &S) {
    let (zk, _) = start(site).await;
    assert_eq!(must("multi", zk.multi(Vec::new()).await), []);
    close(zk).await;
}
