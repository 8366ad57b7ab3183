//! The scenarios of faults on ensembles that are served: over sockets, in real time, with the verbs of the control API.
//!
//! A run shows what is allowed. Which of the allowed outcomes it shows is left to the machine: seeds decide nothing here.

use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;
use zk_fidelity::ensemble::case::{Meta, Placed, Scenario, Suite, read};
use zk_fidelity::ensemble::report::Report;
use zk_fidelity::ensemble::run::run;
use zk_fidelity::ensemble::served::{Served, cannot};
use zk_scenarios::served::Verbs;
use zk_serve::{Options, Server};

/// How many ensembles there are at a time: a scenario mostly waits.
const AT_A_TIME: usize = 12;

/// Scenarios that lose packets between servers.
const LEFT_OUT: usize = 11;

fn suite() -> Suite {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/all/ensemble");
    let suite = read(&folder.join("own.jsonl")).expect("the scenarios can be read");
    assert!(suite.bad.is_empty(), "{:?}", suite.bad);
    suite
}

fn ensemble(meta: &Meta) -> Server {
    let (servers, tick) = (u8::try_from(meta.members).unwrap(), Duration::from_millis(meta.tick_ms));
    Server::start(&Options { servers, tick, ..Options::default() }).unwrap()
}

/// Plays a scenario on an ensemble of its own.
fn play(scenario: &Scenario, meta: &Meta) -> Report {
    let server = ensemble(meta);
    let served = Served::new(server.addresses().to_vec(), Verbs(server.control().clone()));
    let report = run(scenario, meta, 0..1, |_, _| &served);
    assert_eq!(served.trouble(), None, "{}", scenario.id);
    report
}

#[test]
fn a_served_ensemble_does_what_a_real_one_did() {
    let Suite { meta, scenarios, .. } = suite();
    let playable: Vec<&Placed> = scenarios.iter().filter(|of| cannot(&of.scenario).is_none()).collect();
    assert_eq!(scenarios.len() - playable.len(), LEFT_OUT);
    let (queue, failed) = (Mutex::new(playable.iter()), Mutex::new(Vec::new()));
    let next = || queue.lock().unwrap().next();
    std::thread::scope(|scope| {
        for _ in 0..AT_A_TIME {
            scope.spawn(|| {
                while let Some(placed) = next() {
                    let report = play(&placed.scenario, &meta);
                    if !report.passes() {
                        failed.lock().unwrap().push(report.to_string());
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}
