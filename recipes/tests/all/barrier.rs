//! The barrier: who waits, what lets them pass and what does not, and what is left behind.

use crate::common::every_await::at_every_await;
use crate::common::{Client, RECONNECT, TIMEOUT, dropping, play, play_with};
use futures_util::FutureExt;
use sim_zk::choose::Calm;
use sim_zk::fault::Fault;
use sim_zk::observer::Kind;
use sim_zk::{Config, SimClient};
use std::future::Future;
use std::time::Duration;
use zk_recipes::zk::{CreateMode, Error, ErrorKind, ZooKeeper};
use zk_recipes::{Barrier, BarrierOptions, Parents, While};

const GATE: &str = "/gate";

fn barrier(on: &Client) -> Barrier<SimClient> {
    Barrier::new(&on.zk, GATE, BarrierOptions::default()).expect("the path is good")
}

/// What waits, in a process of its own.
type Waiting = std::pin::Pin<Box<dyn Future<Output = Result<(), Error>> + Send>>;

fn waits(on: &Client) -> Waiting {
    let gate = barrier(on);
    let waiting = on.process.spawn(async move { gate.wait().await });
    Box::pin(async move { waiting.await.expect("its process lives") })
}

fn waits_until_down(on: &Client) -> Waiting {
    let gate = barrier(on);
    let waiting = on.process.spawn(async move { gate.wait_until_down().await });
    Box::pin(async move { waiting.await.expect("its process lives") })
}

#[test]
fn who_comes_while_it_stands_waits_and_passes_when_it_goes() {
    play(|stage| async move {
        let (a, b) = (stage.client("a").await, stage.client("b").await);
        barrier(&a).raise().await.expect("it is raised");
        let mark = stage.mark();
        let mut waiting = waits(&b);
        stage.settle().await;
        assert!(waiting.as_mut().now_or_never().is_none(), "it stands");
        assert_eq!(b.watches(&stage), [GATE]);
        barrier(&a).lower().await.expect("it is lowered");
        waiting.await.expect("it passes");
        stage.settle().await;
        assert_eq!(b.sent(&stage, mark), [Kind::Children], "one question, and none after the event");
        b.has_left_nothing(&stage, "after passing");
    });
}

#[test]
fn an_open_barrier_lets_pass_and_keeps_no_watch() {
    play(|stage| async move {
        let a = stage.client("a").await;
        barrier(&a).wait().await.expect("none stands");
        barrier(&a).wait_until_down().await.expect("none stands");
        a.has_left_nothing(&stage, "after passing an open barrier");
    });
}

#[test]
fn raising_and_lowering_may_be_repeated() {
    play(|stage| async move {
        let a = stage.client("a").await;
        let gate = barrier(&a);
        for _ in 0..2 {
            gate.raise().await.expect("it stands");
        }
        for _ in 0..2 {
            gate.lower().await.expect("it is down");
        }
        for fault in [Fault::RequestLost, Fault::ReplyLost, Fault::Disconnect] {
            a.process.order(fault);
            gate.raise().await.expect("it stands");
            assert!(a.zk.exists(GATE).await.expect("an answer").is_some(), "{fault:?}");
            a.process.order(fault);
            gate.lower().await.expect("it is down");
            assert!(a.zk.exists(GATE).await.expect("an answer").is_none(), "{fault:?}");
        }
    });
}

#[test]
fn a_barrier_raised_again_at_once_holds_nobody_who_was_let_go() {
    play(|stage| async move {
        let (a, b, c) = (stage.client("a").await, stage.client("b").await, stage.client("c").await);
        barrier(&a).raise().await.expect("it is raised");
        let (edge, mut level) = (waits(&b), waits_until_down(&c));
        stage.settle().await;
        let (gate, again) = (barrier(&a), barrier(&a));
        let (lowered, raised) = futures_util::join!(gate.lower(), again.raise());
        lowered.and(raised).expect("down and up");
        edge.await.expect("the one that it waited for has gone");
        stage.settle().await;
        assert!(level.as_mut().now_or_never().is_none(), "one stands");
        gate.lower().await.expect("it is lowered");
        level.await.expect("none stands");
    });
}

