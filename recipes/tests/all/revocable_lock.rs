//! The revocable lock: a word is heard whenever it was written, waiters go, holders are told, and force waits for the grace.

use crate::common::every_await::at_every_await;
use crate::common::{Client, DIRECTORY, Drops, RECONNECT, Stage, TIMEOUT, dropping, play, play_struck};
use futures_util::FutureExt;
use sim_zk::SimClient;
use sim_zk::fault::Fault;
use sim_zk::observer::Kind;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;
use zk_recipes::zk::{CreateMode, Error, ErrorKind, Op, ZooKeeper, path};
use zk_recipes::{
    Contender, Fate, Guard, HoldState, Interrupt, LostReason, Naming, OnSuspect, Released, RevocableLock,
    RevocableLockOptions, RunUntil, Stop, guard,
};

type Lock = RevocableLock<SimClient>;
type Read = Guard<SimClient, guard::Revocable<guard::Read>>;
type Write = Guard<SimClient, guard::Revocable<guard::Write>>;
type Asking<G> = Pin<Box<dyn Future<Output = Result<G, Error>> + Send>>;

const GRACE: Duration = Duration::from_secs(2);

fn lock_with(client: &Client, options: RevocableLockOptions) -> Lock {
    RevocableLock::new(&client.zk, DIRECTORY, options).expect("the options are good")
}

fn lock(client: &Client) -> Lock {
    lock_with(client, RevocableLockOptions::default())
}

async fn writes(client: &Client) -> Write {
    lock(client).write().await.expect("the lock is granted")
}

fn wants_to_read(client: &Client) -> Asking<Read> {
    let lock = lock(client);
    let asking = client.process.spawn(async move { lock.read().await });
    Box::pin(async move { asking.await.expect("its process lives") })
}

fn wants_to_write(client: &Client) -> Asking<Write> {
    let lock = lock(client);
    let asking = client.process.spawn(async move { lock.write().await });
    Box::pin(async move { asking.await.expect("its process lives") })
}

fn waits<G>(asking: &mut Asking<G>) -> bool {
    asking.now_or_never().is_none()
}

async fn clients<const N: usize>(stage: &Stage) -> [Client; N] {
    let mut clients = vec![stage.founder().await];
    for number in 1..N {
        clients.push(stage.client(&format!("c{number}")).await);
    }
    clients.try_into().unwrap_or_else(|_| unreachable!("there are so many"))
}

/// The one who stands at that place.
async fn nth(client: &Client, place: usize) -> Contender {
    lock(client).contenders().await.expect("they can be listed").swap_remove(place)
}

fn of(path: &str) -> Contender {
    Contender { path: path.to_owned(), number: 0 }
}

#[test]
fn a_holder_that_was_asked_hears_it_and_nobody_else_does() {
    play(|stage| async move {
        let [a, b, c] = clients(&stage).await;
        let held = writes(&a).await;
        let mut waiting = wants_to_write(&b);
        stage.settle().await;
        assert_eq!(held.revoked().now_or_never(), None);

        let mark = stage.mark();
        assert_eq!(lock(&c).ask(&of(held.path())).await, Ok(Fate::Asked));
        stage.settle().await;
        assert_eq!(c.sent(&stage, mark), [Kind::Set], "asking costs one request");
        assert_eq!((stage.fired(mark), a.noticed(&stage, mark)), (1, 1), "and one notification");
        assert!(waits(&mut waiting));
        assert_eq!(held.revoked().await, Ok(()));
        assert_eq!(held.revoked().await, Ok(()), "asked is asked");
        assert_eq!(held.state(), HoldState::Held, "it holds on until it releases");
        assert_eq!(held.release().await, Ok(Released::Clean));
        drop(waiting.await.expect("granted"));
    });
}

