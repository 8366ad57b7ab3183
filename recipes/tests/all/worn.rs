//! A directory whose counter has run out: numbers stick at 2147483647 or are negative, and the czxid tells the order.

use crate::common::bent::Bent;
use crate::common::{Client, DIRECTORY, Stage, play, play_struck};
use futures_util::FutureExt;
use sim_zk::fault::Fault;
use sim_zk::observer::{Kind, SimEvent};
use std::future::Future;
use std::time::Duration;
use zk_recipes::guard::Exclusive;
use zk_recipes::zk::{ErrorKind, ZooKeeper, path};
use zk_recipes::{
    Delivery, Guard, Idle, Lock, LockOptions, Order, Priority, PriorityQueue, PriorityQueueOptions, Queue,
    QueueOptions,
};

const STUCK: i32 = i32::MAX;

fn lock(client: &Client, number: i32) -> Lock<Bent> {
    Lock::new(&Bent::counting(&client.zk, &[number]), DIRECTORY, LockOptions::default())
        .expect("the path is good")
}

type Asking = std::pin::Pin<Box<dyn Future<Output = Guard<Bent, Exclusive>> + Send>>;

fn asks(client: &Client, number: i32) -> Asking {
    let lock = lock(client, number);
    let asking = client.process.spawn(async move { lock.acquire().await });
    Box::pin(async move { asking.await.expect("its process lives").expect("it is granted") })
}

/// Clients that get these numbers, one after the other, are granted the lock in the same order, one at a time.
fn served_in_order(numbers: &'static [i32]) {
    play(|stage| async move {
        stage.founder().await;
        let mut line = Vec::new();
        for number in numbers {
            let client = stage.client("c").await;
            line.push(asks(&client, *number));
            stage.settle().await;
        }
        let listed = stage.client("looks").await.lock().contenders().await.expect("they can be listed");
        let order: Vec<i32> = listed.iter().map(|contender| contender.number).collect();
        assert_eq!(order, numbers, "as contenders tells it");
        let mut last = 0;
        while !line.is_empty() {
            let mark = stage.mark();
            let held = line.remove(0).await;
            assert!(held.token() > last, "in the order of creation");
            last = held.token();
            stage.settle().await;
            for waiting in &mut line {
                assert!(waiting.now_or_never().is_none(), "one at a time");
            }
            held.release().await.expect("it is released");
            stage.settle().await;
            assert!(stage.fired(mark) <= 1, "one release wakes one waiter");
        }
    });
}

#[test]
fn good_numbers_tell_the_order() {
    served_in_order(&[3, 4, 2_147_483_645, 2_147_483_646]);
}

#[test]
fn a_number_that_sticks_does_not_tell_the_order() {
    served_in_order(&[STUCK, STUCK, STUCK, STUCK, STUCK]);
}

#[test]
fn the_last_good_numbers_come_before_the_worn() {
    served_in_order(&[2_147_483_645, 2_147_483_646, STUCK, STUCK]);
}

#[test]
fn a_good_number_comes_before_a_negative_one() {
    served_in_order(&[2_147_483_645, i32::MIN]);
    served_in_order(&[5, -1]);
}

#[test]
fn negative_numbers_are_worn() {
    served_in_order(&[2_147_483_646, STUCK, i32::MIN, i32::MIN + 1, -1, STUCK, i32::MIN + 2]);
}

#[test]
fn equal_numbers_do_not_tell_the_order() {
    served_in_order(&[7, 7, 7]);
}

