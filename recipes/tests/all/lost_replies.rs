//! What becomes of an attempt when a request or its answer is lost, and when the session ends in the middle of it.

use crate::common::{Client, DIRECTORY, Guard, RECONNECT, Stage, TIMEOUT, play, play_struck};
use futures_util::FutureExt;
use sim_zk::fault::Fault;
use sim_zk::observer::{Kind, SimEvent};
use std::future::Future;
use zk_recipes::zk::{CreateMode, Error, ZooKeeper};
use zk_recipes::{HoldState, LockOptions, LostReason, OnSuspect, Released, Stop};

/// The paths with which a client has asked for a znode since a mark.
fn asked_for(stage: &Stage, client: &Client, mark: usize) -> Vec<String> {
    let me = client.process.id();
    let create = |(_, happening): &(u64, SimEvent<'_>)| match happening {
        SimEvent::Sent { process, kind: Kind::Create, path, .. } if *process == me => Some(*path),
        _ => None,
    };
    let asked: Vec<_> = stage.since(mark).iter().filter_map(create).collect();
    stage.sim.look(|world| asked.into_iter().map(|path| world.paths().text(path).to_owned()).collect())
}

#[test]
fn a_create_whose_reply_was_lost_is_found_by_its_guid() {
    play(|stage| async move {
        let a = stage.founder().await;
        let mark = stage.mark();
        a.process.order(Fault::ReplyLost);
        let held = a.acquires().await;
        let flights = [Kind::Create, Kind::Children, Kind::Multi, Kind::Children, Kind::Exists];
        assert_eq!(a.sent(&stage, mark), flights, "a write settles what is under way before the look");
        assert_eq!(stage.joined(mark), 1, "one znode");
        assert_eq!(a.znodes(&stage), [held.path()]);
        assert!(held.path().starts_with(&asked_for(&stage, &a, mark)[0]));
        assert_eq!(held.release().await, Ok(Released::Clean));
    });
}

#[test]
fn a_waiter_whose_create_was_found_again_keeps_its_place() {
    play(|stage| async move {
        let (a, b, c) = (stage.founder().await, stage.client("b").await, stage.client("c").await);
        let held = a.acquires().await;
        b.process.order(Fault::ReplyLost);
        let asking = b.asks();
        stage.pass(&a, RECONNECT / 2).await;
        let mut behind = c.asks();
        stage.settle().await;
        assert_eq!(stage.names(DIRECTORY).len(), 3);
        held.release().await.expect("it is released");
        let held = asking.await.expect("b was there before c");
        assert!((&mut behind).now_or_never().is_none(), "c waits still");
        held.release().await.expect("it is released");
        drop(behind.await.expect("it is granted"));
    });
}

#[test]
fn a_create_that_was_lost_is_sent_again_with_the_same_guid() {
    play(|stage| async move {
        let a = stage.founder().await;
        let mark = stage.mark();
        a.process.order(Fault::RequestLost);
        let held = a.acquires().await;
        let flight = [Kind::Create, Kind::Children];
        assert_eq!(a.sent(&stage, mark), [&flight[..], &[Kind::Multi, Kind::Children], &flight].concat());
        assert_eq!(stage.joined(mark), 1);
        let asked = asked_for(&stage, &a, mark);
        assert_eq!(asked[0], asked[1]);
        drop(held);
    });
}

#[test]
fn a_list_that_was_lost_is_asked_for_again() {
    let ((), struck) = play_struck(Fault::ReplyLost, 1, |stage, danger| async move {
        let a = stage.founder().await;
        let mark = stage.mark();
        danger.begins();
        let held = a.acquires().await;
        assert_eq!(a.sent(&stage, mark), [Kind::Create, Kind::Children, Kind::Children]);
        assert_eq!(stage.joined(mark), 1);
        drop(held);
    });
    assert!(struck);
}

#[test]
fn a_lost_settling_write_is_sent_again() {
    for (fault, nth) in [(Fault::ReplyLost, 0), (Fault::RequestLost, 0)] {
        let ((), struck) = play_struck(fault, nth, |stage, danger| async move {
            let a = stage.founder().await;
            let mark = stage.mark();
            a.process.order(Fault::ReplyLost);
            let lock = a.lock();
            let mut asking = Box::pin(lock.acquire());
            assert!(asking.as_mut().now_or_never().is_none());
            stage.pass(&a, RECONNECT / 4).await;
            danger.begins();
            let held = asking.await.expect("it is granted");
            let settling = [Kind::Multi, Kind::Children];
            let flight = [Kind::Create, Kind::Children];
            assert_eq!(a.sent(&stage, mark), [&flight[..], &settling, &settling, &[Kind::Exists]].concat());
            assert_eq!(stage.joined(mark), 1);
            drop(held);
        });
        assert!(struck);
    }
}