#[test]
fn an_acquire_costs_one_request_more_that_nobody_waits_for() {
    play(|stage| async move {
        let a = stage.founder().await;
        let (mark, before) = (stage.mark(), stage.sim.now());
        let held = writes(&a).await;
        assert_eq!(stage.sim.now().since(before), Duration::from_millis(10), "one round trip");
        stage.settle().await;
        assert_eq!(a.sent(&stage, mark), [Kind::Create, Kind::Children, Kind::Get]);
        assert_eq!(a.watches(&stage), [held.path()]);
        held.release().await.expect("released");
        stage.settle().await;
        assert_eq!(a.sent(&stage, mark), [Kind::Create, Kind::Children, Kind::Get, Kind::Delete]);
        a.has_left_nothing(&stage, "after the release");
    });
}

#[test]
fn a_word_written_before_the_owner_watches_is_heard() {
    for holds in [true, false] {
        play(move |stage| async move {
            let [a, b, c] = clients(&stage).await;
            let ahead = if holds { None } else { Some(writes(&c).await) };
            let asking = wants_to_write(&a);
            // Its create has arrived, and the answer is on its way back.
            stage.pass(&b, Duration::from_millis(6)).await;
            let name = stage
                .names(DIRECTORY)
                .into_iter()
                .find(|name| ahead.as_ref().is_none_or(|held| !held.path().ends_with(name.as_str())));
            let mark = stage.mark();
            let own = path::join(DIRECTORY, &name.expect("it has joined"));
            assert_eq!(lock(&b).ask(&of(&own)).await, Ok(Fate::Asked));
            stage.settle().await;
            assert_eq!(a.noticed(&stage, mark), 0, "it came before the watch");
            if holds {
                let held = asking.await.expect("granted before it was known");
                assert_eq!(held.revoked().now_or_never(), Some(Ok(())), "the arming read said it");
            } else {
                assert_eq!(asking.await.expect_err("it was asked to go"), ErrorKind::Revoked);
                stage.settle().await;
                a.has_left_nothing(&stage, "after it went");
            }
        });
    }
}

#[test]
fn every_acquire_of_one_lock_can_be_revoked() {
    play(|stage| async move {
        let [a, b] = clients(&stage).await;
        let lock = lock(&a);
        for _ in 0..3 {
            let held = lock.write().await.expect("granted");
            assert_eq!(self::lock(&b).ask(&of(held.path())).await, Ok(Fate::Asked));
            assert_eq!(held.revoked().await, Ok(()));
            held.release().await.expect("released");
        }
        for _ in 0..3 {
            let held = lock.try_read().await.expect("it can be tried").expect("it is free");
            assert_eq!(self::lock(&b).ask(&of(held.path())).await, Ok(Fate::Asked));
            assert_eq!(held.revoked().await, Ok(()));
            held.release().await.expect("released");
        }
    });
}

#[test]
fn a_waiter_that_was_asked_leaves_the_line() {
    play(|stage| async move {
        let [a, b, c] = clients(&stage).await;
        let held = writes(&a).await;
        let asked = wants_to_write(&b);
        stage.settle().await;
        let mut behind = wants_to_read(&c);
        stage.settle().await;
        let mark = stage.mark();
        assert_eq!(lock(&a).ask(&nth(&a, 1).await).await, Ok(Fate::Asked));
        assert!(asked.await.expect_err("it was asked to go").is_revoked());
        stage.settle().await;
        b.has_left_nothing(&stage, "after it went");
        assert!(waits(&mut behind), "the one behind looks again, and waits on");
        assert_eq!(c.noticed(&stage, mark), 1, "of the leaving, not of the asking");
        held.release().await.expect("released");
        drop(behind.await.expect("granted"));
    });
}

#[test]
fn who_was_asked_before_is_not_asked_again() {
    play(|stage| async move {
        let [a, b] = clients(&stage).await;
        let held = writes(&a).await;
        let who = of(held.path());
        assert_eq!(lock(&b).ask(&who).await, Ok(Fate::Asked));
        let mark = stage.mark();
        assert_eq!(lock(&b).ask(&who).await, Ok(Fate::Asked));
        assert_eq!(b.sent(&stage, mark), [Kind::Set, Kind::Get]);
        assert_eq!(held.revoked().await, Ok(()));
        held.release().await.expect("released");
        assert_eq!(lock(&b).ask(&who).await, Ok(Fate::Gone));
        assert_eq!(lock(&b).force(&who, GRACE).await, Ok(Fate::Gone));
    });
}

