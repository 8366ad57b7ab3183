//! Standing, taking office, acknowledging.

use super::*;

#[test]
fn standing_with_nobody_ahead_costs_two_requests() {
    play(|stage| async move {
        let a = stage.founder().await;
        let (mark, before) = (stage.mark(), stage.sim.now());
        let term = takes_office(&a).await;
        assert_eq!(stage.sim.now().since(before), Duration::from_millis(10), "one round trip");
        stage.settle().await;
        assert_eq!(a.sent(&stage, mark), [Kind::Create, Kind::Children]);
        assert_eq!(a.watches(&stage), Vec::<String>::new(), "nobody has asked whether it still leads");
        let name = path::split(term.path()).1;
        assert_eq!((&name[32..35], name.len()), ("-n_", 45), "{name}");
        assert_eq!(term.state(), HoldState::Held);
        drop(term);
    });
}

#[test]
fn a_leader_that_asks_watches_its_own_candidate() {
    play(|stage| async move {
        let a = stage.founder().await;
        let term = takes_office(&a).await;
        stage.settle().await;
        let mark = stage.mark();
        for _ in 0..3 {
            assert!(term.lost().now_or_never().is_none());
            assert!(term.run(std::future::pending::<()>()).now_or_never().is_none());
            stage.settle().await;
        }
        assert_eq!(a.sent(&stage, mark), [Kind::Children], "once a term");
        assert_eq!(a.watches(&stage), [term.path()]);
        assert_eq!(term.resign().await, Ok(Released::Clean));
        stage.settle().await;
        assert_eq!(a.noticed(&stage, mark), 1, "its own end");
    });
}

#[test]
fn a_leaders_going_wakes_the_next_candidate_and_nobody_else() {
    play(|stage| async move {
        let (a, b, c) = (stage.founder().await, stage.client("b").await, stage.client("c").await);
        let first = takes_office(&a).await;
        let second = stands(&b);
        stage.settle().await;
        let mut third = stands(&c);
        stage.settle().await;
        let mark = stage.mark();
        let token = first.token();
        assert_eq!(first.resign().await, Ok(Released::Clean));
        let second = second.await.expect("it is elected");
        assert!(second.token() > token, "tokens grow");
        stage.settle().await;
        assert!((&mut third).now_or_never().is_none());
        assert_eq!(a.sent(&stage, mark), [Kind::Delete], "nothing was on record");
        assert_eq!(b.sent(&stage, mark), [Kind::Children], "a list");
        assert_eq!((b.noticed(&stage, mark), c.noticed(&stage, mark)), (1, 0));
        drop(second);
        drop(third.await.expect("it is elected"));
    });
}

#[test]
fn an_acknowledgement_costs_one_request_and_tells_every_observer() {
    play(|stage| async move {
        let (a, b, c) = (stage.founder().await, stage.client("b").await, stage.client("c").await);
        let (mut sees, mut sees_too) = (election(&b).follow(), election(&c).follow());
        assert_eq!(sees.next().await, Ok(unacknowledged(&[])));
        let term = takes_office(&a).await;
        assert_eq!(sees_too.next().await, Ok(unacknowledged(&[(term.path(), 0)])));

        let mark = stage.mark();
        assert_eq!(term.acknowledge(b"a:1").await, Ok(()));
        assert_eq!(a.sent(&stage, mark), [Kind::Multi]);
        assert_eq!(sees.next().await, Ok(acknowledged(&term, b"a:1")));
        assert_eq!(sees_too.next().await, Ok(acknowledged(&term, b"a:1")));
        assert_eq!(b.sent(&stage, mark), [Kind::Get, Kind::Children], "a change costs two requests");

        let mark = stage.mark();
        assert_eq!(term.resign().await, Ok(Released::Clean));
        assert_eq!(a.sent(&stage, mark), [Kind::Multi]);
        assert_eq!(sees.next().await, Ok(unacknowledged(&[])));
        assert_eq!(b.sent(&stage, mark), [Kind::Get, Kind::Children, Kind::Exists]);
        a.has_left_nothing(&stage, "after it resigned");
    });
}

