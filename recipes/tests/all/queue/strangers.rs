//! What others do to the znodes, and input that makes no sense.

use super::*;

#[test]
fn a_queue_that_vanishes_under_a_waiting_consumer_is_made_again() {
    for (idle, delivery) in [
        (Idle::HerdFree, Delivery::AtMostOnce),
        (Idle::HerdFree, Delivery::AtLeastOnce),
        (Idle::Textbook, Delivery::AtMostOnce),
        (Idle::Textbook, Delivery::AtLeastOnce),
    ] {
        play(move |stage| async move {
            let (a, b, c) = (stage.client("a").await, stage.client("b").await, stage.client("c").await);
            let open = |client: &Client| {
                let options = options(delivery).with_idle(idle);
                Queue::new(&client.zk, QUEUE, options).expect("the path is good")
            };
            let waits = |client: &Client| {
                let mut consumer = open(client).consumer();
                client.process.spawn(async move {
                    match delivery {
                        Delivery::AtMostOnce => consumer.take().await.map(drop),
                        Delivery::AtLeastOnce => consumer.claim().await?.done().await,
                    }
                })
            };
            let (one, two) = (waits(&a), waits(&b));
            stage.settle().await;
            delete_all(&c, QUEUE).await;
            stage.settle().await;
            open(&c).producer().put_all(&bytes(&["1", "2"])).await.expect("they are put");
            stage.pass(&c, 3 * RECONNECT).await;
            assert_eq!(one.await.expect("its process lives"), Ok(()));
            assert_eq!(two.await.expect("its process lives"), Ok(()));
        });
    }
}

#[test]
fn a_stranger_who_deletes_everything_at_any_time_does_no_harm_to_what_comes_after() {
    for steps in 0..40 {
        play(move |stage| async move {
            let (a, b, c) = (stage.client("a").await, stage.client("b").await, stage.client("c").await);
            let mut puts = producer(&a, Delivery::AtLeastOnce);
            let putting = a.process.spawn(async move {
                for number in 0..6 {
                    puts.put(number.to_string().as_bytes()).await?;
                }
                puts.put(b"last").await
            });
            let mut claims = claimer(&b, 2);
            let claiming = b.process.spawn(async move {
                loop {
                    let claim = claims.claim().await?;
                    let last = claim.item().data == b"last";
                    match claim.done().await {
                        Ok(()) if last => return Ok(()),
                        Ok(()) => {}
                        Err(e) if e.is_claim_lost() => {}
                        Err(e) => return Err(e),
                    }
                }
            });
            stage.pass(&c, Duration::from_millis(steps * 5)).await;
            delete_all(&c, QUEUE).await;
            assert_eq!(putting.await.expect("its process lives"), Ok(()), "at {steps}");
            if names_left(&c).await.is_empty() {
                // The last one may have been deleted.
                producer(&c, Delivery::AtLeastOnce).put(b"last").await.expect("it is put");
            }
            assert_eq!(claiming.await.expect("its process lives"), Ok(()), "at {steps}");
        });
    }
}

#[test]
fn an_item_of_a_queue_that_was_made_again_is_not_taken_for_the_one_of_that_name_before() {
    for (delivery, steps) in [Delivery::AtMostOnce, Delivery::AtLeastOnce]
        .into_iter()
        .flat_map(|way| (0..60).map(move |n| (way, n)))
    {
        play(move |stage| async move {
            let (a, c) = (stage.client("a").await, stage.client("c").await);
            producer(&c, delivery).put(b"old").await.expect("it is put");
            let mut consumer = Queue::new(&a.zk, QUEUE, options(delivery))
                .map(|queue| queue.consumer())
                .expect("the path is good");
            let taking = a.process.spawn(async move {
                let mut taken = Vec::new();
                while taken.last().is_none_or(|item| item == b"old") {
                    match delivery {
                        Delivery::AtMostOnce => taken.push(consumer.take().await?.data),
                        Delivery::AtLeastOnce => {
                            let claim = consumer.claim().await?;
                            taken.push(claim.item().data.clone());
                            match claim.done().await {
                                Ok(()) => {}
                                Err(e) if e.is_claim_lost() => drop(taken.pop()),
                                Err(e) => return Err(e),
                            }
                        }
                    }
                }
                Ok(taken)
            });
            stage.pass(&c, Duration::from_micros(500 * steps)).await;
            make_again(&c, b"new").await;
            stage.pass(&c, Duration::from_secs(10)).await;
            let taken = taking.now_or_never().expect("the new one is handed out").expect("its process lives");
            assert_eq!(taken.expect("it gets there").last().map(Vec::as_slice), Some(&b"new"[..]));
        });
    }
}

