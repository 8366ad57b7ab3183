//! Anomalies that real ZooKeeper excludes never happen, whatever the faults, on one server, on three, and on five.
//!
//! A rule is a function that reads the tape of a run: a raw workload with every kind of fault. Each rule is a test of
//! its own over some seeds; `SIM_SEEDS=1000000 cargo test --release -p sim-zk every_rule` checks all rules on as many.

mod answers;
mod connecting;
mod servers;
mod sessions;

use crate::common::{LIMIT, Tape, chaos, everything, hostile_ensemble, ms, wait};
use sim_zk::choose::{Rates, Seeded};
use sim_zk::fault::Fault;
use sim_zk::message::Code;
use sim_zk::observer::SimEvent;
use sim_zk::{Config, End, Sim};
use std::time::Duration;
use zk_recipes::zk::{Runtime, Time, ZooKeeper};

/// A timeout that outlives the story.
const LONG: Duration = Duration::from_secs(40);

/// The input of a rule.
struct Run<'a> {
    tape: &'a Tape,
    config: &'a Config,
}

type Verdict = Result<(), String>;
type Rule = fn(&Run<'_>) -> Verdict;

fn hold(truth: bool, complaint: impl FnOnce() -> String) -> Verdict {
    if truth { Ok(()) } else { Err(complaint()) }
}

/// Performs one hostile run, and checks the rules.
fn try_seed(seed: u64, servers: u8, rules: &[Rule]) {
    let config = hostile_ensemble(servers, 8);
    // Many faults early, or few spread over the run.
    let rate = if seed.is_multiple_of(3) { 0.003 } else { 0.01 };
    // Throttling is excluded: other refusals keep the order of requests.
    let rates = everything(rate).with(Fault::Throttled, 0.0);
    let run = chaos::run_in(config.clone(), Seeded::new(seed, rates), 3, 10);
    assert_eq!(run.end, End::Done, "seed {seed} on {servers} servers ends\n{}", run.observer.text());
    for rule in rules {
        if let Err(complaint) = rule(&Run { tape: &run.observer, config: &config }) {
            panic!("seed {seed} on {servers} servers: {complaint}\n{}", run.observer.text());
        }
    }
}

/// Checks a rule on one server, on three, and sometimes on five.
fn never(rule: Rule) {
    for seed in 0..120 {
        try_seed(seed, 1, &[rule]);
        try_seed(seed, 3, &[rule]);
        if seed % 4 == 0 {
            try_seed(seed, 5, &[rule]);
        }
    }
}

macro_rules! rules {
    ($($module:ident { $($rule:ident)+ })+) => {
        const RULES: &[Rule] = &[$($($module::$rule),+),+];
        $($(#[test] fn $rule() { never($module::$rule); })+)+
    };
}

rules! {
    servers {
        zxids_strictly_increase_and_leave_no_gap_within_an_epoch
        every_server_applies_the_same_transactions_in_the_same_order
        an_epoch_has_one_leader_and_no_older_one_commits
        every_read_shows_the_state_that_its_zxid_names
        a_multi_happens_as_a_whole_or_not_at_all
        what_is_refused_leaves_nothing
        a_write_of_a_session_that_has_moved_is_never_applied
        who_is_cut_off_serves_no_read_for_long
    }
    answers {
        replies_come_in_request_order_and_none_after_a_lost_one_on_its_connection
        what_a_connection_is_answered_never_goes_back
        what_a_session_is_answered_never_goes_back
        no_read_is_older_than_an_answer_its_session_has_seen
        a_notification_comes_before_every_reply_that_shows_its_transaction
        notifications_come_in_order_and_once
        nothing_is_answered_twice_or_answered_and_lost
        an_answer_tells_the_truth_about_the_write
        a_later_request_of_a_flight_is_not_processed_without_the_earlier
        a_read_sees_the_writes_before_it_in_its_flight
        a_sync_through_a_follower_is_a_barrier
    }
    sessions {
        a_sessions_ephemerals_go_in_one_transaction_and_nobody_elses
        nothing_of_a_session_is_applied_after_its_end
        expiry_is_never_early
        with_one_server_expiry_is_at_most_a_tick_late
        a_new_leader_lets_nobody_expire_before_a_whole_timeout
        a_client_is_told_of_the_loss_before_it_is_told_of_another_connection
    }
}

#[test]
fn what_is_throttled_is_never_applied() {
    let mut throttled = 0;
    for seed in 0..120 {
        let rates = everything(0.003).with(Fault::Throttled, 0.1);
        let run = chaos::run_in(hostile_ensemble(3, 8), Seeded::new(seed, rates), 3, 10);
        assert_eq!(run.end, End::Done, "seed {seed} ends");
        let refused = |event: &SimEvent<'_>| match event {
            SimEvent::Replied { op, outcome: Some(Code::ThrottledOp), .. } => Some(*op),
            _ => None,
        };
        let refused: Vec<u32> = run.observer.seen.iter().filter_map(|(_, it)| refused(it)).collect();
        let applied = run.observer.count(|it| matches!(it, SimEvent::Txn { op, .. } if refused.contains(op)));
        assert_eq!(applied, 0, "seed {seed}\n{}", run.observer.text());
        throttled += refused.len();
    }
    assert!(throttled > 100, "{throttled}");
}

/// Clients that only read, so that no write reveals that their server is cut off.
#[test]
fn nobody_reads_for_long_from_whoever_is_cut_off() {
    let rates = Rates::NONE.with(Fault::ServerPartition, 0.1);
    for seed in 0..150 {
        let config = hostile_ensemble(3, 2);
        let run = Sim::run(config.clone(), LIMIT, Seeded::new(seed, rates), Tape::default(), readers);
        assert_eq!(run.end, End::Done, "seed {seed} ends");
        if let Err(complaint) =
            servers::who_is_cut_off_serves_no_read_for_long(&Run { tape: &run.observer, config: &config })
        {
            panic!("seed {seed}: {complaint}\n{}", run.observer.text());
        }
    }
}

async fn readers(sim: Sim) {
    let reads = ["a", "b", "c"].map(|name| {
        let process = sim.process(name);
        async move {
            let zk = process.open(LONG).await;
            while zk.now() < Time::from_micros(25_000_000) {
                let _ = zk.exists("/").await;
                wait(&zk, ms(250)).await;
            }
        }
    });
    futures_util::future::join_all(reads).await;
}

/// Checks all rules on as many seeds as the environment variable says.
#[test]
fn every_rule_on_many_seeds() {
    let seeds = std::env::var("SIM_SEEDS").ok().and_then(|n| n.parse().ok()).unwrap_or(1_000);
    for seed in 0..seeds {
        let servers = [3, 1, 3, 5][seed as usize % 4];
        try_seed(1_000_000 + seed, servers, RULES);
    }
}
