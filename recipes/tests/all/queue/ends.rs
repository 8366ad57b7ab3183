//! Sessions that end, connections that are lost, futures that are dropped.

use super::*;

#[test]
fn a_session_that_ends_ends_the_call_and_not_what_is_in_hand() {
    play(|stage| async move {
        let (a, b) = (stage.client("a").await, stage.client("b").await);
        let mut puts = producer(&a, Delivery::AtMostOnce);
        puts.put_all(&bytes(&["1", "2", "3"])).await.expect("they are put");
        let mut takes = taker(&b, 3);
        assert_eq!(texts(&[takes.take().await.expect("there is one")]), ["1"]);
        b.process.inflict(Fault::SessionExpiry, 3 * TIMEOUT);
        let mut status = b.zk.status();
        while status.over().is_none() {
            status = b.zk.changed(status).await;
        }
        assert_eq!(takes.in_hand(), 2);
        assert_eq!(texts(&takes.take_up_to(2).await.expect("they are in hand")), ["2", "3"]);
        assert!(takes.take().await.expect_err("it is over").is_session_over());
        assert!(takes.try_take().await.expect_err("it is over").is_session_over());
    });
}

#[test]
fn a_session_that_ends_while_waiting_ends_the_wait() {
    for delivery in [Delivery::AtMostOnce, Delivery::AtLeastOnce] {
        play(move |stage| async move {
            let (a, b) = (stage.client("a").await, stage.client("b").await);
            producer(&a, delivery).put(b"1").await.expect("it is put");
            let mut consumer = queue(&b, delivery).consumer();
            let waiting = b.process.spawn(async move {
                match delivery {
                    Delivery::AtMostOnce => {
                        consumer.take().await?;
                        consumer.take().await.map(drop)
                    }
                    Delivery::AtLeastOnce => {
                        let _held = consumer.claim().await?;
                        consumer.claim().await.map(drop)
                    }
                }
            });
            stage.settle().await;
            b.process.inflict(Fault::SessionExpiry, 3 * TIMEOUT);
            let ended = waiting.await.expect("its process lives");
            assert!(ended.expect_err("the session ended").is_session_over());
        });
    }
}

#[test]
fn claims_that_were_made_ahead_end_with_their_session() {
    play(|stage| async move {
        let a = stage.client("a").await;
        for item in [b"1", b"2", b"3"] {
            producer(&a, Delivery::AtLeastOnce).put(item).await.expect("it is put");
        }
        let mut consumer = queue(&a, Delivery::AtLeastOnce)
            .consumer_with(ConsumerOptions::default().with_prefetch(3))
            .expect("good");
        assert_eq!(consumer.claim().await.expect("there are three").item().data, b"1");
        a.zk.close(Duration::from_secs(1)).await.expect("it is closed");
        assert!(consumer.claim().await.expect_err("its claims are gone").is_session_over());
        assert!(consumer.claim_up_to(2).await.expect_err("its claims are gone").is_session_over());
    });
}

#[test]
fn a_try_gives_up_when_the_connection_is_lost() {
    play(|stage| async move {
        let (a, b) = (stage.client("a").await, stage.client("b").await);
        producer(&a, Delivery::AtMostOnce).put(b"1").await.expect("it is put");
        let mut takes = taker(&b, 1);
        b.is_disconnected().await;
        assert_eq!(takes.try_take().await, Ok(None));
        b.is_connected_again().await;
        b.process.order(Fault::ReplyLost);
        assert_eq!(takes.try_take().await, Ok(None));
        b.is_connected_again().await;
        assert_eq!(texts(&[takes.take().await.expect("there is one")]), ["1"]);
    });
}

