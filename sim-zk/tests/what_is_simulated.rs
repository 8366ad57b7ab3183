//! What the list at the top of the crate says is simulated, line by line.

mod common;

use common::{
    TICK, TIMEOUT, Tape, calm, client, make, make_ephemeral, ms, unsteady, until_back, until_over,
    until_suspended, wait,
};
use futures_util::FutureExt;
use futures_util::future::join_all;
use sim_zk::fault::Fault;
use sim_zk::witness::{Happening, Outcome, SessionNews};
use sim_zk::{End, Process, SimClient, Table};
use zk_recipes::zk::{CreateMode, Error, Event, EventKind, Op, OpResult, SessionId, Stat, ZooKeeper};

async fn stat(zk: &SimClient, path: &str) -> Stat {
    zk.exists(path).await.expect("the exists succeeds").expect("the znode is there")
}

async fn next(zk: &SimClient, prefix: &str) -> String {
    zk.create(prefix, b"", CreateMode::PersistentSequential).await.expect("the create succeeds").path
}

// ── the data tree ──

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
        assert_eq!(zk.create("/", b"", CreateMode::Persistent).await.err(), Some(Error::NodeExists));
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
            assert_eq!(zk.set("/a", b"", Some(wrong)).await, Err(Error::BadVersion));
            assert_eq!(zk.delete("/a", Some(wrong)).await, Err(Error::BadVersion));
            let check = Op::Check { path: "/a".into(), version: Some(wrong) };
            let refused = Error::Multi { index: 0, cause: Box::new(Error::BadVersion) };
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
            assert_eq!(refused, Err(Error::NodeExists), "a refused create does not count");
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
        let cause = Box::new(Error::BadVersion);
        assert_eq!(refused, Err(Error::Multi { index: 3, cause }), "the check sees the set before it");
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
            assert_eq!(refused, Err(Error::NoChildrenForEphemerals));
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
fn a_container_is_a_plain_znode_that_stays() {
    calm(|sim| async move {
        let (_, zk) = client(&sim, "a").await;
        let made = zk.create("/c", b"", CreateMode::Container).await.expect("the create succeeds");
        assert_eq!(made.stat.ephemeral_owner, SessionId(0));
        make(&zk, "/c/child").await;
        zk.delete("/c/child", None).await.expect("the delete succeeds");
        wait(&zk, ms(300_000)).await;
        assert!(zk.exists("/c").await.expect("the exists succeeds").is_some(), "nobody reaps here");
    });
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
    let asked = |kind| tape.count(|h| matches!(h, Happening::Sent { kind: sent, .. } if *sent == kind));
    assert_eq!(asked(sim_zk::witness::Kind::MultiRead), 1, "one request");
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
        // Sixteen buckets after the seventh; "Aa" and "BB" have one hash, and stay in the order of their creation.
        let names = zk.children("/p").await.expect("it is there").names;
        assert_eq!(names, ["Aa", "BB", "a", "b", "c", "h", "i"]);
    });
}

// ── watches ──

#[test]
fn a_watch_fires_once() {
    let (_, tape) = calm(|sim| async move {
        let (_, zk) = client(&sim, "a").await;
        make(&zk, "/a").await;
        let (_, watch) = zk.get_watch("/a").await.expect("the get succeeds");
        for _ in 0..3 {
            zk.set("/a", b"", None).await.expect("the set succeeds");
        }
        assert_eq!(watch.await, Ok(Event { kind: EventKind::NodeDataChanged, path: "/a".into() }));
    });
    assert_eq!(tape.count(|h| matches!(h, Happening::Fired { .. })), 1);
    assert_eq!(tape.count(|h| matches!(h, Happening::Noticed { .. })), 1);
}

#[test]
fn a_server_keeps_one_watch_a_connection_and_path() {
    let (_, tape) = calm(|sim| async move {
        let (_, zk) = client(&sim, "a").await;
        make(&zk, "/a").await;
        let (_, one) = zk.get_watch("/a").await.expect("the get succeeds");
        let (_, two) = zk.exists_watch("/a").await.expect("the exists succeeds");
        assert_eq!(sim.look(|world| world.watches().count()), 1);
        zk.delete("/a", None).await.expect("the delete succeeds");
        let gone = Event { kind: EventKind::NodeDeleted, path: "/a".into() };
        assert_eq!((one.await, two.await), (Ok(gone.clone()), Ok(gone)));
    });
    assert_eq!(tape.count(|h| matches!(h, Happening::Armed { .. })), 1);
}

