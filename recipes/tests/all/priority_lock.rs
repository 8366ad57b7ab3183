//! The priority lock: who goes first, who excludes whom, the gates, preemption, and being asked to go.

use crate::common::{Client, DIRECTORY, Stage, TIMEOUT, play, play_struck};
use futures_util::FutureExt;
use sim_zk::SimClient;
use sim_zk::fault::Fault;
use sim_zk::observer::Kind;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;
use zk_recipes::guard::{Exclusive, Read, Revocable};
use zk_recipes::zk::{CreateMode, Error, ErrorKind, Op, ZooKeeper, path};
use zk_recipes::{
    Fate, Guard, HoldState, Interrupt, LostReason, Parents, Preempt, Priority, PriorityContender,
    PriorityLock, PriorityLockOptions, Released, RunUntil, Stop,
};

const LINE: &str = "/locks/a/line";
const HELD: &str = "/locks/a/held";
const GRACE: Duration = Duration::from_millis(300);

type Writer = Guard<SimClient, Revocable<Exclusive>>;
type Reader = Guard<SimClient, Revocable<Read>>;
type Asking<T> = Pin<Box<dyn Future<Output = Result<T, Error>> + Send>>;

fn lock_with(client: &Client, options: PriorityLockOptions) -> PriorityLock<SimClient> {
    PriorityLock::new(&client.zk, DIRECTORY, options).expect("the path is good")
}

fn lock(client: &Client) -> PriorityLock<SimClient> {
    lock_with(client, PriorityLockOptions::default())
}

fn preempting(client: &Client, preempt: Preempt) -> PriorityLock<SimClient> {
    lock_with(client, PriorityLockOptions::default().with_preempt(preempt))
}

/// A founder who has made the directories, to stay.
async fn founder(stage: &Stage) -> Client {
    let founder = stage.founder().await;
    founder.makes(LINE).await;
    founder.makes(HELD).await;
    founder
}

async fn writes(client: &Client, priority: u16) -> Writer {
    lock(client).write(Priority(priority)).await.expect("it is granted")
}

async fn reads(client: &Client, priority: u16) -> Reader {
    lock(client).read(Priority(priority)).await.expect("it is granted")
}

/// Begins to wait, in its own process.
fn asks_to_write(client: &Client, lock: PriorityLock<SimClient>, priority: u16) -> Asking<Writer> {
    let asking = client.process.spawn(async move { lock.write(Priority(priority)).await });
    Box::pin(async move { asking.await.expect("its process lives") })
}

fn asks_to_read(client: &Client, lock: PriorityLock<SimClient>, priority: u16) -> Asking<Reader> {
    let asking = client.process.spawn(async move { lock.read(Priority(priority)).await });
    Box::pin(async move { asking.await.expect("its process lives") })
}

async fn contenders(client: &Client) -> Vec<PriorityContender> {
    lock(client).contenders().await.expect("they can be listed")
}

#[test]
fn a_free_lock_costs_six_requests_in_two_round_trips() {
    play(|stage| async move {
        let a = founder(&stage).await;
        for is_writer in [true, false] {
            let (mark, before) = (stage.mark(), stage.sim.now());
            let (token, path) = if is_writer {
                let held = writes(&a, 3).await;
                let seen = (held.token(), held.path().to_owned());
                assert_eq!(stage.names(HELD), [path::split(held.path()).1]);
                assert_eq!(stage.names(LINE), [""; 0], "it has left the line");
                assert_eq!(a.watches(&stage), [held.path()]);
                assert_eq!(held.release().await, Ok(Released::Clean));
                seen
            } else {
                let held = reads(&a, 3).await;
                let seen = (held.token(), held.path().to_owned());
                assert_eq!(held.release().await, Ok(Released::Clean));
                seen
            };
            assert!(token > 0 && path.ends_with(if is_writer { "-write-00003" } else { "-read-00003" }));
            let look = [Kind::Exists, Kind::Children, Kind::Children];
            let expected = [&[Kind::Create][..], &look, &[Kind::Multi, Kind::Get, Kind::Delete]].concat();
            assert_eq!(a.sent(&stage, mark), expected);
            assert_eq!(stage.sim.now().since(before), Duration::from_millis(30), "two, and one to release");
            stage.settle().await;
            a.has_left_nothing(&stage, "after the release");
        }
    });
}