#[test]
fn an_old_claim_takes_nobody_elses_away_when_the_queue_was_made_again() {
    for gives_back in [true, false] {
        play(move |stage| async move {
            let (a, b, c) = (stage.client("a").await, stage.client("b").await, stage.client("c").await);
            producer(&c, Delivery::AtLeastOnce).put(b"old").await.expect("it is put");
            let old = claimer(&a, 1).claim().await.expect("there is one");
            make_again(&c, b"new").await;
            let new = claimer(&b, 1).claim().await.expect("there is one");
            assert_eq!(new.attempts(), old.attempts(), "by its version it could be the old one's");
            match gives_back {
                true => assert_eq!(old.give_back().await, Err(ErrorKind::ClaimLost.into())),
                false => drop(old),
            }
            stage.settle().await;
            assert_eq!(new.done().await, Ok(()));
        });
    }
}

#[test]
fn a_stranger_who_takes_the_receipt_while_the_answer_is_lost_leaves_the_outcome_unknown() {
    play(|stage| async move {
        let (a, b) = (stage.client("a").await, stage.client("b").await);
        let mut puts = producer(&a, Delivery::AtMostOnce);
        puts.put(b"1").await.expect("it is put");
        a.process.order(Fault::ReplyLost);
        let mut putting = Box::pin(puts.put(b"2"));
        assert!(putting.as_mut().now_or_never().is_none());
        stage.pass(&b, RECONNECT / 4).await;
        delete_all(&b, "/q/receipts").await;
        assert!(putting.await.expect_err("nobody knows").is_outcome_unknown());
        puts.put(b"3").await.expect("a fresh receipt serves");
        assert_eq!(empties(&b).await, ["1", "2", "3"]);
    });
}

#[test]
fn a_stranger_who_writes_to_the_receipt_while_an_answer_is_lost_makes_no_duplicate_and_loses_nothing() {
    for (fault, is_known) in [(Fault::RequestLost, true), (Fault::ReplyLost, false)] {
        for dropped in [false, true] {
            play(move |stage| async move {
                let (a, b) = (stage.client("a").await, stage.client("b").await);
                let mut puts = producer(&a, Delivery::AtMostOnce);
                puts.put(b"1").await.expect("it is put");
                a.process.order(fault);
                let mut putting = Box::pin(puts.put(b"2"));
                assert!(putting.as_mut().now_or_never().is_none());
                stage.pass(&b, RECONNECT / 4).await;
                for receipt in b.zk.children("/q/receipts").await.expect("it is there").names {
                    b.zk.set(&format!("/q/receipts/{receipt}"), b"foreign", None).await.expect("it is there");
                }
                let ended = if dropped { None } else { Some(putting.as_mut().await) };
                drop(putting);
                match ended {
                    Some(ended) if is_known => assert_eq!(ended, Ok(()), "the receipt was another's first"),
                    Some(ended) => assert!(ended.expect_err("nobody knows").is_outcome_unknown()),
                    None => {}
                }
                puts.put(b"3").await.expect("the receipt serves again");
                let there = if dropped && is_known { vec!["1", "3"] } else { vec!["1", "2", "3"] };
                assert_eq!(empties(&b).await, there, "{fault:?}, dropped: {dropped}");
            });
        }
    }
}

