//! Voting and deciding.

use super::*;

#[test]
fn all_commit_when_all_vote_for_it_and_the_last_takes_everything_away() {
    for form in FORMS {
        play(move |stage| async move {
            let (c, a, b) = (founder(&stage).await, stage.client("a").await, stage.client("b").await);
            let coordinator = c.begins(form, &["a", "b"]).await;
            assert_eq!(contents(&stage), ["s_a", "s_b", "tally"]);
            assert_eq!(coordinator.sites(), ["a", "b"]);
            let deciding = spawned(&c, async move { coordinator.decision().await });
            let opened = a.opens("a").await;
            assert_eq!((opened.payload(), opened.cast()), (&b"p"[..], None));
            let voted_a = opened.vote(Vote::Commit).await.expect("it votes");
            let voted_b = b.votes("b", Vote::Commit).await;
            assert_eq!(voted_a.decision().await, Ok(Decision::Commit), "{form:?}");
            assert_eq!(voted_b.decision().await, Ok(Decision::Commit));
            assert_eq!(deciding.await, Ok(Decision::Commit));
            voted_a.finish().await.expect("it finishes");
            assert!(contents(&stage).contains(&"decision".to_owned()), "until all have learned it");
            voted_b.finish().await.expect("it finishes");
            stage.settle().await;
            assert_eq!(stage.names("/app"), Vec::<String>::new(), "{form:?}");
            for client in [a, b, c] {
                client.has_left_nothing(&stage, "after it is over");
            }
        });
    }
}

#[test]
fn one_vote_for_abort_decides_at_once() {
    for form in FORMS {
        play(move |stage| async move {
            let (c, a, b) = (founder(&stage).await, stage.client("a").await, stage.client("b").await);
            let coordinator = c.begins(form, &["a", "b", "never there"]).await;
            let deciding = spawned(&c, async move { coordinator.decision().await });
            let voted_b = b.votes("b", Vote::Commit).await;
            let waiting = spawned(&b, async move { voted_b.decision().await });
            stage.settle().await;
            let voted_a = a.votes("a", Vote::Abort).await;
            assert_eq!(
                voted_a.decision().now_or_never(),
                Some(Ok(Decision::Abort)),
                "it knows without asking"
            );
            assert_eq!(waiting.await, Ok(Decision::Abort));
            assert_eq!(deciding.await, Ok(Decision::Abort), "{form:?}");
            stage.settle().await;
            c.has_left_nothing(&stage, "after it is decided");
        });
    }
}

#[test]
fn who_comes_after_an_abort_is_told_and_has_not_voted() {
    for form in FORMS {
        play(move |stage| async move {
            let (c, a, b) = (founder(&stage).await, stage.client("a").await, stage.client("b").await);
            drop(c.begins(form, &["a", "b"]).await);
            let late = b.opens("b").await;
            let voted = a.votes("a", Vote::Abort).await;
            let mark = stage.mark();
            let late = late.vote(Vote::Commit).await.expect("it is told");
            assert_eq!(late.decision().await, Ok(Decision::Abort), "{form:?}");
            let later = b.opens("b").await;
            let again = later.cast();
            let later = later.vote(again.unwrap_or(Vote::Commit)).await.expect("it is told");
            assert_eq!(later.decision().now_or_never(), Some(Ok(Decision::Abort)));
            assert!(b.sent(&stage, mark).len() < 12, "nobody asks and asks");
            later.finish().await.expect("it finishes");
            voted.finish().await.expect("it finishes");
            drop(late);
            stage.settle().await;
            assert_eq!(stage.names("/app"), Vec::<String>::new(), "{form:?}");
        });
    }
}

