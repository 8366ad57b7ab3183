//! What others do to the znodes, what is set up otherwise, and sessions that end.

use super::*;

#[test]
fn znodes_of_participants_deleted_by_strangers_are_told() {
    play(|stage| async move {
        let [a, c] = clients(&stage).await;
        let entering = enters(&a, options(2));
        stage.settle().await;
        let own = a.znodes(&stage).remove(0);
        c.zk.delete(&own, None).await.expect("it is there");
        assert!(entering.await.expect_err("it was removed").is_removed(), "told at once, not when it opens");
    });
}

#[test]
fn a_leave_says_that_its_znode_was_deleted_before() {
    for (how, removed) in [(Leave::Keeper, 0), (Leave::Keeper, 1), (Leave::Chain, 0), (Leave::Chain, 1)] {
        play(move |stage| async move {
            let [a, b, c] = clients(&stage).await;
            let inside = all_inside(&stage, &[a.clone(), b.clone()], how).await;
            c.zk.delete(inside[removed].path(), None).await.expect("it is there");
            assert_eq!(inside[removed].lost().await, Stop::Lost(LostReason::Removed));
            let leaving = inside.into_iter().zip([&a, &b]).map(|(inside, client)| leaves(client, inside));
            let out = join_all(leaving).await;
            assert_eq!(out[removed], Ok(Released::WasLost(LostReason::Removed)), "{how:?}");
            assert_eq!(out[1 - removed], Ok(Released::Clean), "{how:?}");
        });
    }
}

#[test]
fn all_leave_although_a_stranger_has_taken_ready() {
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        for (how, late) in [(Leave::Keeper, false), (Leave::Keeper, true), (Leave::Chain, false)] {
            play(move |stage| async move {
                let all: [Client; 3] = clients(&stage).await;
                let stranger = stage.client("stranger").await;
                let inside = all_inside(&stage, &all, how).await;
                let mut inside: Vec<Option<Place>> = inside.into_iter().map(Some).collect();
                let taken = || stranger.zk.delete("/step/0/ready", None);
                if !late {
                    taken().await.expect("it is there");
                }
                let mut leaving = Vec::new();
                for (number, who) in order.into_iter().enumerate() {
                    leaving.push(leaves(&all[who], inside[who].take().expect("it leaves once")));
                    stage.settle().await;
                    if late && number == 0 {
                        taken().await.expect("it is there");
                        stage.settle().await;
                    }
                    let is_last = number == 2;
                    for out in &mut leaving {
                        let is_out: &mut Leaving = out;
                        assert!(is_last || is_out.as_mut().now_or_never().is_none(), "{order:?} {how:?}");
                    }
                }
                for out in leaving {
                    out.await.expect("it is out");
                }
                stage.settle().await;
                for client in &all {
                    client.has_left_nothing(&stage, "after leaving");
                }
            });
        }
    }
}

#[test]
fn strangers_in_the_directory_do_not_count() {
    play(|stage| async move {
        let [a, b, c] = clients(&stage).await;
        let mut waiting = enters(&a, options(2));
        stage.settle().await;
        for foreign in ["x", "x-member-", "x-member-7", "member-0000000001"] {
            c.makes(&format!("{STEP}/0/{foreign}")).await;
        }
        c.makes(&format!("{STEP}/1")).await;
        stage.settle().await;
        assert!(waiting.as_mut().now_or_never().is_none(), "one is not enough");
        let other = enters(&b, options(2)).await.expect("it is in");
        let leaving = (leaves(&a, waiting.await.expect("it is in")), leaves(&b, other));
        leaving.0.await.and(leaving.1.await).expect("they are out");
    });
}