#[test]
fn the_token_is_the_czxid_of_the_znode_that_stands_for_the_hold() {
    for fault in [None, Some(Fault::ReplyLost)] {
        play(move |stage| async move {
            let a = founder(&stage).await;
            let mut last = 0;
            for _ in 0..2 {
                let asking = asks_to_write(&a, lock(&a), 3);
                stage.pass(&a, Duration::from_millis(9)).await;
                if let Some(fault) = fault {
                    a.process.order(fault);
                }
                let held = asking.await.expect("it is granted");
                let stat = a.zk.exists(held.path()).await.expect("it can be asked").expect("it is there");
                assert_eq!(held.token(), stat.czxid, "{fault:?}");
                assert!(held.token() > last);
                last = held.token();
            }
        });
    }
}

#[test]
fn writers_exclude_and_readers_share() {
    play(|stage| async move {
        let (a, b, c) = (founder(&stage).await, stage.client("b").await, stage.client("c").await);
        let (one, two) = (reads(&a, 3).await, reads(&b, 5).await);
        let mut writer = asks_to_write(&c, lock(&c), 1);
        stage.settle().await;
        assert!((&mut writer).now_or_never().is_none(), "a newcomer does not take the lock from holders");
        drop(one);
        stage.settle().await;
        assert!((&mut writer).now_or_never().is_none());
        drop(two);
        let written = writer.await.expect("it is granted");
        let (mut reader, mut other) = (asks_to_read(&a, lock(&a), 0), asks_to_write(&b, lock(&b), 0));
        stage.settle().await;
        assert!((&mut reader).now_or_never().is_none());
        assert!((&mut other).now_or_never().is_none());
        drop(written);
        drop(reader.await.expect("it came first"));
        drop(other.await.expect("it is granted"));
    });
}

#[test]
fn the_more_urgent_are_served_first_and_equals_in_order() {
    play(|stage| async move {
        let a = founder(&stage).await;
        let held = writes(&a, 0).await;
        let mut line = Vec::new();
        for priority in [7, 3, 65_535, 3, 0] {
            let client = stage.client("c").await;
            line.push((priority, asks_to_write(&client, lock(&client), priority)));
            stage.settle().await;
        }
        let listed: Vec<_> = contenders(&a).await.iter().map(|who| (who.priority.0, who.holds)).collect();
        assert_eq!(listed, [(0, true), (0, false), (3, false), (3, false), (7, false), (65_535, false)]);
        let mut token = held.token();
        drop(held);
        // By place in the list above: who came in which order.
        for place in [4, 1, 3, 0, 2] {
            let held = (&mut line[place].1).await.expect("it is granted");
            assert!(held.token() > token);
            token = held.token();
            stage.settle().await;
            line[place].1 = Box::pin(std::future::pending());
            for (priority, asking) in &mut line {
                assert!(asking.now_or_never().is_none(), "one at a time, not {priority}");
            }
            assert_eq!(held.release().await, Ok(Released::Clean));
        }
    });
}

#[test]
fn a_reader_waits_for_a_writer_in_line_only_if_it_ranks_before_it() {
    play(|stage| async move {
        let (a, b, c) = (founder(&stage).await, stage.client("b").await, stage.client("c").await);
        let held = reads(&a, 5).await;
        let mut writer = asks_to_write(&b, lock(&b), 3);
        stage.settle().await;
        drop(reads(&c, 2).await);
        let mut reader = asks_to_read(&c, lock(&c), 3);
        stage.settle().await;
        assert!((&mut reader).now_or_never().is_none(), "as urgent, and later");
        assert!((&mut writer).now_or_never().is_none());
        drop(held);
        drop(writer.await.expect("it is granted"));
        drop(reader.await.expect("it is granted"));
    });
}

