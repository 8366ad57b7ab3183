//! Input that is bad, and what others do to the znodes.

use super::*;

#[test]
fn input_that_is_bad_is_refused_before_anything_is_sent() {
    play(|stage| async move {
        let a = founder(&stage).await;
        let mark = stage.mark();
        let long = "x".repeat(1 << 20);
        for sites in [&[][..], &["a", "b", "a"], &[""], &["a/b"], &["a\n"], &["🔒"], &[&long]] {
            let refused = Coordinator::begin(&a.zk, TX, of(PLAIN, sites)).await;
            assert!(refused.expect_err("it is refused").is_bad_input(), "{sites:?}");
        }
        let many: Vec<String> = (0..20_000).map(|site| format!("site-{site}")).collect();
        let many = Transaction { sites: many, payload: vec![], form: PLAIN };
        let many = Coordinator::begin(&a.zk, TX, many).await.expect_err("too many");
        assert!(many.is_bad_input());
        assert!(many.to_string().contains("20000 sites and 0 bytes of payload"), "{many}");
        let heavy = Transaction { payload: vec![0; 0xfffff], ..of(PLAIN, &["a"]) };
        assert!(Coordinator::begin(&a.zk, TX, heavy).await.expect_err("too heavy").is_bad_input());
        for path in ["", "/", "app", "/app/", "/zookeeper/x"] {
            let begin = Coordinator::begin(&a.zk, path, of(PLAIN, &["a"])).await;
            assert!(begin.expect_err("a bad path").is_bad_input(), "{path}");
            assert!(Site::open(&a.zk, path, "a").await.expect_err("bad").is_bad_input());
            assert!(Coordinator::resume(&a.zk, path).await.expect_err("bad").is_bad_input());
        }
        assert!(Site::open(&a.zk, TX, "a/b").await.expect_err("bad").is_bad_input());
        assert_eq!(a.sent(&stage, mark), []);
    });
}

#[test]
fn what_fits_into_a_request_is_begun() {
    play(|stage| async move {
        let a = founder(&stage).await;
        let heavy = Transaction { payload: vec![7; 1_000_000], ..of(PLAIN, &["a"]) };
        drop(Coordinator::begin(&a.zk, TX, heavy).await.expect("it begins"));
        assert_eq!(a.opens("a").await.payload().len(), 1_000_000);
    });
}

#[test]
fn what_is_not_there_or_is_something_else_is_named() {
    play(|stage| async move {
        let a = founder(&stage).await;
        let gone: Error = ErrorKind::NoTransaction(TX.to_owned()).into();
        assert_eq!(Site::open(&a.zk, TX, "a").await.err(), Some(gone.clone()));
        assert_eq!(Coordinator::resume(&a.zk, TX).await.err(), Some(gone));
        a.makes(TX).await;
        assert!(Site::open(&a.zk, TX, "a").await.expect_err("no transaction").is_mismatch());
        assert!(Coordinator::resume(&a.zk, TX).await.expect_err("no transaction").is_mismatch());
        assert!(Coordinator::begin(&a.zk, TX, of(PLAIN, &["a"])).await.expect_err("taken").is_taken());
        stage.settle().await;
        a.has_left_nothing(&stage, "after it was refused");
        a.zk.delete(TX, None).await.expect("it is there");
        drop(a.begins(PLAIN, &["a"]).await);
        let stranger = Site::open(&a.zk, TX, "b").await;
        assert_eq!(stranger.err(), Some(ErrorKind::NotAParticipant("b".into()).into()));
        let again = Coordinator::begin(&a.zk, TX, of(PLAIN, &["a"])).await;
        assert!(again.expect_err("taken").is_taken());
    });
}

#[test]
fn nothing_is_decided_on_znodes_that_strangers_have_touched() {
    for form in FORMS {
        for (meddles, path) in [(true, "/app/tx/s_b"), (false, "/app/tx/s_b"), (false, "/app/tx/s_a")] {
            play(move |stage| async move {
                let (c, a) = (founder(&stage).await, stage.client("a").await);
                let coordinator = c.begins(form, &["a", "b"]).await;
                let voted = a.votes("a", Vote::Commit).await;
                match meddles {
                    true => drop(c.zk.set(path, b"perhaps", None).await.expect("it is there")),
                    false => c.takes(form, &[path]).await,
                }
                let told = voted.decision().within(LIMIT).await;
                assert!(told.as_ref().is_err_and(Error::is_mismatch), "{form:?} {path} {told:?}");
                let told = coordinator.decision().within(LIMIT).await;
                assert!(told.is_err_and(|e| e.is_mismatch()));
                let mark = stage.mark();
                let opened = Site::open(&a.zk, TX, "b").await;
                if path.ends_with('b') {
                    assert!(opened.expect_err("its znode").is_mismatch());
                }
                assert!(a.sent(&stage, mark).len() < 12, "nobody asks and asks");
            });
        }
    }
}

