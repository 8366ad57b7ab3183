//! The semaphore's futures dropped at every await, on a fault-free network and under one fault at every place: no znode is
//! left, and the next client gets all permits.

use crate::common::every_await::at_every_await;
use crate::common::{
    Client, DIRECTORY, Drops, RECONNECT, Stage, TIMEOUT, dropping, is_refused_for_good, play_with,
};
use sim_zk::choose::{Rates, Seeded};
use sim_zk::fault::Fault;
use sim_zk::{Config, SimClient};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use zk_recipes::{HoldState, Semaphore, SemaphoreOptions};

/// The number of permits.
const ALL: u32 = 3;

fn semaphore(client: &Client) -> Semaphore<SimClient> {
    Semaphore::new(&client.zk, DIRECTORY, ALL, SemaphoreOptions::default()).expect("the input is good")
}

/// A founder who has made the semaphore, to stay.
async fn founder(stage: &Stage) -> Client {
    let founder = stage.founder().await;
    founder.makes("/locks/a/line").await;
    semaphore(&founder).set_permits(ALL).await.expect("the network is calm");
    founder
}

/// No znode is left after the clean-up, and the next client gets all permits.
async fn all_is_well(stage: &Stage, gave_up: &Client, next: &Client, drops: Drops) {
    stage.pass(gave_up, 3 * RECONNECT).await;
    stage.settle().await;
    gave_up.has_left_nothing(stage, &format!("dropped {drops:?}"));
    let semaphore = semaphore(next);
    let granted = semaphore.acquire(ALL).within(Duration::from_secs(30)).await;
    assert!(granted.is_ok(), "the next gets all permits, dropped {drops:?}: {granted:?}");
}

#[test]
fn an_acquire_of_free_permits() {
    at_every_await(|stage, danger, drops| async move {
        let (next, a) = (founder(&stage).await, stage.client("a").await);
        danger.begins();
        let semaphore = semaphore(&a);
        let ended = dropping(drops, &stage, &a, semaphore.acquire(2)).await;
        if let Some(result) = &ended {
            assert!(result.is_ok(), "dropped {drops:?}: {result:?}");
        }
        let has_ended = ended.is_some();
        drop(ended);
        all_is_well(&stage, &a, &next, drops).await;
        has_ended
    });
}

#[test]
fn an_acquire_that_makes_the_semaphore() {
    at_every_await(|stage, danger, drops| async move {
        let (next, a) = (stage.client("next").await, stage.client("a").await);
        danger.begins();
        let semaphore = semaphore(&a);
        let ended = dropping(drops, &stage, &a, semaphore.acquire(1)).await.is_some();
        all_is_well(&stage, &a, &next, drops).await;
        ended
    });
}

#[test]
fn an_acquire_that_waits() {
    at_every_await(|stage, danger, drops| async move {
        let (next, a) = (founder(&stage).await, stage.client("a").await);
        let held = semaphore(&next).acquire(2).await.expect("it is granted");
        danger.begins();
        let over = stage.sim.sleep(&next.process, Duration::from_millis(72));
        next.process.spawn(async move {
            over.await;
            held.release().await
        });
        let semaphore = semaphore(&a);
        let ended = dropping(drops, &stage, &a, semaphore.acquire(2)).await;
        if let Some(result) = &ended {
            assert!(result.is_ok(), "dropped {drops:?}: {result:?}");
        }
        let has_ended = ended.is_some();
        drop(ended);
        all_is_well(&stage, &a, &next, drops).await;
        has_ended
    });
}

#[test]
fn an_acquire_that_waits_behind_another_waiter() {
    at_every_await(|stage, danger, drops| async move {
        let (next, a) = (founder(&stage).await, stage.client("a").await);
        let held = semaphore(&next).acquire(ALL).await.expect("it is granted");
        let waits = semaphore(&next);
        let waiting = next.process.spawn(async move { waits.acquire(1).await.map(drop) });
        stage.pass(&next, Duration::from_millis(100)).await;
        danger.begins();
        let over = stage.sim.sleep(&next.process, Duration::from_millis(72));
        next.process.spawn(async move {
            over.await;
            held.release().await
        });
        let semaphore = semaphore(&a);
        let ended = dropping(drops, &stage, &a, semaphore.acquire(2)).await.is_some();
        assert_eq!(waiting.await.expect("its process lives"), Ok(()), "dropped {drops:?}");
        all_is_well(&stage, &a, &next, drops).await;
        ended
    });
}

#[test]
fn a_try() {
    for is_free in [true, false] {
        at_every_await(|stage, danger, drops| async move {
            let (next, a) = (founder(&stage).await, stage.client("a").await);
            let held = semaphore(&next).acquire(2).await.expect("it is granted");
            danger.begins();
            let semaphore = semaphore(&a);
            let tries = semaphore.try_acquire(if is_free { 1 } else { 2 });
            let ended = dropping(drops, &stage, &a, tries).await;
            if let Some(result) = &ended {
                assert!(is_free || matches!(result, Ok(None)), "dropped {drops:?}: {result:?}");
            }
            let has_ended = ended.is_some();
            drop((ended, held));
            all_is_well(&stage, &a, &next, drops).await;
            has_ended
        });
    }
}

