//! The priority lock's futures dropped at every await, on a calm network and under one fault at every place: nothing stays
//! behind, and the next gets the lock.

use crate::common::every_await::at_every_await;
use crate::common::{
    Client, DIRECTORY, Drops, RECONNECT, Stage, TIMEOUT, dropping, is_refused_for_good, play_with,
};
use sim_zk::choose::{Rates, Seeded};
use sim_zk::fault::Fault;
use sim_zk::{Config, SimClient};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use zk_recipes::{HoldState, Interrupt, Preempt, Priority, PriorityLock, PriorityLockOptions};

fn lock(client: &Client, preempt: Preempt) -> PriorityLock<SimClient> {
    let options = PriorityLockOptions::default().with_preempt(preempt);
    PriorityLock::new(&client.zk, DIRECTORY, options).expect("the path is good")
}

/// A founder who has made the directories, to stay.
async fn founder(stage: &Stage) -> Client {
    let founder = stage.founder().await;
    founder.makes("/locks/a/line").await;
    founder.makes("/locks/a/held").await;
    founder
}

/// Nothing is left once the cleaning up is over, and the next gets the lock, however little urgent.
async fn all_is_well(stage: &Stage, gave_up: &Client, next: &Client, drops: Drops) {
    stage.pass(gave_up, 3 * RECONNECT).await;
    stage.settle().await;
    gave_up.has_left_nothing(stage, &format!("dropped {drops:?}"));
    let lock = lock(next, Preempt::Never);
    let granted = lock.write(Priority(u16::MAX)).within(Duration::from_secs(30)).await;
    assert!(granted.is_ok(), "the next gets the lock, dropped {drops:?}: {granted:?}");
}

#[test]
fn a_lock_that_is_free() {
    for is_writer in [false, true] {
        at_every_await(|stage, danger, drops| async move {
            let (next, a) = (founder(&stage).await, stage.client("a").await);
            danger.begins();
            let lock = lock(&a, Preempt::Never);
            let asks = async {
                if is_writer {
                    lock.write(Priority(3)).await.map(drop)
                } else {
                    lock.read(Priority(3)).await.map(drop)
                }
            };
            let ended = dropping(drops, &stage, &a, asks).await;
            if let Some(result) = &ended {
                assert_eq!(*result, Ok(()), "dropped {drops:?}");
            }
            all_is_well(&stage, &a, &next, drops).await;
            ended.is_some()
        });
    }
}

#[test]
fn directories_that_are_missing() {
    at_every_await(|stage, danger, drops| async move {
        let (next, a) = (stage.client("next").await, stage.client("a").await);
        danger.begins();
        let lock = lock(&a, Preempt::Never);
        let ended = dropping(drops, &stage, &a, lock.write(Priority(3))).await.is_some();
        all_is_well(&stage, &a, &next, drops).await;
        ended
    });
}

#[test]
fn one_who_waits_and_preempts() {
    for preempt in [Preempt::Ask, Preempt::Force { grace: Duration::from_millis(40) }] {
        at_every_await(|stage, danger, drops| async move {
            let (next, a) = (founder(&stage).await, stage.client("a").await);
            let held = lock(&next, Preempt::Never).write(Priority(9)).await.expect("it is granted");
            danger.begins();
            let over = stage.sim.sleep(&next.process, Duration::from_millis(72));
            next.process.spawn(async move {
                over.await;
                held.release().await
            });
            let lock = lock(&a, preempt);
            let ended = dropping(drops, &stage, &a, lock.write(Priority(3))).await;
            if let Some(result) = &ended {
                assert!(result.is_ok(), "dropped {drops:?}: {result:?}");
            }
            let is_over = ended.is_some();
            drop(ended);
            all_is_well(&stage, &a, &next, drops).await;
            is_over
        });
    }
}

#[test]
fn a_release() {
    at_every_await(|stage, danger, drops| async move {
        let (next, a) = (founder(&stage).await, stage.client("a").await);
        let held = lock(&a, Preempt::Never).read(Priority(3)).await.expect("it is granted");
        danger.begins();
        let ended = dropping(drops, &stage, &a, held.release()).await.is_some();
        all_is_well(&stage, &a, &next, drops).await;
        ended
    });
}

