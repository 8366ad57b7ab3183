//! Faults of clients and their connections, and their effects.

use crate::common::{
    TICK, TIMEOUT, Tape, calm, client, hostile, make, make_ephemeral, ms, until_back, until_over, wait,
};
use futures_util::future::{Either, join_all, select};
use futures_util::{FutureExt, pin_mut};
use sim_zk::choose::{Chooser, Point};
use sim_zk::fault::Fault;
use sim_zk::observer::{Kind, SessionNews, SimEvent};
use sim_zk::{Process, Sim, SimClient};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use zk_recipes::zk::{CreateMode, Created, Error, ErrorKind, Over, Runtime, State, ZooKeeper};

const LOST: ErrorKind = ErrorKind::ConnectionLoss;

/// Creates `/0` to `/4` in one flight; the fault is ordered before request number `at`.
async fn flight(process: &Process, zk: &SimClient, fault: Fault, at: usize) -> Vec<Result<Created, Error>> {
    let requests: Vec<_> = (0..5)
        .map(|number| {
            if number == at {
                process.order(fault);
            }
            zk.create(&format!("/{number}"), b"", CreateMode::Persistent)
        })
        .collect();
    join_all(requests).await
}

/// Returns the paths that were created.
fn applied(tape: &Tape) -> Vec<&str> {
    let created = tape.seen.iter().filter_map(|(_, event)| match event {
        SimEvent::Created { path, .. } => Some(tape.path(*path)),
        _ => None,
    });
    created.collect()
}

#[test]
fn a_request_that_is_lost_takes_all_behind_it_along() {
    let (answers, tape) = calm(|sim| async move {
        let (process, zk) = client(&sim, "a").await;
        let answers = flight(&process, &zk, Fault::RequestLost, 3).await;
        until_back(&zk, 1).await;
        answers
    });
    assert_eq!(tape.struck(Fault::RequestLost), 1);
    assert_eq!(applied(&tape), ["/0", "/1", "/2"], "what was sent before it arrives");
    assert!(answers.iter().all(|answer| *answer == Err(LOST.into())), "{answers:?}");
}

#[test]
fn a_reply_that_is_lost_was_applied_and_no_later_one_comes() {
    let (answers, tape) = calm(|sim| async move {
        let (process, zk) = client(&sim, "a").await;
        let answers = flight(&process, &zk, Fault::ReplyLost, 0).await;
        until_back(&zk, 1).await;
        answers
    });
    assert_eq!(tape.struck(Fault::ReplyLost), 1);
    assert_eq!(applied(&tape), ["/0", "/1", "/2", "/3", "/4"]);
    assert!(answers.iter().all(|answer| *answer == Err(LOST.into())), "{answers:?}");
    assert_eq!(tape.count(|h| matches!(h, SimEvent::Replied { .. })), 0);
}

#[test]
fn replies_before_the_one_that_is_lost_arrive() {
    let (answers, _) = calm(|sim| async move {
        let (process, zk) = client(&sim, "a").await;
        let requests: Vec<_> =
            (0..4).map(|number| zk.create(&format!("/{number}"), b"", CreateMode::Persistent)).collect();
        let (early, late) = (requests, wait(&zk, ms(2)));
        late.await;
        let second: Vec<_> =
            (4..6).map(|number| zk.create(&format!("/{number}"), b"", CreateMode::Persistent)).collect();
        // The first flight has reached the server, the second has not.
        wait(&zk, ms(4)).await;
        process.order(Fault::ReplyLost);
        join_all(early.into_iter().chain(second)).await
    });
    let made: Vec<bool> = answers.iter().map(Result::is_ok).collect();
    assert_eq!(made, [true, true, true, true, false, false]);
}

#[test]
fn a_reply_that_is_late_holds_up_those_behind_it() {
    let ((sent, times), tape) = calm(|sim| async move {
        let (process, zk) = client(&sim, "a").await;
        make(&zk, "/a").await;
        process.order(Fault::ReplyLate);
        let sent = zk.now();
        let reads: Vec<_> = (0..3)
            .map(|_| {
                let read = zk.exists("/a");
                let zk = zk.clone();
                async move {
                    read.await.expect("the exists succeeds");
                    zk.now()
                }
            })
            .collect();
        (sent, join_all(reads).await)
    });
    assert_eq!(tape.struck(Fault::ReplyLate), 1);
    assert!(times.iter().all(|at| *at == sent + ms(110)), "{sent:?}: {times:?}");
}

