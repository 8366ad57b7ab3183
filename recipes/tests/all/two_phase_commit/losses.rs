//! Replies that are lost, futures that are dropped, and what it costs.

use super::*;

#[test]
fn every_request_and_every_reply_may_be_lost() {
    for fault in [Fault::RequestLost, Fault::ReplyLost, Fault::Disconnect] {
        for form in FORMS {
            for vote in [Vote::Commit, Vote::Abort] {
                for nth in 0.. {
                    let ((), struck) = play_struck(fault, nth, move |stage, danger| async move {
                        let (c, a, b) =
                            (founder(&stage).await, stage.client("a").await, stage.client("b").await);
                        let coordinator = c.begins(form, &["a", "b"]).await;
                        danger.begins();
                        let deciding = spawned(&c, async move { coordinator.decision().await });
                        let voting = spawned(&b, {
                            let b = b.clone();
                            async move {
                                let voted = b.votes("b", vote).await;
                                let decision = voted.decision().await;
                                voted.finish().await.expect("it finishes");
                                decision
                            }
                        });
                        let voted = a.votes("a", Vote::Commit).await;
                        let decision = voted.decision().await;
                        // A vote for abort may come when it is all over: then it is not cast.
                        let expected = if vote == Vote::Abort { Decision::Abort } else { Decision::Commit };
                        assert_eq!(decision, Ok(expected), "{fault:?} {nth} {form:?}");
                        // The coordinator learns it while the record is there.
                        assert_eq!(deciding.await, Ok(expected), "{fault:?} {nth} {form:?}");
                        voted.finish().await.expect("it finishes");
                        assert_eq!(voting.await, Ok(expected));
                        stage.settle().await;
                        let left = stage.names("/app");
                        assert_eq!(left, Vec::<String>::new(), "{fault:?} {nth} {form:?}");
                        for client in [a, b, c] {
                            client.has_left_nothing(&stage, "after it is over");
                        }
                    });
                    if !struck {
                        break;
                    }
                }
            }
        }
    }
}

/// The time is over while a proposal is under way, and what the call then asks is denied: nobody knows whether it has decided.
#[test]
fn a_proposal_that_its_limit_overtakes_is_not_called_denied() {
    for form in [Form::Coordinator, Form::SiteEphemerals] {
        for limit in (0..40).map(|number| number * Duration::from_millis(2)) {
            for nth in 0.. {
                let ((), struck) = play_struck(Fault::AccessDenied, nth, move |stage, danger| async move {
                    let (c, a, b) = (founder(&stage).await, stage.client("a").await, stage.client("b").await);
                    let coordinator = c.begins(form, &["a", "b"]).await;
                    let voted = (a.votes("a", Vote::Commit).await, b.votes("b", Vote::Commit).await);
                    danger.begins();
                    let ended = coordinator.decision().within(limit).await;
                    stage.settle().await;
                    let is_decided = contents(&stage).contains(&"decision".to_owned());
                    let is_denied = ended.as_ref().is_err_and(Error::is_denied);
                    assert!(!(is_decided && is_denied), "{form:?} within {limit:?}, {nth}: {ended:?}");
                    drop(voted);
                });
                if !struck {
                    break;
                }
            }
        }
    }
}

#[test]
fn every_await_may_be_the_last() {
    for form in [PLAIN, Form::SiteEphemerals] {
        at_every_await(move |stage, danger, drops| async move {
            let (c, a, b) = (founder(&stage).await, stage.client("a").await, stage.client("b").await);
            let coordinator = c.begins(form, &["a", "b"]).await;
            let voted = b.votes("b", Vote::Commit).await;
            danger.begins();
            let work = async {
                let voted = a.votes("a", Vote::Commit).await;
                let decision = voted.decision().within(SHORT).await;
                voted.finish().await.expect("it finishes");
                decision
            };
            let ended = dropping(drops, &stage, &a, work).await;
            stage.pass(&a, 3 * RECONNECT).await;
            let others = voted.decision().within(SHORT).await.expect("the others go on");
            if let Some(decision) = &ended {
                assert_eq!(decision.as_ref(), Ok(&others), "dropped {drops:?}");
            }
            let again = a.opens("a").await;
            let vote = again.cast().unwrap_or(Vote::Commit);
            let again = again.vote(vote).await.expect("it goes on where it was");
            assert_eq!(again.decision().within(SHORT).await, Ok(others), "dropped {drops:?}");
            again.finish().await.expect("it finishes");
            voted.finish().await.expect("it finishes");
            drop(coordinator);
            stage.settle().await;
            assert_eq!(stage.names("/app"), Vec::<String>::new(), "dropped {drops:?}");
            a.has_left_nothing(&stage, &format!("dropped {drops:?}"));
            b.has_left_nothing(&stage, &format!("dropped {drops:?}"));
            ended.is_some()
        });
    }
}

#[test]
fn a_coordinator_may_be_dropped_at_every_await() {
    for form in [Form::Coordinator, Form::SiteEphemerals] {
        at_every_await(move |stage, danger, drops| async move {
            let (c, a) = (founder(&stage).await, stage.client("a").await);
            let coordinator = c.begins(form, &["a", "b"]).await;
            let opened = a.opens("a").await;
            danger.begins();
            let voting = spawned(&a, async move {
                let voted = opened.vote(Vote::Commit).await.expect("it votes");
                voted.decision().within(LIMIT * 9).await
            });
            let work = async { coordinator.decision().within(SHORT).await };
            let ended = dropping(drops, &stage, &c, work).await;
            if let Some(decision) = &ended {
                assert_eq!(decision, &Ok(Decision::Abort));
            }
            stage.pass(&c, 3 * RECONNECT).await;
            stage.settle().await;
            assert_eq!(voting.await, Ok(Decision::Abort), "dropped {drops:?}");
            drop(coordinator);
            stage.settle().await;
            c.has_left_nothing(&stage, &format!("dropped {drops:?}"));
            ended.is_some()
        });
    }
}