#[test]
fn a_try_that_may_have_taken_something_does_not_say_that_there_was_nothing() {
    for fault in [Fault::ReplyLost, Fault::RequestLost] {
        let mut doubts = 0;
        for nth in 0..8 {
            let (doubt, _) = play_struck(fault, nth, |stage, danger| async move {
                let (a, b) = (stage.client("a").await, stage.client("b").await);
                producer(&a, Delivery::AtMostOnce).put(b"1").await.expect("it is put");
                let mut takes = taker(&b, 1);
                danger.begins();
                let tried = takes.try_take().await;
                let left = if matches!(tried, Ok(Some(_))) { 0 } else { 1 };
                stage.pass(&b, 3 * RECONNECT).await;
                for _ in 0..left {
                    assert_eq!(texts(&[takes.take().await.expect("there is one")]), ["1"]);
                }
                tried.is_err_and(|e| e.is_outcome_unknown())
            });
            doubts += usize::from(doubt);
        }
        assert_eq!(doubts, 1, "only when the write itself was struck");
    }
}

#[test]
fn a_dropped_put_puts_once_or_not_at_all() {
    at_every_await(|stage, danger, drops| async move {
        let a = stage.client("a").await;
        let mut puts = producer(&a, Delivery::AtMostOnce);
        danger.begins();
        let ended = dropping(drops, &stage, &a, puts.put(b"1")).await.is_some();
        puts.put(b"2").await.expect("it goes on");
        stage.pass(&a, 3 * RECONNECT).await;
        stage.settle().await;
        let left = empties(&a).await;
        assert!(left == ["2"] && !ended || left == ["1", "2"], "dropped {drops:?}: {left:?}");
        drop(puts);
        stage.settle().await;
        a.has_left_nothing(&stage, &format!("dropped {drops:?}"));
        ended
    });
}

#[test]
fn a_dropped_take_keeps_its_items_or_leaves_them() {
    for prefetch in [1, 2] {
        at_every_await(|stage, danger, drops| async move {
            let (a, b) = (stage.client("a").await, stage.client("b").await);
            producer(&a, Delivery::AtMostOnce).put_all(&bytes(&["1", "2", "3"])).await.expect("put");
            let mut takes = taker(&b, prefetch);
            danger.begins();
            let got = dropping(drops, &stage, &b, takes.take()).await;
            let ended = got.is_some();
            let mut all: Vec<Item> = got.map(|item| item.expect("there is one")).into_iter().collect();
            while all.len() < 3 {
                all.push(takes.take().await.expect("there is one"));
            }
            assert_eq!(texts(&all), ["1", "2", "3"], "dropped {drops:?}");
            drop(takes);
            stage.pass(&b, 3 * RECONNECT).await;
            stage.settle().await;
            b.has_left_nothing(&stage, &format!("dropped {drops:?}"));
            ended
        });
    }
}

#[test]
fn what_a_dropped_take_has_taken_is_asked_for_once() {
    for polls in 0..12 {
        play(move |stage| async move {
            let (a, b) = (stage.client("a").await, stage.client("b").await);
            producer(&a, Delivery::AtMostOnce).put_all(&bytes(&["1", "2", "3"])).await.expect("put");
            let mut takes = taker(&b, 1);
            let mark = stage.mark();
            let got = dropping(Drops::AfterPolls(polls), &stage, &b, takes.take()).await;
            let mut all: Vec<Item> = got.map(|item| item.expect("there is one")).into_iter().collect();
            while all.len() < 3 {
                all.push(takes.take().await.expect("there is one"));
            }
            assert_eq!(texts(&all), ["1", "2", "3"], "dropped after {polls} polls");
            let sent = b.sent(&stage, mark);
            let transactions = sent.iter().filter(|kind| **kind == Kind::Multi).count();
            assert_eq!(transactions, 3, "dropped after {polls} polls: {sent:?}");
        });
    }
}

