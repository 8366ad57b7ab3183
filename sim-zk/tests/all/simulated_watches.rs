//! Simulated watches: one test for each item of the list in the crate's documentation.

use crate::common::{Tape, away, calm, client, make, ms, unsteady, until_back, wait};
use futures_util::FutureExt;
use sim_zk::Table;
use sim_zk::fault::Fault;
use sim_zk::observer::SimEvent;
use zk_recipes::zk::{CreateMode, Error, ErrorKind, Event, EventKind, Op, ZooKeeper};

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
    assert_eq!(tape.count(|h| matches!(h, SimEvent::Fired { .. })), 1);
    assert_eq!(tape.count(|h| matches!(h, SimEvent::Noticed { .. })), 1);
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
    assert_eq!(tape.count(|h| matches!(h, SimEvent::Armed { .. })), 1);
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
    assert_eq!(tape.count(|h| matches!(h, SimEvent::Noticed { .. })), 2);
}

#[test]
fn a_notification_comes_before_the_reply_that_shows_the_change() {
    let order = |tape: &Tape| {
        let seen = tape.seen.iter().filter_map(|(_, event)| match event {
            SimEvent::Noticed { .. } => Some("notification"),
            SimEvent::Replied { op: 7, .. } => Some("reply"),
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
        assert_eq!(order(&unsteady(seed, own).observer), ["notification", "reply"], "seed {seed}");
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
        // The future is dropped before the reply arrives.
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
        // Watches that were registered again fire as usual.
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
    let table = |h: &SimEvent| matches!(h, SimEvent::Armed { table: Table::Data, .. });
    assert_eq!(tape.count(table), 2);
    assert_eq!(tape.count(|h| matches!(h, SimEvent::Disarmed { .. })), 1);
}

#[test]
fn a_watch_whose_arming_was_lost_is_not_registered() {
    calm(|sim| async move {
        let (process, zk) = client(&sim, "a").await;
        make(&zk, "/a").await;
        process.order(Fault::ReplyLost);
        let armed = zk.get_watch("/a").await.map(drop);
        assert_eq!(armed, Err(ErrorKind::ConnectionLoss.into()));
        until_back(&zk, 1).await;
        zk.sync("/").await.expect("the sync succeeds");
        assert_eq!(sim.look(|world| world.watches().count()), 0);
    });
}
