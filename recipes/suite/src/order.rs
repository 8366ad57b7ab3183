//! Pipelined requests.

use futures_util::future::{join, join_all};

use super::{Site, below, make, must, now};
use zk_recipes::zk::{CreateMode, ZooKeeper};

pub(super) async fn a_flight_is_in_order<S: Site>(_: &S, zk: &S::Zk, home: &str) {
    let path = below(home, "a");
    let before = zk.exists(&path);
    let create = zk.create(&path, b"one", CreateMode::Persistent);
    let first = zk.get(&path);
    let set = zk.set(&path, b"two", Some(0));
    let second = zk.get(&path);
    let listed = zk.children(home);
    let multi = zk.multi(vec![zk_recipes::zk::Op::Delete { path: path.clone(), version: Some(1) }]);
    let after = zk.exists(&path);
    assert_eq!(must("exists", before.await), None);
    let created = must("create", create.await);
    let first = must("get", first.await);
    assert_eq!((first.data.as_slice(), first.stat), (b"one".as_slice(), created.stat));
    let set = must("set", set.await);
    let second = must("get", second.await);
    assert_eq!((second.data.as_slice(), second.stat), (b"two".as_slice(), set));
    assert_eq!(must("children", listed.await).names, ["a"]);
    must("multi", multi.await);
    assert_eq!(must("exists", after.await), None);
}

pub(super) async fn answers_come_in_order<S: Site>(_: &S, zk: &S::Zk, home: &str) {
    let path = below(home, "a");
    let create = zk.create(&path, b"", CreateMode::Ephemeral);
    let watch = zk.children_watch(home);
    let get = zk.get(&path);
    let delete = zk.delete(&path, None);
    let sync = zk.sync(&path);
    let last = zk.exists(&path);
    assert_eq!(must("exists", last.await), None);
    must("create", now("the answer to the create, called first,", create));
    drop(must("children_watch", now("the answer to the list, called second,", watch)));
    must("get", now("the answer to the get, called third,", get));
    must("delete", now("the answer to the delete, called fourth,", delete));
    must("sync", now("the answer to the sync, called fifth,", sync));
}

pub(super) async fn requests_leave_at_the_call<S: Site>(_: &S, zk: &S::Zk, home: &str) {
    let (a, b, c) = (below(home, "a"), below(home, "b"), below(home, "c"));
    make(zk, &b).await;
    drop(zk.create(&a, b"", CreateMode::Persistent));
    drop(zk.set(home, b"new", None));
    drop(zk.delete(&b, None));
    drop(zk.multi(vec![zk_recipes::zk::Op::Create {
        path: c,
        data: Vec::new(),
        mode: CreateMode::Persistent,
    }]));
    drop(zk.children_watch(home));
    drop(zk.sync(home));
    let (listing, data) = join(zk.children(home), zk.get(home)).await;
    let mut names = must("children", listing).names;
    names.sort();
    assert_eq!(names, ["a", "c"], "what was called and dropped was sent");
    assert_eq!(must("get", data).data, b"new");
}

pub(super) async fn clones_share_one_order<S: Site>(_: &S, zk: &S::Zk, home: &str) {
    let clone = zk.clone();
    assert_eq!(clone.session(), zk.session());
    let path = below(home, "a");
    let create = clone.create(&path, b"", CreateMode::Persistent);
    let found = zk.exists(&path);
    let delete = clone.delete(&path, None);
    let gone = zk.exists(&path);
    assert!(must("exists", found.await).is_some());
    assert_eq!(must("exists", gone.await), None);
    must("create", create.await);
    must("delete", delete.await);
    drop(clone);
    must("exists", zk.exists(home).await);
}

pub(super) async fn a_lost_interest_does_no_harm<S: Site>(_: &S, zk: &S::Zk, home: &str) {
    let prefix = below(home, "s-");
    let flight: Vec<_> = (0..20).map(|_| zk.create(&prefix, b"", CreateMode::EphemeralSequential)).collect();
    let kept = flight.into_iter().enumerate().filter(|(at, _)| at % 3 == 0);
    let (numbers, kept): (Vec<_>, Vec<_>) = kept.unzip();
    for (number, created) in numbers.iter().zip(join_all(kept).await) {
        assert_eq!(must("create", created).path, format!("{prefix}{number:010}"));
    }
    assert_eq!(must("children", zk.children(home).await).names.len(), 20);
}
