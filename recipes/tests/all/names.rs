//! Names: who has one, what a lost reply means, what is given back, how fresh a lookup is.

use crate::common::every_await::at_every_await;
use crate::common::{Client, RECONNECT, Stage, TIMEOUT, dropping, play, play_struck, play_with};
use futures_util::FutureExt;
use sim_zk::choose::Calm;
use sim_zk::fault::Fault;
use sim_zk::observer::Kind;
use sim_zk::{Config, SimClient};
use std::time::Duration;
use zk_recipes::names::{Freshness, IfTaken, Names, NamesOptions, Registration};
use zk_recipes::zk::{CreateMode, ErrorKind, Op, ZooKeeper};
use zk_recipes::{HoldState, LostReason, OnSuspect, Parents, Released, Stop, Update};

const NAMES: &str = "/names";
const DB: &str = "/names/db";

fn names_with(client: &Client, options: NamesOptions) -> Names<SimClient> {
    Names::new(&client.zk, NAMES, options).expect("the path is good")
}

fn names(client: &Client) -> Names<SimClient> {
    names_with(client, NamesOptions::default().with_parents(Parents::Persistent))
}

fn patient(client: &Client) -> Names<SimClient> {
    let options = NamesOptions::default().with_if_taken(IfTaken::Wait).with_parents(Parents::Persistent);
    names_with(client, options)
}

async fn founder(stage: &Stage) -> Client {
    let founder = stage.client("founder").await;
    founder.makes(NAMES).await;
    founder
}

async fn registers(client: &Client) -> Registration<SimClient> {
    names(client).register("db", b"there").await.expect("the name is free")
}

#[test]
fn a_second_registration_through_one_object_waits_for_the_end_of_the_first() {
    play(|stage| async move {
        let a = founder(&stage).await;
        let names = patient(&a);
        let first = names.register("db", b"first").await.expect("the name is free");
        let again = names.clone();
        let waiting = a.process.spawn(async move { again.register("db", b"second").await });
        stage.pass(&a, RECONNECT).await;
        assert!(stage.names(NAMES).len() == 1 && first.state() == HoldState::Held);
        assert_eq!(first.release().await, Ok(Released::Clean));
        let second = waiting.await.expect("its process lives").expect("it has its turn");
        assert_eq!(a.zk.get(DB).await.expect("it is there").data, b"second");
        drop(second);
    });
}

#[test]
fn a_name_has_one_owner_and_the_next_one_when_it_is_given_back() {
    play(|stage| async move {
        let (a, b) = (founder(&stage).await, stage.client("b").await);
        let mark = stage.mark();
        let first = registers(&a).await;
        assert_eq!(a.sent(&stage, mark), [Kind::Create], "one request");
        assert_eq!(first.state(), HoldState::Held);
        let mark = stage.mark();
        assert_eq!(names(&b).register("db", b"here").await.unwrap_err(), ErrorKind::Taken(DB.into()));
        assert_eq!(b.sent(&stage, mark), [Kind::Create]);
        let mark = stage.mark();
        assert_eq!(first.release().await, Ok(Released::Clean));
        assert_eq!(a.sent(&stage, mark), [Kind::Exists, Kind::Delete]);
        assert!(registers(&b).await.token() > 0);
    });
}

#[test]
fn who_waits_is_next_when_the_owner_goes() {
    play(|stage| async move {
        let (a, b) = (founder(&stage).await, stage.client("b").await);
        let first = registers(&a).await;
        let waiting = patient(&b);
        let mut waits = Box::pin(waiting.register("db", b"here"));
        assert!((&mut waits).now_or_never().is_none());
        stage.settle().await;
        assert!((&mut waits).now_or_never().is_none());
        drop(first);
        let second = waits.await.expect("it is free");
        assert_eq!(b.watches(&stage), [""; 0]);
        assert_eq!(second.release().await, Ok(Released::Clean));
    });
}