/// The version of the tally is the number of votes, unless a stranger writes to it: then votes are looked at one by one.
#[test]
fn a_tally_that_a_stranger_has_raised_commits_nothing() {
    for form in [PLAIN, FOLLOWED] {
        play(move |stage| async move {
            let (c, a) = (founder(&stage).await, stage.client("a").await);
            drop(c.begins(form, &["a", "b"]).await);
            c.zk.set("/app/tx/tally", b"", None).await.expect("it is there");
            let refused = a.opens("a").await.vote(Vote::Commit).await.expect_err("b has not voted");
            assert!(refused.is_mismatch(), "{refused}");
            assert!(!contents(&stage).contains(&"decision".to_owned()), "nothing is decided");
        });
    }
}

#[test]
fn a_vote_that_a_stranger_writes_is_no_vote_of_ours() {
    play(|stage| async move {
        let (c, a) = (founder(&stage).await, stage.client("a").await);
        drop(c.begins(PLAIN, &["a", "b"]).await);
        let opened = a.opens("a").await;
        c.zk.set("/app/tx/s_a", b"", None).await.expect("it is there");
        let refused = opened.vote(Vote::Commit).await;
        assert!(refused.expect_err("it is not ours").is_mismatch());
        c.zk.set("/app/tx/tally", b"", Some(0)).await.expect("it is there");
        c.zk.set("/app/tx/tally", b"", Some(1)).await.expect("it is there");
        let refused = a.opens("b").await.vote(Vote::Commit).await;
        assert!(refused.expect_err("the tally is not ours").is_mismatch());
    });
}

#[test]
fn a_transaction_that_vanishes_or_begins_anew_is_not_obeyed() {
    for form in FORMS {
        for anew in [false, true] {
            play(move |stage| async move {
                let (c, a) = (founder(&stage).await, stage.client("a").await);
                let coordinator = c.begins(form, &["a", "b"]).await;
                let voted = a.votes("a", Vote::Commit).await;
                coordinator.forget().await.expect("it is forgotten");
                assert_eq!(stage.names("/app"), Vec::<String>::new());
                if anew {
                    drop(c.begins(form, &["a", "b"]).await);
                    drop(c.votes("b", Vote::Abort).await);
                }
                let told = voted.decision().within(LIMIT).await.expect_err("it is gone");
                match anew {
                    false => assert_eq!(told, ErrorKind::NoTransaction(TX.into()), "{form:?}"),
                    true => assert!(told.is_mismatch(), "{form:?} {told}"),
                }
                stage.settle().await;
            });
        }
    }
}

impl Client {
    /// As a stranger: takes znodes of a transaction away, and the ephemeral of site a that is below one of them.
    async fn takes(&self, form: Form, paths: &[&str]) {
        let below = |path: &str| match form {
            Form::SiteEphemerals if path.ends_with("s_a") => Some(format!("{path}/alive")),
            _ => None,
        };
        let all = paths.iter().flat_map(|path| below(path).into_iter().chain([(*path).to_owned()]));
        let ops = all.map(|path| Op::Delete { path, version: None });
        self.zk.multi(ops.collect()).await.expect("they are there");
    }
}

/// What a stranger may take away, and what those are told who wait.
const TAKEN: [(&[&str], bool); 4] = [
    (&["/app/tx/s_a", "/app/tx/s_b", "/app/tx/tally", "/app/tx"], true),
    (&["/app/tx/s_b"], false),
    (&["/app/tx/s_a"], false),
    (&["/app/tx/tally"], false),
];

#[test]
fn who_waits_without_a_limit_is_told_that_the_transaction_is_not_whole_any_more() {
    for form in FORMS {
        for (taken, is_all) in TAKEN {
            for coordinates in [false, true] {
                play(move |stage| async move {
                    let (c, a, s) = (founder(&stage).await, stage.client("a").await, stage.client("s").await);
                    let coordinator = c.begins(form, &["a", "b"]).await;
                    let voted = a.votes("a", Vote::Commit).await;
                    let waiting = match coordinates {
                        true => spawned(&c, async move { coordinator.decision().await }),
                        false => spawned(&a, async move { voted.decision().await }),
                    };
                    stage.settle().await;
                    s.takes(form, taken).await;
                    let told = waiting.await.expect_err("nothing can be decided");
                    match is_all {
                        true => assert_eq!(told, ErrorKind::NoTransaction(TX.into()), "{form:?}"),
                        false => assert!(told.is_mismatch(), "{form:?} {taken:?} {told}"),
                    }
                });
            }
        }
    }
}

