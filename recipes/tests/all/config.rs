//! Configuration: what followers see, when a conditional write succeeds, sets that are seen whole.

use crate::common::every_await::at_every_await;
use crate::common::{Client, RECONNECT, Stage, dropping, play, play_struck, play_with};
use futures_util::FutureExt;
use sim_zk::choose::Calm;
use sim_zk::fault::Fault;
use sim_zk::observer::Kind;
use sim_zk::{Config as World, SimClient};
use std::collections::BTreeMap;
use std::time::Duration;
use zk_recipes::config::{Config, ConfigOptions, ConfigSet, ConfigSetOptions};
use zk_recipes::zk::{CreateMode, ErrorKind, Op, Stat, ZooKeeper};
use zk_recipes::{Parents, Update, Updates, Versioned};

const PATH: &str = "/config/limits";

fn config(client: &Client) -> Config<SimClient> {
    let options = ConfigOptions::default().with_parents(Parents::Persistent);
    Config::new(&client.zk, PATH, options).expect("the path is good")
}

fn sets(client: &Client) -> ConfigSet<SimClient> {
    let options = ConfigSetOptions::default().with_parents(Parents::Persistent);
    ConfigSet::new(&client.zk, PATH, options).expect("the path is good")
}

async fn founder(stage: &Stage) -> Client {
    let founder = stage.client("founder").await;
    founder.makes("/config").await;
    founder
}

fn set(values: &[(&str, &str)]) -> BTreeMap<String, Vec<u8>> {
    values.iter().map(|(key, value)| (key.to_string(), value.as_bytes().to_vec())).collect()
}

async fn value(updates: &mut Updates<SimClient>) -> String {
    match updates.next().await.expect("the session lives") {
        Update::Value(value) => String::from_utf8(value.data).expect("text"),
        Update::Missing => "missing".into(),
    }
}

#[test]
fn a_follower_sees_every_state_it_is_slow_enough_for_and_the_last_one() {
    play(|stage| async move {
        let (a, b) = (founder(&stage).await, stage.client("b").await);
        let mut updates = config(&a).follow();
        assert_eq!(value(&mut updates).await, "missing");
        let writer = config(&b);
        let first = writer.put(b"1").await.expect("written");
        assert_eq!(first.version, 0);
        assert_eq!(value(&mut updates).await, "1");
        let mark = stage.mark();
        let second = writer.put(b"2").await.expect("written");
        assert_eq!(value(&mut updates).await, "2");
        assert_eq!(a.sent(&stage, mark), [Kind::Get], "one request a change");
        assert_eq!(a.noticed(&stage, mark), 1);
        assert!(second.mzxid > first.mzxid && second.version == 1);
        b.zk.delete(PATH, None).await.expect("deleted");
        assert_eq!(value(&mut updates).await, "missing");
        // Gone and there again between two looks: only the last is told, and not "missing" twice.
        writer.put(b"3").await.expect("written");
        b.zk.delete(PATH, None).await.expect("deleted");
        writer.put(b"4").await.expect("written");
        assert_eq!(value(&mut updates).await, "4");
        assert_eq!(updates.next().now_or_never(), None);
    });
}

#[test]
fn a_value_that_was_deleted_and_made_again_with_the_same_version_is_news() {
    play(|stage| async move {
        let (a, b) = (founder(&stage).await, stage.client("b").await);
        config(&b).put(b"1").await.expect("written");
        let mut updates = config(&a).follow();
        assert_eq!(value(&mut updates).await, "1");
        a.is_disconnected().await;
        b.zk.delete(PATH, None).await.expect("deleted");
        config(&b).put(b"2").await.expect("written");
        assert_eq!(value(&mut updates).await, "2");
    });
}

#[test]
fn a_follower_never_goes_back_over_reconnects() {
    let world = World::default().with_servers(3);
    play_with(world, Calm, |stage| async move {
        let (a, b) = (founder(&stage).await, stage.client("b").await);
        let writer = config(&b);
        let mut updates = config(&a).follow();
        let mut last = 0;
        for round in 0..6 {
            writer.put(format!("{round}").as_bytes()).await.expect("written");
            a.is_disconnected().await;
            loop {
                let Update::Value(value) = updates.next().await.expect("the session lives") else { continue };
                assert!(value.mzxid > last);
                last = value.mzxid;
                if value.data == format!("{round}").as_bytes() {
                    break;
                }
            }
        }
    });
}

