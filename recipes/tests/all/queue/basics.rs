//! Putting, taking, claiming.

use super::*;

#[test]
fn items_come_out_in_the_order_in_which_they_were_put() {
    for prefetch in [1, 2, 8] {
        play(move |stage| async move {
            let (a, b) = (stage.client("a").await, stage.client("b").await);
            let mut puts = producer(&a, Delivery::AtMostOnce);
            puts.put(b"1").await.expect("it is put");
            puts.put_all(&bytes(&["2", "3", "4"])).await.expect("they are put");
            puts.put(b"5").await.expect("it is put");
            let mut takes = taker(&b, prefetch);
            let mut got = Vec::new();
            for _ in 0..4 {
                got.push(takes.take().await.expect("there is one"));
            }
            assert!(got.is_sorted_by_key(|item| item.czxid), "and so do their czxids");
            got.extend(takes.take_up_to(10).await.expect("there is one"));
            assert_eq!(texts(&got), ["1", "2", "3", "4", "5"]);
            assert_eq!(takes.try_take().await, Ok(None));
        });
    }
}

#[test]
fn a_put_whose_answer_is_lost_puts_one_item() {
    for fault in LOSSES {
        for nth in 0..8 {
            play_struck(fault, nth, |stage, danger| async move {
                let a = stage.client("a").await;
                let mut puts = producer(&a, Delivery::AtMostOnce);
                danger.begins();
                for item in ["1", "2", "3"] {
                    puts.put(item.as_bytes()).await.expect("it is put in the end");
                }
                stage.settle().await;
                assert_eq!(empties(&a).await, ["1", "2", "3"], "{fault:?} at {nth}");
            });
        }
    }
}

/// What is sent again may be lost again, and again.
#[test]
fn a_put_that_is_lost_thrice_puts_one_item() {
    for number in 0..8 {
        let faults = [0, 1, 2].map(|bit| (LOSSES[number >> bit & 1], 0));
        let (_, any) = play_faults(faults, |stage, danger| async move {
            let a = stage.client("a").await;
            let mut puts = producer(&a, Delivery::AtMostOnce);
            puts.put(b"1").await.expect("it is put");
            danger.begins();
            puts.put(b"2").await.expect("it is put in the end");
            stage.settle().await;
            assert_eq!(empties(&a).await, ["1", "2"], "{faults:?}");
        });
        assert!(any, "{faults:?}");
    }
}

#[test]
fn a_take_whose_answer_is_lost_keeps_its_items() {
    for prefetch in [1, 2] {
        for fault in LOSSES {
            for nth in 0..14 {
                play_struck(fault, nth, |stage, danger| async move {
                    let (a, b) = (stage.client("a").await, stage.client("b").await);
                    let all = bytes(&["1", "2", "3", "4"]);
                    producer(&a, Delivery::AtMostOnce).put_all(&all).await.expect("they are put");
                    let mut takes = taker(&b, prefetch);
                    danger.begins();
                    let mut got = Vec::new();
                    for _ in 0..4 {
                        got.push(takes.take().await.expect("there is one"));
                    }
                    assert_eq!(texts(&got), ["1", "2", "3", "4"], "{fault:?} at {nth}");
                });
            }
        }
    }
}

#[test]
fn an_item_that_is_put_as_a_consumer_begins_to_wait_is_delivered() {
    for delivery in [Delivery::AtMostOnce, Delivery::AtLeastOnce] {
        for half_ms in 0..120 {
            play(move |stage| async move {
                let (a, b) = (stage.client("a").await, stage.client("b").await);
                let mut puts = producer(&a, delivery);
                puts.put(b"1").await.expect("it is put");
                let mut consumer = queue(&b, delivery).consumer();
                let mut second = b.process.spawn(async move {
                    match delivery {
                        Delivery::AtMostOnce => {
                            consumer.take().await?;
                            consumer.take().await.map(|item| item.data)
                        }
                        Delivery::AtLeastOnce => {
                            consumer.claim().await?.done().await?;
                            consumer.claim().await.map(|claimed| claimed.item().data.clone())
                        }
                    }
                });
                stage.pass(&a, Duration::from_micros(half_ms * 500)).await;
                puts.put(b"2").await.expect("it is put");
                stage.pass(&a, Duration::from_millis(500)).await;
                let taken = (&mut second).now_or_never();
                assert_eq!(
                    taken.and_then(Result::ok),
                    Some(Ok(b"2".to_vec())),
                    "{delivery:?}, after {half_ms} half milliseconds"
                );
            });
        }
    }
}

