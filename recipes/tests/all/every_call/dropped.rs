//! Writes whose futures are dropped: applied once or not at all, and not after the end of their sessions.

use super::{EPHEMERAL, Ready, Row, prepared, reads, tree, trees, writes};
use crate::common::every_await::at_every_request;
use crate::common::{Client, Drops, RECONNECT, Refusal, Stage, TIMEOUT, dropping, play, play_refusing};
use sim_zk::fault::Fault;
use sim_zk::observer::{Kind, SimEvent};
use std::time::Duration;
use zk_recipes::zk::ZooKeeper;

/// The tree after a call that was dropped is that of the whole call or that without it.
fn is_applied_once_or_not_at_all(rows: &'static [Row]) {
    for row in rows {
        let (none, whole) = trees(row);
        let both = std::sync::Arc::new([none, whole]);
        at_every_request(|stage, danger, drops| {
            let both = both.clone();
            async move {
                let (looks, a) = (stage.client("looks").await, stage.client("a").await);
                let Ready { call, keeps } = prepared(row, &stage, &a).await;
                danger.begins();
                let ended = dropping(drops, &stage, &a, call).await;
                stage.pass(&a, 3 * RECONNECT).await;
                stage.settle().await;
                danger.ends();
                let (tree, [none, whole]) = (tree(&stage, &looks).await, &*both);
                let when = format!("{}, dropped {drops:?}, ended {ended:?}", row.name);
                match &ended {
                    Some(Ok(())) => assert_eq!(&tree, whole, "{when}"),
                    Some(Err(e)) if !e.is_outcome_unknown() => assert_eq!(&tree, none, "{when}"),
                    _ => assert!([none, whole].contains(&&tree), "{when}: {tree:#?}"),
                }
                drop(keeps);
                stage.pass(&a, 3 * RECONNECT).await;
                stage.settle().await;
                assert_eq!(a.watches(&stage), [""; 0], "{when}");
                ended.is_some()
            }
        });
    }
}

#[test]
fn of_config_and_barriers() {
    is_applied_once_or_not_at_all(writes::VALUES);
}

#[test]
fn of_names_and_members() {
    is_applied_once_or_not_at_all(writes::NAMES);
}

#[test]
fn of_locks() {
    is_applied_once_or_not_at_all(writes::LOCKS);
}

#[test]
fn of_queues() {
    is_applied_once_or_not_at_all(writes::QUEUES);
}

#[test]
fn of_transactions() {
    is_applied_once_or_not_at_all(writes::TRANSACTIONS);
}

/// A call whose steps are two transactions, of which a session that ends may have made the first only: its docs say how to
/// go on.
pub const IN_TWO_STEPS: &str = "Voted::finish, the last one";

/// The transactions of a session since a mark, and whether its end came before one of them.
fn comes_late(stage: &Stage, of: &Client, mark: usize) -> bool {
    let me = of.zk.session();
    let events = stage.since(mark);
    let events = events.iter().map(|(_, event)| event);
    let ended =
        events.clone().position(|event| matches!(event, SimEvent::Ended { session, .. } if *session == me));
    let ended = ended.expect("the session has ended");
    events.skip(ended).any(|event| matches!(event, SimEvent::Txn { session, .. } if *session == me))
}

#[test]
fn nothing_comes_after_the_end_of_the_session() {
    for row in writes::all() {
        let lasting = |tree: Vec<String>| -> Vec<String> {
            tree.into_iter().filter(|line| !line.ends_with(EPHEMERAL)).collect()
        };
        let (none, whole) = trees(row);
        let both = std::sync::Arc::new([lasting(none), lasting(whole)]);
        for way in [Drops::AfterPolls as fn(usize) -> Drops, Drops::Awake] {
            for moment in 0.. {
                let (drops, both) = (way(moment), both.clone());
                let ended = play(move |stage| async move {
                    let (looks, a) = (stage.client("looks").await, stage.client("a").await);
                    let Ready { call, keeps } = prepared(row, &stage, &a).await;
                    let mark = stage.mark();
                    let ended = dropping(drops, &stage, &a, call).await.is_some();
                    a.process.inflict(Fault::SessionExpiry, 3 * TIMEOUT);
                    stage.pass(&looks, 4 * TIMEOUT).await;
                    let tree = lasting(tree(&stage, &looks).await);
                    let is_halfway = row.name == IN_TWO_STEPS;
                    assert!(is_halfway || both.contains(&tree), "{}, dropped {drops:?}: {tree:#?}", row.name);
                    assert!(!comes_late(&stage, &a, mark), "{}, dropped {drops:?}", row.name);
                    drop(keeps);
                    ended
                });
                if ended {
                    break;
                }
                assert!(moment < 100, "{} ends one day", row.name);
            }
        }
    }
}