#[test]
fn one_raised_again_while_a_waiter_was_away_is_another_one() {
    play(|stage| async move {
        let (a, b) = (stage.client("a").await, stage.client("b").await);
        barrier(&a).raise().await.expect("it is raised");
        let waiting = waits(&b);
        stage.settle().await;
        b.is_disconnected().await;
        barrier(&a).lower().await.expect("it is lowered");
        barrier(&a).raise().await.expect("it is raised");
        waiting.await.expect("the one that it waited for has gone");
        b.is_connected_again().await;
        stage.settle().await;
        assert_eq!(b.watches(&stage), Vec::<String>::new());
    });
}

#[test]
fn no_other_event_lets_anybody_pass() {
    play(|stage| async move {
        let (a, b) = (stage.client("a").await, stage.client("b").await);
        barrier(&a).raise().await.expect("it is raised");
        let mut waiting = waits(&b);
        let mut level = waits_until_down(&b);
        stage.settle().await;
        a.zk.set(GATE, b"x", None).await.expect("it is written");
        a.makes("/gate/child").await;
        a.zk.delete("/gate/child", None).await.expect("it is there");
        b.is_disconnected().await;
        b.is_connected_again().await;
        stage.settle().await;
        assert!(waiting.as_mut().now_or_never().is_none() && level.as_mut().now_or_never().is_none());
        assert_eq!(b.watches(&stage), [GATE]);
        barrier(&a).lower().await.expect("it is lowered");
        waiting.await.expect("it passes");
        level.await.expect("it passes");
    });
}

#[test]
fn a_session_that_ends_ends_the_wait() {
    play(|stage| async move {
        let (a, b) = (stage.client("a").await, stage.client("b").await);
        barrier(&a).raise().await.expect("it is raised");
        let (waiting, level) = (waits(&b), waits_until_down(&b));
        stage.settle().await;
        b.process.inflict(Fault::SessionExpiry, 3 * TIMEOUT);
        assert!(waiting.await.expect_err("b's session ends").is_session_over());
        assert!(level.await.expect_err("b's session ends").is_session_over());
        let gate = barrier(&b);
        assert!(gate.wait().await.expect_err("for good").is_session_over());
        assert!(gate.raise().await.expect_err("for good").is_session_over());
        assert!(gate.lower().await.expect_err("for good").is_session_over());
    });
}

#[test]
fn a_barrier_of_a_session_goes_with_it() {
    play(|stage| async move {
        let (a, b) = (stage.client("a").await, stage.client("b").await);
        let options = BarrierOptions::default().with_lives(While::SessionLives);
        Barrier::new(&a.zk, GATE, options).expect("a good path").raise().await.expect("it is raised");
        let waiting = waits(&b);
        stage.settle().await;
        a.zk.close(TIMEOUT).await.expect("it is closed");
        waiting.await.expect("it passes");
    });
}

#[test]
fn a_limit_is_kept_and_leaves_nothing() {
    play(|stage| async move {
        let (a, b) = (stage.client("a").await, stage.client("b").await);
        barrier(&a).raise().await.expect("it is raised");
        let gate = barrier(&b);
        for fault in [None, Some(Fault::Disconnect), Some(Fault::ReplyLost)] {
            if let Some(fault) = fault {
                b.process.order(fault);
            }
            let asked = stage.sim.now();
            let limit = Duration::from_millis(40);
            assert!(gate.wait().within(limit).await.expect_err("it stands").is_timed_out(), "{fault:?}");
            assert_eq!(stage.sim.now().since(asked), limit, "{fault:?}");
            let down = gate.wait_until_down().within(limit).await;
            assert!(down.expect_err("it stands").is_timed_out(), "{fault:?}");
            stage.pass(&b, 2 * RECONNECT).await;
            stage.settle().await;
            b.has_left_nothing(&stage, "after the limit");
        }
    });
}

