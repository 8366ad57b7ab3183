//! Creates, sets and deletes.

use super::{Site, below, close, make, make_ephemeral, must, refused, start};
use crate::zk::{CreateMode, Created, Error, ZooKeeper};

pub(super) async fn a_create_tells_path_and_stat<S: Site>(site: &S) {
    let (zk, directory) = start(site).await;
    let path = below(&directory, "a");
    let Created { path: told, stat } =
        must("create", zk.create(&path, b"four", CreateMode::Persistent).await);
    assert_eq!(told, path);
    assert!(stat.czxid > 0, "a create has a zxid: {stat:?}");
    assert_eq!((stat.mzxid, stat.pzxid), (stat.czxid, stat.czxid), "{stat:?}");
    assert_eq!((stat.version, stat.cversion, stat.aversion), (0, 0, 0), "{stat:?}");
    assert_eq!((stat.data_length, stat.num_children), (4, 0), "{stat:?}");
    assert_eq!(must("get", zk.get(&path).await).stat, stat, "get tells the stat that create told");
    close(zk).await;
}

pub(super) async fn zxids_grow<S: Site>(site: &S) {
    let (zk, directory) = start(site).await;
    let a = make(&zk, &below(&directory, "a")).await.stat;
    let b = make(&zk, &below(&directory, "b")).await.stat;
    assert!(a.czxid < b.czxid, "{a:?} before {b:?}");
    let set = must("set", zk.set(&below(&directory, "a"), b"", None).await);
    assert!(b.czxid < set.mzxid, "{b:?} before {set:?}");
    close(zk).await;
}

pub(super) async fn a_create_needs_room<S: Site>(site: &S) {
    let (zk, directory) = start(site).await;
    let twice = zk.create(&directory, b"", CreateMode::Persistent).await;
    refused("a second create", twice, Error::NodeExists);
    let orphan = zk.create(&below(&directory, "no/child"), b"", CreateMode::Persistent).await;
    refused("a create without a parent", orphan, Error::NoNode);
    close(zk).await;
}

pub(super) async fn ephemerals_have_no_children<S: Site>(site: &S) {
    let (zk, directory) = start(site).await;
    let parent = below(&directory, "e");
    make_ephemeral(&zk, &parent).await;
    let child = zk.create(&below(&parent, "child"), b"", CreateMode::Persistent).await;
    refused("a create below an ephemeral", child, Error::NoChildrenForEphemerals);
    close(zk).await;
}

pub(super) async fn a_container_takes_children<S: Site>(site: &S) {
    let (zk, directory) = start(site).await;
    let path = below(&directory, "c");
    assert_eq!(must("create", zk.create(&path, b"", CreateMode::Container).await).path, path);
    make(&zk, &below(&path, "child")).await;
    assert_eq!(must("children", zk.children(&path).await).names, ["child"]);
    close(zk).await;
}

async fn next<Z: ZooKeeper>(zk: &Z, prefix: &str) -> String {
    must("create", zk.create(prefix, b"", CreateMode::EphemeralSequential).await).path
}

pub(super) async fn sequential_names_have_ten_digits<S: Site>(site: &S) {
    let (zk, directory) = start(site).await;
    let prefix = below(&directory, "s-");
    for number in ["0000000000", "0000000001", "0000000002"] {
        assert_eq!(next(&zk, &prefix).await, format!("{prefix}{number}"));
    }
    let kept = must("create", zk.create(&prefix, b"", CreateMode::PersistentSequential).await);
    assert_eq!(kept.path, format!("{prefix}0000000003"));
    assert!(must("exists", zk.exists(&kept.path).await).is_some(), "the name told is the name made");
    close(zk).await;
}

pub(super) async fn the_sequence_counts_every_create<S: Site>(site: &S) {
    let (zk, directory) = start(site).await;
    let (one, other) = (below(&directory, "one-"), below(&directory, "other-"));
    assert_eq!(next(&zk, &one).await, format!("{one}0000000000"));
    assert_eq!(next(&zk, &other).await, format!("{other}0000000001"), "all names share one count");
    make(&zk, &below(&directory, "plain")).await;
    must("delete", zk.delete(&below(&directory, "plain"), None).await);
    assert_eq!(next(&zk, &one).await, format!("{one}0000000003"), "plain creates count, deletes do not");
    must("delete", zk.delete(&format!("{one}0000000003"), None).await);
    assert_eq!(next(&zk, &one).await, format!("{one}0000000004"), "a number is never used again");
    close(zk).await;
}

pub(super) async fn a_sequential_name_may_be_the_number_alone<S: Site>(site: &S) {
    let (zk, directory) = start(site).await;
    assert_eq!(next(&zk, &format!("{directory}/")).await, format!("{directory}/0000000000"));
    assert_eq!(next(&zk, &below(&directory, "7")).await, format!("{directory}/70000000001"));
    close(zk).await;
}

pub(super) async fn a_set_counts_versions<S: Site>(site: &S) {
    let (zk, directory) = start(site).await;
    let created = must("exists", zk.exists(&directory).await).expect("the directory was made");
    let first = must("set", zk.set(&directory, b"one", None).await);
    assert_eq!((first.version, first.czxid, first.data_length), (1, created.czxid, 3), "{first:?}");
    let second = must("set", zk.set(&directory, b"", Some(1)).await);
    assert_eq!((second.version, second.czxid, second.data_length), (2, created.czxid, 0), "{second:?}");
    assert_eq!(
        must("exists", zk.exists(&directory).await),
        Some(second),
        "exists tells the stat that set told"
    );
    close(zk).await;
}

pub(super) async fn a_set_is_conditional<S: Site>(site: &S) {
    let (zk, directory) = start(site).await;
    refused("a set with version 7", zk.set(&directory, b"new", Some(7)).await, Error::BadVersion);
    refused("a set of nothing", zk.set(&below(&directory, "no"), b"", None).await, Error::NoNode);
    let found = must("get", zk.get(&directory).await);
    assert_eq!(
        (found.data.as_slice(), found.stat.version),
        (b"data".as_slice(), 0),
        "a refused set changes nothing"
    );
    close(zk).await;
}

pub(super) async fn a_delete_is_conditional<S: Site>(site: &S) {
    let (zk, directory) = start(site).await;
    let child = below(&directory, "child");
    make(&zk, &child).await;
    refused("a delete with version 7", zk.delete(&child, Some(7)).await, Error::BadVersion);
    refused("a delete above a child", zk.delete(&directory, None).await, Error::NotEmpty);
    refused("a delete of nothing", zk.delete(&below(&directory, "no"), None).await, Error::NoNode);
    must("delete with its version", zk.delete(&child, Some(0)).await);
    must("delete without a version", zk.delete(&directory, None).await);
    assert_eq!(must("exists", zk.exists(&directory).await), None);
    close(zk).await;
}

pub(super) async fn cversion_counts_changes_of_children<S: Site>(site: &S) {
    let (zk, directory) = start(site).await;
    let made = make(&zk, &below(&directory, "a")).await.stat;
    let stat = must("exists", zk.exists(&directory).await).expect("the directory was made");
    assert_eq!((stat.cversion, stat.num_children, stat.pzxid), (1, 1, made.czxid), "{stat:?}");
    must("delete", zk.delete(&below(&directory, "a"), None).await);
    let stat = must("exists", zk.exists(&directory).await).expect("the directory was made");
    assert_eq!((stat.cversion, stat.num_children), (2, 0), "{stat:?}");
    assert!(
        stat.pzxid > made.czxid && stat.mzxid < made.czxid,
        "a child's end is no change of data: {stat:?}"
    );
    close(zk).await;
}
