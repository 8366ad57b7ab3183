//! The election's futures dropped at every await, on a calm network and under one fault at every place: nothing stays
//! behind, and the next candidate takes office.

use crate::common::every_await::at_every_await;
use crate::common::{
    Client, DIRECTORY, Drops, RECONNECT, Stage, TIMEOUT, dropping, is_refused_for_good, play_with,
};
use sim_zk::choose::{Rates, Seeded};
use sim_zk::fault::Fault;
use sim_zk::{Config, SimClient};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use zk_recipes::{Election, ElectionOptions, HoldState, Leader, OnSuspect, Term};

fn election(client: &Client) -> Election<SimClient> {
    Election::new(&client.zk, DIRECTORY, ElectionOptions::default()).expect("the path is good")
}

async fn takes_office(client: &Client) -> Term<SimClient> {
    election(client).stand().await.expect("it is elected")
}

/// Nothing is left once the cleaning up is over; the next takes office, begins, and is observed.
async fn all_is_well(stage: &Stage, gave_up: &Client, next: &Client, drops: Drops) {
    stage.pass(gave_up, 3 * RECONNECT).await;
    stage.settle().await;
    gave_up.has_left_nothing(stage, &format!("dropped {drops:?}"));
    let elected = election(next).stand().within(Duration::from_secs(30)).await;
    let term = elected.unwrap_or_else(|e| panic!("the next takes office, dropped {drops:?}: {e}"));
    assert_eq!(term.acknowledge(b"next").await, Ok(()), "dropped {drops:?}");
    let seen = election(gave_up).follow().next().await;
    let expected = Leader::Acknowledged { token: term.token(), data: b"next".to_vec() };
    assert_eq!(seen, Ok(expected), "dropped {drops:?}");
}

#[test]
fn standing_behind_a_leader() {
    at_every_await(|stage, danger, drops| async move {
        let (next, a) = (stage.founder().await, stage.client("a").await);
        let leads = takes_office(&next).await;
        danger.begins();
        let over = stage.sim.sleep(&next.process, Duration::from_millis(62));
        next.process.spawn(async move {
            over.await;
            leads.resign().await
        });
        let election = election(&a);
        let ended = dropping(drops, &stage, &a, election.stand()).await.is_some();
        all_is_well(&stage, &a, &next, drops).await;
        ended
    });
}

#[test]
fn an_acknowledgement() {
    at_every_await(|stage, danger, drops| async move {
        let (next, a) = (stage.founder().await, stage.client("a").await);
        let term = takes_office(&a).await;
        danger.begins();
        let ended = dropping(drops, &stage, &a, term.acknowledge(b"a")).await;
        if let Some(result) = &ended {
            assert_eq!(*result, Ok(()), "dropped {drops:?}");
        }
        drop(term);
        all_is_well(&stage, &a, &next, drops).await;
        ended.is_some()
    });
}

#[test]
fn an_acknowledgement_over_a_relic() {
    at_every_await(|stage, danger, drops| async move {
        let (next, a) = (stage.founder().await, stage.client("a").await);
        next.makes_ephemeral("/locks/a/leader").await;
        let term = takes_office(&a).await;
        danger.begins();
        let ended = dropping(drops, &stage, &a, term.acknowledge(b"a")).await.is_some();
        drop(term);
        all_is_well(&stage, &a, &next, drops).await;
        ended
    });
}

#[test]
fn a_resignation() {
    for is_acknowledged in [false, true] {
        at_every_await(|stage, danger, drops| async move {
            let (next, a) = (stage.founder().await, stage.client("a").await);
            let term = takes_office(&a).await;
            if is_acknowledged {
                term.acknowledge(b"a").await.expect("it leads");
            }
            danger.begins();
            let ended = dropping(drops, &stage, &a, term.resign()).await.is_some();
            all_is_well(&stage, &a, &next, drops).await;
            ended
        });
    }
}

#[test]
fn a_term_whose_leader_works() {
    at_every_await(|stage, danger, drops| async move {
        let (next, a) = (stage.founder().await, stage.client("a").await);
        let term = takes_office(&a).await;
        danger.begins();
        let work = async {
            let _ = term.acknowledge(b"a").await;
            stage.sim.sleep(&a.process, Duration::from_millis(40)).await;
        };
        let ended = dropping(drops, &stage, &a, term.run(work)).await.is_some();
        drop(term);
        all_is_well(&stage, &a, &next, drops).await;
        ended
    });
}