#[test]
fn a_deletion_is_told_once_to_a_data_and_a_child_watch() {
    let (_, tape) = calm(|sim| async move {
        let (_, zk) = client(&sim, "a").await;
        make(&zk, "/a").await;
        let (_, data) = zk.get_watch("/a").await.expect("the get succeeds");
        let (_, children) = zk.children_watch("/a").await.expect("the listing succeeds");
        let (_, parent) = zk.children_watch("/").await.expect("the listing succeeds");
        zk.delete("/a", None).await.expect("the delete succeeds");
        let gone = Event { kind: EventKind::NodeDeleted, path: "/a".into() };
        assert_eq!((data.await, children.await), (Ok(gone.clone()), Ok(gone)));
        assert_eq!(parent.await, Ok(Event { kind: EventKind::NodeChildrenChanged, path: "/".into() }));
        assert_eq!(sim.look(|world| world.watches().count()), 0, "both are used up");
    });
    assert_eq!(tape.count(|h| matches!(h, Happening::Noticed { .. })), 2);
}

#[test]
fn a_notification_comes_before_the_reply_that_shows_the_change() {
    let order = |tape: &Tape| {
        let seen = tape.seen.iter().filter_map(|(_, happening)| match happening {
            Happening::Noticed { .. } => Some("notification"),
            Happening::Replied { op: 7, .. } => Some("reply"),
            _ => None,
        });
        seen.collect::<Vec<_>>()
    };
    let own = |sim: sim_zk::Sim| async move {
        let (process, zk) = client(&sim, "a").await;
        make(&zk, "/a").await;
        let (_, watch) = zk.get_watch("/a").await.expect("the get succeeds");
        process.set_op(7);
        zk.set("/a", b"", None).await.expect("the set succeeds");
        assert!(watch.now_or_never().is_some(), "it is there by now");
    };
    assert_eq!(order(&calm(own).1), ["notification", "reply"]);
    for seed in 0..50 {
        assert_eq!(order(&unsteady(seed, own).witness), ["notification", "reply"], "seed {seed}");
    }
}

#[test]
fn a_multi_reports_what_happens_in_between() {
    calm(|sim| async move {
        let (_, zk) = client(&sim, "a").await;
        let (_, watch) = zk.exists_watch("/a").await.expect("the exists succeeds");
        let create = Op::Create { path: "/a".into(), data: Vec::new(), mode: CreateMode::Persistent };
        let delete = Op::Delete { path: "/a".into(), version: None };
        zk.multi(vec![create, delete]).await.expect("the multi succeeds");
        assert_eq!(watch.await, Ok(Event { kind: EventKind::NodeCreated, path: "/a".into() }));
    });
}

#[test]
fn the_last_watch_that_is_dropped_is_removed_at_the_server() {
    calm(|sim| async move {
        let (_, zk) = client(&sim, "a").await;
        make(&zk, "/a").await;
        let (_, one) = zk.get_watch("/a").await.expect("the get succeeds");
        let (_, two) = zk.get_watch("/a").await.expect("the get succeeds");
        drop(one);
        zk.sync("/").await.expect("the sync succeeds");
        assert_eq!(sim.look(|world| world.watches().count()), 1);
        drop(two);
        zk.sync("/").await.expect("the sync succeeds");
        assert_eq!(sim.look(|world| world.watches().count()), 0);
        // Dropped before its answer has come.
        drop(zk.get_watch("/a"));
        zk.sync("/").await.expect("the sync succeeds");
        zk.sync("/").await.expect("the sync succeeds");
        assert_eq!(sim.look(|world| world.watches().count()), 0);
    });
}

#[test]
fn a_watch_armed_while_the_old_one_is_removed_still_fires() {
    calm(|sim| async move {
        let (_, zk) = client(&sim, "a").await;
        let (_, other) = client(&sim, "b").await;
        make(&zk, "/a").await;
        for wait_first in [0, 3, 6, 9, 12] {
            let (_, old) = zk.get_watch("/a").await.expect("the get succeeds");
            let set = other.set("/a", b"", None);
            wait(&zk, ms(wait_first)).await;
            drop(old);
            let (_, new) = zk.get_watch("/a").await.expect("the get succeeds");
            set.await.expect("the set succeeds");
            other.set("/a", b"", None).await.expect("the set succeeds");
            assert_eq!(new.await.expect("it fires").kind, EventKind::NodeDataChanged);
        }
    });
}