#[test]
fn worn_names_are_looked_at_in_one_flight() {
    play(|stage| async move {
        let founder = stage.founder().await;
        for name in ["x-lock-2147483647", "y-lock-2147483647", "z-lock--000000005"] {
            founder.makes_ephemeral(&path::join(DIRECTORY, name)).await;
        }
        let a = stage.client("a").await;
        let mark = stage.mark();
        let asking = asks(&a, STUCK);
        stage.settle().await;
        let flights = [
            &[Kind::Create, Kind::Children][..],
            &[Kind::Exists, Kind::Exists, Kind::Exists],
            &[Kind::Children],
        ];
        assert_eq!(a.sent(&stage, mark), flights.concat());
        let seen = stage.since(mark);
        let sent =
            |(_, what): &(u64, SimEvent<'_>)| matches!(what, SimEvent::Sent { kind: Kind::Exists, .. });
        let times: Vec<u64> = seen.iter().filter(|moment| sent(moment)).map(|(at, _)| *at).collect();
        assert!(times.iter().all(|at| *at == times[0]), "at {times:?}");
        assert_eq!(a.watches(&stage), [path::join(DIRECTORY, "z-lock--000000005")], "the youngest of them");
        founder.zk.close(Duration::from_secs(1)).await.expect("it is closed");
        drop(asking.await);
    });
}

#[test]
fn good_names_cost_nothing_more_beside_worn_ones() {
    play(|stage| async move {
        let founder = stage.founder().await;
        founder.makes_ephemeral(&path::join(DIRECTORY, "x-lock-2147483647")).await;
        founder.makes_ephemeral(&path::join(DIRECTORY, "y-lock--000000005")).await;
        let mark = stage.mark();
        let held = founder.acquires().await;
        assert_eq!(founder.sent(&stage, mark), [Kind::Create, Kind::Children], "all worn ones come later");
        drop(held);
    });
}

async fn asks_while_another_goes(stage: Stage, after: Duration) {
    let (founder, a) = (stage.founder().await, stage.client("a").await);
    let held = lock(&founder, STUCK).acquire().await.expect("it is granted");
    let goes = async {
        stage.pass(&founder, after).await;
        held.release().await.expect("it is released");
    };
    let lock = lock(&a, STUCK);
    let (granted, ()) = futures_util::future::join(lock.acquire(), goes).await;
    let granted = granted.expect("it is granted");
    stage.settle().await;
    assert_eq!(a.watches(&stage), Vec::<String>::new());
    drop(granted);
}

#[test]
fn a_worn_name_may_go_before_it_is_looked_at() {
    for half_ms in 0..100 {
        play(move |stage| asks_while_another_goes(stage, Duration::from_micros(half_ms * 500)));
    }
}

#[test]
fn a_connection_lost_while_worn_names_are_looked_at_is_no_error() {
    for fault in [Fault::RequestLost, Fault::ReplyLost, Fault::Disconnect] {
        for nth in 0.. {
            let ((), struck) = play_struck(fault, nth, |stage, danger| async move {
                danger.begins();
                let (founder, a) = (stage.client("founder").await, stage.client("a").await);
                let held = lock(&founder, STUCK).acquire().await.expect("it is granted");
                let asking = asks(&a, STUCK);
                stage.pass(&founder, Duration::from_secs(2)).await;
                held.release().await.expect("it is released");
                drop(asking.await);
            });
            if !struck {
                break;
            }
        }
    }
}

#[test]
fn a_try_is_refused_behind_a_worn_name() {
    play(|stage| async move {
        let (founder, a) = (stage.founder().await, stage.client("a").await);
        let held = lock(&founder, STUCK).acquire().await.expect("it is granted");
        assert!(lock(&a, STUCK).try_acquire().await.expect("it can be tried").is_none());
        held.release().await.expect("it is released");
        assert!(lock(&a, STUCK).try_acquire().await.expect("it can be tried").is_some());
    });
}

#[test]
fn a_queue_whose_numbers_have_run_out_takes_no_item() {
    play(|stage| async move {
        let a = stage.client("a").await;
        let options = QueueOptions::new(Delivery::AtMostOnce).with_idle(Idle::HerdFree);
        let worn = Bent::counting(&a.zk, &[STUCK - 1, STUCK]);
        let queue = Queue::new(&worn, "/q", options).expect("the path is good");
        let mut puts = queue.producer();
        let pair = |one: &str, two: &str| [one.as_bytes().to_vec(), two.as_bytes().to_vec()];
        puts.put_all(&pair("1", "2")).await.expect("these are the last numbers");
        assert_eq!(puts.put(b"3").await, Err(ErrorKind::Exhausted("/q".to_owned()).into()));
        assert_eq!(puts.put_all(&pair("4", "5")).await, Err(ErrorKind::Exhausted("/q".to_owned()).into()));
        let mut takes = queue.consumer();
        for item in [b"1", b"2"] {
            assert_eq!(takes.take().await.expect("it was put").data, item);
        }
        assert_eq!(takes.try_take().await, Ok(None), "nothing else was put");
        // The number is free again.
        puts.put(b"6").await.expect("no item has the number");
        assert_eq!(takes.take().await.expect("it was put").data, b"6");
    });
}

#[test]
fn a_priority_queue_whose_numbers_have_run_out_takes_no_item() {
    for order in [Order::Fresh, Order::Strict] {
        play(move |stage| async move {
            let a = stage.client("a").await;
            let options = PriorityQueueOptions::new(order, Delivery::AtMostOnce).with_idle(Idle::HerdFree);
            let queue =
                PriorityQueue::new(&Bent::counting(&a.zk, &[STUCK]), "/q", options).expect("a good path");
            let mut puts = queue.producer();
            puts.put(Priority(5), b"1").await.expect("it is the last number");
            assert_eq!(
                puts.put(Priority(5), b"2").await,
                Err(ErrorKind::Exhausted("/q".to_owned()).into()),
                "{order:?}"
            );
            let mut takes = queue.consumer();
            assert_eq!(takes.take().await.expect("it was put").data, b"1");
            assert_eq!(takes.try_take().await, Ok(None), "{order:?}: nothing else was put");
        });
    }
}