#[test]
fn what_is_set_up_otherwise_is_a_mismatch_and_no_hang() {
    play(|stage| async move {
        let [a, b, c, d] = clients(&stage).await;
        let waiting = enters(&a, options(3));
        stage.settle().await;
        let other = step(&b, options(2)).enter().await;
        assert!(other.expect_err("it is for three").is_mismatch());
        // A stranger moves the generation on, which the next participant tells those who wait.
        c.zk.set(STEP, b"3", None).await.expect("it is written");
        let _next = enters(&d, options(3));
        assert!(waiting.await.expect_err("nobody opened it").is_mismatch());
        c.zk.set(STEP, b"three", None).await.expect("it is written");
        assert!(step(&b, options(3)).enter().await.expect_err("not a number").is_mismatch());
        let mine = DoubleBarrier::new(&b.zk, "/mine", options(1)).expect("a good path");
        drop(mine.enter().await.expect("it is in"));
        c.zk.create("/mine/1/ready", b"?", CreateMode::Persistent).await.expect("it is made");
        assert!(mine.enter().await.expect_err("not ours").is_mismatch());
        stage.settle().await;
        b.has_left_nothing(&stage, "after errors");
    });
}

#[test]
fn a_foreign_ready_at_the_last_moment_is_a_mismatch_and_no_hang() {
    play(|stage| async move {
        let [a, b, c, stranger] = clients(&stage).await;
        let _waiting = (enters(&a, options(3)), enters(&b, options(3)));
        stage.settle().await;
        let bent = Bent::straight(&c.zk);
        // The first transaction joins, the second one opens.
        bent.waits_later(Kind::Multi, 1, async move {
            let made = stranger.zk.create("/step/0/ready", b"?", CreateMode::Persistent).await;
            made.expect("nobody has opened it");
        });
        let three = DoubleBarrier::new(&bent, STEP, options(3)).expect("the input is good");
        assert!(three.enter().await.expect_err("it was not opened").is_mismatch());
    });
}

#[test]
fn who_is_deleted_right_before_it_opens_is_told_so() {
    play(|stage| async move {
        let [a, stranger] = clients(&stage).await;
        // The barrier is there.
        let before = step(&stranger, options(1)).enter().await.expect("it is for one");
        before.leave().await.expect("it is out");
        let bent = Bent::straight(&a.zk);
        let sim = stage.clone();
        // The first transaction joins, the second one opens.
        bent.waits_later(Kind::Multi, 1, async move {
            let own = a.znodes(&sim).remove(0);
            stranger.zk.delete(&own, None).await.expect("it has joined");
        });
        let alone = DoubleBarrier::new(&bent, STEP, options(1)).expect("the input is good");
        assert!(alone.enter().await.expect_err("its znode is gone").is_removed());
    });
}

#[test]
fn a_barrier_that_vanishes_is_made_again() {
    play(|stage| async move {
        let [a, b, c] = clients(&stage).await;
        let (left, right) = (step(&a, options(2)), step(&b, options(2)));
        for round in 0..3 {
            let (one, other) = futures_util::join!(left.enter(), right.enter());
            let (one, other) = (one.expect("in"), other.expect("in"));
            assert_eq!((one.generation(), other.generation()), (0, 0), "it began anew, {round}");
            let (one, other) = futures_util::join!(one.leave(), other.leave());
            one.and(other).expect("out");
            for gone in ["/step/0", "/step/1", "/step"] {
                c.zk.delete(gone, None).await.expect("it is empty");
            }
        }
        // And the directory alone.
        drop(step(&c, options(1)).enter().await);
        stage.settle().await;
        c.zk.delete("/step/1", None).await.expect("it is empty");
        drop(step(&c, options(1)).enter().await.expect("it is made"));
        let must_exist = options(1).with_parents(Parents::MustExist);
        let nowhere = DoubleBarrier::new(&c.zk, "/no/where", must_exist).expect("a good path");
        assert_eq!(nowhere.enter().await.map(drop), Err(ErrorKind::NoNode.into()));
        for parents in [Parents::Container, Parents::Persistent] {
            let path = format!("/{parents:?}/a/b");
            let deep = DoubleBarrier::new(&c.zk, &path, options(1).with_parents(parents));
            drop(deep.expect("a good path").enter().await.expect("it is in"));
        }
    });
}