#[test]
fn who_waits_for_a_name_of_its_own_object_gets_it_when_it_is_given_back() {
    play(|stage| async move {
        let a = founder(&stage).await;
        let patient = patient(&a);
        let first = patient.register("db", b"1").await.expect("it is free");
        let mut waits = Box::pin(patient.register("db", b"2"));
        assert!((&mut waits).now_or_never().is_none());
        stage.settle().await;
        assert!((&mut waits).now_or_never().is_none(), "it is taken, and that is no error");
        assert_eq!(first.release().await, Ok(Released::Clean));
        let second = waits.await.expect("it is free");
        let found = patient.resolve("db", Freshness::Latest).await.expect("asked").expect("there");
        assert_eq!((found.data, second.state()), (b"2".to_vec(), HoldState::Held));
    });
}

#[test]
fn ones_own_former_session_is_somebody_else() {
    play(|stage| async move {
        let a = founder(&stage).await;
        let first = registers(&a).await;
        // As after a quick restart: the former session lives on for a while.
        let again = Client { process: a.process.clone(), zk: a.process.open(TIMEOUT).await };
        assert!(names(&again).register("db", b"again").await.is_err_and(|e| e.is_taken()));
        let patient = patient(&again);
        let mut waits = Box::pin(patient.register("db", b"again"));
        assert!((&mut waits).now_or_never().is_none());
        stage.settle().await;
        a.zk.close(Duration::from_secs(1)).await.expect("closed");
        let second = waits.await.expect("it comes free");
        assert_ne!(second.token(), first.token());
        assert_eq!(first.state(), HoldState::Lost(LostReason::SessionOver));
        assert_eq!(first.release().await, Ok(Released::WasLost(LostReason::SessionOver)));
        stage.settle().await;
        assert_eq!(again.znodes(&stage), [DB], "the next owner keeps it");
    });
}

#[test]
fn a_lost_reply_is_neither_yes_nor_no() {
    for fault in [Fault::ReplyLost, Fault::RequestLost] {
        for lifetime in ["session", "permanent"] {
            play(move |stage| async move {
                let a = founder(&stage).await;
                a.process.order(fault);
                let lookup = names(&a);
                if lifetime == "session" {
                    let registered = registers(&a).await;
                    assert_eq!(a.znodes(&stage), [registered.path()]);
                    a.process.order(fault);
                    assert_eq!(registered.release().await, Ok(Released::Clean), "{fault:?}");
                } else {
                    let registered = lookup.register_permanent("db", b"there").await.expect("free");
                    a.process.order(fault);
                    assert_eq!(registered.unregister().await, Ok(true), "{fault:?}");
                }
                assert_eq!(lookup.resolve("db", Freshness::Latest).await, Ok(None));
            });
        }
    }
}

#[test]
fn every_lost_request_of_a_registration_and_its_end() {
    for fault in [Fault::ReplyLost, Fault::RequestLost, Fault::Disconnect] {
        for nth in 0.. {
            let (_, struck) = play_struck(fault, nth, |stage, danger| async move {
                let (a, b) = (stage.client("a").await, stage.client("b").await);
                danger.begins();
                let names = names(&a);
                let registered = names.register("db", b"1").await.expect("free");
                registered.set(b"2").await.expect("ours");
                let found = names.resolve("db", Freshness::Synced).await.expect("asked").expect("there");
                assert_eq!(found.data, b"2");
                registered.release().await.expect("ours");
                let kept = names.register_permanent("kept", b"3").await.expect("free");
                kept.set(b"4").await.expect("ours");
                let again = names.registered("kept", kept.guid()).await.expect("asked").expect("ours");
                let found = names.resolve("kept", Freshness::Latest).await.expect("asked").expect("there");
                assert_eq!(found.data, b"4");
                assert_eq!(again.unregister().await, Ok(true));
                let one = names.unique("job").await.expect("made");
                let two = names.unique("job").await.expect("made");
                assert!(two.czxid > one.czxid && two.number > one.number && two.name != one.name);
                assert_eq!(stage.names(NAMES).len(), 2, "one znode each");
                drop(b);
            });
            if !struck {
                break;
            }
        }
    }
}

