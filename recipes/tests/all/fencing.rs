//! Tokens and transactions: what keeps the effects of two holds apart, whatever clocks and networks do.

use crate::common::{Client, DIRECTORY, Drops, Guard, RECONNECT, Stage, TIMEOUT, dropping, play};
use futures_util::FutureExt;
use sim_zk::fault::Fault;
use sim_zk::observer::Kind;
use std::time::Duration;
use zk_recipes::zk::{CreateMode, Error, ErrorKind, Op, OpResult, ZooKeeper};
use zk_recipes::{LockOptions, OnSuspect};

const LEDGER: &str = "/ledger";

fn writes(entry: &str) -> Op {
    let path = format!("{LEDGER}/{entry}-");
    Op::Create { path, data: vec![], mode: CreateMode::PersistentSequential }
}

/// What was written, without the numbers, in order of name.
fn written(stage: &Stage) -> Vec<String> {
    stage.names(LEDGER).iter().map(|name| name[..name.len() - 11].to_owned()).collect()
}

async fn with_ledger(stage: &Stage) -> Client {
    let founder = stage.founder().await;
    founder.makes(LEDGER).await;
    founder
}

/// Another client, and a holder whose next request that fault strikes, and who goes on until its deadline.
async fn about_to_suffer(stage: &Stage, fault: Fault) -> (Client, Guard) {
    let (other, a) = (with_ledger(stage).await, stage.client("a").await);
    let options = LockOptions::default().with_on_suspect(OnSuspect::UntilDeadline);
    let held = a.acquires_with(options).await;
    a.process.order(fault);
    (other, held)
}

#[test]
fn the_token_is_the_czxid_of_the_znode() {
    play(|stage| async move {
        let a = stage.founder().await;
        let held = a.acquires().await;
        let stat = a.zk.exists(held.path()).await.expect("it can be read").expect("it is there");
        assert_eq!(held.token(), stat.czxid);
    });
}

#[test]
fn tokens_grow_also_when_the_directory_is_made_again() {
    play(|stage| async move {
        let (a, b) = (stage.founder().await, stage.client("b").await);
        let mut last = 0;
        for round in 0..6 {
            let client = if round % 2 == 0 { &a } else { &b };
            let held = client.acquires().await;
            assert!(held.token() > last, "in round {round}");
            last = held.token();
            if round == 3 {
                assert!(held.path().ends_with("0000000000"), "the numbers have begun again");
            }
            held.release().await.expect("it is released");
            if round == 2 {
                a.zk.delete(DIRECTORY, None).await.expect("it is empty");
            }
        }
    });
}

#[test]
fn a_transaction_is_applied_while_the_hold_goes_on() {
    play(|stage| async move {
        let a = with_ledger(&stage).await;
        let held = a.acquires().await;
        let mark = stage.mark();
        let results =
            held.transact(vec![writes("first"), Op::Check { path: LEDGER.into(), version: None }]).await;
        let first = OpResult::Created(format!("{LEDGER}/first-0000000000"));
        assert_eq!(
            results,
            Ok(vec![first, OpResult::Checked]),
            "one result for each of the caller's operations"
        );
        assert_eq!(a.sent(&stage, mark), [Kind::Multi]);
        assert_eq!(written(&stage), ["first"]);
    });
}

#[test]
fn a_transaction_is_refused_after_the_hold() {
    play(|stage| async move {
        let (other, a) = (with_ledger(&stage).await, stage.client("a").await);
        let held = a.acquires().await;
        other.zk.delete(held.path(), None).await.expect("it is there");
        let next = other.acquires().await;
        assert!(held.transact(vec![writes("late")]).await.expect_err("it is over").is_removed());
        assert!(held.transact_once(vec![writes("late")]).await.expect_err("it is over").is_removed());
        let own = other.zk.multi(vec![held.fence(), writes("late")]).await;
        assert_eq!(own, Err(ErrorKind::Multi { index: 0, cause: Box::new(ErrorKind::NoNode.into()) }.into()));
        assert_eq!(written(&stage), Vec::<String>::new());
        next.transact(vec![next.fence(), writes("next")]).await.expect("it is held");
        assert_eq!(written(&stage), ["next"]);
    });
}