#[test]
fn an_observer() {
    at_every_await(|stage, danger, drops| async move {
        let (next, a) = (stage.founder().await, stage.client("a").await);
        danger.begins();
        let mut sees = election(&a).follow();
        let follows = async {
            loop {
                if matches!(sees.next().await, Ok(Leader::Acknowledged { .. })) {
                    return;
                }
            }
        };
        let begins = async {
            let term = takes_office(&next).await;
            let _ = term.acknowledge(b"next").await;
            term
        };
        let (ended, term) = futures_util::future::join(dropping(drops, &stage, &a, follows), begins).await;
        if ended.is_none() {
            stage.settle().await;
            // Dropped in the middle, it goes on where it was.
            while !matches!(sees.next().await, Ok(Leader::Acknowledged { .. })) {}
        }
        drop((sees, term));
        all_is_well(&stage, &a, &next, drops).await;
        ended.is_some()
    });
}

/// What became of all terms: the tokens in the order of taking office.
#[derive(Default)]
struct Tally {
    tokens: Vec<i64>,
    acknowledged: usize,
    observed: usize,
}

/// Stands, leads and goes in ways that are drawn, until its session is over or it has done enough.
async fn lives(stage: Stage, client: Client, tally: Arc<Mutex<Tally>>) {
    let draw = |n| stage.sim.choose(n);
    let mut sees = election(&client).follow();
    for _ in 0..5 {
        let on_suspect = if draw(2) == 0 { OnSuspect::Stop } else { OnSuspect::UntilDeadline };
        let options = ElectionOptions::default().with_on_suspect(on_suspect);
        let election = Election::new(&client.zk, DIRECTORY, options).expect("the path is good");
        let drops = Drops::Later(u64::from(draw(400)) * 5);
        if draw(3) == 0 {
            if dropping(drops, &stage, &client, sees.next()).await.is_some() {
                tally.lock().unwrap().observed += 1;
            }
            continue;
        }
        let stood = match draw(2) {
            0 => dropping(drops, &stage, &client, election.stand()).await,
            _ => Some(election.stand().await),
        };
        let Some(stood) = stood else { continue };
        let term = match stood {
            Ok(term) => term,
            Err(e) if is_refused_for_good(&e) => continue,
            Err(e) => {
                assert!(e.is_session_over(), "standing fails with nothing else: {e}");
                return;
            }
        };
        if term.state() == HoldState::Held {
            tally.lock().unwrap().tokens.push(term.token());
        }
        match draw(3) {
            0 => drop(dropping(drops, &stage, &client, term.acknowledge(b"x")).await),
            1 => {
                let acknowledged = term.acknowledge(b"y").await.is_ok();
                tally.lock().unwrap().acknowledged += usize::from(acknowledged);
            }
            _ => {}
        }
        let works = stage.sim.sleep(&client.process, Duration::from_millis(u64::from(draw(100)) * 10));
        let _ = term.run(works).await;
        match draw(3) {
            0 => drop(term),
            1 => drop(dropping(drops, &stage, &client, term.resign()).await),
            _ => drop(term.resign().await),
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
        let term = election(&last).stand().within(2 * TIMEOUT).await;
        let term = term.unwrap_or_else(|e| panic!("seed {seed}: the office is free: {e}"));
        assert_eq!(term.acknowledge(b"last").await, Ok(()), "seed {seed}");
        let seen = election(&last).follow().next().await;
        let expected = Leader::Acknowledged { token: term.token(), data: b"last".to_vec() };
        assert_eq!(seen, Ok(expected), "seed {seed}");
        drop(term);
        stage.settle().await;
        let left = stage.names(DIRECTORY);
        assert_eq!(left, [""; 0], "seed {seed}: nothing is left");
        std::mem::take(&mut *tally.lock().unwrap())
    });
    tally
}

#[test]
fn no_schedule_leaves_a_candidate_or_a_record_behind() {
    for servers in [1, 3] {
        let mut all = Tally::default();
        for seed in 0..150 {
            let tally = run(seed, servers);
            let grows = tally.tokens.is_sorted_by(|earlier, later| earlier < later);
            assert!(grows, "seed {seed}: tokens grow from term to term");
            all.tokens.extend(tally.tokens);
            all.acknowledged += tally.acknowledged;
            all.observed += tally.observed;
        }
        assert!(
            all.tokens.len() > 500 && all.acknowledged > 100 && all.observed > 100,
            "{servers} servers: {} {} {}",
            all.tokens.len(),
            all.acknowledged,
            all.observed
        );
    }
}