#[test]
fn a_stranger_who_takes_the_receipt_in_peace_is_not_noticed() {
    play(|stage| async move {
        let (a, b) = (stage.client("a").await, stage.client("b").await);
        let mut puts = producer(&a, Delivery::AtMostOnce);
        let mut takes = taker(&b, 1);
        for item in ["1", "2"] {
            puts.put(item.as_bytes()).await.expect("it is put");
            assert_eq!(texts(&[takes.take().await.expect("there is one")]), [item]);
            delete_all(&b, "/q/receipts").await;
        }
    });
}

#[test]
fn a_taker_whose_place_a_stranger_took_gets_its_item_all_the_same() {
    play(|stage| async move {
        let (a, b, c) = (stage.client("a").await, stage.client("b").await, stage.client("c").await);
        let waits = |client: &Client| {
            let mut consumer = taker(client, 1);
            client.process.spawn(async move { consumer.take().await })
        };
        let one = waits(&a);
        stage.settle().await;
        let two = waits(&b);
        stage.settle().await;
        delete_all(&c, "/q/takers").await;
        stage.settle().await;
        let mut puts = producer(&c, Delivery::AtMostOnce);
        puts.put_all(&bytes(&["1", "2"])).await.expect("they are put");
        assert!(one.await.expect("its process lives").is_ok());
        assert!(two.await.expect("its process lives").is_ok());
    });
}

#[test]
fn an_item_that_a_stranger_deleted_is_passed_over() {
    play(|stage| async move {
        let (a, b) = (stage.client("a").await, stage.client("b").await);
        let mut puts = producer(&a, Delivery::AtMostOnce);
        puts.put_all(&bytes(&["1", "2", "3", "4"])).await.expect("they are put");
        let mut takes = taker(&b, 1);
        assert_eq!(texts(&[takes.take().await.expect("there is one")]), ["1"]);
        let first = names_left(&a).await.into_iter().min().expect("there is one");
        a.zk.delete(&format!("/q/{first}"), None).await.expect("it is there");
        assert_eq!(texts(&[takes.take().await.expect("there is one")]), ["3"]);
    });
}

#[test]
fn of_a_claim_whose_item_a_stranger_took_or_wrote_into_nothing_is_left() {
    for is_written in [false, true] {
        for ends in ["is dropped", "gives back", "is done"] {
            play(move |stage| async move {
                let (a, b) = (stage.client("a").await, stage.client("b").await);
                producer(&a, Delivery::AtLeastOnce).put(b"1").await.expect("it is put");
                let mut consumer = claimer(&b, 1);
                let claimed = consumer.claim().await.expect("there is one");
                let item = format!("/q/{}", names_left(&a).await.remove(0));
                match is_written {
                    true => drop(a.zk.set(&item, b"2", None).await.expect("it is there")),
                    false => a.zk.delete(&item, None).await.expect("it is there"),
                }
                match ends {
                    "is dropped" => drop(claimed),
                    "gives back" => assert_eq!(claimed.give_back().await, Err(ErrorKind::ClaimLost.into())),
                    _ => assert_eq!(claimed.done().await, Err(ErrorKind::ClaimLost.into())),
                }
                stage.settle().await;
                let left = stage.names("/q/claims");
                assert_eq!(left, [""; 0], "it {ends}, written: {is_written}");
                // What a stranger has written is an item all the same.
                let again = claimer(&a, 1).try_claim().await.expect("the network is calm");
                assert_eq!(again.is_some(), is_written);
            });
        }
    }
}