#[test]
fn a_lost_create_is_not_found_in_somebody_elses_znode() {
    play(|stage| async move {
        let (a, b) = (founder(&stage).await, stage.client("b").await);
        a.process.order(Fault::RequestLost);
        let names = names(&a);
        let mut registers_late = Box::pin(names.register("db", b"late"));
        assert!((&mut registers_late).now_or_never().is_none());
        let first = registers(&b).await;
        assert!(registers_late.await.is_err_and(|e| e.is_taken()));
        assert_eq!(first.state(), HoldState::Held);
        assert_eq!(b.znodes(&stage), [DB]);
    });
}

#[test]
fn a_release_takes_nothing_that_is_anothers() {
    play(|stage| async move {
        let (a, b) = (founder(&stage).await, stage.client("b").await);
        let first = registers(&a).await;
        b.zk.delete(DB, None).await.expect("it has no manners");
        let second = registers(&b).await;
        assert_eq!(first.set(b"mine").await, Err(ErrorKind::Removed(DB.into()).into()));
        let found = names(&b).resolve("db", Freshness::Latest).await.expect("asked").expect("there");
        assert_eq!(found.data, b"there", "nothing is written over the next owner's data");
        assert_eq!(first.release().await, Ok(Released::WasLost(LostReason::Removed)));
        assert_eq!(b.znodes(&stage), [second.path()]);
        let permanent = names(&a).register_permanent("p", b"1").await.expect("free");
        b.zk.delete("/names/p", None).await.expect("it has no manners");
        let other = names(&b).register_permanent("p", b"2").await.expect("free");
        assert_eq!(permanent.unregister().await, Ok(false));
        assert_eq!(permanent.set(b"3").await, Err(ErrorKind::Removed("/names/p".into()).into()));
        assert_eq!(other.unregister().await, Ok(true));
    });
}

#[test]
fn an_owner_is_told_that_its_name_is_gone() {
    play(|stage| async move {
        let (a, b) = (founder(&stage).await, stage.client("b").await);
        let first = registers(&a).await;
        assert_eq!(first.lost().now_or_never(), None);
        stage.settle().await;
        assert_eq!(first.run(async { 7 }).await, Ok(7));
        b.zk.delete(DB, None).await.expect("it has no manners");
        assert_eq!(first.lost().await, Stop::Lost(LostReason::Removed));
        let second = registers(&a).await;
        a.process.order(Fault::Disconnect);
        assert!(a.zk.exists("/").await.is_err());
        assert!(matches!(second.lost().await, Stop::Suspect { .. }));
        assert_eq!(second.resumed().await, Ok(()));
    });
}

#[test]
fn a_name_that_was_dropped_can_be_registered_again_at_once() {
    play(|stage| async move {
        let a = founder(&stage).await;
        let names = names(&a);
        let first = names.register("db", b"1").await.expect("free");
        assert!(names.register("db", b"2").await.is_err_and(|e| e.is_taken()));
        let czxid = first.token();
        drop(first);
        let second = names.register("db", b"2").await.expect("it comes free");
        assert_ne!(second.token(), czxid);
        stage.settle().await;
        assert_eq!(second.state(), HoldState::Held);
        assert_eq!(a.znodes(&stage), [DB], "the clean-up of the first has not taken the second");
    });
}

#[test]
fn a_name_given_up_in_doubt_can_be_registered_again() {
    for fault in [Fault::ReplyLost, Fault::RequestLost] {
        play(move |stage| async move {
            let a = founder(&stage).await;
            let names = names(&a);
            a.process.order(fault);
            let limit = Duration::from_millis(700);
            assert!(names.register("db", b"1").within(limit).await.is_err_and(|e| e.is_timed_out()));
            let second = names.register("db", b"2").await.expect("it comes free");
            stage.settle().await;
            assert_eq!(second.state(), HoldState::Held);
            assert_eq!(a.znodes(&stage), [DB]);
            assert_eq!(a.zk.get(DB).await.expect("there").data, b"2");
        });
    }
}

