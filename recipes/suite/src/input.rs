//! Input validation: requests refused before they are sent, and borderline valid ones.

use super::{Site, below, every_method, make, must, names_in};
use zk_recipes::zk::{CreateMode, Error, Op, ZooKeeper, path};

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

pub(super) async fn bad_paths_are_refused<S: Site>(_: &S, zk: &S::Zk, home: &str) {
    let before = zk.status();
    for path in BAD {
        for (method, answer) in every_method(zk, path) {
            bad(&format!("{method} of {path:?}"), answer.await);
        }
    }
    must("exists", zk.exists(home).await);
    assert_eq!(zk.status(), before, "the session has not noticed");
}

pub(super) async fn bad_operations_are_refused<S: Site>(_: &S, zk: &S::Zk, home: &str) {
    let good = || Op::Set { path: home.to_owned(), data: b"new".to_vec(), version: None };
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
    let found = must("get", zk.get(home).await);
    assert_eq!(found.data, b"data", "the good operation before it was not sent either");
}

pub(super) async fn only_a_sequential_name_may_end_in_a_slash<S: Site>(_: &S, zk: &S::Zk, home: &str) {
    let open = format!("{home}/");
    for mode in [CreateMode::Persistent, CreateMode::Ephemeral, CreateMode::Container] {
        bad(&format!("a create with {mode:?}"), zk.create(&open, b"", mode).await);
    }
    for mode in [CreateMode::PersistentSequential, CreateMode::EphemeralSequential] {
        must("create", zk.create(&open, b"", mode).await);
        let worse = format!("{home}//");
        bad(&format!("a create with {mode:?}"), zk.create(&worse, b"", mode).await);
    }
}

pub(super) async fn odd_paths_are_good<S: Site>(_: &S, zk: &S::Zk, home: &str) {
    let mut odd = ["...", ".a", "a..b", "a b", " ", "%", "\u{a0}", "ü", "漢", "\u{f900}", "\u{ffef}"];
    for name in odd {
        let path = below(home, name);
        assert_eq!(make(zk, &path).await.path, path);
        assert_eq!(must("get", zk.get(&path).await).data, b"data", "{path:?}");
    }
    let names = names_in(zk, home).await;
    odd.sort_unstable();
    assert_eq!(names, odd, "names are told as they were given");
}

pub(super) async fn a_path_longer_than_a_request_is_refused<S: Site>(_: &S, zk: &S::Zk, home: &str) {
    let before = zk.status();
    let path = &below(home, &"a".repeat(path::MAX_REQUEST_BYTES));
    for (method, answer) in every_method(zk, path) {
        bad(method, answer.await);
    }
    must("exists", zk.exists(home).await);
    assert_eq!(zk.status(), before, "the session has not noticed");
}

pub(super) async fn too_much_data_is_refused<S: Site>(_: &S, zk: &S::Zk, home: &str) {
    let before = zk.status();
    let data = vec![0; path::MAX_REQUEST_BYTES];
    let large = below(home, "large");
    bad("a create", zk.create(&large, &data, CreateMode::Persistent).await);
    bad("a sequential create", zk.create(&large, &data, CreateMode::EphemeralSequential).await);
    bad("a set", zk.set(home, &data, None).await);
    // Each half fits into a request, both together do not.
    let half = || data[..data.len() / 2].to_vec();
    let set = Op::Set { path: home.to_owned(), data: half(), version: None };
    let create = Op::Create { path: large, data: half(), mode: CreateMode::Persistent };
    bad("a multi", zk.multi(vec![set, create]).await);
    must("exists", zk.exists(home).await);
    assert_eq!(zk.status(), before, "the session has not noticed");
}

pub(super) async fn as_much_data_as_is_not_refused_is_written<S: Site>(_: &S, zk: &S::Zk, home: &str) {
    let before = zk.status();
    let path = below(home, "large");
    let all = vec![7; path::MAX_REQUEST_BYTES];
    let fits = |bytes: &usize| path::validate_size(path::MAX_REQUEST_BYTES, &path, &all[..*bytes]).is_ok();
    let data = &all[..(0..all.len()).rev().find(fits).expect("some data fit")];
    must("create", zk.create(&path, data, CreateMode::Persistent).await);
    let set = must("set", zk.set(&path, data, None).await);
    assert_eq!(set.data_length as usize, data.len());
    assert!(must("get", zk.get(&path).await).data == data, "all of it is there");
    assert_eq!(zk.status(), before, "the session has not noticed");
    must("delete", zk.delete(&path, None).await);
}
