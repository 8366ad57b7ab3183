//! Counters: each addition once, whatever is lost, and its own count.

use crate::common::bent::Bent;
use crate::common::every_await::at_every_request;
use crate::common::{Client, RECONNECT, dropping, play, play_struck};
use futures_util::future::join_all;
use sim_zk::SimClient;
use sim_zk::fault::Fault;
use sim_zk::observer::Kind;
use zk_recipes::zk::{CreateMode, ZooKeeper};
use zk_recipes::{Counter, CounterOptions, Freshness, Parents, Update};

const PATH: &str = "/counters/orders";
const VALUE: &str = "/counters/orders/value";

fn counter(client: &Client) -> Counter<SimClient> {
    Counter::new(&client.zk, PATH, CounterOptions::default()).expect("a good path")
}

async fn latest(client: &Client) -> i64 {
    counter(client).get(Freshness::Latest).await.expect("it answers")
}

#[test]
fn it_counts_up_and_down_and_by_any_number() {
    play(|stage| async move {
        let (a, b) = (stage.client("a").await, stage.client("b").await);
        let (of_a, of_b) = (counter(&a), counter(&b));
        assert_eq!(latest(&a).await, 0);
        let mut expected = 0;
        for number in [1, 64, 65, -1, -70, 1_000_000_007, -2, 3] {
            expected += number;
            assert_eq!(of_a.add(number).await, Ok(Some(expected)), "{number}");
            assert_eq!(latest(&b).await, expected);
            expected += 2;
            assert_eq!(of_b.add(2).await, Ok(Some(expected)));
        }
        of_b.set(-5).await.expect("it is set");
        assert_eq!(of_a.add(4).await, Ok(Some(-1)));
        assert_eq!(of_a.compare_and_set(-1, 9).await, Ok(()));
        assert!(of_b.compare_and_set(-1, 10).await.is_err_and(|error| error.is_conflict()));
        assert_eq!(latest(&a).await, 9);
    });
}

#[test]
fn whoever_adds_a_few_refuses_nobody() {
    play(|stage| async move {
        let mut clients = Vec::new();
        for number in 0..8 {
            clients.push(stage.client(&format!("c{number}")).await);
        }
        let counters: Vec<_> = clients.iter().map(counter).collect();
        join_all(counters.iter().map(|counter| counter.add(1))).await;
        stage.settle().await;
        let mark = stage.mark();
        let mut told: Vec<_> = join_all(counters.iter().map(|counter| counter.add(3))).await;
        for client in &clients {
            assert_eq!(client.sent(&stage, mark), [Kind::Multi]);
        }
        told.sort_by_key(|told| told.as_ref().map_or(None, |count| *count));
        let counts: Vec<_> = (1..=8).map(|number| Ok(Some(8 + 3 * number))).collect();
        assert_eq!(told, counts);
    });
}

#[test]
fn of_those_that_set_it_each_is_applied_and_one_on_a_condition() {
    play(|stage| async move {
        let mut clients = Vec::new();
        for number in 0..8 {
            clients.push(stage.client(&format!("c{number}")).await);
        }
        let counters: Vec<_> = clients.iter().map(counter).collect();
        join_all(counters.iter().map(|counter| counter.add(100))).await;
        assert_eq!(latest(&clients[0]).await, 800);
        let replaced = join_all(counters.iter().map(|counter| counter.compare_and_set(800, 1))).await;
        assert_eq!(replaced.iter().filter(|replaced| replaced.is_ok()).count(), 1);
        assert!(
            replaced.iter().flat_map(|replaced| replaced.as_ref().err()).all(|error| error.is_conflict())
        );
        assert_eq!(latest(&clients[0]).await, 1);
    });
}

/// Each request of an addition, lost on its way or on the way back.
#[test]
fn an_addition_is_applied_once_whatever_is_lost() {
    for number in [1, 1_000] {
        for fault in [Fault::ReplyLost, Fault::RequestLost] {
            for struck in 1.. {
                let ((), was_struck) = play_struck(fault, struck, move |stage, danger| async move {
                    let (a, b) = (stage.client("a").await, stage.client("b").await);
                    let counter = counter(&a);
                    danger.begins();
                    let first = counter.add(number).await;
                    let second = counter.add(number).await;
                    danger.ends();
                    let is_told = |told, count| told == Ok(Some(count)) || told == Ok(None);
                    assert!(is_told(first, number) && is_told(second, 2 * number), "{fault:?} {struck}");
                    assert_eq!(latest(&b).await, 2 * number, "{fault:?} {struck}");
                    drop(counter);
                    stage.pass(&a, 3 * RECONNECT).await;
                    a.has_left_nothing(&stage, "when it is dropped");
                });
                if !was_struck {
                    break;
                }
            }
        }
    }
}

#[test]
fn a_conflict_is_a_fact_although_the_server_is_behind() {
    play(|stage| async move {
        let (a, b) = (stage.client("a").await, stage.client("b").await);
        let (of_a, of_b) = (counter(&a), counter(&b));
        of_a.set(1).await.expect("it is set");
        assert_eq!(of_b.add(1).await, Ok(Some(2)));
        // What a knows is old, and 2 is right.
        assert_eq!(of_a.compare_and_set(2, 3).await, Ok(()));
        assert_eq!(latest(&b).await, 3);
    });
}

