//! How terms end, and what a directory holds besides.

use super::*;
use crate::common::{Drops, dropping};

#[test]
fn a_dropped_term_takes_candidate_and_record_along_in_one_transaction() {
    play(|stage| async move {
        let (a, b) = (stage.founder().await, stage.client("b").await);
        let term = takes_office(&a).await;
        term.acknowledge(b"a:1").await.expect("it leads");
        let mut sees = election(&b).follow();
        assert_eq!(sees.next().await, Ok(acknowledged(&term, b"a:1")));
        stage.settle().await;
        let mark = stage.mark();
        drop(term);
        assert_eq!(sees.next().await, Ok(unacknowledged(&[])));
        stage.settle().await;
        assert_eq!(a.sent(&stage, mark)[0], Kind::Multi);
        a.has_left_nothing(&stage, "after the term");
    });
}

#[test]
fn a_resignation_whose_reply_was_lost_is_clean() {
    for fault in [Fault::RequestLost, Fault::ReplyLost, Fault::Disconnect] {
        for is_acknowledged in [false, true] {
            play(move |stage| async move {
                let a = stage.founder().await;
                let term = takes_office(&a).await;
                if is_acknowledged {
                    term.acknowledge(b"a:1").await.expect("it leads");
                }
                stage.settle().await;
                a.process.order(fault);
                assert_eq!(term.resign().await, Ok(Released::Clean), "{fault:?} {is_acknowledged}");
                stage.settle().await;
                a.has_left_nothing(&stage, "after it resigned");
            });
        }
    }
}

#[test]
fn a_session_that_ends_takes_candidate_and_record_along() {
    play(|stage| async move {
        let (a, b, c) = (stage.founder().await, stage.client("b").await, stage.client("c").await);
        let options = ElectionOptions::default().with_on_suspect(OnSuspect::UntilDeadline);
        let old = Election::new(&a.zk, DIRECTORY, options).expect("the path is good");
        let old = old.stand().await.expect("it is elected");
        old.acknowledge(b"a:1").await.expect("it leads");
        let next = stands(&b);
        stage.settle().await;
        let mut sees = election(&c).follow();
        assert_eq!(sees.next().await, Ok(acknowledged(&old, b"a:1")));

        a.process.inflict(Fault::SessionExpiry, 3 * TIMEOUT);
        assert_eq!(old.lost().await, Stop::Lost(LostReason::DeadlinePassed));
        let told = stage.sim.now();
        let term = next.await.expect("it is elected");
        assert!(told < stage.sim.now(), "the old leader stopped before the new one began");
        assert!(term.token() > old.token());
        assert_eq!(sees.next().await, Ok(unacknowledged(&[(term.path(), 2)])));
        term.acknowledge(b"b:1").await.expect("it leads");
        assert_eq!(sees.next().await, Ok(acknowledged(&term, b"b:1")));
        assert!(old.acknowledge(b"a:2").await.is_err());
        assert!(old.resign().await.is_ok_and(|ended| ended != Released::Clean));
        stage.settle().await;
        assert!(record_of(&c).await.ends_with(b"b:1"));
        drop(term);
    });
}

#[test]
fn ones_own_former_candidate_is_somebody_else() {
    play(|stage| async move {
        let (other, a) = (stage.founder().await, stage.client("a").await);
        let former = takes_office(&a).await;
        a.process.inflict(Fault::ClientPartition, TIMEOUT / 3);
        // The same process, with a new session, while the old one lives on at the server.
        let again = Client { process: a.process.clone(), zk: a.process.open(TIMEOUT).await };
        let mut standing = stands(&again);
        stage.pass(&other, Duration::from_millis(200)).await;
        assert!((&mut standing).now_or_never().is_none(), "it waits for its own former candidate to go");
        drop(former);
        assert!(standing.await.is_ok());
    });
}

#[test]
fn a_leader_stops_when_the_connection_is_lost_and_may_go_on() {
    play(|stage| async move {
        let a = stage.founder().await;
        let term = takes_office(&a).await;
        stage.settle().await;
        a.is_disconnected().await;
        assert!(matches!(term.lost().now_or_never(), Some(Stop::Suspect { .. })));
        let mark = stage.mark();
        assert_eq!(term.resumed().await, Ok(()));
        assert_eq!(a.sent(&stage, mark), [Kind::Children], "one request confirms it, and watches it");
        assert_eq!(term.state(), HoldState::Held);
        drop(term);
    });
}