#[test]
fn a_conditional_write_succeeds_exactly_if_nobody_wrote_in_between() {
    play(|stage| async move {
        let (a, b) = (founder(&stage).await, stage.client("b").await);
        let (one, two) = (config(&a), config(&b));
        let mark = stage.mark();
        let first = one.compare_and_set(None, b"1").await.expect("nothing there");
        assert_eq!(a.sent(&stage, mark), [Kind::Create]);
        assert_eq!(two.compare_and_set(None, b"2").await, Err(ErrorKind::Conflict.into()));
        let mark = stage.mark();
        let second = two.compare_and_set(Some(&first), b"2").await.expect("nobody wrote");
        assert_eq!(b.sent(&stage, mark), [Kind::Set]);
        assert_eq!(one.compare_and_set(Some(&first), b"3").await, Err(ErrorKind::Conflict.into()));
        assert_eq!(one.get().await, Ok(Some(second.clone())));
        b.zk.delete(PATH, None).await.expect("deleted");
        assert_eq!(one.compare_and_set(Some(&second), b"3").await, Err(ErrorKind::Conflict.into()));
        // Made again, and at the same version: this object has learned that the one before is gone.
        two.put(b"4").await.expect("written");
        let now = two.put(b"5").await.expect("written");
        let mark = stage.mark();
        assert_eq!(one.compare_and_set(Some(&second), b"6").await, Err(ErrorKind::Conflict.into()));
        assert_eq!(a.sent(&stage, mark), [], "nothing is written");
        assert_eq!(one.get().await, Ok(Some(now)));
    });
}

/// Deletes the value and makes it again, until it has the version of `like`.
async fn made_again(by: &Client, like: &Versioned) -> Versioned {
    by.zk.delete(PATH, None).await.expect("deleted");
    let writer = config(by);
    let mut made = writer.put(b"theirs").await.expect("written");
    while made.version < like.version {
        made = writer.put(b"theirs").await.expect("written");
    }
    assert_eq!(made.version, like.version, "a server cannot tell the two apart");
    made
}

#[test]
fn nothing_is_written_over_another_incarnation_that_was_seen() {
    for way in ["get", "snapshot", "follow", "a clone's get", "a write"] {
        play(move |stage| async move {
            let (a, b) = (founder(&stage).await, stage.client("b").await);
            let config = sets(&a);
            let first = config.pointer().put(b"1").await.expect("written");
            let mut updates = config.pointer().follow();
            let theirs = made_again(&b, &first).await;
            let mut now = theirs.clone();
            match way {
                "get" => drop(config.pointer().get().await.expect("asked")),
                "snapshot" => drop(config.snapshot().await.expect_err("it is no set")),
                "follow" => drop(updates.next().await.expect("there is one")),
                "a clone's get" => drop(config.pointer().clone().get().await.expect("asked")),
                _ => now = config.pointer().compare_and_set(Some(&theirs), b"2").await.expect("nobody wrote"),
            }
            let mark = stage.mark();
            assert_eq!(
                config.pointer().compare_and_set(Some(&first), b"3").await,
                Err(ErrorKind::Conflict.into()),
                "{way}"
            );
            let published = config.publish(&set(&[("a", "1")]), Some(&first)).await;
            assert_eq!(published, Err(ErrorKind::Conflict.into()), "{way}");
            assert_eq!(a.sent(&stage, mark), [], "{way}");
            assert_eq!(config.pointer().get().await, Ok(Some(now)), "{way}");
        });
    }
}

