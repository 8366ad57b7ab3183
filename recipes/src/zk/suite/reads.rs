//! Reads, and what is refused before anything is sent.

use super::{Site, below, close, make, must, refused, start};
use crate::zk::{CreateMode, Error, Op, ZooKeeper, path};

pub(super) async fn exists_tells_none<S: Site>(site: &S) {
    let (zk, directory) = start(site).await;
    assert!(must("exists", zk.exists(&directory).await).is_some());
    assert_eq!(must("exists", zk.exists(&below(&directory, "no")).await), None);
    assert_eq!(must("exists", zk.exists(&below(&directory, "no/child")).await), None);
    close(zk).await;
}

pub(super) async fn a_missing_znode_cannot_be_read<S: Site>(site: &S) {
    let (zk, directory) = start(site).await;
    let missing = below(&directory, "no");
    refused("a get of nothing", zk.get(&missing).await, Error::NoNode);
    refused("the children of nothing", zk.children(&missing).await, Error::NoNode);
    close(zk).await;
}

pub(super) async fn children_are_names<S: Site>(site: &S) {
    let (zk, directory) = start(site).await;
    assert!(must("children", zk.children(&directory).await).names.is_empty());
    for name in ["b", "a", "c"] {
        make(&zk, &below(&directory, name)).await;
    }
    make(&zk, &below(&directory, "a/grandchild")).await;
    let mut listing = must("children", zk.children(&directory).await);
    listing.names.sort();
    assert_eq!(listing.names, ["a", "b", "c"]);
    assert_eq!(Some(listing.stat), must("exists", zk.exists(&directory).await), "with the parent's stat");
    assert_eq!(listing.stat.num_children, 3);
    close(zk).await;
}

pub(super) async fn get_many_keeps_the_order<S: Site>(site: &S) {
    let (zk, directory) = start(site).await;
    let (a, b, no) = (below(&directory, "a"), below(&directory, "b"), below(&directory, "no"));
    must("create", zk.create(&a, b"one", CreateMode::Persistent).await);
    must("create", zk.create(&b, b"two", CreateMode::Persistent).await);
    let found = must("get_many", zk.get_many(&[b.clone(), no, a, b]).await);
    let found: Vec<_> = found.into_iter().map(|data| data.map(|data| data.data)).collect();
    assert_eq!(found, [Some(b"two".to_vec()), None, Some(b"one".to_vec()), Some(b"two".to_vec())]);
    assert_eq!(must("get_many of nothing", zk.get_many(&[]).await), []);
    close(zk).await;
}

pub(super) async fn sync_answers<S: Site>(site: &S) {
    let (zk, directory) = start(site).await;
    let other = site.open().await;
    let stat = must("set", zk.set(&directory, b"new", None).await);
    // Through a write, which is a barrier at every server, whereas a sync is none at the leader.
    let settled = crate::zk::duty::settle(&other, &directory);
    let (synced, found) = (other.sync(&directory), other.exists(&directory));
    must("multi", settled.await);
    must("sync", synced.await);
    assert_eq!(must("exists", found.await), Some(stat));
    close(other).await;
    close(zk).await;
}

pub(super) async fn data_are_bytes<S: Site>(site: &S) {
    let (zk, directory) = start(site).await;
    let all: Vec<u8> = (0..=255).collect();
    for (name, data) in [("empty", Vec::new()), ("all", all.clone()), ("many", all.repeat(400))] {
        let path = below(&directory, name);
        must("create", zk.create(&path, &data, CreateMode::Persistent).await);
        let found = must("get", zk.get(&path).await);
        assert_eq!(found.data, data);
        assert_eq!(found.stat.data_length as usize, data.len());
    }
    close(zk).await;
}

pub(super) async fn bad_paths_are_refused<S: Site>(site: &S) {
    let (zk, directory) = start(site).await;
    let before = zk.status();
    for bad in
        ["", "relative", "//", "/a/", "/a//b", "/a/./b", "/a/..", "/.", "/a\u{1}", "/a\u{7f}", "/a\u{1f512}"]
    {
        let what = |method: &str| format!("{method} of {bad:?} must be refused as bad input");
        let check = |method: &str, error: Option<Error>| {
            assert!(error.as_ref().is_some_and(Error::is_bad_input), "{}, but: {error:?}", what(method));
        };
        let op = Op::Check { path: bad.to_owned(), version: None };
        let paths = [directory.clone(), bad.to_owned()];
        check("create", zk.create(bad, b"", CreateMode::Persistent).await.err());
        check("delete", zk.delete(bad, None).await.err());
        check("set", zk.set(bad, b"", None).await.err());
        check("exists", zk.exists(bad).await.err());
        check("exists_watch", zk.exists_watch(bad).await.map(drop).err());
        check("get", zk.get(bad).await.err());
        check("get_watch", zk.get_watch(bad).await.map(drop).err());
        check("children", zk.children(bad).await.err());
        check("children_watch", zk.children_watch(bad).await.map(drop).err());
        check("get_many", zk.get_many(&paths).await.err());
        check("multi", zk.multi(vec![op]).await.err());
        check("sync", zk.sync(bad).await.err());
    }
    let child = zk.create("/a//s-", b"", CreateMode::EphemeralSequential).await;
    assert!(child.as_ref().is_err_and(Error::is_bad_input), "{child:?}");
    must("exists", zk.exists(&directory).await);
    assert_eq!(zk.status(), before, "the session has not noticed");
    close(zk).await;
}

pub(super) async fn too_much_data_is_refused<S: Site>(site: &S) {
    let (zk, directory) = start(site).await;
    let before = zk.status();
    let data = vec![0; path::MAX_REQUEST_BYTES];
    let create = zk.create(&below(&directory, "large"), &data, CreateMode::Persistent).await;
    assert!(create.as_ref().is_err_and(Error::is_bad_input), "{create:?}");
    let set = zk.set(&directory, &data, None).await;
    assert!(set.as_ref().is_err_and(Error::is_bad_input), "{set:?}");
    // Each half fits into a request, both together do not.
    let half = || Op::Set { path: directory.clone(), data: data[..data.len() / 2].to_vec(), version: None };
    let multi = zk.multi(vec![half(), half()]).await;
    assert!(multi.as_ref().is_err_and(Error::is_bad_input), "{multi:?}");
    must("exists", zk.exists(&directory).await);
    assert_eq!(zk.status(), before, "the session has not noticed");
    close(zk).await;
}