#[test]
fn a_limit_aborts_while_a_vote_is_missing_and_never_afterwards() {
    for form in FORMS {
        play(move |stage| async move {
            let (c, a) = (founder(&stage).await, stage.client("a").await);
            let coordinator = c.begins(form, &["a", "b"]).await;
            let voted = a.votes("a", Vote::Commit).await;
            let before = stage.sim.now();
            assert_eq!(voted.decision().within(LIMIT).await, Ok(Decision::Abort), "{form:?}");
            assert!(stage.sim.now().since(before) >= LIMIT);
            assert_eq!(voted.decision().await, Ok(Decision::Abort));
            assert_eq!(coordinator.decision().within(LIMIT).await, Ok(Decision::Abort));
        });
        play(move |stage| async move {
            let (c, a, b) = (founder(&stage).await, stage.client("a").await, stage.client("b").await);
            drop(c.begins(form, &["a", "b"]).await);
            let voted = a.votes("a", Vote::Commit).await;
            drop(b.votes("b", Vote::Commit).await);
            // Nobody coordinates: the limit of a site does.
            assert_eq!(voted.decision().within(LIMIT).await, Ok(Decision::Commit), "{form:?}");
        });
    }
}

#[test]
fn a_coordinators_limit_aborts() {
    for form in FORMS {
        play(move |stage| async move {
            let (c, a) = (founder(&stage).await, stage.client("a").await);
            let coordinator = c.begins(form, &["a", "b"]).await;
            let voted = a.votes("a", Vote::Commit).await;
            assert_eq!(coordinator.decision().within(LIMIT).await, Ok(Decision::Abort), "{form:?}");
            assert_eq!(voted.decision().await, Ok(Decision::Abort));
        });
    }
}

#[test]
fn who_resumes_decides_what_is_undecided() {
    for (votes, expected) in [(1, Decision::Abort), (2, Decision::Commit)] {
        for form in FORMS {
            play(move |stage| async move {
                let (c, a) = (founder(&stage).await, stage.client("a").await);
                drop(c.begins(form, &["a", "b"]).await);
                let mut voted = Vec::new();
                for site in ["a", "b"].into_iter().take(votes) {
                    voted.push(a.votes(site, Vote::Commit).await);
                }
                let heir = Coordinator::resume(&c.zk, TX).await.expect("it resumes");
                assert_eq!(heir.decision().now_or_never(), Some(Ok(expected)), "{form:?}");
                for voted in voted {
                    assert_eq!(voted.decision().await, Ok(expected));
                }
            });
        }
    }
}

#[test]
fn what_a_former_session_has_voted_stands() {
    for form in FORMS {
        play(move |stage| async move {
            let (c, a) = (founder(&stage).await, stage.client("a").await);
            drop(c.begins(form, &["a", "b"]).await);
            let voted = a.votes("a", Vote::Commit).await;
            a.zk.close(TIMEOUT).await.expect("it is closed");
            assert!(voted.decision().await.expect_err("its session is over").is_session_over());

            let zk = a.process.open(TIMEOUT).await;
            let again = Site::open(&zk, TX, "a").await.expect("it opens");
            assert_eq!(again.cast(), Some(Vote::Commit));
            assert_eq!(again.vote(Vote::Abort).await.err(), Some(ErrorKind::AlreadyVoted.into()));
            let again = Site::open(&zk, TX, "a").await.expect("it opens");
            let again = again.vote(Vote::Commit).await.expect("it is the same");
            drop(c.votes("b", Vote::Commit).await);
            assert_eq!(again.decision().within(LIMIT).await, Ok(Decision::Commit));
            again.finish().await.expect("it finishes");
        });
    }
}

#[test]
fn two_handles_of_one_site_cast_one_vote() {
    play(|stage| async move {
        let (c, a) = (founder(&stage).await, stage.client("a").await);
        drop(c.begins(PLAIN, &["a", "b"]).await);
        let (first, second) = (a.opens("a").await, a.opens("a").await);
        drop(first.vote(Vote::Commit).await.expect("it votes"));
        assert_eq!(second.vote(Vote::Abort).await.err(), Some(ErrorKind::AlreadyVoted.into()));
        let third = a.opens("a").await;
        assert_eq!(third.cast(), Some(Vote::Commit));
    });
}