#[test]
fn two_takers_share_the_items() {
    play(|stage| async move {
        let (a, b, c) = (stage.client("a").await, stage.client("b").await, stage.client("c").await);
        let all: Vec<String> = (0..20).map(|n| n.to_string()).collect();
        let all_bytes: Vec<Vec<u8>> = all.iter().map(|item| item.clone().into_bytes()).collect();
        producer(&a, Delivery::AtMostOnce).put_all(&all_bytes).await.expect("they are put");
        let takes = |client: &Client, prefetch| {
            let mut consumer = taker(client, prefetch);
            client.process.spawn(async move {
                let mut got = Vec::new();
                while let Some(item) = consumer.try_take().await.expect("the network is calm") {
                    got.push(item);
                }
                texts(&got)
            })
        };
        let (one, two) = (takes(&b, 1), takes(&c, 3));
        let mut got = one.await.expect("it ends");
        got.extend(two.await.expect("it ends"));
        let got: BTreeSet<String> = got.into_iter().collect();
        assert_eq!(got, all.into_iter().collect());
    });
}

#[test]
fn an_item_outlives_its_producer() {
    play(|stage| async move {
        let (a, b) = (stage.client("a").await, stage.client("b").await);
        producer(&a, Delivery::AtMostOnce).put(b"1").await.expect("it is put");
        a.zk.close(TIMEOUT).await.expect("it is closed");
        assert_eq!(empties(&b).await, ["1"]);
    });
}

#[test]
fn producers_and_consumers_leave_nothing() {
    play(|stage| async move {
        let (a, b) = (stage.client("a").await, stage.client("b").await);
        let mut puts = producer(&a, Delivery::AtLeastOnce);
        puts.put_all(&bytes(&["1", "2", "3"])).await.expect("they are put");
        let mut claims = claimer(&b, 3);
        claims.claim().await.expect("there is one").done().await.expect("it is ours");
        let held = claims.claim().await.expect("there is one");
        assert_eq!(b.znodes(&stage).len(), 3, "a receipt, a claim in hand, one that was handed out");
        drop((puts, claims));
        stage.settle().await;
        a.has_left_nothing(&stage, "after the producer");
        drop(held);
        stage.settle().await;
        b.has_left_nothing(&stage, "after the consumer");
        assert_eq!(names_left(&a).await.len(), 2);
    });
}

#[test]
fn a_claim_that_is_given_back_stands_at_its_old_place() {
    play(|stage| async move {
        let (a, b, c) = (stage.client("a").await, stage.client("b").await, stage.client("c").await);
        let mut puts = producer(&a, Delivery::AtLeastOnce);
        puts.put_all(&bytes(&["1", "2"])).await.expect("they are put");
        let (mut one, mut two) = (claimer(&b, 1), claimer(&c, 1));
        let claim = one.claim().await.expect("there is one");
        assert_eq!(claim.attempts(), 1);
        let other = two.claim().await.expect("there is one");
        assert_eq!(other.item().data, b"2");
        assert!(two.try_claim().await.expect("it can be tried").is_none(), "all is claimed");
        claim.give_back().await.expect("it is ours");
        other.done().await.expect("it is ours");
        let again = two.claim().await.expect("there is one");
        assert_eq!((again.item().data.as_slice(), again.attempts()), (&b"1"[..], 2));
        again.done().await.expect("it is ours");
        assert_eq!(names_left(&a).await, [""; 0]);
    });
}

#[test]
fn a_claim_ends_with_its_session_and_a_waiting_consumer_gets_the_item() {
    for idle in [Idle::HerdFree, Idle::Textbook] {
        play(move |stage| async move {
            let (a, b, c) = (stage.client("a").await, stage.client("b").await, stage.client("c").await);
            producer(&a, Delivery::AtLeastOnce).put(b"1").await.expect("it is put");
            let claim = claimer(&b, 1).claim().await.expect("there is one");
            let options = options(Delivery::AtLeastOnce).with_idle(idle);
            let waits = Queue::new(&c.zk, QUEUE, options).expect("the path is good");
            let mut waits = waits.consumer();
            let waiting = c.process.spawn(async move { waits.claim().await });
            stage.settle().await;
            b.process.inflict(Fault::SessionExpiry, 3 * TIMEOUT);
            let again = waiting.await.expect("its process lives").expect("the item is free again");
            assert_eq!(again.attempts(), 2);
            assert!(claim.done().await.expect_err("the session has ended").is_session_over());
            again.done().await.expect("it is ours");
        });
    }
}

