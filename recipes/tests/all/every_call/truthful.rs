//! What the end of a call says of its write, and that another client sees all of it or nothing.

use super::denied::denials;
use super::dropped::IN_TWO_STEPS;
use super::{Row, Written, trees, writes, written};
use crate::common::{Client, Stage, play_faults, play_refusing};
use sim_zk::fault::Fault;
use sim_zk::observer::SimEvent;
use std::collections::BTreeSet;
use std::ops::Range;
use zk_recipes::zk::ZooKeeper;

/// Names of znodes that calls make on their way, and of no concern to what they write.
const ASIDE: [&str; 4] = ["/made", "/receipts", "/takers", "/claims"];

/// The transactions of a session that have changed the tree while a call went on.
fn transactions(stage: &Stage, of: &Client, lasted: Range<usize>) -> BTreeSet<i64> {
    let me = of.zk.session();
    let (mut mine, mut changing) = (BTreeSet::new(), BTreeSet::new());
    for (_, event) in stage.since(lasted.start).into_iter().take(lasted.len()) {
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
    let ((seen, transactions), any) = play_faults(faults.to_vec(), move |stage, danger| async move {
        let a = stage.client("a").await;
        let seen = written(row, &stage, &a, danger).await;
        let transactions = transactions(&stage, &a, seen.lasted.clone()).len();
        (seen, transactions)
    });
    let Written { ended, tree, .. } = seen;
    let when = format!("{}, {faults:?}, ended {ended:?}", row.name);
    assert!(transactions <= 1 || row.name == IN_TWO_STEPS, "{when}: {transactions} transactions");
    match ended.as_ref().expect(&when) {
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
            for refusal in denials() {
                let lost = Some((Fault::ReplyLost, nth));
                let (Written { ended, tree, .. }, refused) =
                    play_refusing(lost, refusal, |stage, danger| async move {
                        let a = stage.client("a").await;
                        written(row, &stage, &a, danger).await
                    });
                was_lost |= refused.is_lost;
                let is_true = match &ended {
                    Some(Ok(())) => tree == whole,
                    Some(Err(e)) if !e.is_outcome_unknown() => tree == none,
                    _ => true,
                };
                if !is_true {
                    wrong.push(format!("{}, reply {nth} lost, {refusal:?}: {ended:?}, {tree:#?}", row.name));
                }
            }
            if !was_lost {
                break;
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