#[test]
fn votes_that_race_at_the_tally_are_all_counted() {
    play(|stage| async move {
        let c = founder(&stage).await;
        let sites = ["a", "b", "c", "d", "e"];
        drop(c.begins(PLAIN, &sites).await);
        let mut opened = Vec::new();
        for site in sites {
            let client = stage.client(site).await;
            opened.push((client.clone(), client.opens(site).await));
        }
        let mut voting = Vec::new();
        for (client, site) in opened {
            voting.push(spawned(&client, async move {
                site.vote(Vote::Commit).await.expect("it votes").decision().await
            }));
        }
        for decided in voting {
            assert_eq!(decided.await, Ok(Decision::Commit));
        }
    });
}

#[test]
fn a_site_that_dies_before_its_vote_is_told_at_once() {
    play(|stage| async move {
        let (c, a, b) = (founder(&stage).await, stage.client("a").await, stage.client("b").await);
        let coordinator = c.begins(Form::SiteEphemerals, &["a", "b"]).await;
        let deciding = spawned(&c, async move { coordinator.decision().await });
        let voted = a.votes("a", Vote::Commit).await;
        let opened = b.opens("b").await;
        stage.settle().await;
        assert_eq!(a.znodes(&stage), ["/app/tx/s_a/alive"]);
        assert_eq!(b.znodes(&stage), ["/app/tx/s_b/alive"]);
        drop(opened);
        assert_eq!(deciding.await, Ok(Decision::Abort));
        assert_eq!(voted.decision().await, Ok(Decision::Abort));
        stage.settle().await;
        b.has_left_nothing(&stage, "after it gave up");
    });
}

#[test]
fn a_coordinator_whose_look_at_a_site_fails_learns_all_the_same_that_it_died() {
    for fault in [Fault::Throttled, Fault::RequestLost, Fault::ReplyLost] {
        for nth in 0.. {
            let (_, struck) = play_struck(fault, nth, |stage, danger| async move {
                let (c, a, b) = (founder(&stage).await, stage.client("a").await, stage.client("b").await);
                let coordinator = c.begins(Form::SiteEphemerals, &["a", "b"]).await;
                let voted = a.votes("a", Vote::Commit).await;
                let opened = b.opens("b").await;
                danger.begins();
                let deciding = spawned(&c, async move { coordinator.decision().await });
                stage.pass(&c, 3 * RECONNECT).await;
                danger.ends();
                let silent = b.zk.close(TIMEOUT).await;
                assert_eq!((deciding.await, silent), (Ok(Decision::Abort), Ok(())), "{fault:?} at {nth}");
                drop((voted, opened));
            });
            if !struck {
                break;
            }
        }
    }
}

#[test]
fn who_has_opened_before_the_decision_votes_too_late_and_obeys() {
    for form in FORMS {
        for vote in [Vote::Abort, Vote::Commit] {
            play(move |stage| async move {
                let (c, a, b) = (founder(&stage).await, stage.client("a").await, stage.client("b").await);
                drop(c.begins(form, &["a", "b"]).await);
                let late = a.opens("a").await;
                let first = b.votes("b", Vote::Abort).await;
                assert_eq!(first.decision().await, Ok(Decision::Abort));
                let late = late.vote(vote).await.unwrap_or_else(|e| panic!("{form:?} {vote:?}: {e}"));
                assert_eq!(late.decision().await, Ok(Decision::Abort), "{form:?} {vote:?}");
            });
        }
    }
}