/// A server compares versions alone, so a write cannot be refused whose object has not seen the other incarnation. Its
/// answer tells, and so does whoever looks after a lost answer.
#[test]
fn a_write_over_another_incarnation_that_nobody_saw_is_told_as_a_conflict() {
    for fault in [None, Some(Fault::RequestLost), Some(Fault::Disconnect), Some(Fault::ReplyLost)] {
        play(move |stage| async move {
            let (a, b) = (founder(&stage).await, stage.client("b").await);
            let config = config(&a);
            let first = config.put(b"1").await.expect("written");
            made_again(&b, &first).await;
            if let Some(fault) = fault {
                a.process.order(fault);
            }
            let refused = config.compare_and_set(Some(&first), b"2").await.expect_err("it is another one");
            let stands = config.get().await.expect("asked").expect("there");
            match fault {
                None => assert_eq!(refused, ErrorKind::Conflict),
                // It may have been written before somebody deleted the znode.
                Some(fault) => assert!(refused.is_outcome_unknown(), "{fault:?}: {refused}"),
            }
            if fault == Some(Fault::RequestLost) {
                assert_eq!(
                    stands.data, b"theirs",
                    "what was looked at before it was sent again is not written over"
                );
            }
            assert_eq!(
                config.compare_and_set(Some(&first), b"3").await,
                Err(ErrorKind::Conflict.into()),
                "{fault:?}"
            );
            assert_eq!(config.get().await, Ok(Some(stands)), "{fault:?}");
        });
    }
}

#[test]
fn no_set_is_published_over_another_one_that_has_come_to_the_same_version() {
    for fault in [None, Some(Fault::RequestLost), Some(Fault::Disconnect), Some(Fault::ReplyLost)] {
        play(move |stage| async move {
            let (a, b) = (founder(&stage).await, stage.client("b").await);
            let (one, two) = (sets(&a), sets(&b));
            let first = one.publish(&set(&[("a", "1")]), None).await.expect("nothing there");
            let mut names = stage.names(PATH);
            names.reverse();
            for name in names {
                b.zk.delete(&format!("{PATH}/{name}"), None).await.expect("deleted");
            }
            b.zk.delete(PATH, None).await.expect("deleted");
            let theirs = two.publish(&set(&[("a", "2")]), None).await.expect("nothing there");
            assert_eq!(theirs.version, first.version, "a server cannot tell the two apart");
            if let Some(fault) = fault {
                a.process.order(fault);
            }
            let refused =
                one.publish(&set(&[("a", "3")]), Some(&first)).await.expect_err("it is another one");
            match fault {
                None => assert_eq!(refused, ErrorKind::Conflict),
                // It may have been published before somebody deleted the znode.
                Some(fault) => assert!(refused.is_outcome_unknown(), "{fault:?}: {refused}"),
            }
            let mark = stage.mark();
            let again = one.publish(&set(&[("a", "4")]), Some(&first)).await;
            assert_eq!((again, a.sent(&stage, mark)), (Err(ErrorKind::Conflict.into()), vec![]), "{fault:?}");
            let stands = one.snapshot().await.expect("asked").expect("there");
            assert_eq!((stands.pointer, stands.values), (theirs, set(&[("a", "2")])), "{fault:?}");
        });
    }
}

#[test]
fn a_set_that_a_stranger_took_away_can_be_replaced() {
    play(|stage| async move {
        let a = founder(&stage).await;
        let config = sets(&a);
        let first = config.publish(&set(&[("a", "1")]), None).await.expect("nothing there");
        let mut names = stage.names(PATH);
        names.reverse();
        for name in names {
            a.zk.delete(&format!("{PATH}/{name}"), None).await.expect("deleted");
        }
        config.publish(&set(&[("a", "2")]), Some(&first)).await.expect("nobody wrote");
        assert_eq!(config.snapshot().await.expect("asked").expect("there").values, set(&[("a", "2")]));
    });
}