#[test]
fn an_evicted_candidate_is_told_and_never_made_again() {
    play(|stage| async move {
        let (a, b) = (stage.founder().await, stage.client("b").await);
        let term = takes_office(&a).await;
        let standing = stands(&b);
        stage.settle().await;
        let mark = stage.mark();
        let candidates = election(&a).candidates().await.expect("they can be listed");
        assert_eq!(candidates.iter().map(|candidate| candidate.number).collect::<Vec<_>>(), [0, 1]);
        assert_eq!(election(&a).evict(&candidates[1]).await, Ok(true));
        assert_eq!(election(&a).evict(&candidates[1]).await, Ok(false));
        drop(term);
        assert!(standing.await.expect_err("its candidate is gone").is_removed());
        assert_eq!(stage.joined(mark), 0);
    });
}

#[test]
fn standing_ends_with_its_limit_and_leaves_nothing() {
    play(|stage| async move {
        let (a, b) = (stage.founder().await, stage.client("b").await);
        let term = takes_office(&a).await;
        let refused = election(&b).stand().within(Duration::from_secs(1)).await;
        assert!(refused.expect_err("a leads").is_timed_out());
        stage.settle().await;
        b.has_left_nothing(&stage, "after its limit");
        drop(term);
        assert!(election(&b).stand().within(Duration::from_secs(1)).await.is_ok());
    });
}

#[test]
fn what_a_leader_writes_is_fenced() {
    play(|stage| async move {
        let (a, b) = (stage.founder().await, stage.client("b").await);
        let term = takes_office(&a).await;
        let make =
            |path: &str| Op::Create { path: path.to_owned(), data: vec![], mode: CreateMode::Persistent };
        term.transact(vec![make("/one")]).await.expect("it leads");
        a.process.order(Fault::ReplyLost);
        term.transact_once(vec![make("/two")]).await.expect("once, although the reply was lost");
        a.zk.multi(vec![term.fence(), make("/three")]).await.expect("it leads");
        is_evicted(term.path(), &b).await;
        assert!(term.transact(vec![make("/four")]).await.expect_err("it is over").is_removed());
        assert_eq!(a.zk.exists("/four").await, Ok(None));
    });
}

#[test]
fn observers_follow_an_election_whose_directory_comes_and_goes() {
    play(|stage| async move {
        let (a, b) = (stage.client("a").await, stage.client("b").await);
        let mut sees = election(&b).follow();
        assert_eq!(sees.next().await, Ok(unacknowledged(&[])), "there is not even a directory");
        for round in 0..3 {
            let term = takes_office(&a).await;
            term.acknowledge(&[round]).await.expect("it leads");
            assert_eq!(sees.next().await, Ok(acknowledged(&term, &[round])));
            term.resign().await.expect("it resigns");
            assert_eq!(sees.next().await, Ok(unacknowledged(&[])));
            a.zk.delete(DIRECTORY, None).await.expect("it is empty");
        }
    });
}

#[test]
fn observers_are_told_changes_only() {
    play(|stage| async move {
        let (a, b) = (stage.founder().await, stage.client("b").await);
        let term = takes_office(&a).await;
        term.acknowledge(b"a:1").await.expect("it leads");
        let mut sees = election(&b).follow();
        assert_eq!(sees.next().await, Ok(acknowledged(&term, b"a:1")));
        stage.settle().await;
        let mark = stage.mark();
        let data = record_of(&a).await;
        a.zk.set(RECORD, &data, None).await.expect("it is there");
        b.is_disconnected().await;
        b.is_connected_again().await;
        assert!(sees.next().now_or_never().is_none(), "dropped, and called again");
        let told = dropping(Drops::Later(3_000), &stage, &b, sees.next()).await;
        assert_eq!(told, None, "nothing has changed");
        assert!(!b.sent(&stage, mark).is_empty(), "it has looked");
        drop(term);
        assert_eq!(sees.next().await, Ok(unacknowledged(&[])));
    });
}

#[test]
fn an_observer_whose_requests_are_lost_asks_again() {
    for fault in [Fault::RequestLost, Fault::ReplyLost, Fault::Disconnect] {
        for nth in 0.. {
            let ((), struck) = play_struck(fault, nth, |stage, danger| async move {
                let (a, b) = (stage.founder().await, stage.client("b").await);
                danger.begins();
                let mut sees = election(&b).follow();
                assert_eq!(sees.next().await, Ok(unacknowledged(&[])));
                let term = takes_office(&a).await;
                term.acknowledge(b"a:1").await.expect("it leads");
                assert_eq!(sees.next().await, Ok(acknowledged(&term, b"a:1")));
                drop(term);
                assert_eq!(sees.next().await, Ok(unacknowledged(&[])));
            });
            if !struck {
                break;
            }
        }
    }
}

#[test]
fn an_observer_of_a_session_that_is_over_is_told_so() {
    play(|stage| async move {
        let (a, b) = (stage.founder().await, stage.client("b").await);
        let term = takes_office(&a).await;
        let mut sees = election(&b).follow();
        sees.next().await.expect("it looks");
        b.process.inflict(Fault::SessionExpiry, 3 * TIMEOUT);
        for _ in 0..2 {
            assert!(sees.next().await.expect_err("b's session ends").is_session_over());
        }
        drop(term);
    });
}

