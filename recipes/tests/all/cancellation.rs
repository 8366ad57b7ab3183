//! Futures dropped at every await, on a calm network and under one fault at every place: nothing stays behind, and the
//! next in line gets the lock.

use crate::common::every_await::{FAULTS, at_every_await};
use crate::common::{Client, Drops, RECONNECT, Stage, dropping, play, play_struck};
use futures_util::FutureExt;
use sim_zk::observer::Kind;
use std::time::Duration;
use zk_recipes::zk::{CreateMode, Op};
use zk_recipes::{LockOptions, OnSuspect};

/// A holder who gives the lock back before long.
fn holds_for_a_while(stage: &Stage, holder: &Client, held: crate::common::Guard, by: Duration) {
    let over = stage.sim.sleep(&holder.process, by);
    holder.process.spawn(async move {
        over.await;
        held.release().await
    });
}

/// Nothing is left, once the cleaning up is over, which faults may strike as well.
async fn left_nothing(stage: &Stage, gave_up: &Client, drops: Drops) {
    stage.pass(gave_up, 3 * RECONNECT).await;
    stage.settle().await;
    gave_up.has_left_nothing(stage, &format!("dropped {drops:?}"));
}

/// The next in line gets the lock, and nothing of the other is left.
async fn all_is_well(stage: &Stage, gave_up: &Client, next: &Client, drops: Drops) {
    left_nothing(stage, gave_up, drops).await;
    let granted = next.lock().acquire().within(Duration::from_secs(30)).await;
    assert!(granted.is_ok(), "the next gets the lock, dropped {drops:?}: {granted:?}");
}

#[test]
fn an_acquire_with_nobody_ahead() {
    at_every_await(|stage, danger, drops| async move {
        let (next, a) = (stage.founder().await, stage.client("a").await);
        danger.begins();
        let lock = a.lock();
        let ended = dropping(drops, &stage, &a, lock.acquire()).await.is_some();
        all_is_well(&stage, &a, &next, drops).await;
        ended
    });
}

#[test]
fn an_acquire_that_makes_the_directory() {
    at_every_await(|stage, danger, drops| async move {
        let (next, a) = (stage.client("next").await, stage.client("a").await);
        danger.begins();
        let lock = a.lock();
        let ended = dropping(drops, &stage, &a, lock.acquire()).await.is_some();
        all_is_well(&stage, &a, &next, drops).await;
        ended
    });
}

#[test]
fn an_acquire_that_waits() {
    at_every_await(|stage, danger, drops| async move {
        let (next, a) = (stage.founder().await, stage.client("a").await);
        let held = next.acquires().await;
        danger.begins();
        holds_for_a_while(&stage, &next, held, Duration::from_millis(62));
        let lock = a.lock();
        let ended = dropping(drops, &stage, &a, lock.acquire()).await.is_some();
        all_is_well(&stage, &a, &next, drops).await;
        ended
    });
}

#[test]
fn an_acquire_whose_time_runs_out() {
    for limit_ms in [0, 3, 10, 13, 20, 25, 40] {
        at_every_await(|stage, danger, drops| async move {
            let (next, a) = (stage.founder().await, stage.client("a").await);
            let held = next.acquires().await;
            danger.begins();
            let lock = a.lock();
            let asked = stage.sim.now();
            let waits = lock.acquire().within(Duration::from_millis(limit_ms));
            let ended = dropping(drops, &stage, &a, waits).await;
            if let Some(result) = &ended {
                assert!(result.as_ref().is_err_and(|e| e.is_timed_out()), "{result:?}");
                let took = stage.sim.now().since(asked);
                assert_eq!(took, Duration::from_millis(limit_ms), "whatever the network does");
            }
            left_nothing(&stage, &a, drops).await;
            drop(held);
            all_is_well(&stage, &a, &next, drops).await;
            ended.is_some()
        });
    }
}

#[test]
fn a_try_that_is_refused() {
    at_every_await(|stage, danger, drops| async move {
        let (next, a) = (stage.founder().await, stage.client("a").await);
        let held = next.acquires().await;
        danger.begins();
        let lock = a.lock();
        let ended = dropping(drops, &stage, &a, lock.try_acquire()).await;
        if let Some(result) = &ended {
            assert!(matches!(result, Ok(None)), "{result:?}");
        }
        left_nothing(&stage, &a, drops).await;
        drop(held);
        all_is_well(&stage, &a, &next, drops).await;
        ended.is_some()
    });
}