#[test]
fn forgetting_may_be_dropped_and_lost_at_every_await() {
    at_every_await(|stage, danger, drops| async move {
        let (c, a) = (founder(&stage).await, stage.client("a").await);
        let coordinator = c.begins(Form::Coordinator, &["a", "b"]).await;
        drop(a.votes("a", Vote::Commit).await);
        danger.begins();
        let ended = dropping(drops, &stage, &c, coordinator.forget()).await;
        assert!(ended.as_ref().is_none_or(Result::is_ok), "{ended:?}");
        stage.pass(&c, 3 * RECONNECT).await;
        match Coordinator::resume(&c.zk, TX).await {
            Ok(again) => again.forget().await.expect("it is forgotten"),
            Err(e) => assert_eq!(e, ErrorKind::NoTransaction(TX.into())),
        }
        assert_eq!(stage.names("/app"), Vec::<String>::new());
        ended.is_some()
    });
}

#[test]
fn a_server_that_lags_is_not_believed_when_it_knows_of_nothing() {
    let config = Config::default().with_servers(3);
    play_with(config, Calm, |stage| async move {
        let clients = [stage.client("c").await, stage.client("a").await, stage.client("b").await];
        let [c, a, b] = &clients;
        c.makes("/app").await;
        b.zk.sync("/").await.expect("it is connected");
        stage.settle().await;
        let leader = stage.sim.look(|world| world.leader_of_quorum());
        for server in (0..3).filter(|server| Some(*server) != leader) {
            stage.sim.inflict(Fault::ApplyStall, Victim::Server(server), Duration::from_secs(2));
        }
        let coordinator = c.begins(Form::Coordinator, &["a", "b"]).await;
        // Both are told of the transaction while their servers do not know it.
        let voted_a = a.votes("a", Vote::Commit).await;
        let voted_b = b.votes("b", Vote::Commit).await;
        assert_eq!(coordinator.decision().within(LIMIT).await, Ok(Decision::Commit));
        assert_eq!(voted_a.decision().within(LIMIT).await, Ok(Decision::Commit));
        assert_eq!(voted_b.decision().within(LIMIT).await, Ok(Decision::Commit));
    });
}

#[test]
fn without_a_coordinator_a_site_costs_five_requests_in_three_round_trips() {
    play(|stage| async move {
        let (c, a, b) = (founder(&stage).await, stage.client("a").await, stage.client("b").await);
        let mark = stage.mark();
        drop(c.begins(PLAIN, &["a", "b"]).await);
        assert_eq!(c.sent(&stage, mark), [Kind::Multi]);
        let before = stage.sim.now();
        let voted = a.votes("a", Vote::Commit).await;
        assert_eq!(stage.sim.now().since(before), Duration::from_millis(20), "two round trips");
        let waiting = spawned(&a, async move {
            let decided = voted.decision().await;
            (voted, decided)
        });
        let last = b.votes("b", Vote::Commit).await;
        assert_eq!(last.decision().now_or_never(), Some(Ok(Decision::Commit)));
        let (voted, decided) = waiting.await;
        assert_eq!(decided, Ok(Decision::Commit));
        let site = [Kind::MultiRead, Kind::Children, Kind::Multi, Kind::Get, Kind::Exists];
        assert_eq!(a.sent(&stage, mark), site);
        assert_eq!(stage.fired(mark), 2, "one a site");
        let mark = stage.mark();
        voted.finish().await.expect("it finishes");
        assert_eq!(a.sent(&stage, mark), [Kind::Multi, Kind::Exists]);
        let mark = stage.mark();
        last.finish().await.expect("it finishes");
        assert_eq!(b.sent(&stage, mark), [Kind::Multi, Kind::Exists, Kind::Multi]);
        assert_eq!(stage.count(0, |happening| matches!(happening, SimEvent::Disarmed { .. })), 0);
    });
}

#[test]
fn a_site_alone_decides_with_its_vote() {
    for form in FORMS {
        play(move |stage| async move {
            let a = founder(&stage).await;
            let coordinator = a.begins(form, &["a"]).await;
            let voted = a.votes("a", Vote::Commit).await;
            assert_eq!(coordinator.decision().await, Ok(Decision::Commit));
            assert_eq!(voted.decision().await, Ok(Decision::Commit));
            voted.finish().await.expect("it finishes");
            stage.settle().await;
            assert_eq!(stage.names("/app"), Vec::<String>::new(), "{form:?}");
        });
    }
}

#[test]
fn a_site_whose_session_ends_says_so() {
    play(|stage| async move {
        let (c, a) = (founder(&stage).await, stage.client("a").await);
        let coordinator = c.begins(PLAIN, &["a", "b"]).await;
        let opened = a.opens("a").await;
        let voted = a.votes("b", Vote::Commit).await;
        a.process.inflict(Fault::SessionExpiry, 3 * TIMEOUT);
        assert!(voted.decision().await.expect_err("it is over").is_session_over());
        assert!(opened.vote(Vote::Commit).await.expect_err("it is over").is_session_over());
        let open = Site::open(&a.zk, TX, "a").await;
        assert!(open.expect_err("it is over").is_session_over());
        let begun = Coordinator::begin(&a.zk, TX, of(PLAIN, &["a"])).await;
        assert!(begun.expect_err("it is over").is_session_over());
        let _ = a.zk.create("/x", &[], CreateMode::Persistent).await;
        drop(coordinator);
    });
}