#[test]
fn a_dropped_observer_leaves_no_watch() {
    play(|stage| async move {
        let (a, b) = (stage.founder().await, stage.client("b").await);
        let term = takes_office(&a).await;
        for is_acknowledged in [false, true] {
            if is_acknowledged {
                term.acknowledge(b"a:1").await.expect("it leads");
            }
            let mut sees = election(&b).follow();
            sees.next().await.expect("it looks");
            assert_eq!(b.watches(&stage), [RECORD]);
            drop(sees);
            stage.settle().await;
            b.has_left_nothing(&stage, "after observing");
        }
        drop(term);
    });
}

#[test]
fn worn_candidates_are_elected_in_the_order_of_their_creation() {
    play(|stage| async move {
        stage.founder().await;
        let mut line = Vec::new();
        for number in [2_147_483_646, i32::MAX, i32::MIN, i32::MAX, -1] {
            let client = stage.client("c").await;
            let zk = Bent::counting(&client.zk, &[number]);
            let election =
                Election::new(&zk, DIRECTORY, ElectionOptions::default()).expect("the path is good");
            line.push(client.process.spawn(async move { election.stand().await }));
            stage.settle().await;
        }
        let looks = stage.client("looks").await;
        let mut last = 0;
        for standing in line {
            let term = standing.await.expect("its process lives").expect("it is elected");
            assert!(term.token() > last);
            last = term.token();
            term.acknowledge(b"me").await.expect("it leads");
            let seen = election(&looks).follow().next().await;
            assert_eq!(seen, Ok(Leader::Acknowledged { token: last, data: b"me".to_vec() }));
            term.resign().await.expect("it resigns");
        }
    });
}

#[test]
fn bad_input_is_refused_and_nothing_is_sent() {
    play(|stage| async move {
        let a = stage.founder().await;
        let mark = stage.mark();
        for directory in ["", "election", "/", "/election/", "/zookeeper/e", "/a//b"] {
            let refused = Election::new(&a.zk, directory, ElectionOptions::default());
            assert!(refused.expect_err("it is bad").is_bad_input(), "{directory:?}");
        }
        let options = ElectionOptions::default().with_data(vec![0; 1 << 20]);
        assert!(Election::new(&a.zk, DIRECTORY, options).expect_err("too much").is_bad_input());
        assert_eq!(a.sent(&stage, mark), []);

        let term = takes_office(&a).await;
        stage.settle().await;
        let mark = stage.mark();
        assert!(term.acknowledge(&vec![0; 1 << 20]).await.expect_err("too much").is_bad_input());
        assert_eq!(a.sent(&stage, mark), []);
        assert_eq!(term.acknowledge(b"").await, Ok(()), "and nothing was begun");
        drop(term);
    });
}

#[test]
fn a_directory_that_must_exist_is_not_made() {
    play(|stage| async move {
        let a = stage.client("a").await;
        let options = ElectionOptions::default().with_parents(Parents::MustExist);
        let election = Election::new(&a.zk, DIRECTORY, options).expect("the path is good");
        assert_eq!(election.stand().await.expect_err("it does not exist"), ErrorKind::NoNode);
    });
}

#[test]
fn a_directory_that_was_emptied_ends_candidates_and_terms() {
    play(|stage| async move {
        let (other, a, b) = (stage.founder().await, stage.client("a").await, stage.client("b").await);
        let term = takes_office(&a).await;
        term.acknowledge(b"a:1").await.expect("it leads");
        let standing = stands(&b);
        stage.settle().await;
        let names = stage.names(DIRECTORY).into_iter().map(|name| path::join(DIRECTORY, &name));
        let deletes = names.chain([DIRECTORY.to_owned()]).map(|path| Op::Delete { path, version: None });
        other.zk.multi(deletes.collect()).await.expect("all at once");
        assert!(standing.await.expect_err("its znode is gone").is_removed());
        assert_eq!(term.lost().await, Stop::Lost(LostReason::Removed));
        let next = takes_office(&b).await;
        assert!(next.token() > term.token(), "numbers start anew, tokens do not");
    });
}

#[test]
fn foreign_children_do_not_stand_for_election() {
    play(|stage| async move {
        let (founder, a): (Client, Client) = (stage.founder().await, stage.client("a").await);
        for name in ["config", "n_0000000000x", "x-n_", "x-n_7", "x-lock-0000000000", "0000000000"] {
            founder.makes(&path::join(DIRECTORY, name)).await;
        }
        let mark = stage.mark();
        let term = takes_office(&a).await;
        assert_eq!(a.sent(&stage, mark)[..2], [Kind::Create, Kind::Children]);
        assert_eq!(election(&a).candidates().await.expect("they can be listed").len(), 1);
        drop(term);
    });
}
