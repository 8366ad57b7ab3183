//! Consumers that depart from the order a little.

use super::*;
use std::sync::{Arc, Mutex};

fn relaxed(client: &Client, delivery: Delivery, window: usize) -> Consumer<SimClient> {
    queue(client, delivery)
        .consumer_with(ConsumerOptions::default().with_window(window))
        .expect("it takes something")
}

#[test]
fn alone_it_takes_all_in_order() {
    play(|stage| async move {
        let (a, b) = (stage.client("a").await, stage.client("b").await);
        let all: Vec<Vec<u8>> = (0..40).map(|number| format!("{number:02}").into_bytes()).collect();
        producer(&a, Delivery::AtMostOnce).put_all(&all).await.expect("they are put");
        let mut takes = relaxed(&b, Delivery::AtMostOnce, 16);
        for item in all {
            assert_eq!(takes.take().await.expect("there is one").data, item);
        }
        assert!(takes.try_take().await.expect("the network is calm").is_none());
    });
}

/// The deliveries of 200 items to four consumers in the order of their takes, and the number of transactions.
fn drained(window: Option<usize>) -> (Vec<usize>, usize) {
    play(move |stage| async move {
        let a = stage.client("a").await;
        let all: Vec<Vec<u8>> = (0..200).map(|number| format!("{number}").into_bytes()).collect();
        producer(&a, Delivery::AtMostOnce).put_all(&all).await.expect("they are put");
        let mark = stage.mark();
        let got = Arc::new(Mutex::new(Vec::new()));
        let mut consumers = Vec::new();
        for name in ["b", "c", "d", "e"] {
            let client = stage.client(name).await;
            let mut takes = match window {
                Some(window) => relaxed(&client, Delivery::AtMostOnce, window),
                None => taker(&client, 1),
            };
            let got = got.clone();
            let taking = client.process.spawn(async move {
                while let Some(item) = takes.try_take().await.expect("the network is calm") {
                    let number = String::from_utf8(item.data).expect("a text").parse().expect("a number");
                    got.lock().expect("nobody panics").push(number);
                }
            });
            consumers.push((client, taking));
        }
        let mut transactions = 0;
        for (client, taking) in consumers {
            taking.await.expect("its process lives");
            let sent = client.sent(&stage, mark);
            transactions += sent.iter().filter(|sent| **sent == Kind::Multi).count();
        }
        let got = got.lock().expect("nobody panics").clone();
        (got, transactions)
    })
}

#[test]
fn several_get_every_item_once_and_pass_over_fewer_than_the_window_has() {
    for window in [1, 4, 64] {
        let (got, _) = drained(Some(window));
        assert_eq!(got.iter().copied().collect::<BTreeSet<usize>>(), (0..200).collect());
        assert_eq!(got.len(), 200, "each is delivered once");
        for (at, item) in got.iter().enumerate() {
            let passed = got[at..].iter().filter(|later| *later < item).count();
            // Replies of one round trip may come in any order: three others may have taken theirs before.
            assert!(passed < window + 3, "{item} passes over {passed} with a window of {window}");
        }
    }
}

#[test]
fn several_seldom_contend_for_the_same_item() {
    let (strict, relaxed) = (drained(None).1, drained(Some(64)).1);
    assert!(strict > 400, "{strict} transactions for 200 items where all want the first");
    assert!(relaxed < 260, "{relaxed} transactions for 200 items");
}

/// The lists and the reads of a relaxed consumer alone that takes `count` of so many items of that size, while a stranger takes
/// `gone` behind the first one from the front.
fn looks(items: usize, bytes: usize, count: usize, gone: usize) -> [usize; 2] {
    play(move |stage| async move {
        let (a, b) = (stage.client("a").await, stage.client("b").await);
        let mut puts = producer(&a, Delivery::AtMostOnce);
        for _ in 0..items / 100 {
            puts.put_all(&vec![vec![7; bytes]; 100]).await.expect("they are put");
        }
        let mut takes = relaxed(&b, Delivery::AtMostOnce, 16);
        takes.take().await.expect("there is one");
        let mut names = names_left(&a).await;
        names.sort();
        for name in &names[..gone] {
            a.zk.delete(&format!("{QUEUE}/{name}"), None).await.expect("it is there");
        }
        let mark = stage.mark();
        for _ in 0..count {
            takes.take().await.expect("there is one");
        }
        let sent = b.sent(&stage, mark);
        [Kind::Children, Kind::MultiRead].map(|kind| sent.iter().filter(|sent| **sent == kind).count())
    })
}

#[test]
fn the_next_window_is_read_or_listed_whichever_is_shorter() {
    assert!(looks(100, 1_000, 40, 0)[0] > 0, "a short queue of large items is listed");
    assert_eq!(looks(1_000, 1, 40, 0)[0], 0, "a long queue of small items is read");
}

#[test]
fn a_long_queue_whose_front_is_gone_is_looked_through_in_large_steps() {
    let [lists, reads] = looks(1_000, 1, 1, 600);
    assert_eq!(lists, 0, "the list is longer than what it is looked for");
    assert!(reads < 10, "{reads} reads to pass over 600 items");
}

#[test]
fn claims_come_back_and_a_window_of_nothing_is_refused() {
    play(|stage| async move {
        let (a, b) = (stage.client("a").await, stage.client("b").await);
        producer(&a, Delivery::AtLeastOnce).put_all(&bytes(&["1", "2"])).await.expect("they are put");
        let mut claims = relaxed(&b, Delivery::AtLeastOnce, 8);
        let first = claims.claim().await.expect("there is one");
        assert_eq!(first.item().data, b"1");
        first.give_back().await.expect("it is ours");
        assert_eq!(claims.claim().await.expect("there is one").item().data, b"2", "as the list has it");
        let again = claims.claim().await.expect("it is back");
        assert_eq!((again.item().data.as_slice(), again.attempts()), (&b"1"[..], 2));
        again.done().await.expect("it is ours");
        let refused =
            queue(&b, Delivery::AtLeastOnce).consumer_with(ConsumerOptions::default().with_window(0));
        assert!(refused.expect_err("it takes nothing").is_bad_input());
        let refused = queue(&b, Delivery::AtLeastOnce)
            .consumer_with(ConsumerOptions::default().with_prefetch(0).with_window(1));
        assert!(refused.expect_err("it takes nothing").is_bad_input());
    });
}