#[test]
fn a_waiter_watches_one_znode_and_its_own() {
    play(|stage| async move {
        let (a, b, c) = (founder(&stage).await, stage.client("b").await, stage.client("c").await);
        let held = writes(&a, 5).await;
        let mark = stage.mark();
        let second = asks_to_write(&b, lock(&b), 5);
        stage.settle().await;
        let look = [Kind::Exists, Kind::Children, Kind::Children];
        let joins = [&[Kind::Create][..], &look].concat();
        assert_eq!(b.sent(&stage, mark), [&joins[..], &[Kind::Get, Kind::Children]].concat());
        assert_eq!(b.watches(&stage), [b.znodes(&stage)[0].clone(), held.path().to_owned()]);
        let third = asks_to_write(&c, lock(&c), 5);
        stage.settle().await;
        assert!(c.watches(&stage).contains(&b.znodes(&stage)[0]), "the nearest that has to go first");

        let mark = stage.mark();
        drop(held);
        let held = second.await.expect("it is granted");
        assert_eq!(b.sent(&stage, mark), [&look[..], &[Kind::Multi, Kind::Get]].concat());
        drop(held);
        drop(third.await.expect("it is granted"));
        stage.settle().await;
        for client in [a, b, c] {
            client.has_left_nothing(&stage, "in the end");
        }
    });
}

#[test]
fn two_who_look_at_the_same_time_are_not_both_granted() {
    for half_ms in 0..60 {
        for readers in [[false, false], [false, true], [true, false]] {
            play(move |stage| async move {
                let (a, b) = (founder(&stage).await, stage.client("b").await);
                let holds = std::sync::Arc::new(std::sync::Mutex::new(0));
                let hold = |client: Client, reads_it: bool| {
                    let (stage, holds) = (stage.clone(), holds.clone());
                    async move {
                        let lock = lock(&client);
                        let read = if reads_it { lock.read(Priority(3)).await.ok() } else { None };
                        let write = if reads_it { None } else { lock.write(Priority(3)).await.ok() };
                        assert!(read.is_some() || write.is_some(), "it is granted");
                        *holds.lock().unwrap() += 1;
                        assert_eq!(*holds.lock().unwrap(), 1, "one at a time");
                        stage.pass(&client, Duration::from_millis(20)).await;
                        *holds.lock().unwrap() -= 1;
                    }
                };
                let late = async {
                    stage.pass(&b, Duration::from_micros(half_ms * 500)).await;
                    hold(b.clone(), readers[1]).await;
                };
                futures_util::future::join(hold(a.clone(), readers[0]), late).await;
                stage.settle().await;
                a.has_left_nothing(&stage, "in the end");
                b.has_left_nothing(&stage, "in the end");
            });
        }
    }
}

#[test]
fn readers_do_not_refuse_each_other() {
    play(|stage| async move {
        founder(&stage).await;
        let mut line = Vec::new();
        let mark = stage.mark();
        let mut clients = Vec::new();
        for _ in 0..4 {
            let client = stage.client("c").await;
            line.push(asks_to_read(&client, lock(&client), 3));
            clients.push(client);
        }
        for reader in &mut line {
            std::mem::forget(reader.await.expect("it is granted"));
        }
        for client in &clients {
            assert_eq!(client.sent(&stage, mark).len(), 6, "none looks twice");
        }
    });
}

#[test]
fn missing_directories_are_made_as_the_options_say() {
    play(|stage| async move {
        let a = stage.client("a").await;
        drop(writes(&a, 3).await);
        stage.settle().await;
        let must_exist = PriorityLockOptions::default().with_parents(Parents::MustExist);
        a.zk.delete(HELD, None).await.expect("it is empty");
        let refused = lock_with(&a, must_exist.clone()).write(Priority(3)).await;
        assert_eq!(refused.expect_err("nobody can be among the holders"), ErrorKind::NoNode);
        stage.settle().await;
        a.zk.delete(LINE, None).await.expect("it is empty");
        let refused = lock_with(&a, must_exist).read(Priority(3)).await;
        assert_eq!(refused.expect_err("nobody can stand in line"), ErrorKind::NoNode);
        stage.settle().await;
        a.has_left_nothing(&stage, "after it was refused");
        drop(reads(&a, 3).await);
    });
}

#[test]
fn directories_may_be_deleted_at_any_moment() {
    for half_ms in 0..120 {
        for whole in [HELD, LINE] {
            play(move |stage| async move {
                let (other, a) = (founder(&stage).await, stage.client("a").await);
                let deletes = async {
                    stage.pass(&other, Duration::from_micros(half_ms * 500)).await;
                    // It is refused as long as there are children, as it is to a server that removes containers.
                    let _ = other.zk.delete(whole, None).await;
                    let _ = other.zk.delete(DIRECTORY, None).await;
                };
                let twice = async {
                    writes(&a, 3).await.release().await.expect("it is released");
                    drop(reads(&a, 3).await);
                };
                futures_util::future::join(twice, deletes).await;
                stage.settle().await;
                a.has_left_nothing(&stage, &format!("deleted after {half_ms} half milliseconds"));
            });
        }
    }
}

