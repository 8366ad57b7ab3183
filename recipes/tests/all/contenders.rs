//! Contenders: names, foreign children, the directory and its parents, `try_acquire`, and refused input.

use crate::common::bent::Bent;
use crate::common::{Client, DIRECTORY, RECONNECT, Stage, TIMEOUT, play};
use futures_util::FutureExt;
use sim_zk::fault::Fault;
use sim_zk::observer::Kind;
use std::time::Duration;
use zk_recipes::zk::{CreateMode, ErrorKind, Op, ZooKeeper, path};
use zk_recipes::{
    Contender, Election, ElectionOptions, Lock, LockOptions, Naming, Parents, SharedLock, SharedLockOptions,
};

fn named(naming: Naming) -> LockOptions {
    LockOptions::default().with_naming(naming)
}

fn with_parents(parents: Parents) -> LockOptions {
    LockOptions::default().with_parents(parents)
}

#[test]
fn foreign_children_do_not_stand_in_line() {
    play(|stage| async move {
        let (founder, a) = (stage.founder().await, stage.client("a").await);
        let foreign = [
            "config",
            "0000000000",
            "lock-0000000000",
            "x-lock-",
            "x-lock-7",
            "x-lock-00000000001",
            "x-read-0000000000",
        ];
        for name in foreign {
            founder.makes(&path::join(DIRECTORY, name)).await;
        }
        let mark = stage.mark();
        let held = a.acquires().await;
        assert_eq!(a.sent(&stage, mark), [Kind::Create, Kind::Children]);
        let contenders = a.lock().contenders().await.expect("they can be listed");
        assert_eq!(contenders, [Contender { path: held.path().to_owned(), number: foreign.len() as i32 }]);
    });
}

#[test]
fn curators_locks_are_waited_for() {
    play(|stage| async move {
        let (curator, a) = (stage.founder().await, stage.client("a").await);
        let theirs = path::join(DIRECTORY, "_c_01234567-89ab-cdef-0123-456789abcdef-lock-0000000000");
        curator.makes_ephemeral(&theirs).await;
        let asking = a.asks();
        stage.settle().await;
        assert_eq!(a.watches(&stage), [theirs.as_str()]);
        curator.zk.delete(&theirs, None).await.expect("it is there");
        drop(asking.await.expect("it is granted"));
    });
}

#[test]
fn names_are_written_as_the_other_libraries_write_them() {
    play(|stage| async move {
        let a = stage.founder().await;
        for (naming, guid_length, infix) in [
            (Naming::Standard, 32, "-lock-"),
            (Naming::Curator, 3 + 36, "-lock-"),
            (Naming::Kazoo, 32, "__lock__"),
        ] {
            let held = a.acquires_with(named(naming)).await;
            let name = path::split(held.path()).1;
            assert_eq!(name.len(), guid_length + infix.len() + 10, "{name}");
            assert_eq!(&name[guid_length..guid_length + infix.len()], infix);
            assert_eq!(name.starts_with("_c_"), naming == Naming::Curator);
            assert_eq!(a.lock_with(named(naming)).contenders().await.expect("they can be listed").len(), 1);
        }
    });
}

#[test]
fn every_naming_excludes_finds_and_cleans_up() {
    for naming in [Naming::Standard, Naming::Curator, Naming::Kazoo] {
        play(move |stage| async move {
            let (a, b) = (stage.founder().await, stage.client("b").await);
            a.process.order(Fault::ReplyLost);
            let mark = stage.mark();
            let held = a.acquires_with(named(naming)).await;
            assert_eq!(stage.joined(mark), 1, "found by its guid");
            assert!(b.lock_with(named(naming)).try_acquire().await.expect("it can be tried").is_none());
            assert!(b.lock_with(named(naming)).acquire().now_or_never().is_none());
            stage.settle().await;
            b.has_left_nothing(&stage, "after it gave up");
            drop(held);
            drop(b.acquires_with(named(naming)).await);
        });
    }
}