#[test]
fn a_give_back_that_was_lost_is_done_only_if_the_claim_is_gone() {
    for (fault, ended) in [(Fault::RequestLost, Err(ErrorKind::ClaimLost.into())), (Fault::ReplyLost, Ok(()))]
    {
        for meanwhile in ["the receipt goes", "the item goes", "the item is written"] {
            let ended = ended.clone();
            play(move |stage| async move {
                let (a, b) = (stage.client("a").await, stage.client("b").await);
                producer(&a, Delivery::AtLeastOnce).put(b"1").await.expect("it is put");
                let mut consumer = claimer(&b, 1);
                let claimed = consumer.claim().await.expect("there is one");
                let item = format!("/q/{}", names_left(&a).await.remove(0));
                b.process.order(fault);
                let mut giving = Box::pin(claimed.give_back());
                assert!(giving.as_mut().now_or_never().is_none());
                stage.pass(&a, RECONNECT / 4).await;
                match meanwhile {
                    "the receipt goes" => delete_all(&a, "/q/receipts").await,
                    "the item goes" => a.zk.delete(&item, None).await.expect("it is there"),
                    _ => drop(a.zk.set(&item, b"2", None).await.expect("it is there")),
                }
                assert_eq!(giving.await, ended, "{fault:?}, {meanwhile}");
                stage.settle().await;
                assert_eq!(stage.names("/q/claims"), [""; 0], "{fault:?}, {meanwhile}");
            });
        }
    }
}

#[test]
fn foreign_children_are_left_alone() {
    play(|stage| async move {
        let a = stage.client("a").await;
        let mut puts = producer(&a, Delivery::AtMostOnce);
        puts.put(b"1").await.expect("it is put");
        let foreign =
            ["queue-", "queue-7", "queue-00000000070", "config", "queue-00001-0000000001", "0000000000"];
        for name in foreign {
            a.makes(&format!("/q/{name}")).await;
        }
        assert_eq!(empties(&a).await, ["1"]);
        for name in foreign {
            assert!(a.zk.exists(&format!("/q/{name}")).await.expect("it can be asked").is_some(), "{name}");
        }
    });
}

#[test]
fn input_that_makes_no_sense_is_refused_before_anything_is_sent() {
    play(|stage| async move {
        let a = stage.client("a").await;
        let mark = stage.mark();
        for path in ["", "/", "q", "/q/", "/q//a", "/q/.", "/zookeeper", "/zookeeper/q", "/q\0", "/\u{10000}"]
        {
            let refused = Queue::new(&a.zk, path, options(Delivery::AtMostOnce));
            assert!(refused.expect_err("the path is bad").is_bad_input(), "{path:?}");
        }
        let long = format!("/{}", "x".repeat(1 << 20));
        let refused = Queue::new(&a.zk, &long, options(Delivery::AtMostOnce));
        assert!(refused.expect_err("it is too long").is_bad_input());
        let taken = queue(&a, Delivery::AtMostOnce);
        assert!(
            taken
                .consumer_with(ConsumerOptions::default().with_prefetch(0))
                .expect_err("takes nothing")
                .is_bad_input()
        );
        assert!(taker(&a, 1).take_up_to(0).await.expect_err("takes nothing").is_bad_input());
        assert!(claimer(&a, 1).claim_up_to(0).await.expect_err("takes nothing").is_bad_input());
        assert!(taker(&a, 1).claim().await.expect_err("items are taken").is_bad_input());
        assert!(taker(&a, 1).try_claim().await.expect_err("items are taken").is_bad_input());
        assert!(taker(&a, 1).claim_up_to(1).await.expect_err("items are taken").is_bad_input());
        assert!(claimer(&a, 1).take().await.expect_err("items are claimed").is_bad_input());
        assert!(claimer(&a, 1).try_take().await.expect_err("items are claimed").is_bad_input());
        assert!(claimer(&a, 1).take_up_to(1).await.expect_err("items are claimed").is_bad_input());
        let mut puts = producer(&a, Delivery::AtMostOnce);
        assert!(puts.put_all(&[]).await.expect_err("nothing to put").is_bad_input());
        assert!(puts.put(&vec![0; 1 << 20]).await.expect_err("it is too large").is_bad_input());
        let large = vec![0; 1 << 18];
        let many = [large.clone(), large.clone(), large.clone(), large.clone()];
        assert!(puts.put_all(&many).await.expect_err("they are too large").is_bad_input());
        assert_eq!(a.sent(&stage, mark), []);
    });
}