#[test]
fn forgetting_decides_first_and_takes_foreign_children_along() {
    for form in FORMS {
        play(move |stage| async move {
            let (c, a) = (founder(&stage).await, stage.client("a").await);
            let coordinator = c.begins(form, &["a", "b"]).await;
            let voted = a.votes("a", Vote::Commit).await;
            let waiting = spawned(&a, async move {
                let decided = voted.decision().await;
                voted.finish().await.expect("it finishes");
                decided
            });
            c.makes("/app/tx/note").await;
            stage.settle().await;
            let deciding = Coordinator::resume(&c.zk, TX).await.expect("it resumes");
            assert_eq!(waiting.await, Ok(Decision::Abort));
            deciding.forget().await.expect("it is forgotten");
            assert_eq!(stage.names("/app"), Vec::<String>::new());
            coordinator.forget().await.expect("gone is gone");
        });
    }
}

#[test]
fn forgetting_takes_children_along_whenever_they_come() {
    for wait in (0..80).step_by(2) {
        play(move |stage| async move {
            let (c, a) = (founder(&stage).await, stage.client("a").await);
            let coordinator = c.begins(Form::Coordinator, &["a", "b"]).await;
            let forgetting = spawned(&c, coordinator.forget());
            stage.pass(&a, Duration::from_millis(wait)).await;
            match a.zk.create("/app/tx/note", b"", CreateMode::Persistent).await {
                Ok(_) => {}
                Err(e) if e.is_no_node() => {}
                Err(e) => panic!("{wait} ms: {e}"),
            }
            assert_eq!(forgetting.await, Ok(()), "{wait} ms");
            assert_eq!(stage.names("/app"), Vec::<String>::new(), "{wait} ms");
        });
    }
}

#[test]
fn who_does_not_know_cannot_finish() {
    play(|stage| async move {
        let (c, a) = (founder(&stage).await, stage.client("a").await);
        drop(c.begins(PLAIN, &["a", "b"]).await);
        let voted = a.votes("a", Vote::Commit).await;
        let mark = stage.mark();
        assert!(voted.finish().await.expect_err("it does not know").is_bad_input());
        stage.settle().await;
        assert!(!a.sent(&stage, mark).contains(&Kind::Delete));
        assert_eq!(contents(&stage), ["s_a", "s_b", "tally"]);
    });
}

#[test]
fn missing_levels_are_made_as_often_as_it_takes() {
    play(|stage| async move {
        let a = stage.client("a").await;
        drop(Coordinator::begin(&a.zk, "/deep/er/tx", of(PLAIN, &["a"])).await.expect("it begins"));
        assert_eq!(stage.names("/deep/er/tx"), ["s_a", "tally"]);
    });
}

#[test]
fn a_begin_whose_reply_was_lost_is_found_by_its_guid() {
    play(|stage| async move {
        let (c, a) = (founder(&stage).await, stage.client("a").await);
        c.process.order(Fault::ReplyLost);
        let coordinator = c.begins(PLAIN, &["a"]).await;
        let voted = a.votes("a", Vote::Commit).await;
        assert_eq!(coordinator.decision().await, Ok(Decision::Commit));
        drop(voted);
    });
}

#[test]
fn a_begin_that_may_be_over_already_is_not_begun_again() {
    for finishes in [false, true] {
        play(move |stage| async move {
            let (c, a) = (founder(&stage).await, stage.client("a").await);
            c.process.order(if finishes { Fault::ReplyLost } else { Fault::RequestLost });
            let zk = c.zk.clone();
            let begun = spawned(&c, async move { Coordinator::begin(&zk, TX, of(PLAIN, &["a"])).await });
            stage.pass(&a, RECONNECT / 3).await;
            if finishes {
                let voted = a.votes("a", Vote::Commit).await;
                voted.finish().await.expect("it finishes");
            }
            assert!(begun.await.expect_err("nobody can tell").is_outcome_unknown());
            assert_eq!(stage.names("/app"), Vec::<String>::new());
        });
    }
}