#[test]
fn what_a_stranger_writes_is_no_word_and_keeps_none_away() {
    play(|stage| async move {
        let [a, b] = clients(&stage).await;
        let held = writes(&a).await;
        b.zk.set(held.path(), b"hello", None).await.expect("it is there");
        stage.settle().await;
        assert_eq!(held.revoked().now_or_never(), None);
        stage.settle().await;
        assert_eq!(held.revoked().now_or_never(), None);
        assert_eq!(lock(&b).ask(&of(held.path())).await, Ok(Fate::Asked));
        assert_eq!(held.revoked().await, Ok(()));
        drop(held);
    });
}

#[test]
fn curators_word_is_heard_and_written() {
    play(|stage| async move {
        let [a, b] = clients(&stage).await;
        let options = RevocableLockOptions::default().with_naming(Naming::Curator);
        let lock = lock_with(&a, options);
        let held = lock.write().await.expect("granted");
        b.zk.set(held.path(), b"__REVOKE__", None).await.expect("it is there");
        assert_eq!(held.revoked().await, Ok(()));
        held.release().await.expect("released");

        let theirs = path::join(DIRECTORY, "_c_01234567-89ab-cdef-0123-456789abcdef-__WRIT__0000000000");
        b.makes_ephemeral(&theirs).await;
        assert_eq!(lock.ask(&of(&theirs)).await, Ok(Fate::Asked));
        assert_eq!(b.zk.get(&theirs).await.expect("it is there").data, b"__REVOKE__");
    });
}

#[test]
fn work_stops_when_the_holder_is_asked_unless_it_is_to_be_finished() {
    play(|stage| async move {
        let [a, b] = clients(&stage).await;
        for (run_until, expected) in [(RunUntil::Revoked, Err(Interrupt::Revoked)), (RunUntil::Lost, Ok(()))]
        {
            let held = lock_with(&a, RevocableLockOptions::default().with_run_until(run_until));
            let held = held.write().await.expect("granted");
            let who = of(held.path());
            let asks = b.process.spawn({
                let lock = lock(&b);
                async move { lock.ask(&who).await }
            });
            let work = stage.sim.sleep(&a.process, Duration::from_secs(1));
            assert_eq!(held.run(work).await, expected, "{run_until:?}");
            asks.await.expect("its process lives").expect("it can be asked");
            a.is_disconnected().await;
            let stopped = held.run(std::future::pending::<()>()).await;
            assert!(matches!(stopped, Err(Interrupt::Stop(Stop::Suspect { .. }))), "{stopped:?}");
            a.is_connected_again().await;
            held.release().await.expect("released");
        }
    });
}

#[test]
fn a_word_written_while_the_holder_was_away_is_heard_when_it_is_back() {
    play(|stage| async move {
        let [a, b] = clients(&stage).await;
        let options = RevocableLockOptions::default().with_on_suspect(OnSuspect::UntilDeadline);
        let held = lock_with(&a, options).write().await.expect("granted");
        stage.settle().await;
        assert_eq!(held.revoked().now_or_never(), None);
        a.is_disconnected().await;
        assert_eq!(lock(&b).ask(&of(held.path())).await, Ok(Fate::Asked));
        assert_eq!(held.revoked().await, Ok(()));
        drop(held);
    });
}

#[test]
fn whoever_waits_for_the_word_hears_that_the_lock_is_lost() {
    play(|stage| async move {
        let [a, b] = clients(&stage).await;
        let held = writes(&a).await;
        b.zk.delete(held.path(), None).await.expect("it is there");
        assert_eq!(held.revoked().await, Err(LostReason::Removed));
        let held = writes(&a).await;
        a.process.inflict(Fault::SessionExpiry, 3 * TIMEOUT);
        assert_eq!(held.revoked().await, Err(LostReason::DeadlinePassed));
    });
}