#[test]
fn claims_of_several_consumers_are_not_confirmed_together() {
    play(|stage| async move {
        let a = stage.client("a").await;
        let mut puts = producer(&a, Delivery::AtLeastOnce);
        puts.put_all(&bytes(&["1", "2"])).await.expect("they are put");
        let (mut one, mut two) = (claimer(&a, 1), claimer(&a, 1));
        let both = vec![one.claim().await.expect("one"), two.claim().await.expect("another")];
        assert!(Claimed::done_all(both, vec![]).await.expect_err("of several").is_bad_input());
        stage.settle().await;
        assert_eq!(claimer(&a, 1).claim_up_to(5).await.expect("they were given back").len(), 2);
    });
}

#[test]
fn large_items_are_handed_out_in_as_many_transactions_as_it_takes() {
    for delivery in [Delivery::AtMostOnce, Delivery::AtLeastOnce] {
        play(move |stage| async move {
            let a = stage.client("a").await;
            let mut puts = producer(&a, delivery);
            let large = vec![b'x'; 500_000];
            for _ in 0..5 {
                puts.put(&large).await.expect("it is put");
            }
            let mut consumer = queue(&a, delivery)
                .consumer_with(ConsumerOptions::default().with_prefetch(5))
                .expect("it takes something");
            for _ in 0..5 {
                match delivery {
                    Delivery::AtMostOnce => drop(consumer.take().await.expect("there is one")),
                    Delivery::AtLeastOnce => {
                        consumer.claim().await.expect("there is one").done().await.expect("it is ours");
                    }
                }
            }
            assert_eq!(names_left(&a).await, [""; 0]);
        });
    }
}

#[test]
fn a_queue_is_used_as_it_is_set_up() {
    play(|stage| async move {
        let (a, b) = (stage.client("a").await, stage.client("b").await);
        producer(&a, Delivery::AtMostOnce).put(b"1").await.expect("it is put");
        assert!(producer(&b, Delivery::AtLeastOnce).put(b"2").await.expect_err("otherwise").is_mismatch());
        assert!(claimer(&b, 1).claim().await.expect_err("otherwise").is_mismatch());
        let order = zk_recipes::Order::Fresh;
        let QueueOptions { delivery, idle, parents, .. } = options(Delivery::AtMostOnce);
        let options =
            zk_recipes::PriorityQueueOptions::new(order, delivery).with_idle(idle).with_parents(parents);
        let other = zk_recipes::PriorityQueue::new(&b.zk, QUEUE, options).expect("the path is good");
        let put = other.producer().put(zk_recipes::Priority(1), b"2").await;
        assert!(put.expect_err("otherwise").is_mismatch());
        assert_eq!(empties(&a).await, ["1"]);
    });
}

#[test]
fn a_znode_that_says_nothing_becomes_the_queue() {
    for delivery in [Delivery::AtMostOnce, Delivery::AtLeastOnce] {
        play(move |stage| async move {
            let a = stage.client("a").await;
            a.makes(QUEUE).await;
            producer(&a, delivery).put(b"1").await.expect("it is put");
            let stands = a.zk.get(QUEUE).await.expect("it is there");
            assert!(!stands.data.is_empty());
        });
    }
}

#[test]
fn a_queue_that_must_exist_is_not_made() {
    play(|stage| async move {
        let a = stage.client("a").await;
        let must = options(Delivery::AtMostOnce).with_parents(Parents::MustExist);
        let queue = Queue::new(&a.zk, "/deep/q", must).expect("the path is good");
        assert_eq!(queue.producer().put(b"1").await, Err(ErrorKind::NoNode.into()));
        assert_eq!(queue.consumer().take().await, Err(ErrorKind::NoNode.into()));
        assert_eq!(a.zk.exists("/deep").await, Ok(None));
        a.makes("/deep").await;
        a.makes("/deep/q").await;
        queue.producer().put(b"1").await.expect("it is put");
        let mut consumer = queue.consumer();
        assert_eq!(consumer.take().await.expect("there is one").data, b"1");
        let waiting = a.process.spawn(async move { consumer.take().await });
        stage.settle().await;
        delete_all(&a, "/deep").await;
        assert_eq!(
            waiting.await.expect("its process lives"),
            Err(ErrorKind::NoNode.into()),
            "told, not hung"
        );
    });
}