#[test]
fn a_registration_dropped_at_any_await_leaves_nothing_and_the_next_one_gets_the_name() {
    for wait in [false, true] {
        at_every_await(move |stage, danger, drops| async move {
            let (b, a) = (stage.client("b").await, stage.client("a").await);
            let held = if wait { Some(registers(&b).await) } else { None };
            danger.begins();
            if let Some(held) = held {
                let over = stage.sim.sleep(&b.process, Duration::from_millis(62));
                b.process.spawn(async move {
                    over.await;
                    held.release().await
                });
            }
            let names = patient(&a);
            let ended = dropping(drops, &stage, &a, names.register("db", b"1")).await;
            let ended = ended.map(|registered| drop(registered.expect("it is granted"))).is_some();
            stage.pass(&a, 3 * RECONNECT).await;
            stage.settle().await;
            a.has_left_nothing(&stage, &format!("dropped {drops:?}"));
            let next = patient(&b);
            assert!(next.register("db", b"2").within(Duration::from_secs(30)).await.is_ok());
            ended
        });
    }
}

#[test]
fn a_release_dropped_at_any_await_goes_on() {
    at_every_await(|stage, danger, drops| async move {
        let a = founder(&stage).await;
        let registered = registers(&a).await;
        danger.begins();
        let ended = dropping(drops, &stage, &a, registered.release()).await.is_some();
        stage.pass(&a, 3 * RECONNECT).await;
        stage.settle().await;
        a.has_left_nothing(&stage, &format!("dropped {drops:?}"));
        ended
    });
}

#[test]
fn a_follower_dropped_at_any_await_leaves_no_watch_and_misses_nothing() {
    at_every_await(|stage, danger, drops| async move {
        let (a, b) = (stage.client("a").await, stage.client("b").await);
        danger.begins();
        let mut updates = names(&a).follow("db").expect("a good name");
        let first = dropping(drops, &stage, &a, updates.next()).await;
        let _held = registers(&b).await;
        loop {
            if matches!(updates.next().await.expect("the session lives"), Update::Value(v) if v.data == b"there")
            {
                break;
            }
        }
        drop(updates);
        stage.pass(&a, 3 * RECONNECT).await;
        stage.settle().await;
        a.has_left_nothing(&stage, &format!("dropped {drops:?}"));
        first.is_some()
    });
}

#[test]
fn a_lookup_is_as_fresh_as_it_was_asked_to_be() {
    let config = Config::default().with_servers(3);
    play_with(config, Calm, |stage| async move {
        let a = founder(&stage).await;
        let registered = registers(&a).await;
        for _ in 0..6 {
            let b = stage.client("b").await;
            registered.set(b"now").await.expect("ours");
            let names = names(&b);
            let mark = stage.mark();
            let found = names.resolve("db", Freshness::Latest).await.expect("asked").expect("there");
            assert_eq!(found.data, b"now");
            assert_eq!(b.sent(&stage, mark), [Kind::Multi, Kind::Get]);
            assert!(names.resolve("db", Freshness::Synced).await.expect("asked").is_some());
            assert!(names.resolve("db", Freshness::Local).await.expect("asked").is_some());
            assert_eq!(names.resolve("other", Freshness::Latest).await, Ok(None));
        }
    });
}