#[test]
fn who_leaves_a_barrier_that_was_taken_away_does_not_wait_for_those_who_gather_anew() {
    for how in [Leave::Keeper, Leave::Chain] {
        play(move |stage| async move {
            let [a, b, c, d] = clients(&stage).await;
            let inside = all_inside(&stage, &[a.clone(), b.clone()], how).await;
            let mut taken: Vec<String> = [&a, &b].into_iter().flat_map(|who| who.znodes(&stage)).collect();
            taken.sort_by_key(|path| std::cmp::Reverse(path.len()));
            for path in taken.iter().map(String::as_str).chain(["/step/0", "/step/1", "/step"]) {
                match d.zk.delete(path, None).await {
                    Ok(()) => {}
                    Err(e) if e.is_no_node() => {}
                    Err(e) => panic!("{path} can be taken away: {e}"),
                }
            }
            let mut gathers = enters(&c, options(2));
            stage.settle().await;
            assert!(gathers.as_mut().now_or_never().is_none(), "one is not enough");
            let leaving = inside.into_iter().zip([&a, &b]).map(|(inside, client)| leaves(client, inside));
            for out in join_all(leaving).await {
                out.expect("it is out");
            }
            let other = enters(&d, options(2)).await.expect("it is in");
            let leaving = (leaves(&c, gathers.await.expect("it is in")), leaves(&d, other));
            leaving.0.await.and(leaving.1.await).expect("they are out");
        });
    }
}

#[test]
fn who_registers_once_more_when_all_was_taken_away_is_not_the_one_who_was_counted() {
    for how in WAYS {
        // Its requests until it has registered are four.
        let registered = (0..4).map(|nth| {
            let (was_registered, _) = play_struck(Fault::ReplyLost, nth, move |stage, danger| async move {
                let [a, b, c, d] = clients(&stage).await;
                let of = |id| named(3, id).with_leave(how);
                danger.begins();
                let registering = enters(&b, of("b"));
                stage.pass(&d, RECONNECT / 3).await;
                if b.znodes(&stage).is_empty() {
                    return false;
                }
                let entering = join_all([enters(&a, of("a")), enters(&c, of("c"))]).await;
                let members = [&a, &b, &c].into_iter().flat_map(|who| who.znodes(&stage));
                let below = members.chain(["/step/0", "/step/1", "/step"].map(str::to_owned));
                let ops = below.map(|path| Op::Delete { path, version: None });
                d.zk.multi(ops.collect()).await.expect("it is all there");
                // It registers again.
                stage.pass(&d, 2 * RECONNECT).await;
                let leaving = entering.into_iter().zip([&a, &c]);
                let leaving = leaving.map(|(inside, client)| leaves(client, inside.expect("it is in")));
                let leaving: Vec<_> = leaving.collect();
                stage.pass(&d, 2 * RECONNECT).await;
                for out in leaving {
                    let out = out.now_or_never();
                    out.expect("it waits for nobody who was not inside").expect("it is out");
                }
                assert_eq!(b.znodes(&stage).len(), 1);
                drop(registering);
                true
            });
            was_registered
        });
        assert!(registered.filter(|was_registered| *was_registered).count() > 0);
    }
}

#[test]
fn a_session_that_ends_ends_everything() {
    play(|stage| async move {
        let [a, b, c] = clients(&stage).await;
        let waiting = enters(&c, options(3));
        let inside = {
            stage.settle().await;
            let two = [enters(&a, options(3)), enters(&b, options(3))];
            join_all(two).await.into_iter().map(|entered| entered.expect("in")).collect::<Vec<_>>()
        };
        let kept = waiting.await.expect("in");
        let mut inside = inside.into_iter();
        let (first, second) = (inside.next().expect("a"), inside.next().expect("b"));
        let leaving = leaves(&b, second);
        stage.settle().await;
        b.process.inflict(Fault::SessionExpiry, 3 * TIMEOUT);
        assert!(leaving.await.expect_err("b's session ends").is_session_over());
        c.process.inflict(Fault::SessionExpiry, 3 * TIMEOUT);
        first.leave().await.expect("the sessions of the others have ended");
        stage.pass(&a, 3 * TIMEOUT).await;
        assert!(matches!(kept.state(), HoldState::Lost(_)), "{:?}", kept.state());
        assert!(kept.leave().await.expect_err("c's session ended").is_session_over());
        assert!(step(&c, options(1)).enter().await.expect_err("for good").is_session_over());
    });
}