/// Breaks a client's connection, and lets others do something before it comes back.
async fn away(process: &Process, zk: &SimClient, meanwhile: impl Future<Output = ()>) {
    let connection = zk.status().connection;
    process.order(Fault::RequestLost);
    assert_eq!(zk.sync("/").await, Err(Error::ConnectionLoss));
    meanwhile.await;
    assert!(!zk.status().is_connected(), "the others were quicker");
    until_back(zk, connection).await;
    // What was missed is told before the answer to the re-registration, and so before this one.
    zk.sync("/").await.expect("the sync succeeds");
}

#[test]
fn what_changed_while_away_is_told_at_the_return() {
    calm(|sim| async move {
        let (process, zk) = client(&sim, "a").await;
        let (_, other) = client(&sim, "b").await;
        for path in ["/deleted", "/changed", "/both", "/parent", "/still"] {
            make(&other, path).await;
        }
        let (_, deleted) = zk.get_watch("/deleted").await.expect("the get succeeds");
        let (_, changed) = zk.get_watch("/changed").await.expect("the get succeeds");
        let (_, both) = zk.get_watch("/both").await.expect("the get succeeds");
        let (_, parent) = zk.children_watch("/parent").await.expect("the listing succeeds");
        let (_, still) = zk.get_watch("/still").await.expect("the get succeeds");
        let (_, created) = zk.exists_watch("/created").await.expect("the exists succeeds");
        let (_, mut unseen) = zk.exists_watch("/unseen").await.expect("the exists succeeds");
        away(&process, &zk, async {
            other.delete("/deleted", None).await.expect("the delete succeeds");
            other.set("/changed", b"", None).await.expect("the set succeeds");
            other.delete("/both", None).await.expect("the delete succeeds");
            make(&other, "/both").await;
            make(&other, "/parent/child").await;
            make(&other, "/created").await;
            make(&other, "/unseen").await;
            other.delete("/unseen", None).await.expect("the delete succeeds");
        })
        .await;
        let kind = |event: Option<Result<Event, Error>>| event.map(|event| event.expect("it fires").kind);
        assert_eq!(kind(deleted.now_or_never()), Some(EventKind::NodeDeleted));
        assert_eq!(kind(changed.now_or_never()), Some(EventKind::NodeDataChanged));
        assert_eq!(kind(both.now_or_never()), Some(EventKind::NodeDataChanged), "deleted and made again");
        assert_eq!(kind(parent.now_or_never()), Some(EventKind::NodeChildrenChanged));
        assert_eq!(kind(created.now_or_never()), Some(EventKind::NodeCreated));
        assert_eq!(kind((&mut unseen).now_or_never()), None, "created and deleted is never told");
        // What was armed again fires as ever.
        make(&other, "/unseen").await;
        other.set("/still", b"", None).await.expect("the set succeeds");
        assert_eq!(unseen.await.expect("it fires").kind, EventKind::NodeCreated);
        assert_eq!(still.await.expect("it fires").kind, EventKind::NodeDataChanged);
    });
}

#[test]
fn a_watch_dropped_while_away_is_not_armed_again() {
    calm(|sim| async move {
        let (process, zk) = client(&sim, "a").await;
        make(&zk, "/a").await;
        let (_, watch) = zk.get_watch("/a").await.expect("the get succeeds");
        away(&process, &zk, async { drop(watch) }).await;
        assert_eq!(sim.look(|world| world.watches().count()), 0);
    });
}

#[test]
fn watches_belong_to_a_connection() {
    let (_, tape) = calm(|sim| async move {
        let (process, zk) = client(&sim, "a").await;
        make(&zk, "/a").await;
        let (_, _watch) = zk.get_watch("/a").await.expect("the get succeeds");
        away(&process, &zk, async {
            assert_eq!(sim.look(|world| world.watches().count()), 0, "lost with the connection");
        })
        .await;
        assert_eq!(sim.look(|world| world.watches().count()), 1, "registered again");
    });
    let table = |h: &Happening| matches!(h, Happening::Armed { table: Table::Data, .. });
    assert_eq!(tape.count(table), 2);
    assert_eq!(tape.count(|h| matches!(h, Happening::Disarmed { .. })), 1);
}

