//! What the lock costs: requests, round trips, notifications and watches, counted one by one.

use crate::common::{DIRECTORY, RECONNECT, Stage, play};
use futures_util::FutureExt;
use sim_zk::observer::{Kind, SimEvent};
use std::time::Duration;
use zk_recipes::{LockOptions, Released};

#[test]
fn a_free_lock_costs_two_requests_in_one_round_trip() {
    play(|stage| async move {
        let a = stage.founder().await;
        let (mark, before) = (stage.mark(), stage.sim.now());
        let held = a.acquires().await;
        assert_eq!(a.sent(&stage, mark), [Kind::Create, Kind::Children]);
        let seen = stage.since(mark);
        let is_sent = |happening: &SimEvent<'_>| matches!(happening, SimEvent::Sent { .. });
        let is_reply = |happening: &SimEvent<'_>| matches!(happening, SimEvent::Replied { .. });
        let last_sent = seen.iter().rposition(|(_, happening)| is_sent(happening));
        let first_reply = seen.iter().position(|(_, happening)| is_reply(happening));
        assert!(last_sent < first_reply, "both leave before the first answer comes");
        assert_eq!(stage.sim.now().since(before), Duration::from_millis(10), "5 ms there and 5 ms back");
        assert_eq!(a.watches(&stage), Vec::<String>::new(), "nothing is watched");
        drop(held);
    });
}

#[test]
fn a_release_costs_one_request() {
    play(|stage| async move {
        let a = stage.founder().await;
        let held = a.acquires().await;
        let mark = stage.mark();
        assert_eq!(held.release().await, Ok(Released::Clean));
        stage.settle().await;
        assert_eq!(a.sent(&stage, mark), [Kind::Delete]);
        assert_eq!(stage.fired(mark), 0);
    });
}

#[test]
fn a_dropped_guard_costs_one_request() {
    play(|stage| async move {
        let a = stage.founder().await;
        let held = a.acquires().await;
        let mark = stage.mark();
        drop(held);
        stage.settle().await;
        assert_eq!(a.sent(&stage, mark), [Kind::Delete]);
    });
}

#[test]
fn a_missing_directory_costs_one_flight_more() {
    play(|stage| async move {
        let a = stage.client("a").await;
        let (mark, before) = (stage.mark(), stage.sim.now());
        let held = a.acquires().await;
        let flight = [Kind::Create, Kind::Children];
        let levels = [Kind::Create, Kind::Create];
        assert_eq!(a.sent(&stage, mark), [&flight[..], &levels, &flight].concat());
        assert_eq!(stage.sim.now().since(before), Duration::from_millis(20));
        drop(held);
    });
}

#[test]
fn a_waiter_costs_one_watch_then_one_notification_and_one_list() {
    play(|stage| async move {
        let (a, b) = (stage.founder().await, stage.client("b").await);
        let held = a.acquires().await;
        let mark = stage.mark();
        let asking = b.asks();
        stage.settle().await;
        assert_eq!(b.sent(&stage, mark), [Kind::Create, Kind::Children, Kind::Children]);
        assert_eq!(b.watches(&stage), [held.path()], "only the one just ahead is watched");

        let mark = stage.mark();
        held.release().await.expect("it is released");
        let held = asking.await.expect("it is granted");
        assert_eq!((b.sent(&stage, mark), b.noticed(&stage, mark)), (vec![Kind::Children], 1));
        assert_eq!(b.watches(&stage), Vec::<String>::new());
        drop(held);
    });
}

#[test]
fn a_waiter_whose_predecessor_gives_up_watches_the_next() {
    play(|stage| async move {
        let (a, b, c) = (stage.founder().await, stage.client("b").await, stage.client("c").await);
        let held = a.acquires().await;
        let lock = b.lock();
        let mut gives_up = Box::pin(lock.acquire());
        assert!(gives_up.as_mut().now_or_never().is_none());
        stage.pass(&b, Duration::from_millis(30)).await;
        assert!(gives_up.as_mut().now_or_never().is_none());
        let asking = c.asks();
        stage.settle().await;

        let mark = stage.mark();
        drop(gives_up);
        stage.settle().await;
        assert_eq!(c.sent(&stage, mark), [Kind::Children, Kind::Children], "a list, and the next watch");
        assert_eq!(stage.fired(mark), 1);
        assert_eq!(c.watches(&stage), [held.path()]);

        let mark = stage.mark();
        held.release().await.expect("it is released");
        drop(asking.await.expect("it is granted"));
        assert_eq!(stage.fired(mark), 1);
    });
}

