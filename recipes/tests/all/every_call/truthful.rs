//! What the end of a call says of its write, and that another client sees all of it or nothing.

use super::denied::KINDS;
use super::dropped::IN_TWO_STEPS;
use super::{Ready, Row, prepared, tree, trees, writes};
use crate::common::{Client, Drops, RECONNECT, Stage, dropping, play_faults, play_refusing};
use sim_zk::fault::Fault;
use sim_zk::observer::SimEvent;
use std::collections::BTreeSet;
use zk_recipes::zk::ZooKeeper;

/// Names of znodes that calls make on their way, and of no concern to what they write.
const ASIDE: [&str; 4] = ["/made", "/receipts", "/takers", "/claims"];

/// The transactions of a session since a mark that have changed the tree.
fn transactions(stage: &Stage, of: &Client, mark: usize) -> BTreeSet<i64> {
    let me = of.zk.session();
    let (mut mine, mut changing) = (BTreeSet::new(), BTreeSet::new());
    for (_, event) in stage.since(mark) {
        let (zxid, path) = match event {
            SimEvent::Txn { zxid, session, .. } if session == me => {
                mine.insert(zxid);
                continue;
            }
            SimEvent::Created { zxid, path, .. }
            | SimEvent::Deleted { zxid, path, .. }
            | SimEvent::Written { zxid, path, .. } => (zxid, path),
            _ => continue,
        };
        let path = stage.sim.look(|world| world.paths().text(path).to_owned());
        if !ASIDE.iter().any(|aside| path.contains(aside)) {
            changing.insert(zxid);
        }
    }
    mine.intersection(&changing).copied().collect()
}

/// Loses one message of a call, and then perhaps has a request denied. Says whether the first of them struck.
fn struck(row: &'static Row, [none, whole]: &[Vec<String>; 2], faults: &[(Fault, usize)]) -> bool {
    let (seen, any) = play_faults(faults.to_vec(), move |stage, danger| async move {
        let (looks, a) = (stage.client("looks").await, stage.client("a").await);
        let Ready { call, keeps } = prepared(row, &stage, &a).await;
        let mark = stage.mark();
        danger.begins();
        let ended = call.await;
        danger.ends();
        let written = transactions(&stage, &a, mark).len();
        stage.pass(&a, 3 * RECONNECT).await;
        stage.settle().await;
        let tree = tree(&stage, &looks).await;
        drop(keeps);
        (ended, written, tree)
    });
    let (ended, written, tree) = seen;
    let when = format!("{}, {faults:?}, ended {ended:?}", row.name);
    assert!(written <= 1 || row.name == IN_TWO_STEPS, "{when}: {written} transactions");
    match &ended {
        Ok(()) => assert_eq!(&tree, whole, "{when}"),
        Err(e) if e.is_outcome_unknown() => assert!([none, whole].contains(&&tree), "{when}: {tree:#?}"),
        Err(_) => assert_eq!(&tree, none, "{when}"),
    }
    any
}

/// One transaction or none has changed the tree, and the end of the call says which, if it is known.
#[test]
fn a_write_is_one_transaction_and_its_end_tells_the_truth() {
    for row in writes::all() {
        let trees = <[_; 2]>::from(trees(row));
        for fault in [Fault::RequestLost, Fault::ReplyLost, Fault::Disconnect, Fault::Throttled] {
            for nth in 0.. {
                if !struck(row, &trees, &[(fault, nth)]) {
                    break;
                }
            }
        }
    }
}

/// The request that would find out what became of a lost one is denied.
#[test]
fn a_write_in_doubt_is_not_said_to_be_denied() {
    for row in writes::all() {
        let trees = <[_; 2]>::from(trees(row));
        for fault in [Fault::RequestLost, Fault::ReplyLost] {
            for nth in 0.. {
                let hits = (0..4)
                    .filter(|then| struck(row, &trees, &[(fault, nth), (Fault::AccessDenied, *then)]))
                    .count();
                if hits == 0 {
                    break;
                }
            }
        }
    }
}

/// A reply is lost, and from then on an access list denies all requests of one kind: who says that it was denied has written nothing.
#[test]
fn a_write_in_doubt_is_not_said_to_be_denied_by_a_list_that_permits_other_requests() {
    let mut wrong = Vec::new();
    for row in writes::all() {
        let [none, whole] = <[_; 2]>::from(trees(row));
        for nth in 0.. {
            let mut was_lost = false;
            for kind in KINDS {
                let lost = Some((Fault::ReplyLost, nth));
                let ((ended, tree), is_lost, _) =
                    play_refusing(lost, Fault::AccessDenied, kind, |stage, danger| async move {
                        let (looks, a) = (stage.client("looks").await, stage.client("a").await);
                        let Ready { call, keeps } = prepared(row, &stage, &a).await;
                        danger.begins();
                        let ended = dropping(Drops::Later(20_000), &stage, &a, call).await;
                        danger.ends();
                        stage.pass(&a, 3 * RECONNECT).await;
                        stage.settle().await;
                        let tree = tree(&stage, &looks).await;
                        drop(keeps);
                        (ended, tree)
                    });
                was_lost |= is_lost;
                let is_true = match &ended {
                    Some(Ok(())) => tree == whole,
                    Some(Err(e)) if !e.is_outcome_unknown() => tree == none,
                    _ => true,
                };
                if !is_true {
                    wrong.push(format!(
                        "{}, reply {nth} lost, {kind:?} denied: {ended:?}, {tree:#?}",
                        row.name
                    ));
                }
            }
            if !was_lost {
                break;
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