#[test]
fn nothing_is_lost_with_a_consumer_that_settles_first() {
    for prefetch in [1, 2] {
        at_every_await(|stage, danger, drops| async move {
            let (a, b) = (stage.client("a").await, stage.client("b").await);
            producer(&a, Delivery::AtMostOnce).put_all(&bytes(&["1", "2", "3"])).await.expect("put");
            let mut takes = taker(&b, prefetch);
            danger.begins();
            let got = dropping(drops, &stage, &b, takes.take()).await;
            let ended = got.is_some();
            let mut all: Vec<Item> = got.map(|item| item.expect("there is one")).into_iter().collect();
            let in_hand = takes.settle().await.expect("the session lives");
            assert_eq!(in_hand, takes.in_hand());
            if in_hand > 0 {
                all.extend(takes.take_up_to(in_hand).await.expect("they are in hand"));
            }
            drop(takes);
            let mut others = taker(&a, 1);
            while all.len() < 3 {
                all.push(others.take().await.expect("what is not in its hands is in the queue"));
            }
            assert_eq!(texts(&all), ["1", "2", "3"], "dropped {drops:?}");
            ended
        });
    }
}

#[test]
fn a_dropped_claim_is_given_back() {
    at_every_await(|stage, danger, drops| async move {
        let (a, b) = (stage.client("a").await, stage.client("b").await);
        producer(&a, Delivery::AtLeastOnce).put_all(&bytes(&["1", "2"])).await.expect("put");
        let mut claims = claimer(&b, 2);
        danger.begins();
        let ended = dropping(drops, &stage, &b, claims.claim()).await.is_some();
        drop(claims);
        // If one of the two duties is refused, it is tried again after a pause, and its item is back later.
        stage.pass(&b, Duration::from_millis(100)).await;
        let mut next = claimer(&a, 1);
        for item in ["1", "2"] {
            let claim = next.claim().await.expect("there is one");
            assert_eq!(claim.item().data, item.as_bytes(), "dropped {drops:?}");
            claim.done().await.expect("it is ours");
        }
        stage.settle().await;
        b.has_left_nothing(&stage, &format!("dropped {drops:?}"));
        ended
    });
}

#[test]
fn a_dropped_confirmation_confirms_or_gives_back() {
    ends_a_claim(true);
}

#[test]
fn a_dropped_giving_back_gives_back() {
    ends_a_claim(false);
}

#[test]
fn a_dropped_wait_leaves_the_line() {
    for (delivery, idle) in [
        (Delivery::AtMostOnce, Idle::HerdFree),
        (Delivery::AtLeastOnce, Idle::HerdFree),
        (Delivery::AtMostOnce, Idle::Textbook),
    ] {
        at_every_await(|stage, danger, drops| async move {
            let (a, b) = (stage.client("a").await, stage.client("b").await);
            let mut puts = producer(&a, delivery);
            puts.put(b"1").await.expect("it is put");
            let mut next = queue(&a, delivery).consumer();
            // With claims one stands all the while.
            let held = match delivery {
                Delivery::AtMostOnce => next.take().await.map(|_| None).expect("there is one"),
                Delivery::AtLeastOnce => Some(next.claim().await.expect("there is one")),
            };
            let options = options(delivery).with_idle(idle);
            let waits = Queue::new(&b.zk, QUEUE, options).expect("the path is good");
            let mut waits = waits.consumer();
            danger.begins();
            let later = stage.sim.sleep(&a.process, Duration::from_millis(83));
            let putting = a.process.spawn(async move {
                later.await;
                puts.put(b"2").await
            });
            let ended = match delivery {
                Delivery::AtMostOnce => dropping(drops, &stage, &b, waits.take()).await.is_some(),
                Delivery::AtLeastOnce => dropping(drops, &stage, &b, waits.claim()).await.is_some(),
            };
            putting.await.expect("its process lives").expect("it is put");
            let hand = waits.in_hand();
            let got = dropping(Drops::Later(4000), &stage, &b, async {
                match delivery {
                    Delivery::AtMostOnce => drop(waits.take().await),
                    Delivery::AtLeastOnce => drop(waits.claim().await),
                }
            });
            let got = got.await.is_some();
            assert_eq!(got, !ended || delivery == Delivery::AtLeastOnce, "dropped {drops:?}, {hand} in hand");
            drop((waits, held, next));
            stage.pass(&b, 3 * RECONNECT).await;
            stage.settle().await;
            b.has_left_nothing(&stage, &format!("dropped {drops:?}"));
            ended
        });
    }
}