#[test]
fn a_less_urgent_holder_is_asked_to_go() {
    play(|stage| async move {
        let (a, b) = (founder(&stage).await, stage.client("b").await);
        let held = writes(&a, 5).await;
        let urgent = asks_to_write(&b, preempting(&b, Preempt::Ask), 4);
        assert_eq!(held.revoked().await, Ok(()));
        assert_eq!(held.run(std::future::pending::<()>()).await, Err(Interrupt::Revoked));
        assert_eq!(held.state(), HoldState::Held, "it was asked, and not made to");
        stage.pass(&a, 2 * GRACE).await;
        assert_eq!(held.state(), HoldState::Held);
        assert_eq!(held.release().await, Ok(Released::Clean));
        drop(urgent.await.expect("it is granted"));
    });
}

#[test]
fn nobody_is_asked_to_go_in_vain() {
    play(|stage| async move {
        let (a, b, c) = (founder(&stage).await, stage.client("b").await, stage.client("c").await);
        // As urgent, or among the holders there is one who is.
        let (first, second) = (reads(&a, 5).await, reads(&b, 3).await);
        let mut equal = asks_to_write(&c, preempting(&c, Preempt::Force { grace: GRACE }), 3);
        stage.pass(&c, 3 * GRACE).await;
        assert!(first.revoked().now_or_never().is_none());
        assert!(second.revoked().now_or_never().is_none());
        assert!((&mut equal).now_or_never().is_none());
        // Now only the less urgent is in the way.
        drop(second);
        assert_eq!(first.revoked().await, Ok(()));
        drop(first);
        drop(equal.await.expect("it is granted"));
    });
}

#[test]
fn force_waits_for_the_grace_and_removes_all_who_are_in_the_way() {
    play(|stage| async move {
        let (a, b, c) = (founder(&stage).await, stage.client("b").await, stage.client("c").await);
        let (first, second) = (reads(&a, 5).await, reads(&b, 6).await);
        let began = stage.sim.now();
        let urgent = asks_to_write(&c, preempting(&c, Preempt::Force { grace: GRACE }), 4);
        assert_eq!((first.revoked().await, second.revoked().await), (Ok(()), Ok(())));
        assert_eq!(first.lost().await, Stop::Lost(LostReason::Removed));
        let took = stage.sim.now().since(began);
        assert!(took >= GRACE && took < GRACE + Duration::from_millis(100), "{took:?}");
        assert_eq!(second.lost().await, Stop::Lost(LostReason::Removed));
        let granted = urgent.await.expect("it is granted");
        assert!(first.transact(vec![]).await.expect_err("it is over").is_removed());
        assert_eq!(second.release().await, Ok(Released::WasLost(LostReason::Removed)));
        drop(granted);
    });
}

#[test]
fn one_who_yields_in_time_is_not_removed() {
    play(|stage| async move {
        let (a, b) = (founder(&stage).await, stage.client("b").await);
        let held = writes(&a, 5).await;
        let mark = stage.mark();
        let urgent = asks_to_read(&b, preempting(&b, Preempt::Force { grace: GRACE }), 4);
        assert_eq!(held.revoked().await, Ok(()));
        assert_eq!(held.release().await, Ok(Released::Clean));
        let granted = urgent.await.expect("it is granted");
        stage.pass(&b, 3 * GRACE).await;
        assert!(!b.sent(&stage, mark).contains(&Kind::Delete));
        drop(granted);
    });
}

#[test]
fn a_preemption_that_is_dropped_removes_nobody() {
    play(|stage| async move {
        let (a, b) = (founder(&stage).await, stage.client("b").await);
        let held = writes(&a, 5).await;
        let urgent = preempting(&b, Preempt::Force { grace: GRACE });
        let refused = urgent.write(Priority(4)).within(GRACE / 2).await;
        assert!(refused.expect_err("it is held").is_timed_out());
        assert_eq!(held.revoked().await, Ok(()), "asked stays asked");
        stage.pass(&b, 3 * GRACE).await;
        assert_eq!(held.state(), HoldState::Held);
        b.has_left_nothing(&stage, "after it gave up");
        drop(held);
    });
}