/// One transaction writes to the ephemeral and deletes it: the coordinator is notified of the write, and reads that it is gone.
#[test]
fn a_site_whose_ephemeral_is_written_and_deleted_at_once_has_died() {
    play(|stage| async move {
        let (c, a, b) = (founder(&stage).await, stage.client("a").await, stage.client("b").await);
        let coordinator = c.begins(Form::SiteEphemerals, &["a", "b"]).await;
        let deciding = spawned(&c, async move { coordinator.decision().await });
        let _voted = a.votes("a", Vote::Commit).await;
        let _opened = b.opens("b").await;
        stage.settle().await;
        let path = b.znodes(&stage).remove(0);
        let write = Op::Set { path: path.clone(), data: b"x".to_vec(), version: None };
        a.zk.multi(vec![write, Op::Delete { path, version: None }]).await.expect("it is there");
        assert_eq!(deciding.await, Ok(Decision::Abort));
    });
}

#[test]
fn a_site_that_dies_after_its_vote_changes_nothing() {
    play(|stage| async move {
        let (c, a, b) = (founder(&stage).await, stage.client("a").await, stage.client("b").await);
        let coordinator = c.begins(Form::SiteEphemerals, &["a", "b"]).await;
        let deciding = spawned(&c, async move { coordinator.decision().await });
        let voted = a.votes("a", Vote::Commit).await;
        b.zk.exists("/").await.expect("it is connected");
        stage.settle().await;
        drop(voted);
        stage.settle().await;
        let voted = b.votes("b", Vote::Commit).await;
        assert_eq!(voted.decision().await, Ok(Decision::Commit));
        assert_eq!(deciding.await, Ok(Decision::Commit));
        let again = a.votes("a", Vote::Commit).await;
        again.finish().await.expect("it finishes");
        voted.finish().await.expect("it finishes");
        stage.settle().await;
        assert_eq!(stage.names("/app"), Vec::<String>::new());
    });
}

#[test]
fn what_a_former_session_votes_at_the_last_moment_stands() {
    play(|stage| async move {
        let (c, a, b) = (founder(&stage).await, stage.client("a").await, stage.client("b").await);
        drop(c.begins(Form::SiteEphemerals, &["a", "b"]).await);
        let former = a.opens("a").await;
        let bent = Bent::straight(&b.zk);
        bent.waits_before(Kind::Multi, async move {
            let voted = former.vote(Vote::Commit).await.expect("it has not voted");
            a.zk.close(TIMEOUT).await.expect("it is closed");
            drop(voted);
        });
        let site = Site::open(&bent, TX, "a").await.expect("it opens");
        assert_eq!(site.cast(), Some(Vote::Commit));
        assert_eq!(b.znodes(&stage), [""; 0], "it shows no life of its own");
    });
}

#[test]
fn the_ephemeral_of_a_former_session_is_waited_for() {
    play(|stage| async move {
        let (c, a, b) = (founder(&stage).await, stage.client("a").await, stage.client("b").await);
        drop(c.begins(Form::SiteEphemerals, &["a", "b"]).await);
        let former = a.opens("a").await;
        let zk = b.zk.clone();
        let mut opening = Box::pin(spawned(&b, async move { Site::open(&zk, TX, "a").await }));
        stage.settle().await;
        assert!((&mut opening).now_or_never().is_none(), "it waits");
        a.zk.close(TIMEOUT).await.expect("it is closed");
        let site = opening.await.expect("it opens");
        assert_eq!(b.znodes(&stage), ["/app/tx/s_a/alive"]);
        drop((former, site));
    });
    play(|stage| async move {
        let (c, a, b) = (founder(&stage).await, stage.client("a").await, stage.client("b").await);
        drop(c.begins(Form::SiteEphemerals, &["a", "b"]).await);
        let former = a.opens("a").await;
        let zk = b.zk.clone();
        let opening = spawned(&b, async move { Site::open(&zk, TX, "a").await });
        stage.settle().await;
        let heir = Coordinator::resume(&c.zk, TX).await.expect("it resumes");
        let site = opening.await.expect("it does not wait when it is decided");
        assert_eq!(site.vote(Vote::Commit).await.expect("told").decision().await, Ok(Decision::Abort));
        stage.settle().await;
        b.has_left_nothing(&stage, "after it was told");
        drop((former, heir));
    });
}