#[test]
fn contenders_are_told_in_order_and_evicted_one_by_one() {
    play(|stage| async move {
        let (a, b, c) = (stage.founder().await, stage.client("b").await, stage.client("c").await);
        assert_eq!(a.lock().contenders().await, Ok(vec![]));
        let held = a.acquires().await;
        let (asks_b, asks_c) = (b.asks(), c.asks());
        stage.settle().await;
        let contenders = a.lock().contenders().await.expect("they can be listed");
        assert_eq!(contenders.iter().map(|who| who.number).collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!(contenders[0].path, held.path());
        assert_eq!(b.znodes(&stage), [contenders[1].path.as_str()]);

        assert_eq!(c.lock().evict(&contenders[1]).await, Ok(true));
        assert_eq!(c.lock().evict(&contenders[1]).await, Ok(false), "it is gone already");
        stage.settle().await;
        assert_eq!(c.watches(&stage), [held.path()], "c has moved up");
        held.release().await.expect("it is released");
        drop(asks_c.await.expect("it is granted"));
        assert!(asks_b.await.expect_err("it was evicted").is_removed());
    });
}

/// An eviction is one request: a caller that loses its reply looks for itself.
#[test]
fn an_eviction_whose_message_is_lost_has_an_unknown_outcome() {
    for (fault, is_gone) in [(Fault::RequestLost, false), (Fault::ReplyLost, true), (Fault::Disconnect, true)]
    {
        play(move |stage| async move {
            let (a, b) = (stage.founder().await, stage.client("b").await);
            let shared =
                SharedLock::new(&b.zk, DIRECTORY, SharedLockOptions::default()).expect("a good path");
            let election = Election::new(&b.zk, DIRECTORY, ElectionOptions::default()).expect("a good path");
            for kind in ["lock", "shared lock", "election"] {
                let held = a.acquires().await;
                let holder = b.lock().contenders().await.expect("they can be listed").remove(0);
                b.process.order(fault);
                let evicts = || async {
                    match kind {
                        "lock" => b.lock().evict(&holder).await,
                        "shared lock" => shared.evict(&holder).await,
                        _ => election.evict(&holder).await,
                    }
                };
                let lost = evicts().await.expect_err("no answer came");
                assert!(lost == ErrorKind::ConnectionLoss && lost.is_outcome_unknown(), "{kind}: {lost}");
                b.is_connected_again().await;
                stage.settle().await;
                assert_eq!(stage.names(DIRECTORY).is_empty(), is_gone, "{kind}, {fault:?}");
                assert_eq!(evicts().await, Ok(!is_gone), "{kind}, {fault:?}: a second one tells");
                drop(held);
                stage.settle().await;
            }
        });
    }
}

#[test]
fn nobody_contends_where_there_is_no_directory() {
    play(|stage| async move {
        let a = stage.client("a").await;
        assert_eq!(a.lock().contenders().await, Ok(vec![]));
        let gone = Contender { path: path::join(DIRECTORY, "x-lock-0000000000"), number: 0 };
        assert_eq!(a.lock().evict(&gone).await, Ok(false));
    });
}

#[test]
fn missing_levels_are_made_as_the_options_say() {
    for (parents, mode) in
        [(Parents::Container, CreateMode::Container), (Parents::Persistent, CreateMode::Persistent)]
    {
        play(move |stage| async move {
            let a = stage.client("a").await;
            a.makes("/locks").await;
            let zk = Bent::straight(&a.zk);
            let lock = Lock::new(&zk, "/locks/deep/er", with_parents(parents)).expect("the path is good");
            drop(lock.acquire().await.expect("it is granted"));
            let made = zk.made();
            let levels: Vec<_> = made.iter().filter(|(_, mode)| !mode.is_sequential()).collect();
            let expected = ["/locks", "/locks/deep", "/locks/deep/er"].map(|level| (level.to_owned(), mode));
            assert_eq!(
                levels,
                expected.iter().collect::<Vec<_>>(),
                "from the top; those that exist do no harm"
            );
        });
    }
}

#[test]
fn a_directory_that_must_exist_is_not_made() {
    play(|stage| async move {
        let a = stage.client("a").await;
        let lock = a.lock_with(with_parents(Parents::MustExist));
        let mark = stage.mark();
        assert_eq!(lock.acquire().await.expect_err("it does not exist"), ErrorKind::NoNode);
        stage.settle().await;
        assert_eq!(a.sent(&stage, mark), [Kind::Create, Kind::Children], "and there is nothing to clean up");
        a.makes("/locks").await;
        a.makes(DIRECTORY).await;
        drop(lock.acquire().await.expect("now it does"));
    });
}

#[test]
fn a_directory_that_cannot_be_made_is_an_error() {
    play(|stage| async move {
        let a = stage.client("a").await;
        a.makes_ephemeral("/locks").await;
        let refused = a.lock().acquire().await.expect_err("ephemerals have no children");
        assert_eq!(refused, ErrorKind::NoChildrenForEphemerals);
    });
}

#[test]
fn a_directory_may_be_deleted_at_any_moment() {
    for half_ms in 0..100 {
        play(move |stage| async move {
            let (other, a) = (stage.founder().await, stage.client("a").await);
            let deletes = async {
                stage.pass(&other, Duration::from_micros(half_ms * 500)).await;
                // It is refused as long as there are children, as it is to a server that removes containers.
                let _ = other.zk.delete(DIRECTORY, None).await;
            };
            let lock = a.lock();
            let twice = async {
                lock.acquire().await.expect("it is granted").release().await.expect("it is released");
                drop(lock.acquire().await.expect("it is granted"));
            };
            futures_util::future::join(twice, deletes).await;
            stage.settle().await;
            a.has_left_nothing(&stage, &format!("deleted after {half_ms} half milliseconds"));
        });
    }
}

#[test]
fn a_directory_may_be_deleted_while_a_lost_create_is_looked_for() {
    play(|stage| async move {
        let (other, a) = (stage.founder().await, stage.client("a").await);
        a.process.order(Fault::RequestLost);
        let deletes = async {
            stage.pass(&other, RECONNECT / 4).await;
            other.zk.delete(DIRECTORY, None).await.expect("it is empty");
        };
        let lock = a.lock();
        let (granted, ()) = futures_util::future::join(lock.acquire(), deletes).await;
        assert_eq!(a.znodes(&stage), [granted.expect("it is granted").path()]);
    });
}

#[test]
fn a_directory_that_was_emptied_and_deleted_ends_those_in_line() {
    play(|stage| async move {
        let (other, a, b) = (stage.founder().await, stage.client("a").await, stage.client("b").await);
        let held = a.acquires().await;
        let asking = b.asks();
        stage.settle().await;
        let all = other.lock().contenders().await.expect("they can be listed");
        let paths = all.into_iter().map(|contender| contender.path).chain([DIRECTORY.to_owned()]);
        let deletes = paths.map(|path| Op::Delete { path, version: None }).collect();
        other.zk.multi(deletes).await.expect("all at once");
        assert!(asking.await.expect_err("its znode is gone").is_removed());
        assert!(held.transact(vec![]).await.expect_err("it is over").is_removed());
        drop(b.acquires().await);
    });
}

#[test]
fn the_znode_says_what_the_caller_wants_it_to() {
    play(|stage| async move {
        let a = stage.founder().await;
        let held = a.acquires_with(LockOptions::default().with_data(b"printer")).await;
        assert_eq!(a.zk.get(held.path()).await.expect("it is there").data, b"printer");
    });
}

#[test]
fn a_try_takes_a_free_lock_and_leaves_a_taken_one() {
    play(|stage| async move {
        let (a, b) = (stage.founder().await, stage.client("b").await);
        let held = a.lock().try_acquire().await.expect("it can be tried").expect("it is free");
        let (mark, before) = (stage.mark(), stage.sim.now());
        assert!(b.lock().try_acquire().await.expect("it can be tried").is_none());
        assert_eq!(stage.sim.now().since(before), Duration::from_millis(10), "after one round trip");
        stage.settle().await;
        assert_eq!(b.sent(&stage, mark), [Kind::Create, Kind::Children, Kind::Delete]);
        b.has_left_nothing(&stage, "after a try");
        held.release().await.expect("it is released");
        assert!(b.lock().try_acquire().await.expect("it can be tried").is_some());
    });
}

async fn tries_and_gives_up(stage: &Stage, a: &Client) {
    let before = stage.sim.now();
    let tried = a.lock().try_acquire().await;
    assert!(matches!(tried, Ok(None)), "{tried:?}");
    assert!(stage.sim.now().since(before) < Duration::from_millis(50), "it does not wait for a connection");
}

#[test]
fn a_try_gives_up_when_the_connection_is_lost() {
    for fault in [Fault::RequestLost, Fault::ReplyLost, Fault::Disconnect] {
        play(move |stage| async move {
            let a = stage.founder().await;
            a.process.order(fault);
            tries_and_gives_up(&stage, &a).await;
            stage.settle().await;
            a.has_left_nothing(&stage, "after a try");
        });
    }
}

#[test]
fn a_try_sends_nothing_while_there_is_no_connection() {
    play(|stage| async move {
        let a = stage.founder().await;
        a.is_disconnected().await;
        let mark = stage.mark();
        tries_and_gives_up(&stage, &a).await;
        assert_eq!(a.sent(&stage, mark), []);
    });
}

#[test]
fn a_list_is_good_only_on_its_own_connection() {
    play(|stage| async move {
        let a = stage.founder().await;
        let lock = a.lock();
        let mut asking = Box::pin(lock.acquire());
        assert!(asking.as_mut().now_or_never().is_none());
        stage.pass(&a, Duration::from_millis(20)).await;
        // The answers are there, but nobody has looked at them.
        a.is_disconnected().await;
        let mark = stage.mark();
        assert!(asking.as_mut().now_or_never().is_none(), "not connected: no grant");
        let held = asking.await.expect("it is granted");
        assert_eq!(a.sent(&stage, mark), [Kind::Children], "it looks again");
        drop(held);
    });
}

#[test]
fn bad_paths_are_refused_with_a_sentence_and_nothing_is_sent() {
    play(|stage| async move {
        let a = stage.client("a").await;
        let mark = stage.mark();
        for (directory, sentence) in [
            ("", r#"bad input: path "" is empty"#),
            ("locks", r#"bad input: path "locks" is not absolute: it must begin with '/'"#),
            ("/locks/", r#"bad input: path "/locks/" ends in '/'"#),
            ("/locks//a", r#"bad input: path "/locks//a" has an empty component"#),
            ("/locks/../a", r#"bad input: path "/locks/../a" has a relative component"#),
            ("/", "bad input: a recipe needs a directory of its own, not the root"),
            ("/zookeeper", r#"bad input: path "/zookeeper" lies in ZooKeeper's own directory"#),
            ("/zookeeper/a", r#"bad input: path "/zookeeper/a" lies in ZooKeeper's own directory"#),
            ("/🔒", r#"bad input: path "/🔒" has the character U+1F512, which ZooKeeper does not allow"#),
        ] {
            let refused = Lock::new(&a.zk, directory, LockOptions::default()).expect_err("it is bad");
            assert!(refused.is_bad_input());
            assert_eq!(refused.to_string(), sentence);
        }
        stage.settle().await;
        assert_eq!(a.sent(&stage, mark), []);
    });
}

#[test]
fn data_that_do_not_fit_are_refused_before_anything_is_sent() {
    play(|stage| async move {
        let a = stage.founder().await;
        let mark = stage.mark();
        let with = |bytes| LockOptions::default().with_data(vec![b'x'; bytes]);
        // Whatever is accepted can be sent.
        let mut largest = 0xf_ffff;
        while let Err(refused) = Lock::new(&a.zk, DIRECTORY, with(largest)) {
            assert!(
                refused.is_bad_input() && refused.to_string().contains("a server takes 1048575"),
                "{refused}"
            );
            largest -= 1;
        }
        assert_eq!(a.sent(&stage, mark), []);
        assert!(largest > 0xf_ff00, "{largest}");
        drop(a.acquires_with(with(largest)).await);
    });
}

#[test]
fn a_lock_of_a_session_that_is_over_says_so() {
    play(|stage| async move {
        let a = stage.founder().await;
        a.zk.close(TIMEOUT).await.expect("it is closed");
        assert!(a.lock().acquire().await.expect_err("it is over").is_session_over());
        assert!(a.lock().try_acquire().await.expect_err("it is over").is_session_over());
        assert!(a.lock().acquire().within(TIMEOUT).await.expect_err("it is over").is_session_over());
        assert!(a.lock().contenders().await.expect_err("it is over").is_session_over());
    });
}

/// Numbers can be equal when a directory was made anew between two creates, or another client has made names up.
#[test]
fn contenders_with_equal_numbers_stand_in_the_order_of_their_creation() {
    play(|stage| async move {
        let (founder, a) = (stage.founder().await, stage.client("a").await);
        let names = [("f", 7), ("b", 3), ("a", 3), ("e", 5), ("c", 3), ("d", 1), ("g", 5)];
        for (guid, number) in names {
            let name = format!("{}-lock-{number:010}", guid.repeat(32));
            founder.makes_ephemeral(&path::join(DIRECTORY, &name)).await;
        }
        let listed = a.lock().contenders().await.expect("they can be listed");
        let listed: Vec<_> =
            listed.iter().map(|who| (path::split(&who.path).1[..1].to_owned(), who.number)).collect();
        let wanted = [("d", 1), ("b", 3), ("a", 3), ("c", 3), ("e", 5), ("g", 5), ("f", 7)];
        assert_eq!(listed, wanted.map(|(guid, number)| (guid.to_owned(), number)));
    });
}