#[test]
fn a_disconnect_lets_the_request_arrive_and_nothing_behind_it() {
    let (answers, tape) = calm(|sim| async move {
        let (process, zk) = client(&sim, "a").await;
        let answers = flight(&process, &zk, Fault::Disconnect, 2).await;
        until_back(&zk, 1).await;
        answers
    });
    assert_eq!(tape.struck(Fault::Disconnect), 1);
    assert_eq!(applied(&tape), ["/0", "/1", "/2"]);
    assert!(answers.iter().all(|answer| *answer == Err(LOST.into())), "{answers:?}");
}

#[test]
fn a_session_expires_while_its_client_still_hopes() {
    let (_, tape) = calm(|sim| async move {
        let (process, zk) = client(&sim, "a").await;
        let (_, other) = client(&sim, "b").await;
        make_ephemeral(&zk, "/e").await;
        let (_, gone) = other.exists_watch("/e").await.expect("the exists succeeds");
        process.order(Fault::SessionExpiry);
        let cut = zk.now() + ms(10);
        // The fault is injected when the reply to this request is about to arrive.
        let pending = zk.exists("/e");
        gone.await.expect("it fires");
        let session = zk.session();
        assert!(!sim.look(|world| world.lives(session)));
        assert_eq!(zk.status().state, State::Suspended, "it has heard nothing for two thirds of the timeout");
        assert!(other.now() > cut + (TIMEOUT - ms(10)), "not before the timeout");
        assert_eq!(pending.await, Err(LOST.into()));
        assert_eq!(until_over(&zk).await, ErrorKind::SessionOver(Over::Expired));
        assert!(zk.now() >= cut + TIMEOUT + 2 * TICK, "learnt from a server only");
        assert_eq!(make_ephemeral(&process.open(TIMEOUT).await, "/e").await.path, "/e");
    });
    assert_eq!(tape.struck(Fault::SessionExpiry), 1);
    assert_eq!(tape.count(|h| matches!(h, SimEvent::Mended { fault: Fault::SessionExpiry, .. })), 1);
}

/// Counts its drops.
struct Held(Arc<AtomicU32>);

