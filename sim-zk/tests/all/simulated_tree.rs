//! The simulated data tree: one test for each item of the list in the crate's documentation.

use crate::common::{calm, client, make, make_ephemeral, ms, wait};
use sim_zk::SimClient;
use sim_zk::observer::{Kind, SimEvent};
use zk_recipes::zk::{
    CreateMode, Error, ErrorKind, EventKind, Op, OpResult, Runtime, SessionId, Stat, ZooKeeper,
};

async fn stat(zk: &SimClient, path: &str) -> Stat {
    zk.exists(path).await.expect("the exists succeeds").expect("the znode is there")
}

async fn next(zk: &SimClient, prefix: &str) -> String {
    zk.create(prefix, b"", CreateMode::PersistentSequential).await.expect("the create succeeds").path
}

#[test]
fn a_pristine_tree_is_that_of_a_fresh_server() {
    calm(|sim| async move {
        let (_, zk) = client(&sim, "a").await;
        let root = stat(&zk, "/").await;
        assert_eq!((root.czxid, root.mzxid, root.pzxid, root.version), (0, 0, 0, 0));
        assert_eq!((root.cversion, root.num_children), (-1, 1));
        let own = stat(&zk, "/zookeeper").await;
        assert_eq!((own.cversion, own.num_children), (-2, 2));
        let mut names = zk.children("/zookeeper").await.expect("it is there").names;
        names.sort();
        assert_eq!(names, ["config", "quota"]);
        for reserved in ["/", "/zookeeper", "/zookeeper/config", "/zookeeper/quota"] {
            let refused = zk.delete(reserved, None).await;
            assert!(refused.as_ref().is_err_and(Error::is_bad_input), "{reserved}: {refused:?}");
        }
        assert_eq!(
            zk.create("/", b"", CreateMode::Persistent).await.err(),
            Some(ErrorKind::NodeExists.into())
        );
    });
}

#[test]
fn a_stat_changes_as_in_zookeeper() {
    calm(|sim| async move {
        let (_, zk) = client(&sim, "a").await;
        let made = make(&zk, "/p").await.stat;
        assert_eq!((made.mzxid, made.pzxid, made.mtime), (made.czxid, made.czxid, made.ctime));
        assert_eq!((made.version, made.cversion, made.aversion), (0, 0, 0));
        assert_eq!((made.data_length, made.num_children, made.ephemeral_owner), (4, 0, SessionId(0)));

        wait(&zk, ms(50)).await;
        let child = make(&zk, "/p/c").await.stat;
        let parent = stat(&zk, "/p").await;
        assert_eq!(parent, Stat { pzxid: child.czxid, cversion: 1, num_children: 1, ..made });

        let grandchild = make(&zk, "/p/c/g").await.stat;
        assert_eq!(stat(&zk, "/p").await, parent, "grandparents never change");

        wait(&zk, ms(50)).await;
        let set = zk.set("/p", b"data", None).await.expect("the set succeeds");
        let (mzxid, mtime) = (set.mzxid, set.mtime);
        assert_eq!(set, Stat { mzxid, mtime, version: 1, ..parent }, "equal data count as a change");
        assert!(mzxid > grandchild.czxid && mtime >= made.mtime + 100, "{set:?}");

        zk.delete("/p/c/g", None).await.expect("the delete succeeds");
        zk.delete("/p/c", None).await.expect("the delete succeeds");
        let parent = stat(&zk, "/p").await;
        assert_eq!(parent, Stat { pzxid: parent.pzxid, cversion: 2, num_children: 0, ..set });
        assert!(parent.pzxid > mzxid, "{parent:?}");
    });
}

