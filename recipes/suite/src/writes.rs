//! Creates, sets and deletes.

use super::{MODES, Site, below, catch_up, close, is_there, make, make_ephemeral, must, refused, stat_of};
use zk_recipes::zk::{CreateMode, Created, ErrorKind, Runtime, SessionId, ZooKeeper};

pub(super) async fn a_create_tells_path_and_stat<S: Site>(_: &S, zk: &S::Zk, home: &str) {
    let path = below(home, "a");
    let Created { path: told, stat } =
        must("create", zk.create(&path, b"four", CreateMode::Persistent).await);
    assert_eq!(told, path);
    assert!(stat.czxid > 0, "a create has a zxid: {stat:?}");
    assert_eq!((stat.mzxid, stat.pzxid), (stat.czxid, stat.czxid), "{stat:?}");
    assert_eq!((stat.version, stat.cversion, stat.aversion), (0, 0, 0), "{stat:?}");
    assert_eq!((stat.data_length, stat.num_children), (4, 0), "{stat:?}");
    assert_eq!(must("get", zk.get(&path).await).stat, stat, "get tells the stat that create told");
}

pub(super) async fn zxids_grow<S: Site>(_: &S, zk: &S::Zk, home: &str) {
    let a = make(zk, &below(home, "a")).await.stat;
    let b = make(zk, &below(home, "b")).await.stat;
    assert!(a.czxid < b.czxid, "{a:?} before {b:?}");
    let set = must("set", zk.set(&below(home, "a"), b"", None).await);
    assert!(b.czxid < set.mzxid, "{b:?} before {set:?}");
}

pub(super) async fn a_create_needs_room<S: Site>(_: &S, zk: &S::Zk, home: &str) {
    let twice = zk.create(home, b"", CreateMode::Persistent).await;
    refused("a second create", twice, ErrorKind::NodeExists);
    let orphan = zk.create(&below(home, "no/child"), b"", CreateMode::Persistent).await;
    refused("a create without a parent", orphan, ErrorKind::NoNode);
}

pub(super) async fn ephemerals_have_no_children<S: Site>(_: &S, zk: &S::Zk, home: &str) {
    let parent = below(home, "e");
    make_ephemeral(zk, &parent).await;
    let child = zk.create(&below(&parent, "child"), b"", CreateMode::Persistent).await;
    refused("a create below an ephemeral", child, ErrorKind::NoChildrenForEphemerals);
}

pub(super) async fn a_container_takes_children<S: Site>(_: &S, zk: &S::Zk, home: &str) {
    let path = below(home, "c");
    assert_eq!(must("create", zk.create(&path, b"", CreateMode::Container).await).path, path);
    make(zk, &below(&path, "child")).await;
    assert_eq!(must("children", zk.children(&path).await).names, ["child"]);
}

async fn next<Z: ZooKeeper>(zk: &Z, prefix: &str) -> String {
    must("create", zk.create(prefix, b"", CreateMode::EphemeralSequential).await).path
}

pub(super) async fn sequential_names_have_ten_digits<S: Site>(_: &S, zk: &S::Zk, home: &str) {
    let prefix = below(home, "s-");
    for number in ["0000000000", "0000000001", "0000000002"] {
        assert_eq!(next(zk, &prefix).await, format!("{prefix}{number}"));
    }
    let kept = must("create", zk.create(&prefix, b"", CreateMode::PersistentSequential).await);
    assert_eq!(kept.path, format!("{prefix}0000000003"));
    assert!(is_there(zk, &kept.path).await, "the name told is the name made");
}

pub(super) async fn the_sequence_counts_every_create<S: Site>(_: &S, zk: &S::Zk, home: &str) {
    let (one, other) = (below(home, "one-"), below(home, "other-"));
    assert_eq!(next(zk, &one).await, format!("{one}0000000000"));
    assert_eq!(next(zk, &other).await, format!("{other}0000000001"), "all names share one count");
    make(zk, &below(home, "plain")).await;
    must("delete", zk.delete(&below(home, "plain"), None).await);
    assert_eq!(next(zk, &one).await, format!("{one}0000000003"), "plain creates count, deletes do not");
    must("delete", zk.delete(&format!("{one}0000000003"), None).await);
    assert_eq!(next(zk, &one).await, format!("{one}0000000004"), "a number is never used again");
}

pub(super) async fn a_sequential_name_may_be_the_number_alone<S: Site>(_: &S, zk: &S::Zk, home: &str) {
    assert_eq!(next(zk, &format!("{home}/")).await, format!("{home}/0000000000"));
    assert_eq!(next(zk, &below(home, "7")).await, format!("{home}/70000000001"));
}

pub(super) async fn a_set_counts_versions<S: Site>(_: &S, zk: &S::Zk, home: &str) {
    let created = stat_of(zk, home).await;
    let first = must("set", zk.set(home, b"one", None).await);
    assert_eq!((first.version, first.czxid, first.data_length), (1, created.czxid, 3), "{first:?}");
    let second = must("set", zk.set(home, b"", Some(1)).await);
    assert_eq!((second.version, second.czxid, second.data_length), (2, created.czxid, 0), "{second:?}");
    assert_eq!(must("exists", zk.exists(home).await), Some(second), "exists tells the stat that set told");
}

pub(super) async fn a_set_is_conditional<S: Site>(_: &S, zk: &S::Zk, home: &str) {
    refused("a set with version 7", zk.set(home, b"new", Some(7)).await, ErrorKind::BadVersion);
    refused("a set of nothing", zk.set(&below(home, "no"), b"", None).await, ErrorKind::NoNode);
    let found = must("get", zk.get(home).await);
    assert_eq!(
        (found.data.as_slice(), found.stat.version),
        (b"data".as_slice(), 0),
        "a refused set changes nothing"
    );
}