#[test]
fn parents_are_made_or_must_be_there() {
    play(|stage| async move {
        let a = stage.client("a").await;
        let strict = names_with(&a, NamesOptions::default().with_parents(Parents::MustExist));
        assert_eq!(strict.register("db", b"").await.unwrap_err(), ErrorKind::NoNode);
        assert_eq!(strict.register_permanent("db", b"").await.unwrap_err(), ErrorKind::NoNode);
        assert_eq!(strict.unique("db").await, Err(ErrorKind::NoNode.into()));
        assert_eq!(strict.resolve("db", Freshness::Latest).await, Ok(None));
        drop(names_with(&a, NamesOptions::default()).register("db", b"").await.expect("made"));
        stage.settle().await;
        // An ephemeral cannot be a directory.
        a.makes_ephemeral("/eph").await;
        let below = Names::new(&a.zk, "/eph", NamesOptions::default()).expect("a good path");
        assert_eq!(below.register("x", b"").await.unwrap_err(), ErrorKind::NoChildrenForEphemerals);
        assert_eq!(below.unique("x").await, Err(ErrorKind::NoChildrenForEphemerals.into()));
    });
}

#[test]
fn what_others_have_put_there_is_taken_and_is_read_as_it_is() {
    play(|stage| async move {
        let a = founder(&stage).await;
        a.zk.create("/names/raw", b"raw", CreateMode::Persistent).await.expect("made");
        a.makes("/names/raw/below").await;
        let names = names(&a);
        assert!(names.register("raw", b"").await.is_err_and(|e| e.is_taken()));
        assert!(names.register_permanent("raw", b"").await.is_err_and(|e| e.is_taken()));
        let found = names.resolve("raw", Freshness::Local).await.expect("asked").expect("there");
        assert_eq!(found.data, b"raw");
        let waits = patient(&a);
        let limit = Duration::from_secs(1);
        assert!(waits.register("raw", b"").within(limit).await.is_err_and(|e| e.is_timed_out()));
        stage.settle().await;
        assert_eq!(a.watches(&stage), [""; 0]);
    });
}

#[test]
fn bad_names_are_refused_before_anything_is_sent() {
    play(|stage| async move {
        let a = founder(&stage).await;
        for directory in ["", "names", "/", "/zookeeper/names", "/names/", "/a//b", "/a/../b"] {
            assert!(Names::new(&a.zk, directory, NamesOptions::default()).is_err_and(|e| e.is_bad_input()));
        }
        let (names, mark) = (names(&a), stage.mark());
        for bad in ["", "a/b", "/", ".", "..", "a\u{1}", "🔒"] {
            assert!(names.register(bad, b"").await.is_err_and(|e| e.is_bad_input()), "{bad:?}");
            assert!(names.register_permanent(bad, b"").await.is_err_and(|e| e.is_bad_input()), "{bad:?}");
            assert!(names.resolve(bad, Freshness::Local).await.is_err_and(|e| e.is_bad_input()), "{bad:?}");
            assert!(names.follow(bad).is_err_and(|e| e.is_bad_input()), "{bad:?}");
            assert!(names.unique(bad).await.is_err_and(|e| e.is_bad_input()), "{bad:?}");
        }
        let large = vec![0; 1 << 20];
        assert!(names.register("db", &large).await.is_err_and(|e| e.is_bad_input()));
        assert!(names.register_permanent("db", &large).await.is_err_and(|e| e.is_bad_input()));
        assert!(names.unique(&"x".repeat(1 << 20)).await.is_err_and(|e| e.is_bad_input()));
        // Nor is a directory made for it.
        let far = Names::new(&a.zk, "/far/names", NamesOptions::default()).expect("the path is good");
        assert!(far.register("db", &large).await.is_err_and(|e| e.is_bad_input()));
        assert_eq!(a.sent(&stage, mark), []);
    });
}