#[test]
fn the_visible_cversion_is_twice_the_creations_less_the_living() {
    calm(|sim| async move {
        let (_, zk) = client(&sim, "a").await;
        make(&zk, "/p").await;
        let (mut created, mut living) = (0, 0);
        for (name, creates) in
            [("a", true), ("b", true), ("a", false), ("c", true), ("b", false), ("a", true)]
        {
            let path = format!("/p/{name}");
            if creates {
                make(&zk, &path).await;
                (created, living) = (created + 1, living + 1);
            } else {
                zk.delete(&path, None).await.expect("the delete succeeds");
                living -= 1;
            }
            let seen = stat(&zk, "/p").await;
            assert_eq!((seen.cversion, seen.num_children), (2 * created - living, living));
        }
    });
}

#[test]
fn every_write_takes_one_zxid_refused_or_not_and_no_read_does() {
    calm(|sim| async move {
        let (_, zk) = client(&sim, "a").await;
        let first = make(&zk, "/a").await.stat.czxid;
        assert_eq!(first, 2, "the session was the first transaction");
        for _ in 0..3 {
            zk.get("/a").await.expect("the get succeeds");
            zk.sync("/a").await.expect("the sync succeeds");
            zk.get_many(&["/a".into(), "/no".into()]).await.expect("the reads succeed");
            drop(zk.exists_watch("/no").await.expect("the exists succeeds"));
        }
        zk.create("/a", b"", CreateMode::Persistent).await.expect_err("it exists");
        zk.delete("/no", None).await.expect_err("it does not exist");
        zk.set("/a", b"", Some(9)).await.expect_err("it has another version");
        let many = ["/m", "/n"].map(|path| Op::Create {
            path: path.into(),
            data: Vec::new(),
            mode: CreateMode::Persistent,
        });
        zk.multi(many.to_vec()).await.expect("the multi succeeds");
        assert_eq!(zk.multi(Vec::new()).await, Ok(Vec::new()), "an empty one takes a zxid too");
        assert_eq!(stat(&zk, "/m").await.czxid, first + 4);
        assert_eq!(stat(&zk, "/n").await.czxid, first + 4);
        assert_eq!(make(&zk, "/b").await.stat.czxid, first + 6);
        let (_, other) = client(&sim, "b").await;
        assert_eq!(make(&other, "/c").await.stat.czxid, first + 8, "a session takes one");
    });
}

#[test]
fn a_version_must_match_unless_it_is_any() {
    calm(|sim| async move {
        let (_, zk) = client(&sim, "a").await;
        make(&zk, "/a").await;
        for wrong in [1, 7, -2, i32::MIN] {
            assert_eq!(zk.set("/a", b"", Some(wrong)).await, Err(ErrorKind::BadVersion.into()));
            assert_eq!(zk.delete("/a", Some(wrong)).await, Err(ErrorKind::BadVersion.into()));
            let check = Op::Check { path: "/a".into(), version: Some(wrong) };
            let refused = ErrorKind::Multi { index: 0, cause: Box::new(ErrorKind::BadVersion.into()) }.into();
            assert_eq!(zk.multi(vec![check]).await, Err(refused));
        }
        assert_eq!(zk.set("/a", b"", Some(0)).await.expect("the set succeeds").version, 1);
        assert_eq!(zk.set("/a", b"", Some(-1)).await.expect("the set succeeds").version, 2);
        assert_eq!(zk.set("/a", b"", None).await.expect("the set succeeds").version, 3);
        zk.delete("/a", Some(3)).await.expect("the delete succeeds");
        assert_eq!(make(&zk, "/a").await.stat.version, 0, "a new znode begins anew");
    });
}

#[test]
fn sequence_numbers_count_every_creation_in_the_directory() {
    calm(|sim| async move {
        let (_, zk) = client(&sim, "a").await;
        make(&zk, "/p").await;
        assert_eq!(next(&zk, "/p/s-").await, "/p/s-0000000000");
        assert_eq!(next(&zk, "/p/other-").await, "/p/other-0000000001", "any prefix");
        make(&zk, "/p/plain").await;
        make_ephemeral(&zk, "/p/ephemeral").await;
        assert_eq!(next(&zk, "/p/s-").await, "/p/s-0000000004", "plain ones too");
        zk.delete("/p/s-0000000004", None).await.expect("the delete succeeds");
        zk.set("/p", b"", None).await.expect("the set succeeds");
        make(&zk, "/p/plain/grandchild").await;
        zk.create("/p/plain", b"", CreateMode::Persistent).await.expect_err("it exists");
        assert_eq!(
            next(&zk, "/p/").await,
            "/p/0000000005",
            "deletes, sets, grandchildren and failures do not"
        );
    });
}

