//! The priority queue: the more urgent goes first, whoever puts meanwhile.

use crate::common::every_await::at_every_await;
use crate::common::{Client, RECONNECT, dropping, play, play_struck};
use sim_zk::SimClient;
use sim_zk::fault::Fault;
use sim_zk::observer::Kind;
use zk_recipes::zk::Op;
use zk_recipes::{
    Delivery, ErrorKind, Idle, Item, Order, Parents, Priority, PriorityQueue, PriorityQueueOptions,
};

fn queue(client: &Client, order: Order, delivery: Delivery) -> PriorityQueue<SimClient> {
    let options = PriorityQueueOptions::new(order, delivery).with_idle(Idle::HerdFree);
    PriorityQueue::new(&client.zk, "/jobs", options).expect("the path is good")
}

fn texts(items: &[Item]) -> Vec<String> {
    items.iter().map(|item| String::from_utf8(item.data.clone()).expect("items are texts")).collect()
}

const ORDERS: [Order; 2] = [Order::Fresh, Order::Strict];

#[test]
fn the_smaller_number_goes_first_and_equals_in_turn() {
    for order in ORDERS {
        play(move |stage| async move {
            let (a, b) = (stage.client("a").await, stage.client("b").await);
            let mut puts = queue(&a, order, Delivery::AtMostOnce).producer();
            for (priority, item) in [(10, "e"), (9, "c"), (65535, "f"), (9, "d"), (0, "a"), (1, "b")] {
                puts.put(Priority(priority), item.as_bytes()).await.expect("it is put");
            }
            let mut takes = queue(&b, order, Delivery::AtMostOnce).consumer();
            let two = takes.take_up_to(2).await.expect("they are there");
            assert_eq!(texts(&two), ["a", "b"]);
            for item in ["c", "d", "e", "f"] {
                assert_eq!(texts(&[takes.take().await.expect("there is one")]), [item]);
            }
            assert_eq!(takes.try_take().await, Ok(None));
        });
    }
}

#[test]
fn what_is_put_between_two_calls_is_seen() {
    play(|stage| async move {
        let (a, b) = (stage.client("a").await, stage.client("b").await);
        let mut puts = queue(&a, Order::Fresh, Delivery::AtLeastOnce).producer();
        let mut claims = queue(&b, Order::Fresh, Delivery::AtLeastOnce).consumer();
        let items = [b"later".to_vec(), b"last".to_vec()];
        puts.put_all(Priority(5), &items).await.expect("they are put");
        assert_eq!(claims.claim().await.expect("there is one").item().data, b"later");
        puts.put(Priority(1), b"soon").await.expect("it is put");
        assert_eq!(claims.claim().await.expect("there is one").item().data, b"soon");
    });
}

#[test]
fn a_strict_taker_notices_every_put() {
    for nth in 0..3 {
        play(move |stage| async move {
            let (a, b) = (stage.client("a").await, stage.client("b").await);
            let mut puts = queue(&a, Order::Strict, Delivery::AtMostOnce).producer();
            puts.put(Priority(5), b"five").await.expect("it is put");
            let mut takes = queue(&b, Order::Strict, Delivery::AtMostOnce).consumer();
            // Both have been at work before.
            takes.take().await.expect("there is one");
            puts.put(Priority(5), b"six").await.expect("it is put");
            let mark = stage.mark();
            let taking = b.process.spawn(async move { takes.take().await });
            stage.pass(&a, std::time::Duration::from_millis(10 * nth + 4)).await;
            puts.put(Priority(1), b"one").await.expect("it is put");
            let got = taking.await.expect("its process lives").expect("there is one");
            let lists = b.sent(&stage, mark).iter().filter(|kind| **kind == Kind::Children).count();
            match texts(&[got])[0].as_str() {
                "one" => assert!(lists <= 2),
                "six" => assert_eq!((lists, nth), (1, 2), "it was taken before"),
                other => panic!("{other}"),
            }
        });
    }
}

#[test]
fn a_fresh_handle_is_refused_by_a_strict_queue() {
    play(|stage| async move {
        let a = stage.client("a").await;
        let mut puts = queue(&a, Order::Strict, Delivery::AtMostOnce).producer();
        puts.put(Priority(1), b"one").await.expect("it is put");
        let other = queue(&a, Order::Fresh, Delivery::AtMostOnce);
        assert!(other.producer().put(Priority(1), b"two").await.expect_err("otherwise").is_mismatch());
        assert!(other.consumer().take().await.expect_err("otherwise").is_mismatch());
        let bad = PriorityQueueOptions::new(Order::Fresh, Delivery::AtMostOnce)
            .with_idle(Idle::Textbook)
            .with_parents(Parents::MustExist);
        assert!(PriorityQueue::new(&a.zk, "jobs", bad).expect_err("a bad path").is_bad_input());
        let empty = other.producer().put_all(Priority(1), &[]).await;
        assert!(empty.expect_err("nothing").is_bad_input());
    });
}