#[test]
fn a_waiter_that_is_asked_to_go_leaves_the_line() {
    play(|stage| async move {
        let (a, b, c) = (founder(&stage).await, stage.client("b").await, stage.client("c").await);
        let held = writes(&a, 5).await;
        let waiting = asks_to_write(&b, lock(&b), 5);
        stage.settle().await;
        let mut behind = asks_to_write(&c, lock(&c), 5);
        stage.settle().await;
        let mark = stage.mark();
        let all = contenders(&a).await;
        assert_eq!(lock(&a).ask(&all[1]).await, Ok(Fate::Asked));
        assert!(waiting.await.expect_err("it was asked").is_revoked());
        stage.settle().await;
        b.has_left_nothing(&stage, "after it was asked");
        assert_eq!(c.noticed(&stage, mark), 1, "the one behind is woken by its going alone");
        assert!((&mut behind).now_or_never().is_none());
        assert_eq!(lock(&a).ask(&all[1]).await, Ok(Fate::Gone));
        assert_eq!(lock(&c).force(&all[0], GRACE).await, Ok(Fate::Forced));
        assert_eq!(held.lost().await, Stop::Lost(LostReason::Removed));
        drop(behind.await.expect("it is granted"));
    });
}

#[test]
fn a_word_reaches_whoever_it_is_written_to_whenever_it_comes() {
    for half_ms in 0..100 {
        play(move |stage| async move {
            let (a, b) = (founder(&stage).await, stage.client("b").await);
            let word = async {
                stage.pass(&b, Duration::from_micros(half_ms * 500)).await;
                for who in contenders(&b).await {
                    if lock(&b).ask(&who).await == Ok(Fate::Asked) {
                        return true;
                    }
                }
                false
            };
            let asking = asks_to_write(&a, lock(&a), 3);
            let (granted, was_asked) = futures_util::future::join(asking, word).await;
            stage.settle().await;
            match granted {
                Ok(held) if was_asked => {
                    assert_eq!(held.revoked().await, Ok(()), "after {half_ms} half milliseconds");
                }
                Ok(held) => assert_eq!(held.revoked().now_or_never(), None),
                Err(e) => assert!(was_asked && e.is_revoked(), "after {half_ms} half milliseconds: {e}"),
            }
        });
    }
}

#[test]
fn run_may_go_on_although_somebody_asks() {
    play(|stage| async move {
        let (a, b) = (founder(&stage).await, stage.client("b").await);
        let options = PriorityLockOptions::default().with_run_until(RunUntil::Lost);
        let held = lock_with(&a, options).write(Priority(5)).await.expect("it is granted");
        let all = contenders(&b).await;
        assert_eq!(lock(&b).ask(&all[0]).await, Ok(Fate::Asked));
        let work = stage.sim.sleep(&a.process, GRACE);
        assert_eq!(held.run(work).await, Ok(()));
        assert_eq!(held.revoked().await, Ok(()));
    });
}

#[test]
fn a_grant_whose_reply_was_lost_is_found_out() {
    for fault in [Fault::ReplyLost, Fault::RequestLost, Fault::Disconnect] {
        for nth in 0.. {
            let ((), struck) = play_struck(fault, nth, move |stage, danger| async move {
                let a = founder(&stage).await;
                let mark = stage.mark();
                danger.begins();
                let held = lock(&a).write(Priority(3)).await.expect("it is granted");
                stage.settle().await;
                assert_eq!(a.znodes(&stage), [held.path()], "{fault:?} at {nth}");
                let grants = a.sent(&stage, mark).iter().filter(|kind| **kind == Kind::Get).count();
                assert!(grants <= 3, "{fault:?} at {nth}: {grants}");
                held.transact(vec![]).await.expect("it is held");
                drop(held);
                stage.settle().await;
                a.has_left_nothing(&stage, "after the release");
            });
            if !struck {
                break;
            }
        }
    }
}