#[test]
fn the_root_has_sequence_numbers_too() {
    calm(|sim| async move {
        let (_, zk) = client(&sim, "a").await;
        assert_eq!(next(&zk, "/s-").await, "/s-0000000000", "what a server is born with does not count");
        assert_eq!(next(&zk, "/").await, "/0000000001");
    });
}

#[test]
fn a_taken_sequence_number_blocks_until_another_create() {
    calm(|sim| async move {
        let (_, zk) = client(&sim, "a").await;
        make(&zk, "/p").await;
        make(&zk, "/p/s-0000000001").await;
        for _ in 0..3 {
            let refused = zk.create("/p/s-", b"", CreateMode::PersistentSequential).await;
            assert_eq!(refused, Err(ErrorKind::NodeExists.into()), "a refused create does not count");
        }
        make(&zk, "/p/x").await;
        assert_eq!(next(&zk, "/p/s-").await, "/p/s-0000000002");
    });
}

#[test]
fn a_directory_made_again_counts_from_zero() {
    calm(|sim| async move {
        let (_, zk) = client(&sim, "a").await;
        make(&zk, "/p").await;
        let first = next(&zk, "/p/s-").await;
        zk.delete(&first, None).await.expect("the delete succeeds");
        zk.delete("/p", None).await.expect("the delete succeeds");
        make(&zk, "/p").await;
        assert_eq!(next(&zk, "/p/s-").await, first);
    });
}

#[test]
fn a_refused_multi_gives_numbers_and_versions_back() {
    calm(|sim| async move {
        let (_, zk) = client(&sim, "a").await;
        make(&zk, "/p").await;
        let before = stat(&zk, "/p").await;
        let sequential =
            || Op::Create { path: "/p/s-".into(), data: Vec::new(), mode: CreateMode::EphemeralSequential };
        let set = Op::Set { path: "/p".into(), data: b"new".to_vec(), version: Some(0) };
        let check = Op::Check { path: "/p".into(), version: Some(0) };
        let refused = zk.multi(vec![sequential(), sequential(), set.clone(), check]).await;
        let cause = Box::new(ErrorKind::BadVersion.into());
        assert_eq!(
            refused,
            Err(ErrorKind::Multi { index: 3, cause }.into()),
            "the check sees the set before it"
        );
        assert_eq!(stat(&zk, "/p").await, before);
        let made = zk.multi(vec![sequential(), sequential(), set]).await.expect("the multi succeeds");
        let names = ["/p/s-0000000000", "/p/s-0000000001"].map(|name| OpResult::Created(name.into()));
        assert_eq!(made[..2], names);
    });
}

#[test]
fn ephemerals_have_an_owner_and_no_children() {
    calm(|sim| async move {
        let (_, zk) = client(&sim, "a").await;
        let (_, other) = client(&sim, "b").await;
        assert_eq!(make_ephemeral(&zk, "/e").await.stat.ephemeral_owner, zk.session());
        for mode in [CreateMode::Persistent, CreateMode::Ephemeral, CreateMode::PersistentSequential] {
            let refused = zk.create("/e/c", b"", mode).await;
            assert_eq!(refused, Err(ErrorKind::NoChildrenForEphemerals.into()));
        }
        other.delete("/e", None).await.expect("anybody may delete it");
        assert_eq!(make_ephemeral(&other, "/e").await.stat.ephemeral_owner, other.session());
        zk.close(ms(0)).await.expect("the close succeeds");
        assert!(
            other.exists("/e").await.expect("the exists succeeds").is_some(),
            "it is not the first one's"
        );
    });
}