/// How often it went how.
#[derive(Default)]
struct Tally {
    tokens: Vec<i64>,
    revoked: usize,
    given_up: usize,
}

/// Asks, holds and lets go in ways that are drawn, until its session is over or it has done enough.
async fn lives(stage: Stage, client: Client, tally: Arc<Mutex<Tally>>) {
    let draw = |n| stage.sim.choose(n);
    for _ in 0..5 {
        let grace = Duration::from_millis(u64::from(draw(50)) * 10);
        let preempt = [Preempt::Never, Preempt::Ask, Preempt::Force { grace }][draw(3) as usize];
        let (lock, priority) = (lock(&client, preempt), Priority(draw(3) as u16));
        let patience_ms = if draw(2) == 0 { 60_000 } else { u64::from(draw(400)) * 5 };
        let drops = Drops::Later(patience_ms);
        let works = stage.sim.sleep(&client.process, Duration::from_millis(u64::from(draw(100)) * 10));
        let failed = if draw(2) == 0 {
            match dropping(drops, &stage, &client, lock.write(priority)).await {
                None => None,
                Some(Ok(held)) => {
                    if held.state() == HoldState::Held {
                        tally.lock().unwrap().tokens.push(held.token());
                    }
                    if held.run(works).await == Err(Interrupt::Revoked) {
                        tally.lock().unwrap().revoked += 1;
                    }
                    drop(dropping(drops, &stage, &client, held.release()).await);
                    continue;
                }
                Some(Err(e)) => Some(e),
            }
        } else {
            match dropping(drops, &stage, &client, lock.read(priority)).await {
                None => None,
                Some(Ok(held)) => {
                    if held.run(works).await == Err(Interrupt::Revoked) {
                        tally.lock().unwrap().revoked += 1;
                    }
                    drop(held);
                    continue;
                }
                Some(Err(e)) => Some(e),
            }
        };
        match failed {
            None => tally.lock().unwrap().given_up += 1,
            // Made to go by somebody more urgent, before it was known that it held.
            Some(e) if e.is_removed() || e.is_revoked() => tally.lock().unwrap().revoked += 1,
            Some(e) if is_refused_for_good(&e) => tally.lock().unwrap().given_up += 1,
            Some(e) => {
                assert!(e.is_session_over(), "a call fails with nothing else: {e}");
                return;
            }
        }
    }
}

fn run(seed: u64, servers: u8) -> Tally {
    let rates = Fault::ALL.into_iter().fold(Rates::NONE, |rates, fault| {
        let probability = match fault {
            Fault::SessionExpiry | Fault::ClientCrash | Fault::ClientPause => 0.005,
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
        let lock = lock(&last, Preempt::Never);
        let granted = lock.write(Priority(u16::MAX)).within(2 * TIMEOUT).await;
        assert!(granted.is_ok(), "seed {seed}: the lock is free: {granted:?}");
        drop(granted);
        stage.settle().await;
        for directory in ["/locks/a/line", "/locks/a/held"] {
            assert_eq!(stage.names(directory), [""; 0], "seed {seed}: nothing is left");
        }
        std::mem::take(&mut *tally.lock().unwrap())
    });
    tally
}

#[test]
fn no_schedule_leaves_a_znode_behind() {
    for servers in [1, 3] {
        let mut all = Tally::default();
        for seed in 0..150 {
            let tally = run(seed, servers);
            let grows = tally.tokens.is_sorted_by(|earlier, later| earlier < later);
            assert!(grows, "seed {seed}: tokens grow from writer to writer");
            all.tokens.extend(tally.tokens);
            all.revoked += tally.revoked;
            all.given_up += tally.given_up;
        }
        let counted = (all.tokens.len(), all.revoked, all.given_up);
        assert!(counted.0 > 300 && counted.1 > 10 && counted.2 > 100, "{servers} servers: {counted:?}");
    }
}