#[test]
fn a_waiter_that_is_removed_hears_it_at_once() {
    for refusal in [None, Some(Fault::Throttled), Some(Fault::AccessDenied)] {
        play(move |stage| async move {
            let [a, b] = clients(&stage).await;
            let held = writes(&a).await;
            let waiting = wants_to_write(&b);
            stage.settle().await;
            // A read that is refused right behind the deletion does not deny it.
            if let Some(refusal) = refusal {
                b.process.order(refusal);
            }
            a.zk.delete(&nth(&a, 1).await.path, None).await.expect("it is there");
            assert!(waiting.await.expect_err("its znode is gone").is_removed(), "{refusal:?}");
            b.process.inflict(Fault::SessionExpiry, 3 * TIMEOUT);
            let lock = lock(&b);
            assert!(lock.write().await.expect_err("b's session ends").is_session_over());
            drop(held);
        });
    }
}

// ── force ──

#[test]
fn whoever_goes_within_the_grace_is_not_removed() {
    play(|stage| async move {
        let [a, b] = clients(&stage).await;
        let held = writes(&a).await;
        let who = of(held.path());
        a.process.spawn(async move {
            held.revoked().await.expect("it is held");
            held.release().await
        });
        let (mark, before) = (stage.mark(), stage.sim.now());
        assert_eq!(lock(&b).force(&who, GRACE).await, Ok(Fate::Yielded));
        assert!(stage.sim.now().since(before) < GRACE, "it need not wait for the end of the grace");
        assert_eq!(b.sent(&stage, mark), [Kind::Set, Kind::Children]);
        stage.settle().await;
        b.has_left_nothing(&stage, "after that");
    });
}

#[test]
fn whoever_does_not_go_is_removed_when_the_grace_is_over_and_its_transactions_fail() {
    play(|stage| async move {
        let [a, b, c] = clients(&stage).await;
        let held = writes(&a).await;
        let next = wants_to_write(&c);
        stage.settle().await;
        let (mark, before) = (stage.mark(), stage.sim.now());
        assert_eq!(lock(&b).force(&of(held.path()), GRACE).await, Ok(Fate::Forced));
        let round_trips = Duration::from_millis(20);
        assert_eq!(
            stage.sim.now().since(before),
            GRACE + round_trips,
            "asked, then left alone, then removed"
        );
        assert_eq!(b.sent(&stage, mark), [Kind::Set, Kind::Children, Kind::Delete]);
        assert_eq!(held.lost().await, Stop::Lost(LostReason::Removed));
        let op = Op::Create { path: "/locks/made".into(), data: vec![], mode: CreateMode::Persistent };
        assert!(held.transact(vec![op]).await.expect_err("it is not held").is_removed());
        drop(next.await.expect("granted"));
        assert_eq!(held.release().await, Ok(Released::WasLost(LostReason::Removed)));
        stage.settle().await;
        b.has_left_nothing(&stage, "after that");
    });
}

#[test]
fn one_lost_message_does_not_change_whom_force_removes_nor_when() {
    for fault in [Fault::RequestLost, Fault::ReplyLost, Fault::Disconnect, Fault::WatchLost] {
        for yields in [true, false] {
            for nth in 0.. {
                let ((), struck) = play_struck(fault, nth, move |stage, danger| async move {
                    let [a, b] = clients(&stage).await;
                    let options = RevocableLockOptions::default().with_on_suspect(OnSuspect::UntilDeadline);
                    let held = lock_with(&a, options).write().await.expect("granted");
                    // Until it watches; to wait until all is quiet would end the time of faults.
                    stage.pass(&a, Duration::from_millis(100)).await;
                    let who = of(held.path());
                    danger.begins();
                    let before = stage.sim.now();
                    let asked = b.process.spawn({
                        let lock = lock(&b);
                        async move { lock.force(&who, 2 * GRACE).await }
                    });
                    assert_eq!(held.revoked().await, Ok(()), "{fault:?}: heard, whatever is lost");
                    if yields {
                        held.release().await.expect("released");
                    }
                    let fate = asked.await.expect("its process lives").expect("it is certain in the end");
                    let took = stage.sim.now().since(before);
                    match fate {
                        Fate::Yielded => assert!(yields && took < 2 * GRACE),
                        Fate::Forced => assert!(!yields && took >= 2 * GRACE),
                        Fate::Gone => assert!(yields || took >= 2 * GRACE, "a lost delete"),
                        Fate::Asked => panic!("force ends when it is over"),
                    }
                    stage.pass(&a, 3 * RECONNECT).await;
                    stage.settle().await;
                    b.has_left_nothing(&stage, "after that");
                    assert_eq!(stage.names(DIRECTORY), Vec::<String>::new());
                });
                if !struck {
                    break;
                }
            }
        }
    }
}