#[test]
fn a_watch_whose_arming_was_lost_is_not_registered() {
    calm(|sim| async move {
        let (process, zk) = client(&sim, "a").await;
        make(&zk, "/a").await;
        process.order(Fault::ReplyLost);
        let armed = zk.get_watch("/a").await.map(drop);
        assert_eq!(armed, Err(Error::ConnectionLoss));
        until_back(&zk, 1).await;
        zk.sync("/").await.expect("the sync succeeds");
        assert_eq!(sim.look(|world| world.watches().count()), 0);
    });
}

// ── sessions ──

#[test]
fn a_timeout_is_negotiated_between_two_and_twenty_ticks() {
    calm(|sim| async move {
        let process = sim.process("a");
        for (asked, given) in [(1, 4), (4, 4), (6, 6), (40, 40), (100, 40)] {
            let zk = process.open(ms(asked * 1000)).await;
            assert_eq!(zk.timeout(), ms(given * 1000));
        }
    });
}

#[test]
fn an_idle_client_pings_at_a_third_of_its_timeout() {
    calm(|sim| async move {
        let (_, zk) = client(&sim, "a").await;
        // The connect was sent at zero; an answer takes 10 ms.
        for (at, sent) in
            [(10, 0), (2_005, 0), (2_010, 2_000), (4_005, 2_000), (4_010, 4_000), (6_010, 6_000)]
        {
            zk.sleep_until(zk_recipes::zk::Time::from_micros(at * 1000)).await;
            // Whatever else is due at this instant comes first.
            sim.stalled().await;
            let answered = zk.safe_until().before(TIMEOUT);
            assert_eq!(answered.as_micros(), sent * 1000, "at {at} ms");
        }
        // A request counts as well.
        wait(&zk, ms(1_000)).await;
        let sent = zk.now();
        zk.sync("/").await.expect("the sync succeeds");
        wait(&zk, ms(1_995)).await;
        assert_eq!(zk.safe_until(), sent + TIMEOUT);
        wait(&zk, ms(20)).await;
        assert_eq!(zk.safe_until(), sent + ms(2_000) + TIMEOUT);
    });
}

#[test]
fn a_client_that_comes_back_pings_a_third_later() {
    calm(|sim| async move {
        let (process, zk) = client(&sim, "a").await;
        away(&process, &zk, async {}).await;
        let sent = zk.safe_until();
        wait(&zk, ms(1_900)).await;
        assert_eq!(zk.safe_until(), sent, "no ping as yet");
    });
}

#[test]
fn two_thirds_of_the_timeout_without_a_word_end_the_connection() {
    calm(|sim| async move {
        let (process, zk) = client(&sim, "a").await;
        zk.sync("/").await.expect("the sync succeeds");
        let heard = zk.now();
        process.inflict(Fault::SessionExpiry, ms(5_000));
        let pending = zk.sync("/");
        assert_eq!(until_suspended(&zk).await, heard + ms(4_000));
        assert_eq!(pending.await, Err(Error::ConnectionLoss));
        // Cut off for less than the timeout: the session lives on.
        until_back(&zk, 1).await;
        zk.sync("/").await.expect("the sync succeeds");
    });
}

#[test]
fn expiry_comes_at_a_tick_within_a_tick_after_the_timeout() {
    for (asked, pause) in
        [(4_000, 0), (4_000, 700), (5_000, 1_300), (6_000, 1_999), (7_100, 50), (40_000, 10)]
    {
        let (_, tape) = calm(move |sim| async move {
            let process = sim.process("a");
            let zk = process.open(ms(asked)).await;
            wait(&zk, ms(pause)).await;
            zk.sync("/").await.expect("the sync succeeds");
            process.inflict(Fault::SessionExpiry, ms(60_000));
            assert_eq!(until_over(&zk).await, Error::SessionOver(zk_recipes::zk::Over::Expired));
        });
        let marked = |h: &Happening| match h {
            Happening::Marked { heard, .. } => Some(*heard),
            _ => None,
        };
        let (at, heard) = tape.find(marked).expect("it expired");
        let after = at - heard;
        let (timeout, tick) = (asked * 1000, TICK.as_micros() as u64);
        assert!(
            after > timeout && after <= timeout + tick,
            "{after} after the last touch, timeout {timeout}"
        );
        assert_eq!(at % tick, 0, "in batches");
    }
}