#[test]
fn a_begin_whose_request_was_lost_is_not_taken_for_that_of_another() {
    play(|stage| async move {
        let (c, a) = (founder(&stage).await, stage.client("a").await);
        c.process.order(Fault::RequestLost);
        let zk = c.zk.clone();
        let begun = spawned(&c, async move { Coordinator::begin(&zk, TX, of(PLAIN, &["a"])).await });
        stage.pass(&a, RECONNECT / 3).await;
        let other = a.begins(PLAIN, &["a"]).await;
        assert!(begun.await.expect_err("it is another's").is_taken());
        drop(other);
    });
}

/// Whether sites have opened the transaction, and so have an ephemeral below their znodes in one form.
#[test]
fn a_foreign_znode_below_that_of_a_site_keeps_a_transaction_from_being_forgotten() {
    for form in FORMS {
        for are_open in [false, true] {
            play(move |stage| async move {
                let (c, a, s) = (founder(&stage).await, stage.client("a").await, stage.client("s").await);
                let coordinator = c.begins(form, &["a", "b"]).await;
                let open = if are_open { Some((a.opens("a").await, a.opens("b").await)) } else { None };
                s.makes("/app/tx/s_a/note").await;
                let refused = coordinator.forget().await;
                assert_eq!(refused, Err(ErrorKind::NotEmpty.into()), "{form:?}, open: {are_open}");
                let left = contents(&stage);
                for name in ["decision", "s_a", "s_a/note", "s_b", "tally"] {
                    assert!(left.iter().any(|left| left == name), "{form:?}: {name} is not among {left:?}");
                }
                // Nothing is in the way any more.
                s.zk.delete("/app/tx/s_a/note", None).await.expect("it is there");
                let again = Coordinator::resume(&c.zk, TX).await.expect("it is there still");
                again.forget().await.expect("it is forgotten");
                assert_eq!(stage.names("/app"), Vec::<String>::new(), "{form:?}");
                drop(open);
            });
        }
    }
}

#[test]
fn a_foreign_znode_below_its_own_keeps_a_site_from_finishing() {
    for form in FORMS {
        play(move |stage| async move {
            let (c, a, s) = (founder(&stage).await, stage.client("a").await, stage.client("s").await);
            let coordinator = c.begins(form, &["a"]).await;
            let voted = a.votes("a", Vote::Commit).await;
            assert_eq!(coordinator.decision().await, Ok(Decision::Commit));
            assert_eq!(voted.decision().await, Ok(Decision::Commit));
            s.makes("/app/tx/s_a/note").await;
            assert_eq!(voted.finish().await, Err(ErrorKind::NotEmpty.into()), "{form:?}");
            stage.settle().await;
            assert_eq!(contents(&stage), ["decision", "s_a", "s_a/note", "tally"], "{form:?}");
            a.has_left_nothing(&stage, "after it could not finish");
            // Nothing is in the way any more: the site opens again, and finishes.
            s.zk.delete("/app/tx/s_a/note", None).await.expect("it is there");
            let again = a.votes("a", Vote::Commit).await;
            assert_eq!(again.decision().await, Ok(Decision::Commit), "{form:?}");
            again.finish().await.expect("it finishes");
            assert_eq!(stage.names("/app"), Vec::<String>::new(), "{form:?}");
        });
    }
}

#[test]
fn a_site_that_shows_up_while_it_is_forgotten_is_forgotten_as_well() {
    play(|stage| async move {
        let (c, a, b) = (founder(&stage).await, stage.client("a").await, stage.client("b").await);
        drop(c.begins(Form::SiteEphemerals, &["a", "b"]).await);
        let bent = Bent::straight(&a.zk);
        let coordinator = Coordinator::resume(&bent, TX).await.expect("it is there");
        // Two transactions abort, the third one deletes what was listed.
        bent.waits_later(Kind::Multi, 2, async move {
            // As a site does that has found the transaction undecided.
            let shows_up = b.zk.create("/app/tx/s_a/alive", b"", CreateMode::Ephemeral).await;
            shows_up.expect("its site is not forgotten yet");
        });
        coordinator.forget().await.expect("it is listed again");
        assert_eq!(contents(&stage), [""; 0]);
    });
}

#[test]
fn what_came_while_it_was_forgotten_is_forgotten_as_well() {
    play(|stage| async move {
        let (c, a) = (founder(&stage).await, stage.client("a").await);
        drop(c.begins(PLAIN, &["a", "b"]).await);
        let bent = Bent::straight(&a.zk);
        let coordinator = Coordinator::resume(&bent, TX).await.expect("it is there");
        // The first transaction aborts, the second one deletes what was listed.
        bent.waits_later(Kind::Multi, 1, async move {
            let _ = c.makes("/app/tx/late").await;
        });
        coordinator.forget().await.expect("it is listed again");
        assert_eq!(contents(&stage), [""; 0]);
    });
}