async fn queue(stage: &Stage, length: usize) {
    let founder = stage.founder().await;
    let mark = stage.mark();
    let mut line = Vec::new();
    for place in 0..length {
        let client = stage.client(&format!("c{place}")).await;
        line.push((client.clone(), client.asks()));
        stage.settle().await;
    }
    for (_, asking) in &mut line {
        let held = asking.await.expect("it is granted");
        assert_eq!(held.release().await, Ok(Released::Clean));
    }
    stage.settle().await;
    assert_eq!(stage.fired(mark), length - 1, "a release wakes the next, and nobody else");
    for (place, (client, _)) in line.iter().enumerate() {
        let mut expected = vec![Kind::Create, Kind::Children];
        if place > 0 {
            expected.extend([Kind::Children, Kind::Children]);
        }
        expected.push(Kind::Delete);
        assert_eq!(client.sent(stage, mark), expected, "nobody polls");
    }
    assert_eq!(founder.sent(stage, mark), []);
}

#[test]
fn a_queue_of_two_costs_one_notification() {
    play(|stage| async move { queue(&stage, 2).await });
}

#[test]
fn a_queue_of_eight_costs_seven_notifications() {
    play(|stage| async move { queue(&stage, 8).await });
}

#[test]
fn a_queue_of_thirty_two_costs_thirty_one_notifications() {
    play(|stage| async move { queue(&stage, 32).await });
}

#[test]
fn whoever_asks_to_be_told_pays_one_request_once() {
    play(|stage| async move {
        let a = stage.founder().await;
        let held = a.acquires().await;
        let mark = stage.mark();
        for _ in 0..3 {
            assert_eq!(held.lost().now_or_never(), None, "dropped while it asks");
        }
        stage.settle().await;
        for _ in 0..3 {
            assert_eq!(held.lost().now_or_never(), None, "dropped while it waits");
            stage.settle().await;
        }
        assert_eq!(a.sent(&stage, mark), [Kind::Children]);
        assert_eq!(a.watches(&stage), [held.path()]);

        held.release().await.expect("it is released");
        stage.settle().await;
        assert_eq!(a.sent(&stage, mark), [Kind::Children, Kind::Delete]);
        assert_eq!(a.noticed(&stage, mark), 1, "the watch on the own znode goes with it");
        a.has_left_nothing(&stage, "after the release");
    });
}

#[test]
fn two_who_ask_to_be_told_pay_together() {
    play(|stage| async move {
        let a = stage.founder().await;
        let held = a.acquires().await;
        let mark = stage.mark();
        let both = async { futures_util::future::join(held.lost(), held.lost()).await };
        let waited = futures_util::future::select(Box::pin(both), Box::pin(stage.pass(&a, RECONNECT))).await;
        assert!(matches!(waited, futures_util::future::Either::Right(_)), "there is nothing to tell");
        drop(waited);
        assert_eq!(a.sent(&stage, mark), [Kind::Children]);
        drop(held);
    });
}

#[test]
fn waiting_for_long_costs_nothing() {
    play(|stage| async move {
        let (a, b) = (stage.founder().await, stage.client("b").await);
        let held = a.acquires().await;
        let asking = b.asks();
        assert_eq!(held.lost().now_or_never(), None);
        stage.settle().await;
        let mark = stage.mark();
        let told = futures_util::future::select(
            Box::pin(held.lost()),
            Box::pin(stage.pass(&a, Duration::from_secs(300))),
        )
        .await;
        assert!(matches!(told, futures_util::future::Either::Right(_)), "it is held all the time");
        drop(told);
        assert_eq!((a.sent(&stage, mark), b.sent(&stage, mark)), (vec![], vec![]));
        drop(held);
        drop(asking.await);
    });
}

#[test]
fn a_time_limit_costs_no_request_of_its_own() {
    play(|stage| async move {
        let (a, b) = (stage.founder().await, stage.client("b").await);
        let held = a.acquires_with(LockOptions::default().with_data(b"a")).await;
        let mark = stage.mark();
        let refused = b.lock().acquire().within(Duration::from_secs(1)).await;
        assert!(refused.expect_err("a holds it").is_timed_out());
        stage.settle().await;
        let asked = [Kind::Create, Kind::Children, Kind::Children];
        assert_eq!(b.sent(&stage, mark), [&asked[..], &[Kind::Delete]].concat());
        assert_eq!(stage.names(DIRECTORY).len(), 1, "only the holder is left");
        drop(held);
    });
}