/// An opening is one transaction with a write for each participant.
#[test]
fn more_than_fit_into_one_request_are_refused_in_one_sentence() {
    play(|stage| async move {
        let [a, b, c] = clients(&stage).await;
        let _waits = enters(&a, options(2));
        stage.settle().await;
        let made = |number: usize| Op::Create {
            path: format!("{STEP}/0/{number:032x}-member-{:010}", number + 1),
            data: Vec::new(),
            mode: CreateMode::Persistent,
        };
        let numbers: Vec<usize> = (0..6_000).collect();
        for some in numbers.chunks(500) {
            c.zk.multi(some.iter().map(|number| made(*number)).collect()).await.expect("they are made");
        }
        let refused = enters(&b, options(2)).await.expect_err("a request has its limits");
        assert!(refused.is_bad_input(), "{refused}");
        let sentence = refused.to_string();
        assert!(sentence.contains("6002 have joined: to open it takes 1"), "{sentence}");
        stage.settle().await;
        assert_eq!(b.znodes(&stage), [""; 0], "who could not open it is out");
    });
}

/// A stranger takes a participant's znode while that one hears nothing, others open without it, and its limit passes.
#[test]
fn who_was_removed_before_the_others_opened_learns_it_at_its_limit() {
    play(|stage| async move {
        let [a, b, c] = clients(&stage).await;
        let stranger = stage.client("stranger").await;
        let barrier = step(&a, options(2));
        let limit = Duration::from_secs(2);
        let entering = a.process.spawn(async move { barrier.enter().within(limit).await });
        stage.pass(&a, Duration::from_millis(1_900)).await;
        let own = a.znodes(&stage).remove(0);
        // For an eighth of its session timeout.
        a.process.order(Fault::ClientDeafened);
        drop(a.zk.exists("/"));
        stranger.zk.delete(&own, None).await.expect("it is there");
        let (one, other) = (enters(&b, options(2)), enters(&c, options(2)));
        let (one, other) = (one.await.expect("it is in"), other.await.expect("it is in"));
        let told = entering.await.expect("its process lives").expect_err("it is not inside");
        assert!(told.is_removed(), "{told}");
        for out in join_all([leaves(&b, one), leaves(&c, other)]).await {
            out.expect("it is out");
        }
    });
}

/// Behind each participant that goes, the keeper lists and watches the next one in one flight.
#[test]
fn a_keeper_waits_for_the_next_one_in_one_round_trip() {
    play(|stage| async move {
        let all: [Client; 4] = clients(&stage).await;
        let keeper = &all[3];
        let mut leaving = Vec::new();
        let mut inside = all_inside(&stage, &all, Leave::Keeper).await;
        while let Some(highest) = inside.pop() {
            let mark = stage.mark();
            leaving.push(leaves(&all[inside.len()], highest));
            stage.settle().await;
            let sent_by_it = |event: &SimEvent<'_>| matches!(event, SimEvent::Sent { process, .. } if *process == keeper.process.id());
            let happened = stage.since(mark).into_iter();
            let sent: Vec<u64> = happened.filter(|(_, event)| sent_by_it(event)).map(|(at, _)| at).collect();
            // The first flight is its own leaving; behind the last participant it deletes everything.
            if (1..3).contains(&inside.len()) {
                assert!(sent.len() == 2 && sent[0] == sent[1], "{} left: {sent:?}", inside.len());
            }
        }
        for out in join_all(leaving).await {
            out.expect("it is out");
        }
    });
}

