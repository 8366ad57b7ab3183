//! Input validation: requests refused before they are sent, and borderline valid ones.

use super::{Site, below, close, make, must, start};
use crate::zk::{CreateMode, Error, Op, ZooKeeper, path};

/// One of each kind of bad path.
const BAD: &[&str] = &[
    "",
    "relative",
    "//",
    "/a/",
    "/a//b",
    "/a/./b",
    "/a/..",
    "/.",
    "/a\0",
    "/a\u{1}",
    "/a\u{1f}",
    "/a\u{7f}",
    "/a\u{9f}",
    "/a\u{e000}",
    "/a\u{fff0}",
    "/a\u{ffff}",
    "/a\u{1f512}",
];

/// Asserts a refusal as bad input.
fn bad<T: std::fmt::Debug>(what: &str, result: Result<T, Error>) {
    assert!(
        result.as_ref().is_err_and(Error::is_bad_input),
        "{what} must be refused as bad input, but gave {result:?}"
    );
}

pub(super) async fn bad_paths_are_refused<S: Site>(site: &S) {
    let (zk, directory) = start(site).await;
    let before = zk.status();
    for path in BAD {
        let what = |method: &str| format!("{method} of {path:?}");
        let paths = [directory.clone(), (*path).to_owned()];
        bad(&what("create"), zk.create(path, b"", CreateMode::Persistent).await);
        bad(&what("delete"), zk.delete(path, None).await);
        bad(&what("set"), zk.set(path, b"", None).await);
        bad(&what("exists"), zk.exists(path).await);
        bad(&what("exists_watch"), zk.exists_watch(path).await.map(drop));
        bad(&what("get"), zk.get(path).await);
        bad(&what("get_watch"), zk.get_watch(path).await.map(drop));
        bad(&what("children"), zk.children(path).await);
        bad(&what("children_watch"), zk.children_watch(path).await.map(drop));
        bad(&what("get_many"), zk.get_many(&paths).await);
        bad(&what("sync"), zk.sync(path).await);
        bad(&what("watch_tree"), zk.watch_tree(path).await.map(drop));
    }
    must("exists", zk.exists(&directory).await);
    assert_eq!(zk.status(), before, "the session has not noticed");
    close(zk).await;
}

pub(super) async fn bad_operations_are_refused<S: Site>(site: &S) {
    let (zk, directory) = start(site).await;
    let good = || Op::Set { path: directory.clone(), data: b"new".to_vec(), version: None };
    for path in BAD {
        let (data, version, mode) = (Vec::new(), None, CreateMode::Persistent);
        let path = || (*path).to_owned();
        for op in [
            Op::Check { path: path(), version },
            Op::Create { path: path(), data: data.clone(), mode },
            Op::Delete { path: path(), version },
            Op::Set { path: path(), data, version },
        ] {
            bad(&format!("a multi with {op:?}"), zk.multi(vec![good(), op]).await);
        }
    }
    let found = must("get", zk.get(&directory).await);
    assert_eq!(found.data, b"data", "the good operation before it was not sent either");
    close(zk).await;
}

pub(super) async fn only_a_sequential_name_may_end_in_a_slash<S: Site>(site: &S) {
    let (zk, directory) = start(site).await;
    let open = format!("{directory}/");
    for mode in [CreateMode::Persistent, CreateMode::Ephemeral, CreateMode::Container] {
        bad(&format!("a create with {mode:?}"), zk.create(&open, b"", mode).await);
    }
    for mode in [CreateMode::PersistentSequential, CreateMode::EphemeralSequential] {
        must("create", zk.create(&open, b"", mode).await);
        let worse = format!("{directory}//");
        bad(&format!("a create with {mode:?}"), zk.create(&worse, b"", mode).await);
    }
    close(zk).await;
}

pub(super) async fn odd_paths_are_good<S: Site>(site: &S) {
    let (zk, directory) = start(site).await;
    let mut odd = ["...", ".a", "a..b", "a b", " ", "%", "\u{a0}", "ü", "漢", "\u{f900}", "\u{ffef}"];
    for name in odd {
        let path = below(&directory, name);
        assert_eq!(make(&zk, &path).await.path, path);
        assert_eq!(must("get", zk.get(&path).await).data, b"data", "{path:?}");
    }
    let mut names = must("children", zk.children(&directory).await).names;
    names.sort();
    odd.sort_unstable();
    assert_eq!(names, odd, "names are told as they were given");
    close(zk).await;
}

pub(super) async fn a_path_longer_than_a_request_is_refused<S: Site>(site: &S) {
    let (zk, directory) = start(site).await;
    let before = zk.status();
    let path = &below(&directory, &"a".repeat(path::MAX_REQUEST_BYTES));
    bad("create", zk.create(path, b"", CreateMode::Persistent).await);
    bad("delete", zk.delete(path, None).await);
    bad("set", zk.set(path, b"", None).await);
    bad("exists", zk.exists(path).await);
    bad("exists_watch", zk.exists_watch(path).await.map(drop));
    bad("get", zk.get(path).await);
    bad("get_watch", zk.get_watch(path).await.map(drop));
    bad("children", zk.children(path).await);
    bad("children_watch", zk.children_watch(path).await.map(drop));
    bad("get_many", zk.get_many(&[directory.clone(), path.clone()]).await);
    bad("multi", zk.multi(vec![Op::Check { path: path.clone(), version: None }]).await);
    bad("sync", zk.sync(path).await);
    bad("watch_tree", zk.watch_tree(path).await.map(drop));
    must("exists", zk.exists(&directory).await);
    assert_eq!(zk.status(), before, "the session has not noticed");
    close(zk).await;
}

pub(super) async fn too_much_data_is_refused<S: Site>(site: &S) {
    let (zk, directory) = start(site).await;
    let before = zk.status();
    let data = vec![0; path::MAX_REQUEST_BYTES];
    let large = below(&directory, "large");
    bad("a create", zk.create(&large, &data, CreateMode::Persistent).await);
    bad("a sequential create", zk.create(&large, &data, CreateMode::EphemeralSequential).await);
    bad("a set", zk.set(&directory, &data, None).await);
    // Each half fits into a request, both together do not.
    let half = || data[..data.len() / 2].to_vec();
    let set = Op::Set { path: directory.clone(), data: half(), version: None };
    let create = Op::Create { path: large, data: half(), mode: CreateMode::Persistent };
    bad("a multi", zk.multi(vec![set, create]).await);
    must("exists", zk.exists(&directory).await);
    assert_eq!(zk.status(), before, "the session has not noticed");
    close(zk).await;
}

pub(super) async fn as_much_data_as_is_not_refused_is_written<S: Site>(site: &S) {
    let (zk, directory) = start(site).await;
    let before = zk.status();
    let path = below(&directory, "large");
    let all = vec![7; path::MAX_REQUEST_BYTES];
    let fits = |bytes: &usize| path::validate_size(&path, &all[..*bytes]).is_ok();
    let data = &all[..(0..all.len()).rev().find(fits).expect("some data fit")];
    must("create", zk.create(&path, data, CreateMode::Persistent).await);
    let set = must("set", zk.set(&path, data, None).await);
    assert_eq!(set.data_length as usize, data.len());
    assert!(must("get", zk.get(&path).await).data == data, "all of it is there");
    assert_eq!(zk.status(), before, "the session has not noticed");
    must("delete", zk.delete(&path, None).await);
    close(zk).await;
}