#[test]
fn an_acknowledgement_that_is_lost_is_made_once() {
    for fault in [Fault::RequestLost, Fault::ReplyLost, Fault::Disconnect] {
        play(move |stage| async move {
            let a = stage.founder().await;
            let term = takes_office(&a).await;
            let mark = stage.mark();
            a.process.order(fault);
            assert_eq!(term.acknowledge(b"a:1").await, Ok(()), "{fault:?}");
            assert_eq!(stage.joined(mark), 1, "{fault:?}");
            assert_eq!(a.znodes(&stage), [term.path(), RECORD], "{fault:?}");
            let mut sees = election(&a).follow();
            assert_eq!(sees.next().await, Ok(acknowledged(&term, b"a:1")));
            drop(term);
        });
    }
}

#[test]
fn one_acknowledgement_a_term() {
    play(|stage| async move {
        let a = stage.founder().await;
        let term = takes_office(&a).await;
        assert_eq!(term.acknowledge(b"a:1").await, Ok(()));
        let mark = stage.mark();
        assert_eq!(term.acknowledge(b"a:1").await, Ok(()), "it is on record already");
        assert_eq!(term.acknowledge(b"a:2").await, Err(ErrorKind::NodeExists.into()));
        assert_eq!(a.sent(&stage, mark), []);
        assert!(record_of(&a).await.ends_with(b"a:1"));
        drop(term);
    });
}

#[test]
fn an_acknowledgement_that_was_dropped_can_be_made_again() {
    for fault in [None, Some(Fault::RequestLost), Some(Fault::ReplyLost)] {
        play(move |stage| async move {
            let a = stage.founder().await;
            let term = takes_office(&a).await;
            let mark = stage.mark();
            if let Some(fault) = fault {
                a.process.order(fault);
            }
            assert!(term.acknowledge(b"a:1").now_or_never().is_none());
            stage.pass(&a, 2 * RECONNECT).await;
            assert_eq!(
                term.acknowledge(b"a:2").await,
                Err(ErrorKind::NodeExists.into()),
                "it may be on record"
            );
            assert_eq!(term.acknowledge(b"a:1").await, Ok(()));
            assert_eq!(stage.joined(mark), 1, "{fault:?}");
            drop(term);
        });
    }
}

#[test]
fn one_who_was_deposed_cannot_acknowledge() {
    play(|stage| async move {
        let (a, b) = (stage.founder().await, stage.client("b").await);
        let term = takes_office(&a).await;
        let next = stands(&b);
        stage.settle().await;
        is_evicted(term.path(), &b).await;
        assert!(term.acknowledge(b"a:1").await.expect_err("it is over").is_removed());
        let next = next.await.expect("it is elected");
        assert_eq!(next.acknowledge(b"b:1").await, Ok(()));
        assert!(term.acknowledge(b"a:1").await.expect_err("it is over").is_removed());
        assert_eq!(term.state(), HoldState::Lost(LostReason::Removed));
        let mut sees = election(&a).follow();
        assert_eq!(sees.next().await, Ok(acknowledged(&next, b"b:1")));

        // Nor does what it leaves behind do any harm.
        assert_eq!(term.resign().await, Ok(Released::WasLost(LostReason::Removed)));
        stage.settle().await;
        assert!(record_of(&a).await.ends_with(b"b:1"));
        drop(next);
    });
}

#[test]
fn an_evicted_leader_is_told_at_once() {
    play(|stage| async move {
        let (a, b) = (stage.founder().await, stage.client("b").await);
        let term = takes_office(&a).await;
        assert!(term.lost().now_or_never().is_none());
        stage.settle().await;
        let mark = stage.mark();
        is_evicted(term.path(), &b).await;
        assert_eq!(term.lost().await, Stop::Lost(LostReason::Removed));
        assert_eq!(a.sent(&stage, mark), [], "by the watch of the first call");
        assert_eq!(term.run(std::future::pending::<()>()).await, Err(Stop::Lost(LostReason::Removed)));
        assert_eq!(term.resumed().await, Err(LostReason::Removed));
    });
}