#[test]
fn everything_ends_with_the_session() {
    play(|stage| async move {
        let (a, b) = (founder(&stage).await, stage.client("b").await);
        let held = registers(&b).await;
        let kept = names(&a).register_permanent("kept", b"1").await.expect("free");
        let waits = patient(&a);
        let mut waits = Box::pin(waits.register("db", b""));
        let mut follows = names(&a).follow("db").expect("a good name");
        assert!((&mut waits).now_or_never().is_none());
        assert!(matches!(follows.next().await, Ok(Update::Value(_))));
        a.zk.close(Duration::from_secs(1)).await.expect("closed");
        assert!(waits.await.is_err_and(|e| e.is_session_over()));
        assert!(follows.next().await.is_err_and(|e| e.is_session_over()));
        assert!(follows.next().await.is_err_and(|e| e.is_session_over()));
        assert!(kept.unregister().await.is_err_and(|e| e.is_session_over()));
        assert!(names(&a).unique("job").await.is_err_and(|e| e.is_session_over()));
        assert_eq!(stage.names(NAMES), ["db", "kept"], "what was registered for good stays");
        drop(held);
    });
}

#[test]
fn a_permanent_name_that_is_somebody_elses_by_now_is_not_ours_because_we_wrote_to_it() {
    play(|stage| async move {
        let (a, b) = (stage.client("a").await, stage.client("b").await);
        let names = Names::new(&a.zk, "/made-anew", NamesOptions::default()).expect("the path is good");
        let name = names.register_permanent("db", b"1").await.expect("it is free");
        let mut sets = Box::pin(name.set(b"2"));
        assert!((&mut sets).now_or_never().is_none(), "it has asked whose it is");
        stage.settle().await;
        b.zk.delete(name.path(), None).await.expect("it is there");
        b.zk.create(name.path(), b"theirs", CreateMode::Persistent).await.expect("it is gone");
        assert!(sets.await.is_err_and(|e| e.is_removed()));
    });
}

#[test]
fn a_name_that_another_client_wrote_over_while_the_delete_was_lost_is_not_unregistered() {
    for (fault, was_ours) in [(Fault::RequestLost, false), (Fault::ReplyLost, true)] {
        play(move |stage| async move {
            let (a, b) = (founder(&stage).await, stage.client("b").await);
            let name = names(&a).register_permanent("kept", b"1").await.expect("it is free");
            let mut leaving = Box::pin(name.unregister());
            assert!((&mut leaving).now_or_never().is_none(), "it asks whose the name is");
            stage.settle().await;
            a.process.order(fault);
            assert!((&mut leaving).now_or_never().is_none(), "it deletes");
            stage.pass(&b, RECONNECT / 4).await;
            match was_ours {
                true => {
                    drop(b.zk.create(name.path(), b"theirs", CreateMode::Persistent).await.expect("free"))
                }
                false => drop(b.zk.set(name.path(), b"theirs", None).await.expect("it is there")),
            }
            assert_eq!(leaving.await, Ok(was_ours), "{fault:?}");
            assert_eq!(b.zk.get(name.path()).await.expect("it is left alone").data, b"theirs");
        });
    }
}

#[test]
fn a_value_that_does_not_fit_and_one_of_a_name_that_is_lost_are_not_written() {
    play(|stage| async move {
        let (a, b) = (founder(&stage).await, stage.client("b").await);
        let (registered, kept) =
            (registers(&a).await, names(&a).register_permanent("kept", b"there").await.expect("free"));
        let mark = stage.mark();
        // With the path and the guid in front a permanent value has less room.
        assert!(registered.set(&vec![0; 1 << 20]).await.is_err_and(|e| e.is_bad_input()));
        assert!(kept.set(&vec![0; (1 << 20) - 40]).await.is_err_and(|e| e.is_bad_input()));
        assert_eq!(a.sent(&stage, mark), []);
        assert_eq!((registered.set(b"mine").await, kept.set(b"mine").await), (Ok(()), Ok(())));

        b.zk.delete(DB, None).await.expect("it has no manners");
        let theirs = registers(&b).await;
        assert_eq!(registered.set(b"again").await, Err(ErrorKind::Removed(DB.into()).into()));
        assert_eq!(registered.state(), HoldState::Lost(LostReason::Removed));
        let found = b.zk.get(DB).await.expect("it is there");
        assert_eq!((&found.data[..], found.stat.version), (&b"there"[..], 0), "the other's is left alone");
        drop(theirs);
    });
}