/// Of an older set that is due for deletion, too: then that one stays.
#[test]
fn a_set_that_a_stranger_took_away_can_be_replaced_although_an_older_one_was_changed() {
    play(|stage| async move {
        let a = founder(&stage).await;
        let config = sets(&a);
        let mut last = config.publish(&set(&[("a", "1")]), None).await.expect("nothing there");
        let of_the_first = stage.names(PATH);
        last = config.publish(&set(&[("a", "2")]), Some(&last)).await.expect("nobody wrote");
        let all: Vec<String> = stage.names(PATH);
        // The first one's key, and the whole of the second one.
        let mut gone: Vec<String> =
            all.into_iter().filter(|name| !of_the_first.contains(name) || name.contains('/')).collect();
        gone.sort();
        assert_eq!(gone.len(), 3, "{gone:?}");
        for name in gone.iter().rev() {
            a.zk.delete(&format!("{PATH}/{name}"), None).await.expect("deleted");
        }
        config.publish(&set(&[("a", "3")]), Some(&last)).await.expect("nobody wrote");
        assert_eq!(config.snapshot().await.expect("asked").expect("there").values, set(&[("a", "3")]));
    });
}

/// Every request of every way to write is lost once; the outcome is known in the end.
#[test]
fn a_lost_write_is_written_once() {
    for fault in [Fault::ReplyLost, Fault::RequestLost, Fault::Disconnect] {
        for nth in 0.. {
            let (_, struck) = play_struck(fault, nth, |stage, danger| async move {
                let a = stage.client("a").await;
                danger.begins();
                let config = config(&a);
                let first = config.compare_and_set(None, b"1").await.expect("nobody else writes");
                let second = config.compare_and_set(Some(&first), b"2").await.expect("nobody else writes");
                assert_eq!((first.version, second.version), (0, 1));
                assert_eq!(config.get().await, Ok(Some(second.clone())));
                match config.put(b"3").await {
                    Ok(third) => assert_eq!(config.get().await, Ok(Some(third))),
                    Err(e) => {
                        assert!(e.is_outcome_unknown());
                        assert_eq!(config.get().await, Ok(Some(second)), "not written");
                    }
                }
            });
            if !struck {
                break;
            }
        }
    }
}

#[test]
fn a_lost_write_that_somebody_else_overtook_is_not_sent_again() {
    for (fault, expected) in [(Fault::RequestLost, "refused"), (Fault::ReplyLost, "unknown")] {
        play(move |stage| async move {
            let (a, b) = (founder(&stage).await, stage.client("b").await);
            let (one, two) = (config(&a), config(&b));
            let first = one.put(b"1").await.expect("written");
            a.process.order(fault);
            let write = one.compare_and_set(Some(&first), b"2");
            let mut write = Box::pin(write);
            assert!((&mut write).now_or_never().is_none());
            stage.pass(&b, Duration::from_millis(100)).await;
            let now = two.get().await.expect("asked").expect("there");
            two.compare_and_set(Some(&now), b"3").await.expect("nobody else");
            let error = write.await.unwrap_err();
            let told = if error.is_conflict() { "refused" } else { "unknown" };
            assert_eq!(told, expected, "{error}");
            assert_eq!(one.get().await.expect("asked").expect("there").data, b"3");
        });
    }
}

#[test]
fn a_set_is_published_and_read_whole() {
    play(|stage| async move {
        let (a, b) = (founder(&stage).await, stage.client("b").await);
        let (one, two) = (sets(&a), sets(&b));
        assert_eq!(two.snapshot().await, Ok(None));
        let mark = stage.mark();
        let values = set(&[("a", "1"), ("b", "2")]);
        let first = one.publish(&values, None).await.expect("nothing there");
        assert_eq!(a.sent(&stage, mark), [Kind::Multi], "one request");
        let mark = stage.mark();
        let snapshot = two.snapshot().await.expect("asked").expect("there");
        assert_eq!(b.sent(&stage, mark), [Kind::Get, Kind::MultiRead]);
        assert_eq!((snapshot.values, &snapshot.pointer), (values, &first));
        let empty = two.publish(&set(&[]), Some(&first)).await.expect("nobody wrote");
        assert_eq!(one.publish(&set(&[]), Some(&first)).await, Err(ErrorKind::Conflict.into()));
        assert_eq!(one.publish(&set(&[]), None).await, Err(ErrorKind::Conflict.into()));
        let mark = stage.mark();
        assert_eq!(two.snapshot().await.expect("asked").expect("there").values, set(&[]));
        assert_eq!(b.sent(&stage, mark), [Kind::Get], "there are no values to ask for");
        let mut last = empty;
        for round in ["3", "4", "5"] {
            last = one.publish(&set(&[("a", round)]), Some(&last)).await.expect("nobody wrote");
            assert_eq!(two.snapshot().await.expect("asked").expect("there").pointer, last);
        }
        assert_eq!(stage.names(PATH).iter().filter(|name| !name.contains('/')).count(), 2, "two are kept");
    });
}

