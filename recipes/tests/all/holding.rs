//! Holding: what a holder is told, when, and by which policy it stops.

use crate::common::bent::Bent;
use crate::common::{
    Client, DIRECTORY, Drops, Guard, MARGIN, RECONNECT, Stage, TIMEOUT, dropping, play, play_storm,
};
use futures_util::FutureExt;
use futures_util::future::{Either, join, select};
use sim_zk::fault::Fault;
use sim_zk::observer::{Kind, SimEvent};
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use zk_recipes::zk::{ErrorKind, Op, ZooKeeper};
use zk_recipes::{HoldState, Lock, LockOptions, LostReason, OnSuspect, Released, Stop};

const REMOVED: HoldState = HoldState::Lost(LostReason::Removed);
const TOO_LATE: HoldState = HoldState::Lost(LostReason::DeadlinePassed);

fn until_deadline() -> LockOptions {
    LockOptions::default().with_on_suspect(OnSuspect::UntilDeadline)
}

/// The lock held, and somebody who can take it away.
async fn held_with(stage: &Stage, options: LockOptions) -> (Client, Client, Guard) {
    let (other, a) = (stage.founder().await, stage.client("a").await);
    let held = a.acquires_with(options).await;
    (a, other, held)
}

async fn is_evicted(held: &Guard, by: &Client) {
    let contenders = by.lock().contenders().await.expect("they can be listed");
    let holder = contenders.iter().find(|contender| contender.path == held.path());
    assert_eq!(by.lock().evict(holder.expect("it stands in line")).await, Ok(true));
}

#[test]
fn a_hold_is_held_then_suspect_then_held_again() {
    play(|stage| async move {
        let (a, _, held) = held_with(&stage, until_deadline()).await;
        assert_eq!(held.state(), HoldState::Held);
        a.is_disconnected().await;
        let until = a.zk.safe_until().before(MARGIN);
        assert_eq!(held.state(), HoldState::Suspect { until });
        a.is_connected_again().await;
        let until = a.zk.safe_until().before(MARGIN);
        assert_eq!(held.state(), HoldState::Suspect { until }, "connected, but not confirmed");

        let mark = stage.mark();
        assert_eq!(held.resumed().await, Ok(()));
        assert_eq!(held.state(), HoldState::Held);
        assert_eq!(a.sent(&stage, mark), [Kind::Children], "one request confirms it, and arms the watch");
    });
}

#[test]
fn a_hold_that_is_watched_is_confirmed_by_one_request() {
    play(|stage| async move {
        let (a, _, held) = held_with(&stage, until_deadline()).await;
        assert_eq!(held.lost().now_or_never(), None);
        stage.settle().await;
        assert_eq!(held.lost().now_or_never(), None);
        a.is_disconnected().await;
        let mark = stage.mark();
        assert_eq!(held.resumed().await, Ok(()));
        assert_eq!(a.sent(&stage, mark), [Kind::Exists]);
        assert_eq!(held.lost().now_or_never(), None);
        assert_eq!(a.watches(&stage), [held.path()], "the watch has outlived the connection");
    });
}

#[test]
fn a_transaction_confirms_a_hold() {
    play(|stage| async move {
        let (a, _, held) = held_with(&stage, until_deadline()).await;
        a.is_disconnected().await;
        held.transact(vec![]).await.expect("it is held");
        assert_eq!(held.state(), HoldState::Held);

        a.is_disconnected().await;
        let refused = held.transact(vec![Op::Delete { path: "/none".into(), version: None }]).await;
        assert_eq!(
            refused,
            Err(ErrorKind::Multi { index: 0, cause: Box::new(ErrorKind::NoNode.into()) }.into())
        );
        assert_eq!(held.state(), HoldState::Held, "the fence stood before the caller's operation");
    });
}

#[test]
fn a_holder_stops_when_the_connection_is_lost() {
    play(|stage| async move {
        let (a, _, held) = held_with(&stage, LockOptions::default()).await;
        assert_eq!(held.lost().now_or_never(), None);
        a.is_disconnected().await;
        let until = a.zk.safe_until().before(MARGIN);
        assert_eq!(held.lost().now_or_never(), Some(Stop::Suspect { until }));
        assert_eq!(held.resumed().await, Ok(()));
        assert_eq!(held.state(), HoldState::Held, "it may go on");
    });
}

#[test]
fn a_holder_stops_also_if_the_connection_was_lost_and_is_back() {
    play(|stage| async move {
        let (a, _, held) = held_with(&stage, LockOptions::default()).await;
        a.is_disconnected().await;
        a.is_connected_again().await;
        assert!(matches!(held.lost().now_or_never(), Some(Stop::Suspect { .. })));
    });
}