/// Whoever finds that a generation was ended by a foreign write wakes each of those left behind, by one write each.
#[test]
fn each_of_those_left_behind_is_woken_once() {
    play(|stage| async move {
        let [a, b, c, d] = clients(&stage).await;
        let (first, second) = (enters(&a, options(3)), enters(&b, options(3)));
        stage.settle().await;
        c.zk.set(STEP, b"3", None).await.expect("it is written");
        let mark = stage.mark();
        let _next = enters(&d, options(3));
        for told in [first.await, second.await] {
            assert!(told.expect_err("nobody opened it").is_mismatch());
        }
        stage.settle().await;
        let sets = d.sent(&stage, mark).into_iter().filter(|kind| *kind == Kind::Set).count();
        assert_eq!(sets, 2, "one write for each");
    });
}

#[test]
fn who_was_written_to_by_a_stranger_right_before_the_opening_is_still_inside() {
    play(|stage| async move {
        let [a, b] = clients(&stage).await;
        let chain = options(2).with_leave(Leave::Chain);
        let bent = Bent::straight(&a.zk);
        let first = DoubleBarrier::new(&bent, STEP, chain.clone()).expect("the input is good");
        let mut entering = Box::pin(async move { first.enter().await });
        assert!((&mut entering).now_or_never().is_none(), "one is not enough");
        let waiting = a.process.spawn(entering);
        stage.settle().await;
        // The stranger's write makes the participant look, arm its watch again, and look a second time: the barrier opens before
        // the first read of that look, and the watch reports the opening while nobody waits for it.
        let (by, on) = (b.clone(), stage.clone());
        let opens = async move {
            let inside = step(&by, chain).enter().await.expect("it opens");
            on.pass(&by, Duration::from_millis(200)).await;
            std::mem::forget(inside);
        };
        bent.waits_later(Kind::Get, 4, opens);
        let own = a.znodes(&stage).pop().expect("it has joined");
        b.zk.set(&own, b"mine", None).await.expect("it is there");
        let inside = waiting.await.expect("its process lives").expect("it is in");
        let lost = inside.lost();
        let lost = dropping(Drops::Later(1_000), &stage, &a, lost).await;
        assert_eq!(lost, None, "its znode is there");
        assert_eq!(inside.state(), HoldState::Held);
    });
}

/// Enters until its znode is there, and no further: whoever drives the future lets it go on.
async fn joins(on: &Client, stage: &Stage, participants: usize) -> Entering {
    let barrier = step(on, options(participants));
    let mut entering: Entering = Box::pin(async move { barrier.enter().await });
    while on.znodes(stage).is_empty() {
        assert!((&mut entering).now_or_never().is_none(), "it is not in yet");
        stage.settle().await;
    }
    entering
}

#[test]
fn who_is_deleted_before_it_looks_opens_for_nobody() {
    play(|stage| async move {
        let [a, b, c, stranger] = clients(&stage).await;
        let (_others, last) =
            ([joins(&a, &stage, 2).await, joins(&b, &stage, 2).await], joins(&c, &stage, 2).await);
        let own = c.znodes(&stage).remove(0);
        stranger.zk.delete(&own, None).await.expect("it has joined");
        assert!(last.await.expect_err("its znode is gone").is_removed());
        assert_eq!(stranger.zk.exists("/step/0/ready").await, Ok(None), "it is not open");
    });
}

#[test]
fn who_finds_the_barrier_open_as_it_begins_to_wait_keeps_its_watch() {
    play(|stage| async move {
        let [a, b, stranger] = clients(&stage).await;
        let first = joins(&a, &stage, 2).await;
        let _second = step(&b, options(2)).enter().await.expect("it opens");
        let inside = first.await.expect("it is in");
        let mark = stage.mark();
        assert_eq!(inside.lost().now_or_never(), None);
        stage.settle().await;
        assert_eq!(a.sent(&stage, mark), [], "it watches its znode");
        stranger.zk.delete(inside.path(), None).await.expect("it is there");
        assert_eq!(inside.lost().await, Stop::Lost(LostReason::Removed));
    });
}