#[test]
fn a_lost_publication_is_published_once() {
    for fault in [Fault::ReplyLost, Fault::RequestLost, Fault::Disconnect] {
        for nth in 0.. {
            let (_, struck) = play_struck(fault, nth, |stage, danger| async move {
                let a = stage.client("a").await;
                danger.begins();
                let config = sets(&a);
                let mut last: Option<Versioned> = None;
                for round in ["1", "2", "3", "4"] {
                    let next = config.publish(&set(&[("a", round)]), last.as_ref()).await;
                    let next = next.expect("nobody else publishes");
                    let found = config.snapshot().await.expect("asked").expect("there");
                    assert_eq!((&found.pointer, found.values), (&next, set(&[("a", round)])));
                    last = Some(next);
                }
                assert_eq!(stage.names(PATH).iter().filter(|name| !name.contains('/')).count(), 2);
            });
            if !struck {
                break;
            }
        }
    }
}

#[test]
fn a_lost_publication_whose_set_a_stranger_took_away_is_known_by_the_pointer() {
    play(|stage| async move {
        let (a, stranger) = (founder(&stage).await, stage.client("stranger").await);
        let config = sets(&a);
        let first = config.publish(&set(&[("a", "1")]), None).await.expect("nothing there");
        a.process.order(Fault::ReplyLost);
        let second = set(&[("a", "2")]);
        let mut publishes = Box::pin(config.publish(&second, Some(&first)));
        assert!(publishes.as_mut().now_or_never().is_none());
        stage.pass(&stranger, RECONNECT / 4).await;
        let pointer = stranger.zk.get(PATH).await.expect("it is there");
        for name in stranger.zk.children(PATH).await.expect("it is there").names {
            let directory = format!("{PATH}/{name}");
            stranger.zk.delete(&format!("{directory}/a"), None).await.expect("it is there");
            stranger.zk.delete(&directory, None).await.expect("it is empty");
        }
        let published = publishes.await.expect("it was published");
        let Stat { czxid, mzxid, version, .. } = pointer.stat;
        assert_eq!(published, Versioned { data: pointer.data, czxid, mzxid, version });
    });
}

#[test]
fn a_reader_of_a_set_that_is_replaced_begins_again() {
    play(|stage| async move {
        let (a, b) = (founder(&stage).await, stage.client("b").await);
        let (one, two) = (sets(&a), sets(&b));
        let mut last = one.publish(&set(&[("a", "0")]), None).await.expect("nothing there");
        for wait_ms in 0..30 {
            let read = b.process.spawn({
                let two = two.clone();
                async move { two.snapshot().await }
            });
            stage.pass(&a, Duration::from_millis(wait_ms)).await;
            for _ in 0..3 {
                last = one.publish(&set(&[("a", "1"), ("b", "1")]), Some(&last)).await.expect("nobody else");
                last = one.publish(&set(&[("a", "0")]), Some(&last)).await.expect("nobody else");
            }
            let read = read.await.expect("its process lives").expect("read").expect("there");
            assert!([set(&[("a", "0")]), set(&[("a", "1"), ("b", "1")])].contains(&read.values));
        }
    });
}