#[test]
fn a_try_that_is_granted() {
    at_every_await(|stage, danger, drops| async move {
        let (next, a) = (stage.founder().await, stage.client("a").await);
        danger.begins();
        let lock = a.lock();
        let ended = dropping(drops, &stage, &a, lock.try_acquire()).await.is_some();
        all_is_well(&stage, &a, &next, drops).await;
        ended
    });
}

#[test]
fn a_release() {
    at_every_await(|stage, danger, drops| async move {
        let (next, a) = (stage.founder().await, stage.client("a").await);
        let held = a.acquires().await;
        let waiting = next.asks();
        // Until it waits in line; to wait until all is quiet would end the time of faults.
        stage.pass(&a, Duration::from_millis(100)).await;
        danger.begins();
        let ended = dropping(drops, &stage, &a, held.release()).await.is_some();
        left_nothing(&stage, &a, drops).await;
        assert!(waiting.await.is_ok(), "the next gets the lock");
        ended
    });
}

#[test]
fn a_guard_whose_holder_asks_to_be_told() {
    at_every_await(|stage, danger, drops| async move {
        let (next, a) = (stage.founder().await, stage.client("a").await);
        let options = LockOptions::default().with_on_suspect(OnSuspect::UntilDeadline);
        let held = a.acquires_with(options).await;
        danger.begins();
        let busy = stage.sim.sleep(&a.process, Duration::from_millis(40));
        let ended = dropping(drops, &stage, &a, held.run(busy)).await.is_some();
        drop(held);
        all_is_well(&stage, &a, &next, drops).await;
        ended
    });
}

#[test]
fn a_transaction() {
    at_every_await(|stage, danger, drops| async move {
        let (next, a) = (stage.founder().await, stage.client("a").await);
        let held = a.acquires().await;
        danger.begins();
        let path = "/locks/made".to_owned();
        let ops = vec![Op::Create { path, data: vec![], mode: CreateMode::Persistent }];
        let ended = dropping(drops, &stage, &a, held.transact_once(ops)).await.is_some();
        drop(held);
        all_is_well(&stage, &a, &next, drops).await;
        ended
    });
}

#[test]
fn a_guard_dropped_under_a_fault() {
    for fault in FAULTS.into_iter().flatten() {
        for armed in [false, true] {
            for nth in 0.. {
                let ((), struck) = play_struck(fault, nth, |stage, danger| async move {
                    let (next, a) = (stage.founder().await, stage.client("a").await);
                    let held = a.acquires().await;
                    if armed {
                        assert_eq!(held.lost().now_or_never(), None);
                        stage.pass(&a, Duration::from_millis(20)).await;
                        assert_eq!(held.lost().now_or_never(), None);
                    }
                    danger.begins();
                    drop(held);
                    all_is_well(&stage, &a, &next, Drops::AfterPolls(0)).await;
                });
                if !struck {
                    break;
                }
            }
        }
    }
}

#[test]
fn an_acquire_that_was_never_polled_has_sent_nothing() {
    play(|stage| async move {
        let a = stage.founder().await;
        let mark = stage.mark();
        let lock = a.lock();
        drop(lock.acquire());
        drop(lock.try_acquire());
        drop(lock.acquire().within(Duration::from_secs(1)));
        stage.settle().await;
        assert_eq!(a.sent(&stage, mark), []);
    });
}

#[test]
fn what_is_sent_after_a_drop_comes_behind_the_cleaning_up() {
    play(|stage| async move {
        let a = stage.founder().await;
        let lock = a.lock();
        for _ in 0..3 {
            assert!(lock.acquire().now_or_never().is_none(), "dropped before the answer");
        }
        stage.settle().await;
        a.has_left_nothing(&stage, "after all these drops");

        let mark = stage.mark();
        assert!(lock.acquire().now_or_never().is_none());
        let cleans_up = [Kind::Create, Kind::Children, Kind::Children];
        assert_eq!(a.sent(&stage, mark), cleans_up, "the list of the cleaning up leaves at the drop");
        stage.settle().await;
        drop(lock.acquire().await.expect("it is free"));
        assert!(lock.try_acquire().await.expect("it can be tried").is_some(), "the delete went ahead");
    });
}
