//! Reads.

use super::{Site, below, catch_up, close, is_there, make, must, now, refused, stat_of};
use zk_recipes::zk::{CreateMode, ErrorKind, Over, ZooKeeper, path};

pub(super) async fn exists_tells_none<S: Site>(_: &S, zk: &S::Zk, home: &str) {
    assert!(is_there(zk, home).await);
    assert!(!is_there(zk, &below(home, "no")).await);
    assert!(!is_there(zk, &below(home, "no/child")).await);
}

pub(super) async fn a_missing_znode_cannot_be_read<S: Site>(_: &S, zk: &S::Zk, home: &str) {
    let missing = below(home, "no");
    refused("a get of nothing", zk.get(&missing).await, ErrorKind::NoNode);
    refused("the children of nothing", zk.children(&missing).await, ErrorKind::NoNode);
}

pub(super) async fn children_are_names<S: Site>(_: &S, zk: &S::Zk, home: &str) {
    assert!(must("children", zk.children(home).await).names.is_empty());
    for name in ["b", "a", "c"] {
        make(zk, &below(home, name)).await;
    }
    make(zk, &below(home, "a/grandchild")).await;
    let mut listing = must("children", zk.children(home).await);
    listing.names.sort();
    assert_eq!(listing.names, ["a", "b", "c"]);
    assert_eq!(Some(listing.stat), must("exists", zk.exists(home).await), "with the parent's stat");
    assert_eq!(listing.stat.num_children, 3);
}

pub(super) async fn get_many_keeps_the_order<S: Site>(_: &S, zk: &S::Zk, home: &str) {
    let (a, b, no) = (below(home, "a"), below(home, "b"), below(home, "no"));
    must("create", zk.create(&a, b"one", CreateMode::Persistent).await);
    must("create", zk.create(&b, b"two", CreateMode::Persistent).await);
    let found = must("get_many", zk.get_many(&[b.clone(), no, a, b]).await);
    let found: Vec<_> = found.into_iter().map(|data| data.map(|data| data.data)).collect();
    assert_eq!(found, [Some(b"two".to_vec()), None, Some(b"one".to_vec()), Some(b"two".to_vec())]);
    assert_eq!(must("get_many of nothing", zk.get_many(&[]).await), []);
}

pub(super) async fn sync_answers<S: Site>(site: &S, zk: &S::Zk, home: &str) {
    let other = site.open().await;
    let stat = must("set", zk.set(home, b"new", None).await);
    // Behind a write, which is a barrier at every server, whereas a sync is none at the leader.
    catch_up(&other).await;
    let (synced, found) = (other.sync(home), other.exists(home));
    must("sync", synced.await);
    assert_eq!(must("exists", found.await), Some(stat));
    close(&other).await;
}

pub(super) async fn data_are_bytes<S: Site>(_: &S, zk: &S::Zk, home: &str) {
    let all: Vec<u8> = (0..=255).collect();
    for (name, data) in [("empty", Vec::new()), ("all", all.clone()), ("many", all.repeat(400))] {
        let path = below(home, name);
        must("create", zk.create(&path, &data, CreateMode::Persistent).await);
        let found = must("get", zk.get(&path).await);
        assert_eq!(found.data, data);
        assert_eq!(found.stat.data_length as usize, data.len());
    }
}

pub(super) async fn get_many_tells_what_get_tells<S: Site>(_: &S, zk: &S::Zk, home: &str) {
    let path = below(home, "a");
    make(zk, &path).await;
    let set = zk.set(&path, b"one", None);
    let many = zk.get_many(&[path.clone(), home.to_owned()]);
    let (one, parent) = (zk.get(&path), zk.get(home));
    let stat = must("set", set.await);
    let many = must("get_many", many.await);
    let (one, parent) = (must("get", one.await), must("get", parent.await));
    assert_eq!(one.stat, stat, "it sees the write called before it");
    assert_eq!(many, [Some(one), Some(parent)]);
}