#[test]
fn a_snapshot_whose_connection_is_lost_starts_again_and_is_whole() {
    for fault in [Fault::ReplyLost, Fault::RequestLost, Fault::Disconnect] {
        for nth in 0.. {
            let ((), struck) = play_struck(fault, nth, move |stage, danger| async move {
                let (a, b) = (founder(&stage).await, stage.client("b").await);
                let (one, two) = (sets(&a), sets(&b));
                let [old, new] = [set(&[("a", "0"), ("b", "0")]), set(&[("a", "1"), ("b", "1"), ("c", "1")])];
                let mut last = one.publish(&old, None).await.expect("nothing there");
                danger.begins();
                let reading = b.process.spawn(async move { two.snapshot().await });
                // The reply is on its way, or lost.
                stage.pass(&a, Duration::from_millis(12)).await;
                danger.ends();
                // None of the sets that it may have read of is there when it is connected again.
                for values in [&old, &old, &new] {
                    last = one.publish(values, Some(&last)).await.expect("nobody else writes");
                }
                let read = reading.await.expect("its process lives").expect("it is read").expect("there");
                assert!([&old, &new].contains(&&read.values), "{fault:?} at {nth}: {:?}", read.values);
                stage.settle().await;
                b.has_left_nothing(&stage, "after a snapshot");
            });
            if !struck {
                assert!(nth > 0, "{fault:?} fits somewhere");
                break;
            }
        }
    }
}

#[test]
fn what_is_no_set_is_a_mismatch() {
    play(|stage| async move {
        let a = founder(&stage).await;
        let config = sets(&a);
        let plain = config.pointer().put(b"plain").await.expect("written");
        assert!(config.snapshot().await.is_err_and(|e| e.is_mismatch()));
        let first = config.publish(&set(&[("a", "1")]), Some(&plain)).await.expect("nobody wrote");
        // Somebody takes the values away: that is told, not waited for.
        let directory = stage.names(PATH).into_iter().find(|name| !name.contains('/')).expect("a set");
        let directory = format!("{PATH}/{directory}");
        a.zk.delete(&format!("{directory}/a"), None).await.expect("deleted");
        assert!(config.snapshot().await.is_err_and(|e| e.is_mismatch()));
        // An old set that is not as it was left stays, and is in nobody's way.
        let second = config.publish(&set(&[("a", "2")]), Some(&first)).await.expect("nobody wrote");
        a.makes(&format!("{directory}/foreign")).await;
        let third = config.publish(&set(&[("a", "3")]), Some(&second)).await.expect("nobody wrote");
        assert_eq!(config.snapshot().await.expect("asked").expect("there").pointer, third);
    });
}

#[test]
fn a_follower_dropped_at_any_await_leaves_no_watch() {
    at_every_await(|stage, danger, drops| async move {
        let (a, b) = (stage.client("a").await, stage.client("b").await);
        danger.begins();
        let mut updates = config(&a).follow();
        let writer = config(&b);
        let both = async {
            while writer.put(b"1").await.is_err() {}
            while value(&mut updates).await != "1" {}
        };
        let ended = dropping(drops, &stage, &a, both).await.is_some();
        // It may be asked again, and misses nothing.
        while config(&b).put(b"2").await.is_err() {}
        while value(&mut updates).await != "2" {}
        drop(updates);
        stage.pass(&a, 3 * RECONNECT).await;
        stage.settle().await;
        a.has_left_nothing(&stage, &format!("dropped {drops:?}"));
        ended
    });
}

#[test]
fn a_publication_dropped_at_any_await_is_whole_or_not_there() {
    at_every_await(|stage, danger, drops| async move {
        let a = stage.client("a").await;
        let config = sets(&a);
        danger.begins();
        let both = async {
            let first = config.publish(&set(&[("a", "1")]), None).await.expect("nothing there");
            config.publish(&set(&[("a", "2"), ("b", "2")]), Some(&first)).await.expect("nobody else")
        };
        let ended = dropping(drops, &stage, &a, both).await.is_some();
        stage.settle().await;
        match config.snapshot().await.expect("whole or not there") {
            None => assert!(!ended),
            Some(found) => {
                let whole = [set(&[("a", "1")]), set(&[("a", "2"), ("b", "2")])];
                assert!(whole.contains(&found.values));
            }
        }
        ended
    });
}