#[test]
fn lost_answers_lose_and_double_nothing() {
    for order in ORDERS {
        for fault in [Fault::RequestLost, Fault::ReplyLost, Fault::Disconnect] {
            for nth in 0..12 {
                play_struck(fault, nth, move |stage, danger| async move {
                    let (a, b) = (stage.client("a").await, stage.client("b").await);
                    let mut puts = queue(&a, order, Delivery::AtMostOnce).producer();
                    let mut takes = queue(&b, order, Delivery::AtMostOnce).consumer();
                    danger.begins();
                    puts.put(Priority(10), b"two").await.expect("it is put");
                    puts.put(Priority(9), b"one").await.expect("it is put");
                    for item in ["one", "two"] {
                        assert_eq!(texts(&[takes.take().await.expect("there is one")]), [item]);
                    }
                });
            }
        }
    }
}

#[test]
fn a_dropped_take_keeps_its_item_or_leaves_it() {
    at_every_await(|stage, danger, drops| async move {
        let (a, b) = (stage.client("a").await, stage.client("b").await);
        let mut puts = queue(&a, Order::Strict, Delivery::AtMostOnce).producer();
        puts.put(Priority(10), b"two").await.expect("it is put");
        puts.put(Priority(9), b"one").await.expect("it is put");
        let mut takes = queue(&b, Order::Strict, Delivery::AtMostOnce).consumer();
        danger.begins();
        let got = dropping(drops, &stage, &b, takes.take()).await;
        let ended = got.is_some();
        let mut all: Vec<Item> = got.map(|item| item.expect("there is one")).into_iter().collect();
        while all.len() < 2 {
            all.push(takes.take().await.expect("there is one"));
        }
        assert_eq!(texts(&all), ["one", "two"], "dropped {drops:?}");
        drop(takes);
        stage.pass(&b, 3 * RECONNECT).await;
        stage.settle().await;
        b.has_left_nothing(&stage, &format!("dropped {drops:?}"));
        ended
    });
}

#[test]
fn claims_are_confirmed_together_with_other_writes() {
    play(|stage| async move {
        let a = stage.client("a").await;
        let jobs = queue(&a, Order::Strict, Delivery::AtLeastOnce);
        jobs.producer().put(Priority(1), b"one").await.expect("it is put");
        let claim = jobs.consumer().claim().await.expect("there is one");
        let refused = claim.done_with(vec![Op::Delete { path: "/none".to_owned(), version: None }]).await;
        assert_eq!(
            refused,
            Err(ErrorKind::Multi { index: 0, cause: Box::new(ErrorKind::NoNode.into()) }.into())
        );
        stage.settle().await;
        let again = jobs.consumer().claim().await.expect("it was given back");
        assert_eq!(again.attempts(), 2);
        again.done().await.expect("it is ours");
    });
}

#[test]
fn a_claimed_item_does_not_keep_a_less_urgent_one_back() {
    for order in ORDERS {
        play(move |stage| async move {
            let (a, b, c) = (stage.client("a").await, stage.client("b").await, stage.client("c").await);
            let of = |on: &Client| queue(on, order, Delivery::AtLeastOnce);
            let mut puts = of(&a).producer();
            for (priority, item) in [(1, "urgent"), (5, "later"), (9, "last")] {
                puts.put(Priority(priority), item.as_bytes()).await.expect("it is put");
            }
            let (mut one, mut two) = (of(&b).consumer(), of(&c).consumer());
            let urgent = one.claim().await.expect("there is one");
            let later = two.claim().await.expect("there is one that is free");
            let texts = texts(&[urgent.item().clone(), later.item().clone()]);
            assert_eq!(texts, ["urgent", "later"], "{order:?}");

            // Given back, it counts again, and goes before the rest.
            urgent.give_back().await.expect("it is ours");
            let again = two.claim().await.expect("there is one");
            assert_eq!((&again.item().data[..], again.attempts()), (&b"urgent"[..], 2), "{order:?}");
            let last = one.claim().await.expect("there is one that is free");
            assert_eq!(last.item().data, b"last", "{order:?}");
            assert!(one.try_claim().await.expect("it can be tried").is_none(), "{order:?}: all are claimed");

            // Confirmed in any order.
            for claim in [last, again, later] {
                claim.done().await.expect("it is ours");
            }
            assert!(two.try_claim().await.expect("it can be tried").is_none(), "{order:?}: all are done");
        });
    }
}

#[test]
fn a_path_that_is_bad_is_refused_before_anything_is_sent() {
    play(|stage| async move {
        let a = stage.client("a").await;
        let mark = stage.mark();
        for path in ["", "/", "q", "/q/", "/q//a", "/q/.", "/zookeeper", "/zookeeper/q", "/q\0", "/\u{10000}"]
        {
            let options =
                PriorityQueueOptions::new(Order::Strict, Delivery::AtMostOnce).with_idle(Idle::HerdFree);
            let refused = PriorityQueue::new(&a.zk, path, options);
            assert!(refused.expect_err("the path is bad").is_bad_input(), "{path:?}");
        }
        assert_eq!(a.sent(&stage, mark), []);
    });
}