#[test]
fn a_watch_that_was_lost_is_armed_again() {
    let ((), struck) = play_struck(Fault::RequestLost, 2, |stage, danger| async move {
        let (a, b) = (stage.founder().await, stage.client("b").await);
        let held = a.acquires().await;
        let mark = stage.mark();
        danger.begins();
        let asking = b.asks();
        stage.pass(&a, 2 * RECONNECT).await;
        stage.settle().await;
        let again = [Kind::Children, Kind::Children];
        assert_eq!(
            b.sent(&stage, mark),
            [&[Kind::Create, Kind::Children, Kind::Children][..], &again].concat()
        );
        assert_eq!(b.watches(&stage), [held.path()]);
        held.release().await.expect("it is released");
        drop(asking.await.expect("it is granted"));
    });
    assert!(struck);
}

#[test]
fn a_waiter_that_was_away_when_its_turn_came_learns_of_it() {
    play(|stage| async move {
        let (a, b) = (stage.founder().await, stage.client("b").await);
        let held = a.acquires().await;
        let asking = b.asks();
        stage.settle().await;
        b.is_disconnected().await;
        let mark = stage.mark();
        held.release().await.expect("it is released");
        drop(asking.await.expect("it is granted"));
        assert_eq!(b.sent(&stage, mark)[0], Kind::Children, "it looks again");
    });
}

#[test]
fn a_release_whose_reply_was_lost_is_clean() {
    for fault in [Fault::ReplyLost, Fault::RequestLost, Fault::Disconnect] {
        play(move |stage| async move {
            let a = stage.founder().await;
            let held = a.acquires().await;
            let mark = stage.mark();
            a.process.order(fault);
            assert_eq!(held.release().await, Ok(Released::Clean), "{fault:?}");
            assert_eq!(a.sent(&stage, mark), [Kind::Delete, Kind::Delete]);
            stage.settle().await;
            a.has_left_nothing(&stage, "after the release");
        });
    }
}

#[test]
fn a_session_that_ends_during_an_acquire_ends_the_acquire() {
    play(|stage| async move {
        let (a, b) = (stage.founder().await, stage.client("b").await);
        let lock = b.lock();
        let mut asking = Box::pin(lock.acquire());
        assert!(asking.as_mut().now_or_never().is_none());
        b.process.inflict(Fault::SessionExpiry, 3 * TIMEOUT);
        assert!(asking.await.expect_err("b's session ends").is_session_over());
        drop(a.acquires().await);
        assert!(lock.acquire().await.expect_err("it has ended for good").is_session_over());
        assert!(lock.try_acquire().await.expect_err("it has ended for good").is_session_over());
    });
}

#[test]
fn a_session_that_ends_while_waiting_ends_the_acquire() {
    play(|stage| async move {
        let (a, b) = (stage.founder().await, stage.client("b").await);
        let held = a.acquires().await;
        let asking = b.asks();
        stage.settle().await;
        b.process.inflict(Fault::SessionExpiry, 3 * TIMEOUT);
        assert!(asking.await.expect_err("b's session ends").is_session_over());
        assert_eq!(stage.names(DIRECTORY).len(), 1, "its znode went with it");
        drop(held);
    });
}

#[test]
fn a_session_that_ends_while_holding_lets_the_next_in() {
    play(|stage| async move {
        let (a, b) = (stage.founder().await, stage.client("b").await);
        let options = LockOptions::default().with_on_suspect(OnSuspect::UntilDeadline);
        let held = a.acquires_with(options).await;
        let asking = b.asks();
        stage.settle().await;
        a.process.inflict(Fault::SessionExpiry, 3 * TIMEOUT);
        assert_eq!(held.lost().await, Stop::Lost(LostReason::DeadlinePassed), "told long before it knows");
        let stopped = stage.sim.now();
        let next = asking.await.expect("the next gets it");
        assert!(stopped < stage.sim.now() && next.token() > held.token());

        let ended = held.release().await;
        assert_eq!(ended, Ok(Released::WasLost(LostReason::DeadlinePassed)), "lost is lost");
    });
}

