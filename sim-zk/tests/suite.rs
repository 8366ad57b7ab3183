//! The behaviour that every implementation must show, on the simulation: the calm network, and unsteady ones.

mod common;

use common::{LIMIT, TIMEOUT};
use sim_zk::choose::{Calm, Chooser, Rates, Seeded};
use sim_zk::{Config, End, Process, Sim, SimClient};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering};
use zk_recipes::zk::suite::{self, Site};

/// One simulated ensemble and one process of it.
struct Simulated {
    process: Process,
    directories: AtomicU32,
}

impl Site for Simulated {
    type Zk = SimClient;

    async fn open(&self) -> SimClient {
        self.process.open(TIMEOUT).await
    }

    fn directory(&self) -> String {
        format!("/directory-{}", self.directories.fetch_add(1, Ordering::Relaxed))
    }
}

/// Tries a rule, and says what was wrong.
fn wrong(rule: &'static str, chooser: impl Chooser + 'static) -> Option<String> {
    let story = |sim: Sim| async move {
        let site = Simulated { process: sim.process("suite"), directories: AtomicU32::new(0) };
        suite::run(&site, rule).await;
    };
    match catch_unwind(AssertUnwindSafe(|| Sim::run(Config::default(), LIMIT, chooser, (), story))) {
        Ok(run) => (run.end != End::Done).then(|| format!("it ended as {:?}", run.end)),
        Err(panic) => Some(match panic.downcast::<String>() {
            Ok(said) => *said,
            Err(_) => "it panicked".to_owned(),
        }),
    }
}

#[test]
fn every_rule_holds_on_the_calm_network() {
    let broken: Vec<String> = suite::CASES
        .iter()
        .filter_map(|(name, rule)| Some(format!("{name} ({rule}): {}", wrong(name, Calm)?)))
        .collect();
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn every_rule_holds_on_unsteady_networks() {
    let broken: Vec<String> = suite::CASES
        .iter()
        .filter_map(|(name, rule)| {
            let failed = (0..200).find_map(|seed| Some((seed, wrong(name, Seeded::new(seed, Rates::NONE))?)));
            failed.map(|(seed, why)| format!("{name} ({rule}), seed {seed}: {why}"))
        })
        .collect();
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn a_rule_that_does_not_hold_is_told() {
    let said = wrong("no such rule", Calm);
    assert_eq!(said.as_deref(), Some("there is no rule \"no such rule\""));
}