/// The name is deleted and made anew with the very same data while the reply to a write is awaited: it is another incarnation.
#[test]
fn a_permanent_name_that_was_made_anew_during_a_write_is_lost() {
    let mut outcomes = Vec::new();
    for nth in 0.. {
        let ((outcome, stands), struck) = play_struck(Fault::RequestLost, nth, |stage, danger| async move {
            let (a, b) = (founder(&stage).await, stage.client("b").await);
            let registered = names(&a).register_permanent("p", b"old").await.expect("free");
            let copy = b.zk.get("/names/p").await.expect("it is there").data;
            danger.begins();
            let setting = a.process.spawn(async move { registered.set(b"new").await });
            stage.pass(&b, Duration::from_millis(100)).await;
            danger.ends();
            b.zk.delete("/names/p", None).await.expect("it has no manners");
            b.zk.create("/names/p", &copy, CreateMode::Persistent).await.expect("it is gone");
            let outcome = setting.await.expect("its process lives");
            (outcome, b.zk.get("/names/p").await.expect("it is there").data == copy)
        });
        if !struck {
            break;
        }
        outcomes.push((outcome, stands));
    }
    let (outcome, stands) = outcomes.pop().expect("a write sends something");
    assert_eq!(outcome, Err(ErrorKind::Removed("/names/p".into()).into()), "the last request is the write");
    assert!(stands, "nothing is written into what is another's");
}

/// A registration that was lost by its deadline stays lost, and its release says so, although the session lives and the name is
/// deleted.
/// A server compares versions, which begin anew: the answer shows whose znode was written to.
#[test]
fn a_registration_that_was_made_anew_during_a_write_is_lost() {
    let mut lost = 0;
    for wait in 0..40 {
        lost += play(move |stage| async move {
            let (a, b) = (founder(&stage).await, stage.client("b").await);
            let first = registers(&a).await;
            let writing = a.process.spawn(async move { (first.set(b"mine").await, first) });
            stage.pass(&b, Duration::from_millis(wait)).await;
            let create =
                Op::Create { path: DB.into(), data: b"theirs".to_vec(), mode: CreateMode::Ephemeral };
            let anew = vec![Op::Delete { path: DB.into(), version: None }, create];
            b.zk.multi(anew).await.expect("it has no manners");
            let (written, _first) = writing.await.expect("its process lives");
            let found = names(&b).resolve("db", Freshness::Latest).await.expect("asked").expect("there");
            match written {
                Ok(()) => assert_eq!(found.data, b"theirs", "{wait} ms: what was written is gone by now"),
                Err(e) => assert_eq!(e, ErrorKind::Removed(DB.into()), "{wait} ms"),
            }
            usize::from(found.data == b"mine")
        });
    }
    assert!(lost > 0, "some write has met the next owner's znode");
}

#[test]
fn a_registration_that_was_lost_in_time_is_released_as_lost() {
    play(|stage| async move {
        let a = founder(&stage).await;
        let options = NamesOptions::default()
            .with_parents(Parents::Persistent)
            .with_margin(TIMEOUT / 2)
            .with_on_suspect(OnSuspect::UntilDeadline);
        let registered = names_with(&a, options).register("db", b"there").await.expect("it is free");
        a.process.inflict(Fault::ClientMuted, TIMEOUT * 6 / 10);
        assert_eq!(registered.lost().await, Stop::Lost(LostReason::DeadlinePassed));
        a.zk.exists("/").await.expect("the session lives");
        assert_eq!(registered.release().await, Ok(Released::WasLost(LostReason::DeadlinePassed)));
        stage.settle().await;
        a.has_left_nothing(&stage, "after a late release");
    });
}
