//! The conformance suite for all implementations, on the simulation: one server and three, fixed and random latencies.

use crate::common::{LIMIT, TIMEOUT, hostile_ensemble, until_over};
use sim_zk::choose::{Calm, Chooser, Rates, Seeded};
use sim_zk::fault::Fault;
use sim_zk::injected_bug::InjectedBug;
use sim_zk::{Config, End, Process, Sim, SimClient};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use zk_recipes::zk::{ErrorKind, SessionId, ZooKeeper};
use zk_suite::{self as suite, Site};

/// The latency between servers, in microseconds: as long as to a client, so that the server of a session makes a
/// difference, and short enough that followers keep their leader on an unsteady network.
const LINK_LATENCY: u64 = 6_000;

/// One simulated ensemble, with a process for each session: the clients of one case are at different servers.
struct Simulated {
    sim: Sim,
    processes: Mutex<BTreeMap<SessionId, Process>>,
    directories: AtomicU32,
}

impl Simulated {
    fn process(&self, zk: &SimClient) -> Process {
        self.processes.lock().expect("no case panics within")[&zk.session()].clone()
    }
}

impl Site for Simulated {
    type Zk = SimClient;

    async fn open(&self) -> SimClient {
        let process = self.sim.process("suite");
        let zk = process.open(TIMEOUT).await;
        self.processes.lock().expect("no case panics within").insert(zk.session(), process);
        zk
    }

    async fn cut(&self, zk: &SimClient) {
        let before = zk.status();
        self.process(zk).order(Fault::RequestLost);
        // With other faults the session may be disconnected already.
        let lost = zk.sync("/").await;
        assert!(
            lost == Err(ErrorKind::ConnectionLoss.into()) || !before.is_connected(),
            "{before:?}: {lost:?}"
        );
    }

    async fn expire(&self, zk: &SimClient) {
        self.process(zk).inflict(Fault::SessionExpiry, 3 * TIMEOUT);
        until_over(zk).await;
    }

    fn directory(&self) -> String {
        format!("/directory-{}", self.directories.fetch_add(1, Ordering::Relaxed))
    }
}

/// Tests a rule, and returns the failure, if any.
fn wrong(rule: &'static str, servers: u8, chooser: impl Chooser + 'static) -> Option<String> {
    wrong_in(Config::default().with_servers(servers), rule, chooser)
}

fn wrong_in(world: Config, rule: &'static str, chooser: impl Chooser + 'static) -> Option<String> {
    let story = |sim: Sim| async move {
        let site = Simulated { sim, processes: Mutex::default(), directories: AtomicU32::new(0) };
        suite::run(&site, rule).await;
    };
    let config = Config { link_latency: LINK_LATENCY, ..world };
    match catch_unwind(AssertUnwindSafe(|| Sim::run(config, LIMIT, chooser, (), story))) {
        Ok(run) => (run.end != End::Done).then(|| format!("it ended as {:?}", run.end)),
        Err(panic) => Some(match panic.downcast::<String>() {
            Ok(said) => *said,
            Err(_) => "it panicked".to_owned(),
        }),
    }
}

fn every_rule_holds_on_the_calm_network(servers: u8) {
    let broken: Vec<String> = suite::CASES
        .iter()
        .filter_map(|(name, rule)| Some(format!("{name} ({rule}): {}", wrong(name, servers, Calm)?)))
        .collect();
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

fn every_rule_holds_on_unsteady_networks(servers: u8) {
    let broken: Vec<String> = suite::CASES
        .iter()
        .filter_map(|(name, rule)| {
            let unsteady = |seed| Some((seed, wrong(name, servers, Seeded::new(seed, Rates::NONE))?));
            let (seed, why) = (0..200).find_map(unsteady)?;
            Some(format!("{name} ({rule}), seed {seed}: {why}"))
        })
        .collect();
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// Connections break at about every tenth request, in both directions and before notifications.
fn breaking(seed: u64) -> Seeded {
    let faults =
        [Fault::RequestLost, Fault::ReplyLost, Fault::Disconnect, Fault::ReplyLate, Fault::WatchLost];
    Seeded::new(seed, faults.into_iter().fold(Rates::NONE, |rates, fault| rates.with(fault, 0.04)))
}

fn every_rule_for_faults_holds_while_connections_break(servers: u8) {
    let broken: Vec<String> = suite::UNDER_FAULTS
        .iter()
        .filter_map(|rule| {
            let world = || hostile_ensemble(servers, 40);
            let tried = |seed| Some((seed, wrong_in(world(), rule, breaking(seed))?));
            let (seed, why) = (0..200).find_map(tried)?;
            Some(format!("{rule}, seed {seed}: {why}"))
        })
        .collect();
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// Injected bugs of clients and servers, each with a rule that detects it under faults.
const NOTICED: &[(InjectedBug, &str)] = &[
    (InjectedBug::RepeatsLost, "what_is_lost_is_done_once_or_never"),
    (InjectedBug::RepeatsLost, "an_ephemeral_outlives_its_connections"),
    (InjectedBug::RepeatsLost, "a_dropped_duty_is_done_in_the_end"),
    (InjectedBug::SwapsAnswers, "what_is_called_while_away_keeps_its_order"),
    (InjectedBug::SwapsAnswers, "what_was_answered_is_never_contradicted"),
    (InjectedBug::HidesLoss, "a_loss_shows_in_the_status"),
    (InjectedBug::ExpiresAtLoss, "every_request_ends_in_call_order"),
    (InjectedBug::ForgetsWatches, "a_watch_dropped_while_away_leaves_the_others"),
    (InjectedBug::ForgetsAbsent, "a_watch_misses_nothing"),
    (InjectedBug::ForgetsTrees, "a_tree_watch_and_its_gaps_miss_nothing"),
    (InjectedBug::RegistersAsOfNow, "a_znode_made_again_while_away_is_told"),
    (InjectedBug::LateNotices, "a_watch_is_told_before_the_answer_that_shows_it"),
    (InjectedBug::KeepsEphemeral, "a_close_ends_everything"),
];

#[test]
fn injected_bugs_break_rules_for_faults() {
    for (bug, rule) in NOTICED {
        let world = |servers| Config { injected_bug: Some(*bug), ..hostile_ensemble(servers, 40) };
        let is_broken = |seed| [1, 3].iter().any(|n| wrong_in(world(*n), rule, breaking(seed)).is_some());
        assert!((0..40).any(is_broken), "{rule} does not notice {bug:?}");
    }
}

#[test]
fn every_rule_for_faults_holds_with_one_server_while_connections_break() {
    every_rule_for_faults_holds_while_connections_break(1);
}

#[test]
fn every_rule_for_faults_holds_with_three_servers_while_connections_break() {
    every_rule_for_faults_holds_while_connections_break(3);
}

#[test]
fn every_rule_holds_with_one_server_on_the_calm_network() {
    every_rule_holds_on_the_calm_network(1);
}

#[test]
fn every_rule_holds_with_three_servers_on_the_calm_network() {
    every_rule_holds_on_the_calm_network(3);
}

#[test]
fn every_rule_holds_with_one_server_on_unsteady_networks() {
    every_rule_holds_on_unsteady_networks(1);
}

#[test]
fn every_rule_holds_with_three_servers_on_unsteady_networks() {
    every_rule_holds_on_unsteady_networks(3);
}

#[test]
fn a_rule_that_does_not_hold_is_told() {
    let said = wrong("no such rule", 1, Calm);
    assert_eq!(said.as_deref(), Some("there is no rule \"no such rule\""));
}