/// However a call ends that reads, or takes something that is free: when its result is dropped, too, the session has left no
/// znode and no watch.
#[test]
fn a_call_that_is_dropped_leaves_nothing() {
    for row in reads::all() {
        at_every_request(|stage, danger, drops| async move {
            let a = stage.client("a").await;
            let Ready { call, keeps } = prepared(row, &stage, &a).await;
            danger.begins();
            let ended = dropping(drops, &stage, &a, call).await.is_some();
            drop(keeps);
            stage.pass(&a, 3 * RECONNECT).await;
            stage.settle().await;
            a.has_left_nothing(&stage, &format!("{}, dropped {drops:?}", row.name));
            ended
        });
    }
}

/// How many requests the clean-up of a call makes at most in 20 s that are refused.
const MOST_REFUSED: usize = 400;

/// What is sent for a call that was dropped, and for the guards that it gave, is repeated seldom while it is refused, and leaves no
/// znode once it is not.
#[test]
fn the_clean_up_of_a_dropped_call_that_is_refused_asks_seldom_and_is_done_in_the_end() {
    let struck = |row: &'static Row, moment, kind, refusal| {
        play_refusing(None, Refusal { fault: refusal, kind, at: 0 }, move |stage, danger| async move {
            let a = stage.client("a").await;
            let Ready { call, keeps } = prepared(row, &stage, &a).await;
            drop(dropping(Drops::Later(moment), &stage, &a, call).await);
            danger.begins();
            drop(keeps);
            let mark = stage.mark();
            stage.pass(&a, Duration::from_secs(20)).await;
            let sent = a.sent(&stage, mark).len();
            danger.ends();
            stage.pass(&a, Duration::from_secs(20)).await;
            (sent, a.znodes(&stage).len())
        })
    };
    for row in writes::all().chain(reads::all()) {
        for moment in [5, 15, 1_000] {
            // A barrier may stand as long as its session. No client sends that kind.
            let ((_, stay), _) = struck(row, moment, Kind::Reap, Fault::Throttled);
            for kind in [Kind::Delete, Kind::Multi, Kind::Exists, Kind::Get, Kind::Children] {
                for refusal in [Fault::Throttled, Fault::AccessDenied] {
                    let ((sent, left), refused) = struck(row, moment, kind, refusal);
                    let when = format!("{}, {moment} ms, {kind:?} {refusal:?} {refused:?}", row.name);
                    assert!(sent <= MOST_REFUSED, "{when}: {sent} requests");
                    assert_eq!(left, stay, "{when}");
                }
            }
        }
    }
}

/// Every name that a dropped call may have created, and those of the next calls, are different.
#[test]
fn a_name_of_a_dropped_call_is_not_given_to_another() {
    at_every_request(|stage, danger, drops| async move {
        let a = stage.client("a").await;
        a.makes("/names").await;
        let names = writes::names(&a);
        danger.begins();
        let ended = dropping(drops, &stage, &a, names.unique("job")).await.is_some();
        let mut next = Vec::new();
        for _ in 0..2 {
            let before = stage.names("/names");
            let made = names.unique("job").await.expect("the session lives");
            assert!(!before.contains(&made.name), "dropped {drops:?}: {} was there before", made.name);
            next.push(made);
        }
        stage.pass(&a, 3 * RECONNECT).await;
        stage.settle().await;
        let there = stage.names("/names");
        assert!(
            there.len() <= 3 && next.iter().all(|made| there.contains(&made.name)),
            "{drops:?}: {there:?}"
        );
        assert!(next[0].czxid < next[1].czxid && next[0].name != next[1].name, "dropped {drops:?}");
        ended
    });
}