#[test]
fn a_lost_question_is_asked_until_it_is_certain() {
    for fault in [Fault::RequestLost, Fault::ReplyLost, Fault::Disconnect] {
        play(move |stage| async move {
            let [a, b] = clients(&stage).await;
            let held = writes(&a).await;
            b.process.order(fault);
            assert_eq!(lock(&b).ask(&of(held.path())).await, Ok(Fate::Asked), "{fault:?}");
            assert_eq!(held.revoked().await, Ok(()));
            assert_eq!(a.zk.get(held.path()).await.expect("it is there").stat.version, 1, "written once");
            drop(held);
        });
    }
}

// ── downgrades ──

#[test]
fn a_writer_that_goes_on_as_a_reader_can_be_asked_again() {
    play(|stage| async move {
        let [a, b] = clients(&stage).await;
        let write = writes(&a).await;
        let token = write.token();
        let read = write.downgrade().await.expect("it goes on as a reader");
        assert_eq!(read.token(), token);
        assert_eq!(read.revoked().now_or_never(), None);
        assert_eq!(lock(&b).ask(&of(read.path())).await, Ok(Fate::Asked));
        assert_eq!(read.revoked().await, Ok(()));
        assert_eq!(read.release().await, Ok(Released::Clean));
        stage.settle().await;
        a.has_left_nothing(&stage, "after the release");
    });
}

#[test]
fn a_writer_that_was_asked_does_not_escape_by_a_downgrade() {
    for knows in [true, false] {
        play(move |stage| async move {
            let [a, b] = clients(&stage).await;
            let write = writes(&a).await;
            stage.settle().await;
            let asked = b.zk.set(write.path(), b"unlock", Some(0));
            if knows {
                assert_eq!(write.revoked().await, Ok(()));
            }
            asked.await.expect("it is there");
            let not = write.downgrade().await.expect_err("it was asked to go");
            assert!(not.error.is_revoked());
            assert_eq!(not.guard.revoked().now_or_never(), Some(Ok(())));
            assert_eq!(not.guard.state(), HoldState::Held);
            assert_eq!(not.guard.release().await, Ok(Released::Clean));
            stage.settle().await;
            a.has_left_nothing(&stage, "after the release");
        });
    }
}

#[test]
fn a_strangers_writing_does_not_keep_a_writer_from_a_downgrade() {
    play(|stage| async move {
        let [a, b] = clients(&stage).await;
        let write = writes(&a).await;
        b.zk.set(write.path(), b"hello", None).await.expect("it is there");
        drop(write.downgrade().await.expect("it goes on as a reader"));
    });
}

// ── bad input, dropped futures ──