#[test]
fn a_wait_dropped_at_every_await_leaves_nothing_and_holds_nobody_up() {
    for level in [false, true] {
        at_every_await(|stage, danger, drops| async move {
            let (a, b) = (stage.client("a").await, stage.client("b").await);
            let (controls, gate, other) = (barrier(&a), barrier(&b), waits);
            controls.raise().await.expect("it is raised");
            let other = other(&a);
            danger.begins();
            let later = stage.sim.sleep(&a.process, Duration::from_millis(30));
            let lowering = a.process.spawn(async move {
                later.await;
                controls.lower().await
            });
            let work = async {
                match level {
                    true => gate.wait_until_down().await,
                    false => gate.wait().await,
                }
            };
            let ended = dropping(drops, &stage, &b, work).await;
            if let Some(passed) = &ended {
                assert_eq!(passed, &Ok(()));
            }
            lowering.await.expect("its process lives").expect("it is lowered");
            other.await.expect("the other one passes");
            stage.pass(&b, 3 * RECONNECT).await;
            stage.settle().await;
            b.has_left_nothing(&stage, &format!("dropped {drops:?}"));
            ended.is_some()
        });
    }
}

#[test]
fn parents_are_made_or_must_be_there() {
    play(|stage| async move {
        let a = stage.client("a").await;
        let deep = |parents| {
            let options = BarrierOptions::default().with_parents(parents);
            Barrier::new(&a.zk, "/b/c/gate", options).expect("a good path")
        };
        let must_exist = deep(Parents::MustExist);
        assert_eq!(must_exist.raise().await, Err(ErrorKind::NoNode.into()));
        assert_eq!(must_exist.wait().await, Ok(()), "none stands");
        assert_eq!(must_exist.lower().await, Ok(()), "it is down");
        deep(Parents::Persistent).raise().await.expect("it is raised");
        must_exist.raise().await.expect("it stands");
    });
}

#[test]
fn what_is_in_the_way_is_told() {
    play(|stage| async move {
        let a = stage.client("a").await;
        a.makes_ephemeral("/e").await;
        let below = Barrier::new(&a.zk, "/e/gate", BarrierOptions::default()).expect("a good path");
        assert_eq!(below.raise().await, Err(ErrorKind::NoChildrenForEphemerals.into()));
        assert_eq!(below.wait().await, Ok(()));
        let gate = barrier(&a);
        gate.raise().await.expect("it is raised");
        a.makes("/gate/child").await;
        assert_eq!(gate.lower().await, Err(ErrorKind::NotEmpty.into()));
        for path in ["", "gate", "/", "/zookeeper/gate", "/a//b", "/a/../b", "/a\u{1}"] {
            let refused = Barrier::new(&a.zk, path, BarrierOptions::default());
            assert!(refused.is_err_and(|e| e.is_bad_input()), "{path:?}");
        }
        let long = format!("/{}", "x".repeat(0xf_ffff));
        assert!(Barrier::new(&a.zk, &long, BarrierOptions::default()).is_err_and(|e| e.is_bad_input()));
    });
}

#[test]
fn a_server_that_lags_after_a_reconnect_delays_and_nothing_else() {
    for level in [false, true] {
        play_with(Config::default().with_servers(3), Calm, |stage| async move {
            let (a, b) = (stage.client("a").await, stage.client("b").await);
            barrier(&a).raise().await.expect("it is raised");
            let waiting = if level { waits_until_down(&b) } else { waits(&b) };
            stage.settle().await;
            b.is_disconnected().await;
            barrier(&a).lower().await.expect("it is lowered");
            a.zk.create("/x", &[], CreateMode::Persistent).await.expect("made");
            waiting.await.expect("it passes");
            stage.settle().await;
            assert_eq!(b.watches(&stage), Vec::<String>::new());
        });
    }
}