#[test]
fn a_session_that_ends_unheard_is_lost_with_its_reason() {
    play(|stage| async move {
        let a = stage.founder().await;
        let held = a.acquires().await;
        a.zk.close(TIMEOUT).await.expect("it is closed");
        assert_eq!(held.state(), HoldState::Lost(LostReason::SessionOver));
        assert_eq!(held.lost().await, Stop::Lost(LostReason::SessionOver));
        assert_eq!(held.resumed().await, Err(LostReason::SessionOver));
        assert_eq!(held.release().await, Ok(Released::WasLost(LostReason::SessionOver)));
    });
}

#[test]
fn a_session_that_ends_during_a_release_says_so() {
    play(|stage| async move {
        let (a, b) = (stage.founder().await, stage.client("b").await);
        let held = a.acquires().await;
        let mut releasing = Box::pin(held.release());
        a.process.inflict(Fault::SessionExpiry, 3 * TIMEOUT);
        assert!(releasing.as_mut().now_or_never().is_none());
        let ended = releasing.await;
        assert_eq!(ended, Ok(Released::WasLost(LostReason::SessionOver)));
        drop(b.acquires().await);
    });
}

/// The client asks, and its create strikes `fault`; what it asked for, once it knows that it is not connected.
async fn asks_in_vain(
    stage: &Stage,
    a: &Client,
    fault: Fault,
) -> (impl Future<Output = Result<Guard, Error>> + use<>, String) {
    let (mark, lock) = (stage.mark(), a.lock());
    let mut asking = Box::pin(async move { lock.acquire().await });
    a.process.order(fault);
    assert!(asking.as_mut().now_or_never().is_none());
    stage.pass(a, RECONNECT / 4).await;
    assert!(asking.as_mut().now_or_never().is_none());
    let prefix = asked_for(stage, a, mark).remove(0);
    (asking, prefix)
}

#[test]
fn a_second_znode_of_ones_own_goes_at_once() {
    play(|stage| async move {
        let a = stage.founder().await;
        let (asking, prefix) = asks_in_vain(&stage, &a, Fault::ReplyLost).await;
        let second = a.zk.create(&format!("{prefix}0000000007"), &[], CreateMode::Ephemeral);
        let held = asking.await.expect("it is granted");
        second.await.expect("it was made");
        assert!(held.path().ends_with("0000000000"), "the first of them stays");
        stage.settle().await;
        assert_eq!(a.znodes(&stage), [held.path()]);
    });
}

#[test]
fn a_znode_of_another_session_is_not_ones_own_whatever_its_name() {
    play(|stage| async move {
        let (other, a) = (stage.founder().await, stage.client("a").await);
        let (asking, prefix) = asks_in_vain(&stage, &a, Fault::RequestLost).await;
        let theirs = format!("{prefix}0000000000");
        other.makes_ephemeral(&theirs).await;
        let asking = a.process.spawn(asking);
        stage.pass(&a, 2 * RECONNECT).await;
        stage.settle().await;
        assert_eq!(a.watches(&stage), [theirs.as_str()], "it waits behind it");
        other.zk.delete(&theirs, None).await.expect("it is there");
        let held = asking.await.expect("its process lives").expect("it is granted");
        assert_eq!(a.znodes(&stage), [held.path()]);
    });
}

#[test]
fn cleaning_up_after_a_disconnect_settles_first() {
    play(|stage| async move {
        let a = stage.founder().await;
        let (asking, _) = asks_in_vain(&stage, &a, Fault::RequestLost).await;
        let mark = stage.mark();
        drop(asking);
        stage.pass(&a, 2 * RECONNECT).await;
        stage.settle().await;
        assert_eq!(a.sent(&stage, mark), [Kind::Multi, Kind::Children]);
    });
}

#[test]
fn a_znode_of_another_session_is_not_cleaned_up() {
    play(|stage| async move {
        let (other, a) = (stage.founder().await, stage.client("a").await);
        let (asking, prefix) = asks_in_vain(&stage, &a, Fault::ReplyLost).await;
        let theirs = format!("{prefix}0000000007");
        other.makes_ephemeral(&theirs).await;
        drop(asking);
        stage.pass(&a, 2 * RECONNECT).await;
        stage.settle().await;
        a.has_left_nothing(&stage, "after it gave up");
        assert_eq!(other.znodes(&stage), [theirs]);
    });
}
