//! The behaviour that every implementation must show, on the simulation: one server and three, the calm network, and
//! unsteady ones.

use crate::common::{LIMIT, TIMEOUT};
use sim_zk::choose::{Calm, Chooser, Rates, Seeded};
use sim_zk::fault::Fault;
use sim_zk::{Config, End, Process, Sim, SimClient};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use zk_recipes::zk::suite::{self, Site};
use zk_recipes::zk::{Error, SessionId, ZooKeeper};

/// Between servers, in microseconds: as long a way as to a client, so that it shows which server a session is connected
/// with, and not so long that followers give their leader up on an unsteady network.
const LINK_LATENCY: u64 = 6_000;

/// One simulated ensemble, and a process for each session: so clients of one case sit at different servers.
struct Simulated {
    sim: Sim,
    processes: Mutex<BTreeMap<SessionId, Process>>,
    directories: AtomicU32,
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
        self.processes.lock().expect("no case panics within")[&zk.session()].order(Fault::RequestLost);
        assert_eq!(zk.sync("/").await, Err(Error::ConnectionLoss));
    }

    fn directory(&self) -> String {
        format!("/directory-{}", self.directories.fetch_add(1, Ordering::Relaxed))
    }
}

/// Tries a rule, and says what was wrong.
fn wrong(rule: &'static str, servers: u8, chooser: impl Chooser + 'static) -> Option<String> {
    let story = |sim: Sim| async move {
        let site = Simulated { sim, processes: Mutex::default(), directories: AtomicU32::new(0) };
        suite::run(&site, rule).await;
    };
    let config = Config { link_latency: LINK_LATENCY, ..Config::default().with_servers(servers) };
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