#[test]
fn a_waiters_znode_that_somebody_deletes_ends_its_call() {
    play(|stage| async move {
        let (a, b) = (founder(&stage).await, stage.client("b").await);
        let held = writes(&a, 5).await;
        let waiting = asks_to_read(&b, lock(&b), 5);
        stage.settle().await;
        a.zk.delete(&b.znodes(&stage)[0], None).await.expect("it is there");
        assert!(waiting.await.expect_err("its znode is gone").is_removed());
        assert_eq!(held.state(), HoldState::Held);
    });
}

#[test]
fn a_place_in_line_that_a_stranger_writes_to_is_a_place_still() {
    play(|stage| async move {
        let (a, b) = (founder(&stage).await, stage.client("b").await);
        let held = writes(&a, 5).await;
        let waiting = asks_to_write(&b, lock(&b), 5);
        stage.settle().await;
        for _ in 0..3 {
            a.zk.set(&b.znodes(&stage)[0], b"hello", None).await.expect("it is there");
        }
        drop(held);
        drop(waiting.await.expect("it is granted"));
    });
}

#[test]
fn a_session_that_ends_ends_waiters_and_holds() {
    play(|stage| async move {
        let (a, b, c) = (founder(&stage).await, stage.client("b").await, stage.client("c").await);
        let held = writes(&a, 5).await;
        let waiting = asks_to_write(&b, lock(&b), 5);
        let next = asks_to_write(&c, lock(&c), 6);
        stage.settle().await;
        b.process.inflict(Fault::SessionExpiry, 3 * TIMEOUT);
        a.process.inflict(Fault::SessionExpiry, 3 * TIMEOUT);
        assert!(waiting.await.expect_err("b's session ends").is_session_over());
        assert!(matches!(held.lost().await, Stop::Lost(_) | Stop::Suspect { .. }));
        assert!(next.await.expect("it is granted").token() > held.token());
    });
}

#[test]
fn foreign_children_are_nobodys() {
    play(|stage| async move {
        let a = founder(&stage).await;
        for name in ["config", "x-read-", "x-read-3", "x-lock-0000000000", "x-write-99999-0000000000"] {
            a.makes(&path::join(LINE, name)).await;
            a.makes(&path::join(HELD, name)).await;
            a.makes(&path::join(DIRECTORY, name)).await;
        }
        assert_eq!(contenders(&a).await, []);
        drop(writes(&a, 3).await);
        drop(reads(&a, 3).await);
    });
}

#[test]
fn holders_are_listed_by_their_priority() {
    play(|stage| async move {
        let a = founder(&stage).await;
        let mut held = Vec::new();
        for priority in [8, 2, 9, 5, 1, 7, 3] {
            held.push(lock(&a).read(Priority(priority)).await.expect("readers share it"));
        }
        let listed: Vec<_> =
            contenders(&a).await.into_iter().map(|who| (who.priority.0, who.holds)).collect();
        assert_eq!(listed, [1, 2, 3, 5, 7, 8, 9].map(|priority| (priority, true)));
        drop(held);
    });
}

/// The list is one flight of two reads, which is left to the caller to repeat.
#[test]
fn a_list_that_fails_says_why() {
    for fault in
        [Fault::Throttled, Fault::RequestLost, Fault::ReplyLost, Fault::Disconnect, Fault::AccessDenied]
    {
        for nth in 0..2 {
            let (listed, struck) = play_struck(fault, nth, |stage, danger| async move {
                let (a, b) = (founder(&stage).await, stage.client("b").await);
                let held = writes(&a, 5).await;
                danger.begins();
                let listed = lock(&b).contenders().await;
                drop(held);
                listed
            });
            let refused = listed.expect_err("one of its reads fails");
            let is_said =
                if fault == Fault::AccessDenied { refused.is_denied() } else { refused.is_transient() };
            assert!(struck && is_said, "{fault:?} at {nth}: {refused}");
        }
    }
}

#[test]
fn worn_numbers_do_not_tell_the_order_of_equals() {
    play(|stage| async move {
        let (a, b) = (founder(&stage).await, stage.client("b").await);
        for name in ["x-write-00003-2147483647", "y-write-00003--000000005", "z-write-00009-2147483647"] {
            b.makes_ephemeral(&path::join(LINE, name)).await;
        }
        let listed: Vec<_> = contenders(&a).await.into_iter().map(|who| who.path).collect();
        let expected = ["x-write-00003-2147483647", "y-write-00003--000000005", "z-write-00009-2147483647"];
        assert_eq!(listed, expected.map(|name| path::join(LINE, name)));
        let waiting = asks_to_write(&a, lock(&a), 3);
        drop(waiting.await.expect("its number is good"));
    });
}