#[test]
fn a_holder_that_goes_on_until_the_deadline_is_not_told_of_a_short_disconnect() {
    play(|stage| async move {
        let (a, _, held) = held_with(&stage, until_deadline()).await;
        let held = Arc::new(held);
        let told = a.process.spawn({
            let held = held.clone();
            async move { held.lost().await }
        });
        stage.settle().await;
        a.is_disconnected().await;
        stage.pass(&a, 2 * RECONNECT).await;
        assert_eq!(held.state(), HoldState::Held, "whoever waits for bad news confirms the hold");
        a.process.inflict(Fault::SessionExpiry, 3 * TIMEOUT);
        assert_eq!(told.await.expect("it ends"), Stop::Lost(LostReason::DeadlinePassed));
    });
}

#[test]
fn a_holder_must_stop_a_margin_before_the_session_can_have_ended() {
    play(|stage| async move {
        let (a, other, held) = held_with(&stage, until_deadline()).await;
        stage.settle().await;
        let mark = stage.mark();
        a.process.inflict(Fault::SessionExpiry, 3 * TIMEOUT);
        let until = a.zk.safe_until().before(MARGIN);
        assert_eq!(held.lost().await, Stop::Lost(LostReason::DeadlinePassed));
        assert_eq!(stage.sim.now(), until, "not earlier, not later");

        drop(other.acquires().await);
        let ended = stage.since(mark).into_iter().find(|(_, what)| matches!(what, SimEvent::Ended { .. }));
        let (ended, _) = ended.expect("the session has ended");
        assert!(ended >= (until + MARGIN).as_micros(), "at {ended}, after {until:?}");
    });
}

#[test]
fn the_margin_is_the_callers() {
    play(|stage| async move {
        let margin = Duration::from_secs(3);
        let options = until_deadline().with_margin(margin);
        let (a, _, held) = held_with(&stage, options).await;
        a.process.inflict(Fault::SessionExpiry, 3 * TIMEOUT);
        let until = a.zk.safe_until().before(margin);
        assert_eq!(held.lost().await, Stop::Lost(LostReason::DeadlinePassed));
        assert_eq!(stage.sim.now(), until);
    });
}

#[test]
fn a_state_that_is_asked_for_knows_the_deadline_without_any_event() {
    play(|stage| async move {
        let (a, other, held) = held_with(&stage, until_deadline()).await;
        let until = a.zk.safe_until().before(MARGIN);
        a.process.inflict(Fault::ClientPause, 3 * TIMEOUT);
        stage.pass_until(&other, until.before(Duration::from_micros(1))).await;
        assert!(!matches!(held.state(), HoldState::Lost(_)), "a moment before it is not lost");
        stage.pass(&other, Duration::from_micros(1)).await;
        assert_eq!(held.state(), TOO_LATE);
    });
}

#[test]
fn a_paused_holder_sees_that_it_is_too_late_as_soon_as_it_looks() {
    play(|stage| async move {
        let (a, other, held) = held_with(&stage, until_deadline()).await;
        let wakes = stage.sim.sleep(&a.process, Duration::from_secs(1));
        let looks = a.process.spawn(async move {
            wakes.await;
            (held.state(), held.lost().await)
        });
        stage.pass(&other, Duration::from_millis(500)).await;
        a.process.inflict(Fault::ClientPause, 3 * TIMEOUT);
        let (state, stop) = looks.await.expect("it goes on after the pause");
        assert!(matches!(state, HoldState::Lost(_)), "{state:?}");
        assert!(matches!(stop, Stop::Lost(_)), "{stop:?}");
    });
}

#[test]
fn lost_is_final_also_if_the_session_lives() {
    play(|stage| async move {
        // The answer to a ping comes later than half of the timeout leaves time for; the connection stands.
        let margin = TIMEOUT / 2;
        let (a, _, held) = held_with(&stage, until_deadline().with_margin(margin)).await;
        a.process.inflict(Fault::ClientMuted, TIMEOUT * 6 / 10);
        assert_eq!(held.lost().await, Stop::Lost(LostReason::DeadlinePassed));
        a.zk.exists("/").await.expect("the session lives");
        assert!(stage.sim.now() < a.zk.safe_until().before(margin), "by the clock it would be held");
        assert_eq!(held.state(), TOO_LATE);
        assert_eq!(held.resumed().await, Err(LostReason::DeadlinePassed));
        let ended = held.release().await;
        assert_eq!(ended, Ok(Released::WasLost(LostReason::DeadlinePassed)));
        stage.settle().await;
        a.has_left_nothing(&stage, "a lost hold is cleaned up too");
    });
}