#[test]
fn a_client_learns_of_its_expiry_only_from_a_server() {
    let (_, tape) = calm(|sim| async move {
        let (process, zk) = client(&sim, "a").await;
        make_ephemeral(&zk, "/e").await;
        process.inflict(Fault::SessionExpiry, ms(30_000));
        wait(&zk, ms(29_000)).await;
        let session = zk.session();
        assert!(!sim.look(|world| world.lives(session)), "the leader has ended it");
        assert!(sim.look(|world| world.znodes().all(|(path, _)| path != "/e")), "and its ephemerals");
        assert_eq!(zk.status().over(), None, "the client does not know");
        until_over(&zk).await;
        assert!(zk.now().as_micros() >= 30_000_000, "it had to reach a server first");
    });
    let news = tape.seen.iter().filter_map(|(_, happening)| match happening {
        Happening::News { news, .. } => Some(*news),
        _ => None,
    });
    assert_eq!(
        news.collect::<Vec<_>>(),
        [SessionNews::Connected, SessionNews::Suspended, SessionNews::Expired]
    );
}

#[test]
fn every_answer_of_an_expired_session_and_every_watch_is_over() {
    calm(|sim| async move {
        let (process, zk) = client(&sim, "a").await;
        let (_, watch) = zk.exists_watch("/a").await.expect("the exists succeeds");
        process.inflict(Fault::SessionExpiry, ms(12_000));
        until_suspended(&zk).await;
        let over = until_over(&zk).await;
        assert_eq!(watch.await, Err(over.clone()));
        assert_eq!(zk.exists("/a").await, Err(over.clone()));
        assert_eq!(zk.get("/a").await.err(), Some(over));
    });
}

#[test]
fn a_session_takes_its_ephemerals_along_in_one_transaction() {
    let (_, tape) = calm(|sim| async move {
        let (_, zk) = client(&sim, "a").await;
        let (_, other) = client(&sim, "b").await;
        make(&zk, "/stays").await;
        for path in ["/e1", "/e2", "/e3"] {
            make_ephemeral(&zk, path).await;
        }
        let (_, watch) = other.get_watch("/e2").await.expect("the get succeeds");
        zk.close(ms(1_000)).await.expect("the close succeeds");
        assert_eq!(watch.await.expect("it fires").kind, EventKind::NodeDeleted);
        assert!(other.exists("/stays").await.expect("the exists succeeds").is_some());
    });
    let (_, end) = tape
        .find(|h| match h {
            Happening::Ended { zxid, .. } => Some(*zxid),
            _ => None,
        })
        .expect("it ended");
    let deleted = |h: &Happening| matches!(h, Happening::Deleted { zxid, .. } if *zxid == end);
    assert_eq!(tape.count(deleted), 3);
}

#[test]
fn what_is_asked_while_away_waits_for_the_next_connection() {
    calm(|sim| async move {
        let (process, zk) = client(&sim, "a").await;
        process.order(Fault::RequestLost);
        assert_eq!(zk.sync("/").await, Err(Error::ConnectionLoss));
        let waiting =
            [zk.create("/a", b"", CreateMode::Persistent), zk.create("/b", b"", CreateMode::Persistent)];
        let made = join_all(waiting).await;
        assert!(made.iter().all(Result::is_ok), "{made:?}");
        assert_eq!(zk.status().connection, 2);
    });
}

#[test]
fn what_is_asked_while_away_fails_with_the_next_attempt_that_fails() {
    calm(|sim| async move {
        let (process, zk) = client(&sim, "a").await;
        process.inflict(Fault::SessionExpiry, ms(30_000));
        let lost = until_suspended(&zk).await;
        assert_eq!(zk.sync("/").await, Err(Error::ConnectionLoss));
        // Half a second until the attempt, and the whole timeout until it is given up.
        assert_eq!(zk.now(), lost + ms(6_500));
    });
}

#[test]
fn losses_are_told_in_order_and_before_the_state() {
    let (_, tape) = calm(|sim| async move {
        let (process, zk) = client(&sim, "a").await;
        process.order(Fault::RequestLost);
        let all = (0..5).map(|_| zk.sync("/"));
        let all = join_all(all.collect::<Vec<_>>()).await;
        assert!(all.iter().all(|answer| *answer == Err(Error::ConnectionLoss)), "{all:?}");
    });
    let told: Vec<_> = tape
        .seen
        .iter()
        .filter_map(|(_, happening)| match happening {
            Happening::Lost { req, .. } => Some(*req),
            Happening::News { news: SessionNews::Suspended, .. } => Some(u32::MAX),
            _ => None,
        })
        .collect();
    assert_eq!(told.len(), 6);
    assert!(told.is_sorted(), "{told:?}");
}