impl Drop for Held {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn a_crash_ends_the_tasks_and_leaves_the_session_to_expire() {
    let (_, tape) = calm(|sim| async move {
        let (process, zk) = client(&sim, "a").await;
        let (_, other) = client(&sim, "b").await;
        make(&zk, "/dir").await;
        let dropped = Arc::new(AtomicU32::new(0));
        let held = Held(dropped.clone());
        let task = process.spawn({
            let zk = zk.clone();
            async move {
                let _held = held;
                // A crashed process performs none of its clean-up duties.
                let _duty = zk.arm(zk_recipes::zk::Duty::Path("/dir/e".into()));
                make_ephemeral(&zk, "/dir/e").await;
                std::future::pending::<()>().await;
            }
        });
        wait(&other, ms(50)).await;
        process.order(Fault::ClientCrash);
        // The fault is injected when a packet is about to reach the process.
        let _lost = zk.set("/dir", b"last", None);
        process.crashed().await;
        assert!(task.await.is_err());
        assert_eq!(dropped.load(Ordering::Relaxed), 1);
        assert!(!sim.is_quiet());
        let (data, gone) = other.get_watch("/dir/e").await.expect("the ephemeral is still there");
        assert_eq!(other.get("/dir").await.expect("it is there").data, b"last", "what was sent was done");
        assert_eq!(data.stat.ephemeral_owner, zk.session());
        let crashed = other.now();
        gone.await.expect("it fires");
        assert!(other.now() > crashed + (TIMEOUT - ms(100)) && other.now() <= crashed + TIMEOUT + TICK);
        sim.quiet().await;
    });
    assert_eq!(tape.struck(Fault::ClientCrash), 1);
    let deleted = tape.count(|h| matches!(h, SimEvent::Txn { kind: Kind::Delete, .. }));
    assert_eq!(deleted, 0, "only the end of the session took it away");
    let news = |h: &SimEvent| matches!(h, SimEvent::News { process: 0, news, .. } if *news != SessionNews::Connected);
    assert_eq!(tape.count(news), 0, "the dead learn nothing");
}

#[test]
fn what_a_dead_process_has_sent_still_arrives() {
    let (_, tape) = calm(|sim| async move {
        let (process, zk) = client(&sim, "a").await;
        let _request = zk.create("/a", b"", CreateMode::Persistent);
        process.inflict(Fault::ClientCrash, ms(0));
        let _never = zk.create("/b", b"", CreateMode::Persistent);
        wait(&client(&sim, "b").await.1, ms(1_000)).await;
    });
    assert_eq!(applied(&tape), ["/a"]);
}

#[test]
fn a_paused_process_stands_still_and_goes_on_later() {
    calm(|sim| async move {
        let (process, zk) = client(&sim, "a").await;
        let (_, other) = client(&sim, "b").await;
        make(&zk, "/a").await;
        let task = process.spawn({
            let zk = zk.clone();
            async move {
                let (_, watch) = zk.get_watch("/a").await.expect("the get succeeds");
                watch.await.expect("it fires");
                let fired = zk.now();
                zk.sleep_until(zk.now()).await;
                fired
            }
        });
        wait(&other, ms(50)).await;
        let paused = other.now();
        process.inflict(Fault::ClientPause, ms(3_000));
        other.set("/a", b"", None).await.expect("the set succeeds");
        wait(&other, ms(2_000)).await;
        assert_eq!(zk.status().state, State::Connected);
        assert_eq!(task.await.ok(), Some(paused + ms(3_000)), "the notification has waited");
        zk.sync("/").await.expect("the session lives on");
        assert_eq!(zk.status().connection, 1);
    });
}

#[test]
fn a_pause_past_the_timeout_is_learnt_of_afterwards() {
    let (_, tape) = calm(|sim| async move {
        let (process, zk) = client(&sim, "a").await;
        make_ephemeral(&zk, "/e").await;
        let task = process.spawn({
            let zk = zk.clone();
            async move {
                zk.sleep_until(zk.now() + ms(100)).await;
                // The clock has advanced, the status has not changed.
                let believed = (zk.now(), zk.status().state);
                until_over(&zk).await;
                believed
            }
        });
        sim.stalled().await;
        let paused = sim.now();
        process.inflict(Fault::ClientPause, ms(20_000));
        let believed = task.await.expect("it goes on");
        assert!(believed.0 >= paused + ms(20_000), "{believed:?}");
    });
    let ended = tape.find(|h| matches!(h, SimEvent::Ended { .. }).then_some(())).expect("it ended").0;
    let learnt = tape
        .find(|h| matches!(h, SimEvent::News { news: SessionNews::Suspended, .. }).then_some(()))
        .expect("it learnt")
        .0;
    assert!(
        ended < 10_000_000 && learnt >= 20_000_000,
        "over at {ended}, and nothing noticed until {learnt}"
    );
}

#[test]
fn an_alarm_of_a_paused_process_rings_when_it_goes_on() {
    calm(|sim| async move {
        let (process, zk) = client(&sim, "a").await;
        let start = sim.now();
        let slept = process.spawn({
            let zk = zk.clone();
            async move {
                wait(&zk, ms(500)).await;
                zk.now()
            }
        });
        sim.stalled().await;
        process.inflict(Fault::ClientPause, ms(2_000));
        assert_eq!(slept.await.ok(), Some(start + ms(2_000)));
    });
}

/// Fault-free, with the longest durations.
struct Long;

impl Chooser for Long {
    fn choose(&mut self, point: Point, n: u32) -> u32 {
        if point == Point::Duration { n - 1 } else { 0 }
    }
}

async fn cancelled_read(sim: Sim) -> bool {
    let (process, zk) = client(&sim, "a").await;
    make(&zk, "/a").await;
    let seen = process.cancels();
    process.order(Fault::Cancel);
    {
        let (cancelled, read) = (process.cancelled(seen), zk.get_watch("/a"));
        pin_mut!(cancelled, read);
        let Either::Left(((), mut read)) = select(cancelled, read).await else {
            panic!("the user is told before anything else");
        };
        assert_eq!(process.cancels(), seen + 1);
        let in_hand = (&mut read).now_or_never().is_some();
        if in_hand {
            return true;
        }
    }
    // After the drop the reply comes, its watch is removed, and the session continues.
    zk.sync("/").await.expect("the sync succeeds");
    zk.sync("/").await.expect("the sync succeeds");
    assert_eq!(sim.look(|world| world.watches().count()), 0);
    false
}

#[test]
fn a_user_may_be_told_to_drop_a_future_with_or_without_its_answer() {
    let (in_hand, tape) = calm(cancelled_read);
    assert!(in_hand, "with the answer in hand");
    assert_eq!(tape.struck(Fault::Cancel), 1);
    let run = Sim::run(hostile(0), crate::common::LIMIT, Long, Tape::default(), cancelled_read);
    assert_eq!(run.output, Some(false), "just before it comes");
    assert_eq!(run.observer.struck(Fault::Cancel), 1);
}

#[test]
fn a_dropped_future_does_not_take_its_request_back() {
    let (_, tape) = calm(|sim| async move {
        let (_, zk) = client(&sim, "a").await;
        drop(zk.create("/a", b"", CreateMode::Persistent));
        zk.sync("/").await.expect("the sync succeeds");
    });
    assert_eq!(applied(&tape), ["/a"]);
}