#[test]
fn a_counter_that_was_deleted_begins_at_zero_and_nothing_is_written_from_before() {
    play(|stage| async move {
        let (a, b) = (stage.client("a").await, stage.client("b").await);
        let (of_a, of_b) = (counter(&a), counter(&b));
        of_a.set(100).await.expect("it is set");
        assert_eq!(of_b.add(1).await, Ok(Some(101)));
        let receipts = format!("{PATH}/receipts");
        for receipt in stage.names(&receipts) {
            b.zk.delete(&format!("{receipts}/{receipt}"), None).await.expect("it is there");
        }
        for path in [&receipts, VALUE, PATH] {
            b.zk.delete(path, None).await.expect("it is there");
        }
        assert_eq!(of_b.add(1).await, Ok(Some(1)), "it has begun anew");
        assert_eq!(of_a.add(1).await, Ok(Some(2)), "whatever was known");
        b.zk.delete(VALUE, None).await.expect("it is there");
        assert_eq!(of_a.add(1).await, Ok(Some(1)));
        assert_eq!(of_b.add(1).await, Ok(Some(2)));
    });
}

#[test]
fn a_version_that_is_nearly_used_up_begins_anew() {
    for writes in [1 << 30, i32::MAX, i32::MIN, -2] {
        play(move |stage| async move {
            let (a, b) = (stage.client("a").await, stage.client("b").await);
            counter(&a).set(7).await.expect("it is set");
            let aged = Bent::aged(&a.zk, VALUE, writes);
            let count = 7 + i64::from(writes.cast_unsigned());
            let of_aged = Counter::new(&aged, PATH, CounterOptions::default()).expect("a good path");
            assert_eq!(of_aged.get(Freshness::Local).await, Ok(count));
            assert_eq!(of_aged.add(1).await, Ok(Some(count + 1)));
            let found = b.zk.get(VALUE).await.expect("it is there");
            assert_eq!((found.stat.version, latest(&b).await), (0, count + 1));
        });
    }
}

/// A server takes the version −1 for any.
#[test]
fn no_change_is_made_under_the_version_that_means_any() {
    for writes in [i32::MAX, -3, -2, -1] {
        play(move |stage| async move {
            let (a, b) = (stage.client("a").await, stage.client("b").await);
            counter(&a).set(7).await.expect("it is set");
            let aged = Bent::aged(&a.zk, PATH, writes);
            let of_aged = Counter::new(&aged, PATH, CounterOptions::default()).expect("a good path");
            let of_b = counter(&b);
            for count in 7..12 {
                assert_eq!(of_aged.compare_and_set(count, count + 1).await, Ok(()), "{writes}");
                // What the aged one knows is old.
                of_b.add(1_000).await.expect("it is added");
                assert!(of_aged.compare_and_set(count + 1, 0).await.is_err_and(|error| error.is_conflict()));
                of_b.add(-1_000).await.expect("it is added");
            }
        });
    }
}

#[test]
fn a_follower_is_told_the_count() {
    play(|stage| async move {
        let (a, b) = (stage.client("a").await, stage.client("b").await);
        let mut updates = counter(&b).follow();
        let count = |update| match update {
            Ok(Update::Value(value)) => String::from_utf8(value.data).expect("it is text"),
            other => format!("{other:?}"),
        };
        assert_eq!(updates.next().await, Ok(Update::Missing));
        let of_a = counter(&a);
        of_a.add(3).await.expect("it is added");
        assert_eq!(count(updates.next().await), "3");
        of_a.add(1).await.expect("it is added");
        assert_eq!(count(updates.next().await), "4");
        of_a.add(-104).await.expect("it is added");
        assert_eq!(count(updates.next().await), "-100");
    });
}

#[test]
fn bad_input_is_refused_and_sends_nothing() {
    play(|stage| async move {
        let a = stage.client("a").await;
        assert!(
            Counter::new(&a.zk, "orders", CounterOptions::default()).is_err_and(|error| error.is_bad_input())
        );
        let counter = counter(&a);
        let mark = stage.mark();
        assert!(counter.add(0).await.is_err_and(|error| error.is_bad_input()));
        assert_eq!(a.sent(&stage, mark), []);
        counter.set(1 << 62).await.expect("it is the limit");
        for number in [65, i64::MAX] {
            assert!(counter.add(number).await.is_err_and(|error| error.is_bad_input()));
        }
        assert!(counter.set(i64::MIN).await.is_err_and(|error| error.is_bad_input()));
        assert_eq!(counter.add(1).await, Ok(Some((1 << 62) + 1)), "there is room for a few");
    });
}

#[test]
fn without_the_right_to_make_parents_its_directory_must_exist() {
    play(|stage| async move {
        let a = stage.client("a").await;
        let options = CounterOptions::default().with_parents(Parents::MustExist);
        let counter = Counter::new(&a.zk, PATH, options).expect("a good path");
        assert!(counter.add(1).await.is_err_and(|error| error.is_no_node()));
        for path in ["/counters", PATH] {
            a.zk.create(path, b"", CreateMode::Persistent).await.expect("it is free");
        }
        assert_eq!(counter.add(1).await, Ok(Some(1)));
    });
}

#[test]
fn a_dropped_addition_is_applied_once_or_not_and_the_next_one_knows() {
    at_every_request(|stage, danger, drops| async move {
        let (a, b) = (stage.client("a").await, stage.client("b").await);
        let of_a = counter(&a);
        danger.begins();
        let ended = dropping(drops, &stage, &a, of_a.add(1)).await;
        let next = of_a.add(1).await;
        danger.ends();
        let count = latest(&b).await;
        assert!([Ok(Some(count)), Ok(None)].contains(&next), "{next:?} {count}");
        assert!(count == 2 || count == 1 && ended.is_none(), "{ended:?} {count}");
        drop(of_a);
        stage.pass(&a, 3 * RECONNECT).await;
        a.has_left_nothing(&stage, &format!("dropped {drops:?}"));
        ended.is_some()
    });
}