#[test]
fn a_holder_that_asked_is_told_of_a_foreign_deletion() {
    play(|stage| async move {
        let (a, other, held) = held_with(&stage, LockOptions::default()).await;
        assert_eq!(held.lost().now_or_never(), None);
        stage.settle().await;
        assert_eq!(held.lost().now_or_never(), None);
        let mark = stage.mark();
        let (stop, ()) = join(held.lost(), is_evicted(&held, &other)).await;
        assert_eq!(stop, Stop::Lost(LostReason::Removed));
        assert_eq!(held.state(), REMOVED);
        assert_eq!(a.sent(&stage, mark), [], "the notification says it all");
        assert_eq!(held.release().await, Ok(Released::WasLost(LostReason::Removed)));
        stage.settle().await;
        a.has_left_nothing(&stage, "after the eviction");
    });
}

#[test]
fn a_holder_that_did_not_ask_learns_of_a_foreign_deletion_when_it_does() {
    play(|stage| async move {
        let (_, other, held) = held_with(&stage, LockOptions::default()).await;
        is_evicted(&held, &other).await;
        assert_eq!(held.state(), HoldState::Held, "nobody has told it");
        assert_eq!(held.lost().await, Stop::Lost(LostReason::Removed));

        let held = other.acquires().await;
        is_evicted(&held, &other).await;
        assert!(held.transact(vec![]).await.expect_err("it is over").is_removed());
        assert_eq!(held.state(), REMOVED);

        let held = other.acquires().await;
        is_evicted(&held, &other).await;
        assert_eq!(held.release().await, Ok(Released::WasLost(LostReason::Removed)));
    });
}

#[test]
fn a_deletion_while_away_is_learnt_on_the_way_back() {
    play(|stage| async move {
        for (asked_before, made_anew) in [(false, false), (false, true), (true, false), (true, true)] {
            let (other, a) = (stage.client("other").await, stage.client("a").await);
            let held = a.acquires_with(until_deadline()).await;
            if asked_before {
                assert_eq!(held.lost().now_or_never(), None);
                stage.settle().await;
            }
            a.is_disconnected().await;
            is_evicted(&held, &other).await;
            // What another client makes under that name is not the holder's.
            if made_anew {
                other.makes_ephemeral(held.path()).await;
            }
            assert_eq!(held.resumed().await, Err(LostReason::Removed));
        }
    });
}

#[test]
fn a_waiter_whose_znode_was_deleted_fails_when_it_looks() {
    play(|stage| async move {
        let (a, b) = (stage.founder().await, stage.client("b").await);
        let held = a.acquires().await;
        let asking = b.asks();
        stage.settle().await;
        let contenders = a.lock().contenders().await.expect("they can be listed");
        assert_eq!(a.lock().evict(&contenders[1]).await, Ok(true));
        held.release().await.expect("it is released");
        let gone = asking.await.expect_err("nobody ahead, but not in line either");
        assert_eq!(gone, ErrorKind::Removed(contenders[1].path.clone()));
        stage.settle().await;
        b.has_left_nothing(&stage, "after the eviction");
    });
}

#[test]
fn run_gives_what_the_work_gives() {
    play(|stage| async move {
        let (a, _, held) = held_with(&stage, LockOptions::default()).await;
        assert_eq!(held.run(async { 7 }).await, Ok(7));
        let work = stage.sim.sleep(&a.process, Duration::from_secs(60));
        assert_eq!(held.run(work).await, Ok(()), "longer than a session timeout");
    });
}