#[test]
fn bad_input_is_refused_before_anything_is_sent() {
    play(|stage| async move {
        let a = stage.founder().await;
        let mark = stage.mark();
        let refused =
            |options| RevocableLock::new(&a.zk, DIRECTORY, options).is_err_and(|e| e.is_bad_input());
        let plain = RevocableLockOptions::default;
        assert!(refused(plain().with_data(b"unlock")));
        let curator = plain().with_naming(Naming::Curator);
        assert!(refused(curator.clone().with_data(b"__REVOKE__")));
        assert!(!refused(curator.with_data(b"unlock")), "that is not Curator's word");
        assert!(refused(plain().with_naming(Naming::Kazoo)));
        assert!(refused(plain().with_data(vec![0; 1 << 20])));
        assert!(RevocableLock::new(&a.zk, "locks", plain()).is_err_and(|e| e.is_bad_input()));
        let lock = lock(&a);
        for elsewhere in
            ["", "/locks", "/locks/b/x-write-0000000000", "/locks/a/config", "/locks/a/x-write-0"]
        {
            assert!(lock.ask(&of(elsewhere)).await.is_err_and(|e| e.is_bad_input()), "{elsewhere:?}");
            assert!(
                lock.force(&of(elsewhere), GRACE).await.is_err_and(|e| e.is_bad_input()),
                "{elsewhere:?}"
            );
        }
        assert_eq!(a.sent(&stage, mark), []);
    });
}

/// Nothing is left of the one who gave up, and the next in line gets the lock.
async fn all_is_well(stage: &Stage, gave_up: &Client, next: &Client, drops: Drops) {
    stage.pass(gave_up, 3 * RECONNECT).await;
    stage.settle().await;
    gave_up.has_left_nothing(stage, &format!("dropped {drops:?}"));
    let granted = lock(next).write().within(Duration::from_secs(30)).await;
    assert!(granted.is_ok(), "the next gets the lock, dropped {drops:?}: {granted:?}");
}

#[test]
fn an_acquire_may_be_dropped_at_every_await() {
    at_every_await(|stage, danger, drops| async move {
        let [next, a] = clients(&stage).await;
        let held = writes(&next).await;
        danger.begins();
        let over = stage.sim.sleep(&next.process, Duration::from_millis(62));
        next.process.spawn(async move {
            over.await;
            held.release().await
        });
        let lock = lock(&a);
        let ended = dropping(drops, &stage, &a, lock.read()).await.is_some();
        all_is_well(&stage, &a, &next, drops).await;
        ended
    });
}

#[test]
fn waiting_for_the_word_may_be_dropped_at_every_await() {
    at_every_await(|stage, danger, drops| async move {
        let [next, a] = clients(&stage).await;
        let options = RevocableLockOptions::default().with_on_suspect(OnSuspect::UntilDeadline);
        let held = lock_with(&a, options).write().await.expect("granted");
        danger.begins();
        let asks = next.process.spawn({
            let (lock, who) = (lock(&next), of(held.path()));
            async move { lock.ask(&who).await }
        });
        let heard = dropping(drops, &stage, &a, held.revoked()).await;
        assert!(asks.await.expect("its process lives").is_ok());
        assert_eq!(held.revoked().await, Ok(()), "heard by whoever asks later");
        drop(held);
        all_is_well(&stage, &a, &next, drops).await;
        heard.is_some()
    });
}

#[test]
fn force_may_be_dropped_at_every_await_and_removes_nobody_then() {
    at_every_await(|stage, danger, drops| async move {
        let [a, b] = clients(&stage).await;
        let options = RevocableLockOptions::default().with_on_suspect(OnSuspect::UntilDeadline);
        let held = lock_with(&a, options).write().await.expect("granted");
        danger.begins();
        let (lock, who) = (lock(&b), of(held.path()));
        let ended = dropping(drops, &stage, &b, lock.force(&who, Duration::from_millis(62))).await;
        stage.pass(&a, 3 * RECONNECT).await;
        stage.settle().await;
        b.has_left_nothing(&stage, &format!("dropped {drops:?}"));
        let is_there = stage.names(DIRECTORY).len() == 1;
        match ended {
            Some(Ok(fate)) => assert!(!is_there && fate == Fate::Forced || fate == Fate::Gone, "{fate:?}"),
            Some(Err(e)) => panic!("{e}"),
            // The delete may have left.
            None if is_there => {}
            None => assert_eq!(held.lost().await, Stop::Lost(LostReason::Removed)),
        }
        drop(held);
        ended.is_some()
    });
}