#[test]
fn a_claim_that_a_stranger_took_is_lost() {
    play(|stage| async move {
        let (a, b) = (stage.client("a").await, stage.client("b").await);
        let mut puts = producer(&a, Delivery::AtLeastOnce);
        puts.put_all(&bytes(&["1", "2"])).await.expect("they are put");
        let mut consumer = claimer(&b, 1);
        let (one, two) = (consumer.claim().await.expect("one"), consumer.claim().await.expect("another"));
        for name in a.zk.children("/q/claims").await.expect("they are there").names {
            a.zk.delete(&format!("/q/claims/{name}"), None).await.expect("it is there");
        }
        assert_eq!(one.done().await, Err(ErrorKind::ClaimLost.into()));
        assert_eq!(two.give_back().await, Err(ErrorKind::ClaimLost.into()));
        let again = consumer.claim().await.expect("it is free");
        assert_eq!((again.item().data.as_slice(), again.attempts()), (&b"1"[..], 2));
    });
}

#[test]
fn whoever_comes_late_does_not_confirm_for_the_next() {
    play(|stage| async move {
        let (a, b) = (stage.client("a").await, stage.client("b").await);
        producer(&a, Delivery::AtLeastOnce).put(b"1").await.expect("it is put");
        let late = claimer(&a, 1).claim().await.expect("there is one");
        let name = a.zk.children("/q/claims").await.expect("they are there").names.remove(0);
        b.zk.delete(&format!("/q/claims/{name}"), None).await.expect("it is there");
        let next = claimer(&b, 1).claim().await.expect("it is free");
        assert_eq!(late.done().await, Err(ErrorKind::ClaimLost.into()));
        stage.settle().await;
        next.done().await.expect("its claim was left alone");
    });
}

#[test]
fn confirming_writes_together_or_not_at_all() {
    play(|stage| async move {
        let a = stage.client("a").await;
        let mut puts = producer(&a, Delivery::AtLeastOnce);
        puts.put_all(&bytes(&["1", "2", "3"])).await.expect("they are put");
        let mut consumer = claimer(&a, 1);
        let make =
            |path: &str| Op::Create { path: path.to_owned(), data: vec![], mode: CreateMode::Persistent };
        let claim = consumer.claim().await.expect("there is one");
        claim.done_with(vec![make("/done-1")]).await.expect("it is ours");
        let refused = consumer.claim().await.expect("there is one").done_with(vec![make("/a"), make("/q")]);
        let cause = Box::new(ErrorKind::NodeExists.into());
        assert_eq!(refused.await, Err(ErrorKind::Multi { index: 1, cause }.into()), "as the caller counts");
        assert_eq!(a.zk.exists("/a").await, Ok(None));
        stage.settle().await;
        // Its list is not used up: the one that was given back comes with the next.
        let mut both = consumer.claim_up_to(5).await.expect("they are there");
        both.extend(consumer.claim_up_to(5).await.expect("they are there"));
        assert_eq!(both.iter().map(Claimed::attempts).collect::<Vec<_>>(), [1, 2]);
        Claimed::done_all(both, vec![make("/a")]).await.expect("they are ours");
        assert_eq!(names_left(&a).await, [""; 0]);
        assert!(Claimed::<SimClient>::done_all(vec![], vec![]).await.expect_err("nothing").is_bad_input());
    });
}

#[test]
fn confirming_takes_effect_once() {
    for fault in LOSSES {
        for nth in 0..4 {
            play_struck(fault, nth, |stage, danger| async move {
                let a = stage.client("a").await;
                producer(&a, Delivery::AtLeastOnce).put(b"1").await.expect("it is put");
                a.makes("/count").await;
                let claim = claimer(&a, 1).claim().await.expect("there is one");
                danger.begins();
                let count = Op::Set { path: "/count".to_owned(), data: vec![], version: None };
                claim.done_with(vec![count]).await.expect("it is ours");
                let count = loop {
                    if let Ok(stat) = a.zk.exists("/count").await {
                        break stat;
                    }
                };
                assert_eq!(count.map(|stat| stat.version), Some(1), "{fault:?} at {nth}");
            });
        }
    }
}

#[test]
fn a_put_wakes_the_first_idle_consumer_who_wakes_the_next() {
    assert_eq!(wakes(Idle::HerdFree, 4, 4), [2, 2, 2, 1]);
}

#[test]
fn in_the_textbook_a_put_wakes_everybody() {
    // Those who wake for nothing watch again, and the taking wakes them once more.
    assert!(wakes(Idle::Textbook, 4, 4)[0] >= 4);
}