#[test]
fn a_release() {
    at_every_await(|stage, danger, drops| async move {
        let (next, a) = (founder(&stage).await, stage.client("a").await);
        let held = semaphore(&a).acquire(2).await.expect("it is granted");
        danger.begins();
        let ended = dropping(drops, &stage, &a, held.release()).await.is_some();
        all_is_well(&stage, &a, &next, drops).await;
        ended
    });
}

/// How often it went how.
#[derive(Default)]
struct Tally {
    /// The permits that are held by guards that are not lost, each with its number.
    held: Vec<(i64, u32)>,
    /// The most of them at one time.
    most: u32,
    granted: usize,
    given_up: usize,
}

/// Acquires, holds and releases in ways that are drawn, until its session is over or it has done enough.
async fn lives(stage: Stage, client: Client, tally: Arc<Mutex<Tally>>) {
    let draw = |n| stage.sim.choose(n);
    for _ in 0..5 {
        let (semaphore, permits) = (semaphore(&client), 1 + draw(ALL));
        let patience_ms = if draw(2) == 0 { 60_000 } else { u64::from(draw(400)) * 5 };
        let works = stage.sim.sleep(&client.process, Duration::from_millis(u64::from(draw(100)) * 10));
        let drops = Drops::Later(patience_ms);
        let acquired = match draw(4) {
            0 => dropping(drops, &stage, &client, semaphore.try_acquire(permits)).await,
            _ => {
                dropping(drops, &stage, &client, semaphore.acquire(permits)).await.map(|held| held.map(Some))
            }
        };
        match acquired {
            None | Some(Ok(None)) => tally.lock().unwrap().given_up += 1,
            Some(Ok(Some(held))) => {
                let token = held.token();
                if held.state() == HoldState::Held {
                    let mut tally = tally.lock().unwrap();
                    tally.granted += 1;
                    tally.held.push((token, permits));
                    tally.most = tally.most.max(tally.held.iter().map(|(_, permits)| permits).sum());
                }
                // Stopped or done: it counts as a holder no longer.
                let _ended = held.run(works).await;
                tally.lock().unwrap().held.retain(|(other, _)| *other != token);
                drop(dropping(drops, &stage, &client, held.release()).await);
            }
            Some(Err(e)) if e.is_removed() || is_refused_for_good(&e) => tally.lock().unwrap().given_up += 1,
            Some(Err(e)) => {
                assert!(
                    e.is_session_over() || e.is_retryable_refusal(),
                    "a call fails with nothing else: {e}"
                );
                if e.is_session_over() {
                    return;
                }
            }
        }
    }
}

fn run(seed: u64, servers: u8) -> Tally {
    let rates = Fault::ALL.into_iter().fold(Rates::NONE, |rates, fault| {
        let probability = match fault {
            // A holder that is paused or crashed cannot say that it has stopped.
            Fault::ClientCrash | Fault::ClientPause => 0.0,
            Fault::SessionExpiry => 0.005,
            _ => 0.03,
        };
        rates.with(fault, probability)
    });
    let config = Config { faults: 30, hostile_until: 60_000_000, ..Config::default() }.with_servers(servers);
    let (tally, _) = play_with(config, Seeded::new(seed, rates), |stage| async move {
        let tally = Arc::new(Mutex::new(Tally::default()));
        let (one, told) = (stage.clone(), tally.clone());
        stage.lets_four_live(move |client| lives(one.clone(), client, told.clone())).await;
        let last = stage.client("last").await;
        let semaphore = semaphore(&last);
        let granted = semaphore.acquire(ALL).within(2 * TIMEOUT).await;
        assert!(granted.is_ok(), "seed {seed}: all permits are free: {granted:?}");
        drop(granted);
        stage.settle().await;
        assert_eq!(stage.names("/locks/a/line"), [""; 0], "seed {seed}: no waiter is left");
        assert_eq!(
            stage.names("/locks/a/held"),
            [format!("permits-{ALL}")],
            "seed {seed}: no holder is left"
        );
        std::mem::take(&mut *tally.lock().unwrap())
    });
    tally
}

#[test]
fn no_schedule_leaves_a_znode_or_exceeds_the_permits() {
    for servers in [1, 3] {
        let (mut most, mut granted, mut given_up) = (0, 0, 0);
        for seed in 0..150 {
            let tally = run(seed, servers);
            assert!(tally.most <= ALL, "seed {seed}: {} permits are held", tally.most);
            most = most.max(tally.most);
            granted += tally.granted;
            given_up += tally.given_up;
        }
        let counted = (most, granted, given_up);
        assert!(most == ALL && granted > 300 && given_up > 100, "{servers} servers: {counted:?}");
    }
}