pub(super) async fn a_delete_is_conditional<S: Site>(_: &S, zk: &S::Zk, home: &str) {
    let child = below(home, "child");
    make(zk, &child).await;
    refused("a delete with version 7", zk.delete(&child, Some(7)).await, ErrorKind::BadVersion);
    refused("a delete above a child", zk.delete(home, None).await, ErrorKind::NotEmpty);
    refused("a delete of nothing", zk.delete(&below(home, "no"), None).await, ErrorKind::NoNode);
    must("delete with its version", zk.delete(&child, Some(0)).await);
    must("delete without a version", zk.delete(home, None).await);
    assert!(!is_there(zk, home).await);
}

pub(super) async fn cversion_counts_changes_of_children<S: Site>(_: &S, zk: &S::Zk, home: &str) {
    let made = make(zk, &below(home, "a")).await.stat;
    let stat = stat_of(zk, home).await;
    assert_eq!((stat.cversion, stat.num_children, stat.pzxid), (1, 1, made.czxid), "{stat:?}");
    must("delete", zk.delete(&below(home, "a"), None).await);
    let stat = stat_of(zk, home).await;
    assert_eq!((stat.cversion, stat.num_children), (2, 0), "{stat:?}");
    assert!(
        stat.pzxid > made.czxid && stat.mzxid < made.czxid,
        "a child's end is no change of data: {stat:?}"
    );
}

pub(super) async fn every_mode_does_what_it_says<S: Site>(site: &S, zk: &S::Zk, home: &str) {
    let mut made = Vec::new();
    for mode in MODES {
        let asked = below(home, &format!("{mode:?}-"));
        let Created { path, stat } = must("create", zk.create(&asked, b"four", mode).await);
        let number = path.strip_prefix(&asked).unwrap_or_else(|| panic!("{path} was made for {asked}"));
        let digits = if mode.is_sequential() { 10 } else { 0 };
        assert!(number.len() == digits && number.bytes().all(|b| b.is_ascii_digit()), "{mode:?}: {path}");
        let owner = if mode.is_ephemeral() { zk.session() } else { SessionId::default() };
        assert_eq!((stat.ephemeral_owner, stat.data_length), (owner, 4), "{mode:?}");
        assert_eq!(must("get", zk.get(&path).await).stat, stat, "{mode:?}");
        let child = zk.create(&below(&path, "child"), b"", CreateMode::Persistent).await;
        if mode.is_ephemeral() {
            refused(&format!("a create below {mode:?}"), child, ErrorKind::NoChildrenForEphemerals);
        } else {
            must(&format!("a create below {mode:?}"), child);
        }
        made.push((path, mode));
    }
    close(zk).await;
    let other = site.open().await;
    catch_up(&other).await;
    for (path, mode) in made {
        let found = must("exists", other.exists(&path).await);
        assert_eq!(found.is_none(), mode.is_ephemeral(), "{mode:?} after its session: {found:?}");
    }
    close(&other).await;
}

pub(super) async fn times_are_those_of_the_writes<S: Site>(_: &S, zk: &S::Zk, home: &str) {
    let made = make(zk, &below(home, "a")).await;
    assert_eq!(made.stat.ctime, made.stat.mtime, "{:?}", made.stat);
    assert!(made.stat.ctime > 0, "{:?}", made.stat);
    zk.sleep_until(zk.now() + std::time::Duration::from_millis(20)).await;
    let set = must("set", zk.set(&made.path, b"new", None).await);
    assert_eq!(set.ctime, made.stat.ctime, "a change of data is no creation");
    assert!(set.mtime > made.stat.mtime, "{:?}, then {set:?}", made.stat);
    make(zk, &below(&made.path, "child")).await;
    let grown = stat_of(zk, &made.path).await;
    assert_eq!((grown.mtime, grown.mzxid), (set.mtime, set.mzxid), "a child is no change of data");
}

pub(super) async fn a_name_can_be_used_again<S: Site>(_: &S, zk: &S::Zk, home: &str) {
    let path = below(home, "a");
    let first = make(zk, &path).await.stat;
    must("set", zk.set(&path, b"new", None).await);
    must("delete", zk.delete(&path, None).await);
    let second = make(zk, &path).await.stat;
    assert!(second.czxid > first.czxid, "another incarnation has a later czxid: {first:?}, {second:?}");
    assert_eq!((second.version, second.cversion), (0, 0), "and counts anew: {second:?}");
}

pub(super) async fn writes_of_all_sessions_are_in_one_order<S: Site>(site: &S, _: &S::Zk, home: &str) {
    let others = [site.open().await, site.open().await];
    let mut last = 0;
    for round in 0..5 {
        for (who, other) in others.iter().enumerate() {
            let made = make(other, &below(home, &format!("{round}-{who}"))).await;
            assert!(made.stat.czxid > last, "{} after {last:#x}, whoever made it", made.stat.czxid);
            last = made.stat.czxid;
        }
    }
    for other in others {
        close(&other).await;
    }
}

pub(super) async fn one_of_two_creates_wins<S: Site>(site: &S, zk: &S::Zk, home: &str) {
    let other = site.open().await;
    for round in 0..5 {
        let path = below(home, &format!("{round}"));
        let (mine, theirs) =
            (zk.create(&path, b"", CreateMode::Ephemeral), other.create(&path, b"", CreateMode::Ephemeral));
        let (mine, theirs) = (mine.await, theirs.await);
        let (winner, loser, owner) =
            if mine.is_ok() { (mine, theirs, zk.session()) } else { (theirs, mine, other.session()) };
        assert_eq!(must("one of two creates", winner).stat.ephemeral_owner, owner);
        refused("the other create", loser, ErrorKind::NodeExists);
    }
    close(&other).await;
}