#[test]
fn parents_and_bad_input() {
    play(|stage| async move {
        let a = stage.client("a").await;
        let options = ConfigOptions::default().with_parents(Parents::MustExist);
        let strict = Config::new(&a.zk, "/nowhere/x", options).expect("a good path");
        assert_eq!(strict.put(b"1").await, Err(ErrorKind::NoNode.into()));
        assert_eq!(strict.compare_and_set(None, b"1").await, Err(ErrorKind::NoNode.into()));
        let options = ConfigSetOptions::default().with_parents(Parents::MustExist);
        let strict = ConfigSet::new(&a.zk, "/nowhere/x", options).expect("a good path");
        assert_eq!(strict.publish(&set(&[]), None).await, Err(ErrorKind::NoNode.into()));
        for path in ["", "config", "/", "/zookeeper/config", "/config/", "/a//b"] {
            let refused = Config::new(&a.zk, path, ConfigOptions::default());
            assert!(refused.is_err_and(|e| e.is_bad_input()), "{path:?}");
        }
        for keep in [0, 1] {
            let options = ConfigSetOptions::default().with_keep(keep);
            assert!(ConfigSet::new(&a.zk, PATH, options).is_err_and(|e| e.is_bad_input()));
        }
        let (config, mark) = (sets(&a), stage.mark());
        let large = vec![0; 1 << 20];
        assert!(config.pointer().put(&large).await.is_err_and(|e| e.is_bad_input()));
        assert!(config.pointer().compare_and_set(None, &large).await.is_err_and(|e| e.is_bad_input()));
        let half = BTreeMap::from([("a".to_owned(), vec![0; 600_000]), ("b".to_owned(), vec![0; 600_000])]);
        assert!(config.publish(&half, None).await.is_err_and(|e| e.is_bad_input()));
        for key in ["", "a/b", ".", "..", "a\nb", "🔒"] {
            assert!(config.publish(&set(&[(key, "1")]), None).await.is_err_and(|e| e.is_bad_input()));
        }
        assert_eq!(a.sent(&stage, mark), []);
        a.makes_ephemeral("/eph").await;
        let below = Config::new(&a.zk, "/eph/x", ConfigOptions::default()).expect("a good path");
        assert_eq!(below.put(b"1").await, Err(ErrorKind::NoChildrenForEphemerals.into()));
    });
}

#[test]
fn everything_ends_with_the_session() {
    play(|stage| async move {
        let a = founder(&stage).await;
        let config = sets(&a);
        let mut updates = config.pointer().follow();
        assert_eq!(updates.next().await, Ok(Update::Missing));
        let first = config.pointer().put(b"1").await.expect("written");
        assert!(matches!(updates.next().await, Ok(Update::Value(_))));
        a.zk.close(Duration::from_secs(1)).await.expect("closed");
        assert!(updates.next().await.is_err_and(|e| e.is_session_over()));
        assert!(updates.next().await.is_err_and(|e| e.is_session_over()));
        assert!(config.pointer().put(b"2").await.is_err_and(|e| e.is_session_over()));
        assert!(
            config.pointer().compare_and_set(Some(&first), b"2").await.is_err_and(|e| e.is_session_over())
        );
        assert!(config.publish(&set(&[]), None).await.is_err_and(|e| e.is_session_over()));
        assert!(config.snapshot().await.is_err_and(|e| e.is_session_over()));
    });
}

#[test]
fn a_value_may_have_children_and_any_content() {
    play(|stage| async move {
        let a = founder(&stage).await;
        a.zk.multi(vec![Op::Create { path: PATH.into(), data: vec![0xff; 9], mode: CreateMode::Persistent }])
            .await
            .expect("made");
        a.makes("/config/limits/foreign").await;
        let config = sets(&a);
        assert!(config.snapshot().await.is_err_and(|e| e.is_mismatch()));
        let now = config.pointer().get().await.expect("asked").expect("there");
        config.publish(&set(&[("a", "1")]), Some(&now)).await.expect("nobody wrote");
        assert_eq!(config.snapshot().await.expect("asked").expect("there").values, set(&[("a", "1")]));
    });
}