#[test]
fn a_transaction_of_a_holder_that_has_overslept_is_not_applied() {
    play(|stage| async move {
        let (other, a) = (with_ledger(&stage).await, stage.client("a").await);
        let held = a.acquires().await;
        let wakes = stage.sim.sleep(&a.process, Duration::from_secs(1));
        let writing = a.process.spawn(async move {
            wakes.await;
            held.transact(vec![writes("late")]).await
        });
        a.process.inflict(Fault::ClientPause, 3 * TIMEOUT);
        other.acquires().await.transact(vec![writes("next")]).await.expect("it is held");
        let late = writing.await.expect("it goes on").expect_err("its session has ended");
        assert!(late.is_outcome_unknown(), "it does not know yet, or it knows that it ended: {late}");
        assert_eq!(written(&stage), ["next"]);
    });
}

#[test]
fn a_refusal_names_the_callers_operation() {
    play(|stage| async move {
        let a = with_ledger(&stage).await;
        let held = a.acquires().await;
        let refused = Error::multi(1, ErrorKind::NodeExists);
        let twice = Op::Create { path: LEDGER.into(), data: vec![], mode: CreateMode::Persistent };
        let ops = vec![writes("never"), twice];
        assert_eq!(held.transact(ops.clone()).await, Err(refused.clone()));
        assert_eq!(held.transact_once(ops).await, Err(refused));
        assert_eq!(written(&stage), Vec::<String>::new());
        let mark = stage.mark();
        held.transact_once(vec![writes("once")]).await.expect("the refused one has not moved the receipt");
        assert_eq!(a.sent(&stage, mark), [Kind::Multi], "so that its version is known");
        assert_eq!(written(&stage), ["once"]);
    });
}

#[test]
fn a_transaction_whose_reply_was_lost_has_an_unknown_outcome() {
    for (fault, applied) in [(Fault::ReplyLost, 1), (Fault::RequestLost, 0)] {
        play(move |stage| async move {
            let a = with_ledger(&stage).await;
            let held = a.acquires().await;
            a.process.order(fault);
            let lost = held.transact(vec![writes("maybe")]).await.expect_err("the answer was lost");
            assert!(lost.is_outcome_unknown() && !lost.is_removed(), "{lost}");
            assert_eq!(written(&stage).len(), applied);
        });
    }
}

#[test]
fn a_transaction_sends_nothing_while_there_is_no_connection() {
    play(|stage| async move {
        let a = with_ledger(&stage).await;
        let held = a.acquires().await;
        a.is_disconnected().await;
        let mark = stage.mark();
        let mut writing = Box::pin(held.transact(vec![writes("later")]));
        assert!(writing.as_mut().now_or_never().is_none());
        assert_eq!(a.sent(&stage, mark), []);
        writing.await.expect("it is held still");
        assert_eq!(written(&stage), ["later"]);
    });
}

#[test]
fn exactly_once_is_once_whatever_is_lost() {
    for fault in [Fault::ReplyLost, Fault::RequestLost, Fault::Disconnect] {
        play(move |stage| async move {
            let a = with_ledger(&stage).await;
            let held = a.acquires().await;
            for entry in ["a", "b", "c"] {
                a.process.order(fault);
                held.transact_once(vec![writes(entry)]).await.expect("it is held");
            }
            assert_eq!(written(&stage), ["a", "b", "c"], "{fault:?}");
            held.release().await.expect("it is released");
        });
    }
}

#[test]
fn exactly_once_costs_one_request() {
    play(|stage| async move {
        let a = with_ledger(&stage).await;
        let held = a.acquires().await;
        let mark = stage.mark();
        held.transact_once(vec![writes("a")]).await.expect("it is held");
        held.transact_once(vec![writes("b")]).await.expect("it is held");
        assert_eq!(a.sent(&stage, mark), [Kind::Multi, Kind::Multi]);
    });
}

#[test]
fn exactly_once_stays_so_after_one_that_was_dropped() {
    for fault in [None, Some(Fault::ReplyLost), Some(Fault::RequestLost), Some(Fault::Disconnect)] {
        for way in [Drops::AfterPolls as fn(usize) -> Drops, Drops::Awake] {
            for moment in 0..8 {
                play(move |stage| async move {
                    let a = with_ledger(&stage).await;
                    let held = a.acquires().await;
                    if let Some(fault) = fault {
                        a.process.order(fault);
                    }
                    let drops = way(moment);
                    dropping(drops, &stage, &a, held.transact_once(vec![writes("dropped")])).await;
                    held.transact_once(vec![writes("next")]).await.expect("it is held");
                    held.transact_once(vec![writes("third")]).await.expect("it is held");
                    let mut entries = written(&stage);
                    entries.retain(|entry| entry != "dropped");
                    assert_eq!(entries, ["next", "third"], "{fault:?}, {drops:?}");
                    assert!(written(&stage).len() <= 3, "{fault:?}, {drops:?}");
                });
            }
        }
    }
}

