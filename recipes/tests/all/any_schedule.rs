//! Whatever happens: three hundred runs of four clients with every kind of fault, and what must hold after each.

use crate::common::{Client, Drops, Stage, TIMEOUT, dropping, is_refused_for_good, play_with};
use sim_zk::Config;
use sim_zk::choose::{Rates, Seeded};
use sim_zk::fault::Fault;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use zk_recipes::{HoldState, LockOptions, OnSuspect};

/// The tokens in the order of the grants, and how often it went how.
#[derive(Default)]
struct Tally {
    tokens: Vec<i64>,
    granted: usize,
    given_up: usize,
    over: usize,
}

/// Locks, holds and lets go in ways that are drawn, until its session is over or it has done enough.
async fn lives(stage: Stage, client: Client, tally: Arc<Mutex<Tally>>) {
    let draw = |n| stage.sim.choose(n);
    for _ in 0..6 {
        let on_suspect = if draw(2) == 0 { OnSuspect::Stop } else { OnSuspect::UntilDeadline };
        let options = LockOptions::default().with_on_suspect(on_suspect);
        let lock = client.lock_with(options);
        let limit = Duration::from_millis(u64::from(draw(400)) * 10);
        let drops = Drops::Later(u64::from(draw(400)) * 5);
        let result = match draw(4) {
            0 => dropping(drops, &stage, &client, lock.acquire()).await,
            1 => Some(lock.acquire().within(limit).await),
            2 => lock.try_acquire().await.transpose(),
            _ => Some(lock.acquire().await),
        };
        let Some(result) = result else {
            tally.lock().unwrap().given_up += 1;
            continue;
        };
        let held = match result {
            Ok(held) => held,
            Err(e) if e.is_timed_out() || is_refused_for_good(&e) => continue,
            Err(e) => {
                assert!(e.is_session_over(), "an acquire fails with nothing else: {e}");
                tally.lock().unwrap().over += 1;
                return;
            }
        };
        {
            let mut tally = tally.lock().unwrap();
            tally.granted += 1;
            if held.state() == HoldState::Held {
                tally.tokens.push(held.token());
            }
        }
        let works = stage.sim.sleep(&client.process, Duration::from_millis(u64::from(draw(200)) * 10));
        match draw(4) {
            0 => drop(held.run(works).await),
            1 => {
                dropping(drops, &stage, &client, held.lost()).await;
            }
            2 => {
                dropping(drops, &stage, &client, held.transact_once(vec![])).await;
            }
            _ => works.await,
        }
        match draw(3) {
            0 => drop(held),
            1 => drop(dropping(drops, &stage, &client, held.release()).await),
            _ => drop(held.release().await),
        }
    }
}

fn run(seed: u64) -> Tally {
    let rates = Fault::ALL.into_iter().fold(Rates::NONE, |rates, fault| {
        let probability = match fault {
            Fault::SessionExpiry | Fault::ClientCrash | Fault::ClientPause => 0.005,
            _ => 0.03,
        };
        rates.with(fault, probability)
    });
    let config = Config { faults: 30, hostile_until: 60_000_000, ..Config::default() };
    let (tally, _) = play_with(config, Seeded::new(seed, rates), |stage| async move {
        let tally = Arc::new(Mutex::new(Tally::default()));
        let (one, told) = (stage.clone(), tally.clone());
        stage.lets_four_live(move |client| lives(one.clone(), client, told.clone())).await;
        let living: BTreeSet<_> = stage.sim.look(|world| {
            world.znodes().map(|(_, owner)| owner).chain(world.watches().map(|(_, of)| of)).collect()
        });
        let left: Vec<_> = living.into_iter().filter(|session| session.0 != 0).collect();
        assert_eq!(left, [], "seed {seed}: nothing is left");

        let last = stage.client("last").await;
        let granted = last.lock().acquire().within(TIMEOUT).await;
        assert!(granted.is_ok(), "seed {seed}: the lock is free");
        drop(granted);
        std::mem::take(&mut *tally.lock().unwrap())
    });
    tally
}

#[test]
fn no_schedule_leaves_a_znode_or_a_watch_behind() {
    let mut all = Tally::default();
    for seed in 0..300 {
        let tally = run(seed);
        all.granted += tally.granted;
        all.given_up += tally.given_up;
        all.over += tally.over;
        let grows = tally.tokens.is_sorted_by(|earlier, later| earlier < later);
        assert!(grows, "seed {seed}: tokens grow from grant to grant");
    }
    assert!(
        all.granted > 1000 && all.given_up > 200 && all.over > 20,
        "the runs are hostile, and not too hostile"
    );
}