struct Dropped(Arc<AtomicBool>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn run_drops_the_work_when_the_holder_must_stop() {
    play(|stage| async move {
        let (_, other, held) = held_with(&stage, LockOptions::default()).await;
        let gone = Arc::new(AtomicBool::new(false));
        let work = {
            let witness = Dropped(gone.clone());
            async move {
                std::future::pending::<()>().await;
                drop(witness);
            }
        };
        let (stopped, ()) = join(held.run(work), is_evicted(&held, &other)).await;
        assert_eq!(stopped, Err(Stop::Lost(LostReason::Removed)));
        assert!(gone.load(Ordering::Relaxed), "the work was dropped");
    });
}

#[test]
fn work_does_not_begin_when_the_hold_is_lost() {
    play(|stage| async move {
        let (_, other, held) = held_with(&stage, LockOptions::default()).await;
        is_evicted(&held, &other).await;
        assert_eq!(held.lost().await, Stop::Lost(LostReason::Removed));
        let begun = held.run(async { panic!("it must not begin") }).await;
        assert_eq!(begun, Err(Stop::Lost(LostReason::Removed)));
    });
}

/// Waits for bad news in a task of its own, for at most so long.
fn waits(
    stage: &Stage,
    holder: &Client,
    held: &Arc<Guard>,
    limit: Duration,
) -> impl Future<Output = Option<Stop>> {
    let (held, limit) = (held.clone(), stage.sim.sleep(&holder.process, limit));
    let told = holder.process.spawn(async move {
        match select(pin!(held.lost()), pin!(limit)).await {
            Either::Left((stop, _)) => Some(stop),
            Either::Right(_) => None,
        }
    });
    async move { told.await.expect("its process lives") }
}

#[test]
fn two_tasks_that_wait_are_both_told_of_a_deletion() {
    play(|stage| async move {
        let (a, other, held) = held_with(&stage, LockOptions::default()).await;
        let held = Arc::new(held);
        let both = join(waits(&stage, &a, &held, TIMEOUT), waits(&stage, &a, &held, TIMEOUT));
        stage.settle().await;
        is_evicted(&held, &other).await;
        let evicted = stage.sim.now();
        let removed = Some(Stop::Lost(LostReason::Removed));
        assert_eq!(both.await, (removed, removed));
        assert!(stage.sim.now().since(evicted) < Duration::from_millis(20), "told at once");
    });
}

#[test]
fn two_tasks_that_wait_are_both_told_of_a_disconnect() {
    play(|stage| async move {
        let (a, _, held) = held_with(&stage, LockOptions::default()).await;
        let held = Arc::new(held);
        let both = join(waits(&stage, &a, &held, TIMEOUT), waits(&stage, &a, &held, TIMEOUT));
        // Their question, one for both, is still on its way when the connection breaks.
        a.process.order(Fault::Disconnect);
        let broken = stage.sim.now();
        let told = both.await;
        assert!(matches!(told, (Some(Stop::Suspect { .. }), Some(Stop::Suspect { .. }))), "{told:?}");
        assert!(stage.sim.now().since(broken) < Duration::from_millis(20), "told at once");
    });
}

#[test]
fn a_task_that_waits_is_told_although_another_has_stopped_waiting() {
    play(|stage| async move {
        let (a, other, held) = held_with(&stage, LockOptions::default()).await;
        let held = Arc::new(held);
        let stays = waits(&stage, &a, &held, TIMEOUT);
        let goes = waits(&stage, &a, &held, Duration::from_millis(100));
        assert_eq!(goes.await, None);
        is_evicted(&held, &other).await;
        let evicted = stage.sim.now();
        assert_eq!(stays.await, Some(Stop::Lost(LostReason::Removed)));
        assert!(stage.sim.now().since(evicted) < Duration::from_millis(20), "told at once");
    });
}

#[test]
fn a_watch_that_is_denied_is_not_asked_for_again_and_again() {
    play(|stage| async move {
        let a = stage.founder().await;
        let zk = Bent::straight(&a.zk);
        let lock = Lock::new(&zk, DIRECTORY, until_deadline()).expect("the path is good");
        let held = lock.acquire().await.expect("it is granted");
        zk.denies_watches();
        let (mark, lasts) = (stage.mark(), Duration::from_secs(60));
        let told = matches!(select(pin!(held.lost()), pin!(stage.pass(&a, lasts))).await, Either::Left(_));
        assert!(!told, "the session is well");
        let asked = a.sent(&stage, mark).len();
        assert!((1..=20).contains(&asked), "{asked} times in ten session timeouts");
    });
}

/// The pauses between two attempts double, up to a quarter of the session timeout.
#[test]
fn a_release_that_an_overloaded_server_refuses_is_asked_for_ever_more_seldom() {
    play_storm(Fault::Throttled, 0, 2_000, |stage, danger| async move {
        let a = stage.founder().await;
        let held = a.lock().acquire().await.expect("it is granted");
        let mark = stage.mark();
        danger.begins();
        let released = dropping(Drops::Later(20_000), &stage, &a, held.release()).await;
        danger.ends();
        assert_eq!(released, None, "every attempt is refused");
        let asked = a.sent(&stage, mark).len();
        assert!((10..=40).contains(&asked), "{asked} times in 20 s");
    });
}