#[test]
fn a_close_that_is_lost_leaves_the_session_to_expire() {
    for (fault, applied) in [(Fault::RequestLost, false), (Fault::Disconnect, true), (Fault::ReplyLost, true)]
    {
        let (_, tape) = calm(move |sim| async move {
            let (process, zk) = client(&sim, "a").await;
            make_ephemeral(&zk, "/e").await;
            process.order(fault);
            assert_eq!(zk.close(ms(1_000)).await, Err(Error::ConnectionLoss));
            assert_eq!(zk.status().over(), Some(Error::SessionOver(zk_recipes::zk::Over::Closed)));
            assert_eq!(zk.close(ms(1_000)).await, Ok(()), "over is over");
            sim.quiet().await;
            let session = zk.session();
            assert!(!sim.look(|world| world.lives(session)));
        });
        let connected = |h: &Happening| matches!(h, Happening::News { news: SessionNews::Connected, .. });
        assert_eq!(tape.count(connected), 1, "{fault:?}: it does not come back");
        let expired = tape.count(|h| matches!(h, Happening::Marked { .. }));
        assert_eq!(expired, usize::from(!applied), "{fault:?}");
    }
}

#[test]
fn a_close_without_a_connection_sends_nothing() {
    let (_, tape) = calm(|sim| async move {
        let (process, zk) = client(&sim, "a").await;
        process.order(Fault::RequestLost);
        assert_eq!(zk.sync("/").await, Err(Error::ConnectionLoss));
        assert_eq!(zk.close(ms(1_000)).await, Err(Error::ConnectionLoss));
        sim.quiet().await;
    });
    assert_eq!(tape.count(|h| matches!(h, Happening::Marked { .. })), 1, "it expires");
}

#[test]
fn what_is_asked_behind_a_close_is_not_sent() {
    let (_, tape) = calm(|sim| async move {
        let (_, zk) = client(&sim, "a").await;
        let mut close = Box::pin(zk.close(ms(1_000)));
        assert_eq!((&mut close).now_or_never(), None);
        let refused = zk.create("/a", b"", CreateMode::Persistent).await;
        assert_eq!(refused.err(), Some(Error::SessionOver(zk_recipes::zk::Over::Closed)));
        close.await.expect("the close succeeds");
    });
    let create = |h: &Happening| matches!(h, Happening::Txn { kind: sim_zk::witness::Kind::Create, .. });
    assert_eq!(tape.count(create), 0);
}

// ── connections ──

#[test]
fn streams_are_first_in_first_out_whatever_the_latencies() {
    for seed in 0..50 {
        let run = unsteady(seed, |sim| async move {
            let (_, zk) = client(&sim, "a").await;
            make(&zk, "/p").await;
            let flight: Vec<_> =
                (0..20).map(|_| zk.create("/p/", b"", CreateMode::PersistentSequential)).collect();
            let made = join_all(flight).await;
            for (number, created) in made.into_iter().enumerate() {
                assert_eq!(created.expect("the create succeeds").path, format!("/p/{number:010}"));
            }
        });
        assert_eq!(run.end, End::Done);
        let mut last = 0;
        for (_, happening) in &run.witness.seen {
            if let Happening::Replied { req, outcome, .. } = happening {
                assert_eq!(*outcome, Outcome::Ok);
                assert!(*req > last, "answers come in the order of the requests");
                last = *req;
            }
        }
    }
}

#[test]
fn two_connections_have_no_order() {
    let orders: std::collections::BTreeSet<Vec<u8>> = (0..50)
        .map(|seed| {
            let run = unsteady(seed, |sim| async move {
                let (_, a) = client(&sim, "a").await;
                let (_, b) = client(&sim, "b").await;
                let both = [
                    a.create("/a", b"", CreateMode::Persistent),
                    b.create("/b", b"", CreateMode::Persistent),
                ];
                for created in join_all(both).await {
                    created.expect("the create succeeds");
                }
            });
            let replied = run.witness.seen.iter().filter_map(|(_, happening)| match happening {
                Happening::Replied { process, .. } => Some(*process),
                _ => None,
            });
            replied.collect()
        })
        .collect();
    assert_eq!(orders.len(), 2);
}

#[test]
fn the_calm_network_takes_five_milliseconds_one_way() {
    calm(|sim| async move {
        let (_, zk) = client(&sim, "a").await;
        let sent = zk.now();
        zk.sync("/").await.expect("the sync succeeds");
        assert_eq!(zk.now(), sent + ms(10));
    });
}