#[test]
fn a_relic_is_not_obeyed_and_the_next_leader_replaces_it() {
    for fault in [None, Some(Fault::RequestLost), Some(Fault::ReplyLost)] {
        for dropped in [false, true] {
            play(move |stage| async move {
                let (a, b, c) = (stage.founder().await, stage.client("b").await, stage.client("c").await);
                let relic = takes_office(&a).await;
                relic.acknowledge(b"a:1").await.expect("it leads");
                let next = stands(&b);
                stage.settle().await;
                is_evicted(relic.path(), &c).await;
                let term = next.await.expect("it is elected");
                let mut sees = election(&c).follow();
                assert_eq!(
                    sees.next().await,
                    Ok(unacknowledged(&[(term.path(), 2)])),
                    "the record is a relic"
                );

                let relic = (!dropped).then_some(relic);
                stage.settle().await;
                let mark = stage.mark();
                if let Some(fault) = fault {
                    b.process.order(fault);
                }
                assert_eq!(term.acknowledge(b"b:1").await, Ok(()), "{fault:?}");
                if fault.is_none() {
                    // What a relic's owner drops it takes away itself, although its candidate is gone.
                    let replaces = [Kind::Multi, Kind::Get, Kind::Get, Kind::Multi];
                    let expected = if dropped { &replaces[3..] } else { &replaces };
                    assert_eq!(b.sent(&stage, mark), expected);
                }
                assert_eq!(sees.next().await, Ok(acknowledged(&term, b"b:1")));
                drop(relic);
                stage.settle().await;
                assert!(record_of(&c).await.ends_with(b"b:1"), "what the other leaves is not the record");
                assert_eq!(term.resign().await, Ok(Released::Clean));
                b.has_left_nothing(&stage, "after it resigned");
            });
        }
    }
}

#[test]
fn a_relic_goes_with_its_term_although_the_candidate_is_gone() {
    for dropped in [false, true] {
        play(move |stage| async move {
            let (a, b) = (stage.founder().await, stage.client("b").await);
            let term = takes_office(&a).await;
            term.acknowledge(b"a:1").await.expect("it leads");
            is_evicted(term.path(), &b).await;
            if dropped {
                drop(term);
            } else {
                assert_eq!(term.resign().await, Ok(Released::WasLost(LostReason::Removed)));
            }
            stage.settle().await;
            a.has_left_nothing(&stage, "after the term");
        });
    }
}

#[test]
fn nothing_is_left_when_a_candidate_is_evicted_while_its_leader_resigns() {
    for half_ms in 0..40 {
        for fault in [None, Some(Fault::ReplyLost), Some(Fault::RequestLost)] {
            play(move |stage| async move {
                let (a, b) = (stage.founder().await, stage.client("b").await);
                let term = takes_office(&a).await;
                term.acknowledge(b"a:1").await.expect("it leads");
                let candidate = term.path().to_owned();
                let evicts = async {
                    stage.pass(&b, Duration::from_micros(half_ms * 500)).await;
                    let _ = b.zk.delete(&candidate, None).await;
                };
                let resigns = async {
                    stage.pass(&a, Duration::from_millis(10)).await;
                    if let Some(fault) = fault {
                        a.process.order(fault);
                    }
                    term.resign().await.expect("that needs no luck")
                };
                futures_util::future::join(evicts, resigns).await;
                stage.settle().await;
                a.has_left_nothing(&stage, "after its term");
            });
        }
    }
}

#[test]
fn a_relic_that_is_taken_away_and_replaced_at_the_same_time_leaves_the_new_record() {
    for half_ms in 0..100 {
        for fault in [None, Some(Fault::ReplyLost), Some(Fault::RequestLost)] {
            play(move |stage| async move {
                let (a, b, c) = (stage.founder().await, stage.client("b").await, stage.client("c").await);
                a.zk.set(DIRECTORY, b"the directory's own", None).await.expect("it is there");
                let relic = takes_office(&a).await;
                relic.acknowledge(b"a:1").await.expect("it leads");
                let next = stands(&b);
                stage.settle().await;
                is_evicted(relic.path(), &c).await;
                let term = next.await.expect("it is elected");
                if let Some(fault) = fault {
                    a.process.order(fault);
                }
                let goes = async {
                    stage.pass(&a, Duration::from_micros(half_ms * 500)).await;
                    drop(relic);
                };
                let (acknowledged, ()) = futures_util::future::join(term.acknowledge(b"b:1"), goes).await;
                assert_eq!(acknowledged, Ok(()));
                stage.pass(&c, 2 * RECONNECT).await;
                stage.settle().await;
                assert!(record_of(&c).await.ends_with(b"b:1"), "after {half_ms} half milliseconds");
                assert_eq!(c.zk.get(DIRECTORY).await.expect("it is there").data, b"the directory's own");
                a.has_left_nothing(&stage, "after its term");
                drop(term);
            });
        }
    }
}