#[test]
fn the_work_of_a_hold_writes_exactly_once() {
    play(|stage| async move {
        let a = with_ledger(&stage).await;
        let held = a.acquires().await;
        let written_once = held.run(async { held.transact_once(vec![writes("once")]).await }).await;
        written_once.expect("it is held").expect("it is applied");
        assert_eq!(written(&stage), ["once"]);
    });
}

#[test]
fn exactly_once_is_once_for_each_of_two_calls_together() {
    for fault in [Fault::ReplyLost, Fault::RequestLost, Fault::Disconnect] {
        play(move |stage| async move {
            let (_other, held) = about_to_suffer(&stage, fault).await;
            let [one, two] = ["one", "two"].map(|entry| held.transact_once(vec![writes(entry)]));
            let (one, two) = futures_util::future::join(one, two).await;
            one.and(two).expect("it is held");
            assert_eq!(written(&stage), ["one", "two"], "{fault:?}");
        });
    }
}

#[test]
fn exactly_once_is_not_misled_by_another_who_writes_to_the_receipt() {
    play(|stage| async move {
        let (other, a) = (with_ledger(&stage).await, stage.client("a").await);
        let held = a.acquires().await;
        other.zk.set(held.path(), b"unlock", None).await.expect("it is there");
        held.transact_once(vec![writes("once")]).await.expect("it is held");
        assert_eq!(written(&stage), ["once"], "a version that moved is no proof that it was applied");
    });
}

#[test]
fn exactly_once_is_not_misled_by_another_who_writes_to_the_receipt_while_a_reply_is_lost() {
    for (fault, foreign, applied, is_known) in [
        (Fault::RequestLost, 1, 1, true),
        // Two writes: nothing tells whether one of them is that of the transaction.
        (Fault::RequestLost, 2, 0, false),
        (Fault::ReplyLost, 1, 1, false),
    ] {
        play(move |stage| async move {
            let (other, held) = about_to_suffer(&stage, fault).await;
            let path = held.path().to_owned();
            let meddles = async {
                stage.pass(&other, RECONNECT / 4).await;
                for _ in 0..foreign {
                    other.zk.set(&path, b"unlock", None).await.expect("it is there");
                }
            };
            let (ended, ()) =
                futures_util::future::join(held.transact_once(vec![writes("once")]), meddles).await;
            let when = format!("{fault:?}, {foreign} foreign writes: {ended:?}");
            match ended {
                Ok(()) => assert!(is_known, "{when}"),
                Err(e) => assert!(!is_known && e.is_outcome_unknown(), "{when}"),
            }
            assert_eq!(written(&stage).len(), applied, "{when}");
            held.transact_once(vec![writes("next")]).await.expect("it is held");
            assert_eq!(written(&stage).len(), applied + 1, "{when}");
        });
    }
}

#[test]
fn exactly_once_is_unknown_if_the_receipt_went_before_it_could_be_asked() {
    for (fault, applied) in [(Fault::ReplyLost, 1), (Fault::RequestLost, 0)] {
        play(move |stage| async move {
            let (other, held) = about_to_suffer(&stage, fault).await;
            let path = held.path().to_owned();
            let evicts = async {
                stage.pass(&other, RECONNECT / 4).await;
                other.zk.delete(&path, None).await.expect("it is there");
            };
            let ops = vec![writes("maybe")];
            let (lost, ()) = futures_util::future::join(held.transact_once(ops), evicts).await;
            let lost = lost.expect_err("it is over");
            assert!(lost.is_outcome_unknown(), "removed would mean that nothing was applied: {lost}");
            assert_eq!(written(&stage).len(), applied);
            assert!(held.transact(vec![]).await.expect_err("it is over").is_removed());
        });
    }
}

#[test]
fn exactly_once_ends_with_the_session() {
    play(|stage| async move {
        let a = with_ledger(&stage).await;
        let held = a.acquires().await;
        a.zk.close(TIMEOUT).await.expect("it is closed");
        let over = held.transact_once(vec![writes("late")]).await.expect_err("it is over");
        assert!(over.is_session_over());
        assert!(held.transact(vec![writes("late")]).await.expect_err("it is over").is_session_over());
    });
}

#[test]
fn the_data_of_the_znode_stay_as_they_are() {
    play(|stage| async move {
        let a = with_ledger(&stage).await;
        let options = LockOptions::default().with_data(b"a, for printing");
        let held = a.acquires_with(options).await;
        held.transact_once(vec![writes("once")]).await.expect("it is held");
        let data = a.zk.get(held.path()).await.expect("it is there").data;
        assert_eq!(data, b"a, for printing");
    });
}