#[test]
fn the_votes_of_the_others_are_seen_before_the_decision() {
    play(|stage| async move {
        let (c, a, b) = (founder(&stage).await, stage.client("a").await, stage.client("b").await);
        drop(c.begins(FOLLOWED, &["a", "b", "c"]).await);
        let voted_a = a.votes("a", Vote::Commit).await;
        let following = spawned(&a, async move {
            let mut seen = Vec::new();
            while let Some(vote) = voted_a.next_vote().await.expect("it follows") {
                seen.push(vote);
            }
            (seen, voted_a.decision().await)
        });
        stage.settle().await;
        assert_eq!(a.watches(&stage).len(), 3, "n - 1 votes and the decision");
        drop(b.votes("b", Vote::Commit).await);
        stage.settle().await;
        drop(c.votes("c", Vote::Commit).await);
        let (seen, decision) = following.await;
        assert_eq!(seen[0], ("b".to_owned(), Vote::Commit));
        assert_eq!(decision, Ok(Decision::Commit));
        stage.settle().await;
        a.has_left_nothing(&stage, "after it is decided");

        let other = Coordinator::begin(&c.zk, "/app/other", of(PLAIN, &["a", "b"])).await;
        drop(other.expect("it begins"));
        let plain = Site::open(&a.zk, "/app/other", "a").await.expect("it opens");
        let plain = plain.vote(Vote::Commit).await.expect("it votes");
        assert_eq!(plain.next_vote().now_or_never(), Some(Ok(None)), "nobody follows votes here");
    });
}

#[test]
fn a_coordinator_knows_its_transaction() {
    play(|stage| async move {
        let (c, d) = (founder(&stage).await, stage.client("d").await);
        let first = c.begins(PLAIN, &["a", "b"]).await;
        let second = Coordinator::resume(&d.zk, TX).await.expect("it is there");
        for coordinator in [&first, &second] {
            assert_eq!(coordinator.path(), TX);
            assert_eq!(coordinator.sites(), ["a", "b"]);
        }
    });
}

#[test]
fn a_coordinator_that_waits_pays_for_each_vote_and_for_its_decision() {
    play(|stage| async move {
        let (c, a, b) = (founder(&stage).await, stage.client("a").await, stage.client("b").await);
        let coordinator = c.begins(Form::Coordinator, &["a", "b"]).await;
        let mark = stage.mark();
        let deciding = spawned(&c, async move { coordinator.decision().await });
        stage.settle().await;
        assert_eq!(c.sent(&stage, mark), [Kind::Children, Kind::Get]);
        let mark = stage.mark();
        let voted = a.votes("a", Vote::Commit).await;
        stage.settle().await;
        assert_eq!((c.sent(&stage, mark), c.noticed(&stage, mark)), (vec![Kind::Get], 1));
        let mark = stage.mark();
        let last = b.votes("b", Vote::Commit).await;
        assert_eq!(deciding.await, Ok(Decision::Commit));
        stage.settle().await;
        // Its own decision tells it nothing.
        assert_eq!((c.sent(&stage, mark), c.noticed(&stage, mark)), (vec![Kind::Get, Kind::Multi], 1));
        drop((voted, last));
    });
}

#[test]
fn a_coordinator_that_is_told_of_an_abort_reads_it_once() {
    play(|stage| async move {
        let (c, a) = (founder(&stage).await, stage.client("a").await);
        let coordinator = c.begins(Form::Coordinator, &["a", "b"]).await;
        let deciding = spawned(&c, async move { coordinator.decision().await });
        stage.settle().await;
        let mark = stage.mark();
        let voted = a.votes("a", Vote::Abort).await;
        assert_eq!(deciding.await, Ok(Decision::Abort));
        stage.settle().await;
        assert_eq!((c.sent(&stage, mark), c.noticed(&stage, mark)), (vec![Kind::Get, Kind::Exists], 1));
        drop(voted);
    });
}