#[test]
fn what_a_former_leader_takes_away_late_is_its_own_record_alone() {
    for deaf_after in 40..100 {
        play(move |stage| async move {
            let (a, b) = (stage.founder().await, stage.client("b").await);
            let first = takes_office(&a).await;
            first.acknowledge(b"a:1").await.expect("it leads");
            let next = stands(&b);
            stage.settle().await;
            let acknowledges = b.process.spawn(async move {
                let term = next.await.expect("it is elected");
                assert_eq!(term.acknowledge(b"b:1").await, Ok(()));
                term
            });
            // Refusals hold up each request of the clean-up in turn, then its replies are late.
            a.process.order(Fault::Throttled);
            drop(first);
            for ms in [8, 20] {
                stage.pass(&a, Duration::from_millis(ms)).await;
                a.process.order(Fault::Throttled);
            }
            stage.pass(&a, Duration::from_millis(deaf_after - 28)).await;
            a.process.inflict(Fault::ClientDeafened, Duration::from_millis(150));
            let term = acknowledges.await.expect("its process lives");
            stage.pass(&a, Duration::from_secs(1)).await;
            stage.settle().await;
            assert!(record_of(&b).await.ends_with(b"b:1"), "deaf after {deaf_after} ms");
            a.has_left_nothing(&stage, "after its term");
            drop(term);
        });
    }
}

#[test]
fn a_strangers_record_is_not_obeyed_and_is_replaced() {
    for content in [&b""[..], b"leader", b"x-n_0000000000 7\nme", b"\xff\xff"] {
        play(move |stage| async move {
            let (a, stranger) = (stage.founder().await, stage.client("stranger").await);
            stranger.zk.create(RECORD, content, CreateMode::Persistent).await.expect("it can be made");
            let term = takes_office(&a).await;
            let mut sees = election(&stranger).follow();
            assert_eq!(sees.next().await, Ok(unacknowledged(&[(term.path(), 1)])));
            assert_eq!(term.acknowledge(b"a:1").await, Ok(()));
            assert_eq!(sees.next().await, Ok(acknowledged(&term, b"a:1")));
            drop(term);
        });
    }
}

#[test]
fn a_relic_that_goes_meanwhile_is_no_error() {
    for half_ms in 0..80 {
        play(move |stage| async move {
            let (a, stranger) = (stage.founder().await, stage.client("stranger").await);
            stranger.makes_ephemeral(RECORD).await;
            let term = takes_office(&a).await;
            let goes = async {
                stage.pass(&stranger, Duration::from_micros(half_ms * 500)).await;
                let _ = stranger.zk.delete(RECORD, None).await;
            };
            let (acknowledged, ()) = futures_util::future::join(term.acknowledge(b"a:1"), goes).await;
            assert_eq!(acknowledged, Ok(()), "after {half_ms} half milliseconds");
            drop(term);
            stage.settle().await;
            a.has_left_nothing(&stage, "after the term");
        });
    }
}

#[test]
fn a_record_that_a_stranger_took_away_is_no_error_at_the_end() {
    for dropped in [false, true] {
        play(move |stage| async move {
            let (a, stranger) = (stage.founder().await, stage.client("stranger").await);
            let term = takes_office(&a).await;
            term.acknowledge(b"a:1").await.expect("it leads");
            stranger.zk.delete(RECORD, None).await.expect("it is there");
            if dropped {
                drop(term);
            } else {
                assert_eq!(term.resign().await, Ok(Released::Clean));
            }
            stage.settle().await;
            a.has_left_nothing(&stage, "after the term");
            assert_eq!(stage.names(DIRECTORY), [""; 0]);
        });
    }
}
