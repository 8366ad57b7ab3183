//! Simulated watches on whole trees, with the quirks of 3.8.

use crate::common::{away, calm, client, make, until_back, until_over};
use futures_util::{FutureExt, StreamExt};
use sim_zk::Sim;
use sim_zk::driver::SimTreeWatch;
use sim_zk::fault::Fault;
use std::time::Duration;
use zk_recipes::zk::{ErrorKind, Event, EventKind, Over, TreeEvent, ZooKeeper};

use EventKind::{NodeCreated, NodeDataChanged, NodeDeleted};

/// Returns the events that a watch has reported so far: a sign and a path each.
fn told(tree: &mut SimTreeWatch) -> Vec<String> {
    let word = |told| match told {
        Some(Ok(TreeEvent::Changed(Event { kind: NodeCreated, path }))) => format!("+{path}"),
        Some(Ok(TreeEvent::Changed(Event { kind: NodeDataChanged, path }))) => format!("={path}"),
        Some(Ok(TreeEvent::Changed(Event { kind: NodeDeleted, path }))) => format!("-{path}"),
        Some(Ok(TreeEvent::Gap)) => "gap".to_owned(),
        other => format!("{other:?}"),
    };
    std::iter::from_fn(|| tree.next().now_or_never()).map(word).collect()
}

fn armed(sim: &Sim) -> usize {
    sim.look(|world| world.watches().count())
}

#[test]
fn a_one_shot_watch_on_the_same_path_takes_the_data_half_along() {
    calm(|sim| async move {
        let (_, zk) = client(&sim, "a").await;
        make(&zk, "/d").await;
        let mut tree = zk.watch_tree("/d").await.expect("it is armed");
        let (_, one) = zk.get_watch("/d").await.expect("the get succeeds");
        make(&zk, "/d/a").await;
        zk.delete("/d/a", None).await.expect("the delete succeeds");
        zk.set("/d", b"", None).await.expect("the set succeeds");
        one.await.expect("it fires");
        zk.set("/d", b"", None).await.expect("the set succeeds");
        // ZOOKEEPER-4466: creations and changes are lost from the arming on; deletions come from the child table.
        assert_eq!(told(&mut tree), ["-/d/a", "=/d"]);
    });
}

#[test]
fn a_child_watch_on_the_same_path_takes_the_child_half_along() {
    calm(|sim| async move {
        let (_, zk) = client(&sim, "a").await;
        make(&zk, "/d").await;
        let mut tree = zk.watch_tree("/d").await.expect("it is armed");
        let (_, one) = zk.children_watch("/d").await.expect("the listing succeeds");
        make(&zk, "/d/a").await;
        one.await.expect("it fires");
        assert_eq!(armed(&sim), 1, "the data half is left");
        zk.delete("/d/a", None).await.expect("the delete succeeds");
        assert_eq!(told(&mut tree), ["+/d/a", "-/d/a"], "which tells everything");
    });
}

#[test]
fn a_tree_watch_goes_from_the_server_with_the_last_watch_on_its_path() {
    calm(|sim| async move {
        let (_, zk) = client(&sim, "a").await;
        make(&zk, "/d").await;
        let (one, two) = (zk.watch_tree("/d").await, zk.watch_tree("/d").await);
        assert_eq!(armed(&sim), 2, "one in each table");
        drop(one);
        zk.sync("/").await.expect("the sync succeeds");
        assert_eq!(armed(&sim), 2);
        let (_, child) = zk.children_watch("/d").await.expect("the listing succeeds");
        drop(two);
        zk.sync("/").await.expect("the sync succeeds");
        assert_eq!(armed(&sim), 2, "the removal would take the child watch along");
        drop(child);
        zk.sync("/").await.expect("the sync succeeds");
        assert_eq!(armed(&sim), 0);
        drop(zk.watch_tree("/d"));
        zk.sync("/").await.expect("the sync succeeds");
        zk.sync("/").await.expect("the sync succeeds");
        assert_eq!(armed(&sim), 0, "nobody ever held that one");
    });
}

#[test]
fn what_is_missed_by_a_tree_watch_is_told_by_nobody_but_as_a_gap() {
    calm(|sim| async move {
        let (process, zk) = client(&sim, "a").await;
        let (_, other) = client(&sim, "b").await;
        make(&zk, "/d").await;
        let mut tree = zk.watch_tree("/d").await.expect("it is armed");
        for round in 0..2 {
            away(&process, &zk, async {
                make(&other, &format!("/d/{round}")).await;
            })
            .await;
        }
        assert_eq!(told(&mut tree), ["gap"], "two in a row are one");
        assert_eq!(armed(&sim), 2);
        make(&zk, "/d/later").await;
        assert_eq!(told(&mut tree), ["+/d/later"]);
    });
}

#[test]
fn a_tree_watch_that_was_not_answered_is_not_armed_again() {
    calm(|sim| async move {
        let (process, zk) = client(&sim, "a").await;
        process.order(Fault::ReplyLost);
        assert_eq!(zk.watch_tree("/").await.err(), Some(ErrorKind::ConnectionLoss.into()));
        until_back(&zk, 1).await;
        zk.sync("/").await.expect("the sync succeeds");
        assert_eq!(armed(&sim), 0);
    });
}

#[test]
fn a_tree_watch_of_an_expired_session_says_so_and_ends() {
    calm(|sim| async move {
        let (process, zk) = client(&sim, "a").await;
        let mut tree = zk.watch_tree("/").await.expect("it is armed");
        process.inflict(Fault::SessionExpiry, Duration::from_secs(20));
        until_over(&zk).await;
        assert_eq!(tree.next().await, Some(Err(ErrorKind::SessionOver(Over::Expired).into())));
        assert_eq!(tree.next().await, None);
    });
}