#[test]
fn a_data_version_that_a_stranger_moves_only_makes_it_look_again() {
    play(|stage| async move {
        let (a, b) = (founder(&stage).await, stage.client("b").await);
        let asking = asks_to_write(&a, lock(&a), 3);
        stage.pass(&b, Duration::from_millis(1)).await;
        for _ in 0..4 {
            b.zk.set(DIRECTORY, b"x", None).await.expect("it is there");
        }
        drop(asking.await.expect("it is granted"));
    });
}

#[test]
fn bad_input_is_refused_and_nothing_is_sent() {
    play(|stage| async move {
        let a = founder(&stage).await;
        let held = writes(&a, 3).await;
        stage.settle().await;
        let mark = stage.mark();
        for directory in ["", "locks", "/", "/locks/", "/zookeeper/l", "/a//b"] {
            let refused = PriorityLock::new(&a.zk, directory, PriorityLockOptions::default());
            assert!(refused.expect_err("it is bad").is_bad_input(), "{directory:?}");
        }
        for data in [b"unlock".to_vec(), vec![0; 1 << 20]] {
            let options = PriorityLockOptions::default().with_data(data);
            assert!(PriorityLock::new(&a.zk, DIRECTORY, options).expect_err("it is bad").is_bad_input());
        }
        for path in ["", "/locks/a", "/locks/a/line", "/locks/a/held/config", "/locks/b/held/x-read-00003"] {
            let path = path.to_owned();
            let stranger = PriorityContender { path, priority: Priority(3), writes: false, holds: true };
            assert!(lock(&a).ask(&stranger).await.expect_err("it is bad").is_bad_input());
            assert!(lock(&a).force(&stranger, GRACE).await.expect_err("it is bad").is_bad_input());
        }
        assert_eq!(a.sent(&stage, mark), []);
        drop(held);
    });
}

#[test]
fn the_largest_data_that_are_taken_can_be_granted() {
    play(|stage| async move {
        let a = founder(&stage).await;
        let fits = (1_000_000..1 << 20).rev().find_map(|length| {
            let options = PriorityLockOptions::default().with_data(vec![7; length]);
            PriorityLock::new(&a.zk, DIRECTORY, options).ok()
        });
        drop(fits.expect("some do").write(Priority(3)).await.expect("it is granted"));
    });
}

#[test]
fn what_a_holder_writes_is_fenced() {
    play(|stage| async move {
        let (a, b) = (founder(&stage).await, stage.client("b").await);
        let held = reads(&a, 3).await;
        let make =
            |path: &str| Op::Create { path: path.to_owned(), data: vec![], mode: CreateMode::Persistent };
        held.transact(vec![make("/one")]).await.expect("it is held");
        a.zk.multi(vec![held.fence(), make("/two")]).await.expect("it is held");
        b.zk.delete(held.path(), None).await.expect("it is there");
        assert!(held.transact(vec![make("/three")]).await.expect_err("it is over").is_removed());
        assert_eq!(a.zk.exists("/three").await, Ok(None));
    });
}

#[test]
fn contenders_tell_who_holds_who_writes_and_who_is_more_urgent() {
    play(|stage| async move {
        let a = founder(&stage).await;
        let (b, c) = (stage.client("b").await, stage.client("c").await);
        let (_first, _more_urgent) = (reads(&a, 20).await, reads(&b, 3).await);
        let waiting = lock(&c);
        let mut waits = Box::pin(waiting.write(Priority(7)));
        assert!((&mut waits).now_or_never().is_none());
        stage.settle().await;
        let told = async || {
            let all = contenders(&a).await;
            all.iter().map(|one| (one.holds, one.writes, one.priority)).collect::<Vec<_>>()
        };
        let holders = [(true, false, Priority(3)), (true, false, Priority(20))];
        assert_eq!(told().await, [&holders[..], &[(false, true, Priority(7))]].concat());
        drop(waits);
        drop((_first, _more_urgent));
        stage.settle().await;
        let _writer = waiting.write(Priority(9)).await.expect("nobody is ahead");
        assert_eq!(told().await, [(true, true, Priority(9))]);
    });
}