#[test]
fn a_container_goes_at_a_beat_of_the_reaper_after_its_last_child() {
    let (_, tape) = calm(|sim| async move {
        let (_, zk) = client(&sim, "a").await;
        let made = zk.create("/c", b"", CreateMode::Container).await.expect("the create succeeds");
        assert_eq!(made.stat.ephemeral_owner, SessionId(0), "a plain znode");
        zk.create("/unused", b"", CreateMode::Container).await.expect("the create succeeds");
        make(&zk, "/plain").await;
        for child in ["/c/child", "/plain/child"] {
            make(&zk, child).await;
        }
        wait(&zk, ms(130_000)).await;
        assert!(
            zk.exists("/c").await.expect("the exists succeeds").is_some(),
            "not as long as it has a child"
        );
        let (_, gone) = zk.get_watch("/c").await.expect("the get succeeds");
        for child in ["/c/child", "/plain/child"] {
            zk.delete(child, None).await.expect("the delete succeeds");
        }
        assert_eq!(gone.await.expect("it fires").kind, EventKind::NodeDeleted);
        assert_eq!(zk.now().as_micros() / 1_000_000, 180, "every sixty seconds");
        assert_eq!(
            zk.create("/c/x", b"", CreateMode::Persistent).await.map(drop),
            Err(ErrorKind::NoNode.into())
        );
        wait(&zk, ms(130_000)).await;
        for left in ["/unused", "/plain"] {
            assert!(zk.exists(left).await.expect("the exists succeeds").is_some(), "{left} is not reaped");
        }
    });
    assert_eq!(tape.count(|h| matches!(h, SimEvent::Txn { kind: Kind::Reap, .. })), 1, "one transaction");
}

#[test]
fn a_multi_read_reads_each_on_its_own() {
    let (_, tape) = calm(|sim| async move {
        let (_, zk) = client(&sim, "a").await;
        make(&zk, "/a").await;
        zk.set("/a", b"new", None).await.expect("the set succeeds");
        let found = zk.get_many(&["/a".into(), "/no".into(), "/a".into()]).await.expect("the reads succeed");
        let found: Vec<_> =
            found.into_iter().map(|found| found.map(|found| (found.data, found.stat.version))).collect();
        assert_eq!(found, [Some((b"new".to_vec(), 1)), None, Some((b"new".to_vec(), 1))]);
    });
    let asked = |kind| tape.count(|h| matches!(h, SimEvent::Sent { kind: sent, .. } if *sent == kind));
    assert_eq!(asked(sim_zk::observer::Kind::MultiRead), 1, "one request");
}

#[test]
fn a_check_compares_versions_and_is_fooled_by_a_new_znode() {
    calm(|sim| async move {
        let (_, zk) = client(&sim, "a").await;
        make(&zk, "/a").await;
        zk.delete("/a", None).await.expect("the delete succeeds");
        make(&zk, "/a").await;
        let check = Op::Check { path: "/a".into(), version: Some(0) };
        assert_eq!(zk.multi(vec![check]).await, Ok(vec![OpResult::Checked]));
    });
}

#[test]
fn a_sync_takes_no_zxid_and_any_path() {
    calm(|sim| async move {
        let (_, zk) = client(&sim, "a").await;
        assert_eq!(zk.sync("/no/such/path").await, Ok(()));
        assert_eq!(make(&zk, "/a").await.stat.czxid, 2);
    });
}

#[test]
fn children_come_in_the_order_of_a_java_server() {
    calm(|sim| async move {
        let (_, zk) = client(&sim, "a").await;
        make(&zk, "/p").await;
        for name in ["c", "b", "a", "h", "i", "Aa", "BB"] {
            make(&zk, &format!("/p/{name}")).await;
        }
        // Sixteen buckets after the seventh; "Aa" and "BB" have equal hashes, and stay in the order of their creation.
        let names = zk.children("/p").await.expect("it is there").names;
        assert_eq!(names, ["Aa", "BB", "a", "b", "c", "h", "i"]);
    });
}