pub(super) async fn a_listing_is_of_children_alone<S: Site>(_: &S, zk: &S::Zk, home: &str) {
    let mut expected: Vec<String> = (0..200).map(|number| format!("child-{number}")).collect();
    let made: Vec<_> =
        expected.iter().map(|name| zk.create(&below(home, name), b"", CreateMode::Persistent)).collect();
    let beside = zk.create(&format!("{home}-beside"), b"", CreateMode::Ephemeral);
    for create in made {
        must("create", create.await);
    }
    must("create", beside.await);
    let listing = must("children", zk.children(home).await);
    assert_eq!((listing.stat.num_children, listing.stat.cversion), (200, 200), "{:?}", listing.stat);
    let mut names = listing.names;
    // In no particular order.
    names.sort();
    expected.sort();
    assert_eq!(names, expected);
}

pub(super) async fn a_read_with_a_watch_tells_what_one_without_tells<S: Site>(_: &S, zk: &S::Zk, home: &str) {
    make(zk, &below(home, "a")).await;
    let (stat, _watch) = must("exists_watch", zk.exists_watch(home).await);
    assert_eq!(stat, must("exists", zk.exists(home).await));
    let (data, _watch) = must("get_watch", zk.get_watch(home).await);
    assert_eq!(data, must("get", zk.get(home).await));
    let (listing, _watch) = must("children_watch", zk.children_watch(home).await);
    assert_eq!(listing, must("children", zk.children(home).await));
    let (stat, _watch) = must("exists_watch", zk.exists_watch(&below(home, "no")).await);
    assert_eq!(stat, None);
}

pub(super) async fn the_root_is_a_znode<S: Site>(_: &S, zk: &S::Zk, home: &str) {
    let stat = stat_of(zk, "/").await;
    assert!(
        stat.num_children > 0 && stat.ephemeral_owner == zk_recipes::zk::SessionId::default(),
        "{stat:?}"
    );
    let name = &home[home.rfind('/').map_or(0, |at| at + 1)..];
    let parent = zk_recipes::zk::path::split(home).0;
    assert!(must("children", zk.children(parent).await).names.iter().any(|child| child == name));
    must("get", zk.get("/").await);
}

pub(super) async fn a_sync_needs_no_znode<S: Site>(_: &S, zk: &S::Zk, home: &str) {
    must("sync", zk.sync(&below(home, "no/such/znode")).await);
    must("sync", zk.sync("/").await);
}

pub(super) async fn a_write_of_its_own_lets_a_session_catch_up<S: Site>(site: &S, zk: &S::Zk, home: &str) {
    let others = [site.open().await, site.open().await];
    for round in 0..5 {
        let stat = must("set", zk.set(home, &[round], None).await);
        for other in &others {
            catch_up(other).await;
            assert_eq!(must("exists", other.exists(home).await), Some(stat));
        }
    }
    for other in others {
        close(&other).await;
    }
}

pub(super) async fn a_read_of_nothing_is_a_request<S: Site>(_: &S, zk: &S::Zk, home: &str) {
    let set = zk.set(home, b"new", None);
    let none = zk.get_many(&[]);
    assert_eq!(must("get_many", none.await), []);
    must("set", now("the answer to the set, called first,", set));
    close(zk).await;
    refused("get_many", zk.get_many(&[]).await, ErrorKind::SessionOver(Over::Closed));
    refused("multi", zk.multi(Vec::new()).await, ErrorKind::SessionOver(Over::Closed));
}

pub(super) async fn any_number_of_znodes_can_be_read_at_once<S: Site>(_: &S, zk: &S::Zk, home: &str) {
    let before = zk.status();
    let missing = below(home, &"m".repeat(900));
    let there = [0, 1].map(|number| below(home, &format!("{number}{}", "n".repeat(900))));
    for (path, data) in there.iter().zip([b"zero", b"one!"]) {
        must("create", zk.create(path, data, CreateMode::Persistent).await);
    }
    let [zero, one] = &there;
    let paths: Vec<String> = [zero, &missing, one].repeat(500).into_iter().cloned().collect();
    assert!(paths.iter().map(String::len).sum::<usize>() > path::MAX_REQUEST_BYTES);
    let found = must("get_many", zk.get_many(&paths).await);
    assert_eq!(found.len(), paths.len());
    for three in found.chunks(3) {
        let data = three.iter().map(|found| found.as_ref().map(|data| data.data.as_slice()));
        assert_eq!(data.collect::<Vec<_>>(), [Some(&b"zero"[..]), None, Some(b"one!")]);
    }
    assert_eq!(zk.status(), before, "the session has not noticed");
}
