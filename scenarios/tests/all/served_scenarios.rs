//! The scenarios of faults on ensembles that are served: over sockets, in real time, with the verbs of the control API.
//!
//! A run shows what is allowed. Which of the allowed outcomes it shows is left to the machine: seeds decide nothing here.

use crate::command::{Running, refused, said, signal};
use crate::served::{Served as Program, zksim};
use crate::waits::{self, connected};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::Mutex;
use std::time::Duration;
use zk_fidelity::ensemble::case::{Suite, read};
use zk_fidelity::ensemble::report::Report;
use zk_fidelity::ensemble::run::run;
use zk_fidelity::ensemble::scenario::{Meta, Scenario};
use zk_fidelity::ensemble::served::Served;
use zk_recipes::zk::{CreateMode, ZooKeeper};
use zk_scenarios::served::Verbs;
use zk_serve::{Options, Server};

/// How many ensembles there are at a time: a scenario mostly waits.
const AT_A_TIME: usize = 12;

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
    let (queue, failed) = (Mutex::new(scenarios.iter()), Mutex::new(Vec::new()));
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

const OWN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/all/ensemble/own.jsonl");

/// `zksim conformance` of these scenarios.
fn conformance(ids: &[&str]) -> Command {
    let mut command = zksim();
    command.args(["conformance", OWN]).args(ids.iter().flat_map(|id| ["--case", id]));
    command
}

/// On an ensemble that runs.
fn on(program: &Program, ids: &[&str]) -> Command {
    let mut command = conformance(ids);
    command.args(["--connect", &program.addresses.join(","), "--control", &program.control]);
    command
}

#[track_caller]
fn lines(output: &Output) -> Vec<Value> {
    assert_eq!(output.status.code(), Some(0), "{}", said(output));
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn scenarios_are_played_beside_other_clients_which_live_through_the_same_faults() {
    let program = Program::start(&["--servers", "3"]);
    waits::run(async {
        let zk = program.client().await;
        zk.create("/mine", b"kept", CreateMode::Ephemeral).await.unwrap();
        let ids = ["own-leader-returns", "own-dead-packets", "own-epoch-count", "own-one-way-leader"];
        let output = on(&program, &ids).args(["--format", "json"]).output().unwrap();
        let lines = lines(&output);
        let told: Vec<_> = lines.iter().map(|line| [&line["id"], &line["verdict"]]).collect();
        for id in &ids {
            assert!(told.contains(&[&Value::from(*id), &"pass".into()]), "{lines:?}");
        }
        assert_eq!(lines.last().unwrap()["skipped"], 0);
        // The leader was killed three times meanwhile, and packets were lost; the session went on.
        connected(&zk).await;
        assert_eq!(zk.get("/mine").await.unwrap().data, b"kept");
        zk.close(Duration::from_secs(10)).await.unwrap();
    });
    // Nothing remains of the scenarios.
    assert_eq!(program.told(&["tree", "path=/scenario"]), "path  owner\n");
    assert!(program.told(&["status"]).contains("\n0 sessions, "));
    let history = program.told(&["history"]);
    let injected = |kind: &str| history.matches(kind).count();
    let (crashes, losses) = (injected("server_crash"), injected("packets_lost"));
    assert!(crashes >= 3 && losses >= 2, "{crashes} crashes, {losses} losses of packets");
}

#[test]
fn a_scenario_that_is_interrupted_leaves_nothing_behind() {
    let program = Program::start(&["--servers", "3"]);
    let mut playing = Running::start(&mut on(&program, &["own-quorum-dead"]));
    playing.wait_until(|| program.told(&["status"]).contains(" down "));
    signal("INT", playing.id());
    let told = playing.output();
    assert_eq!(told.status.code(), Some(130), "{told:?}");
    let text = said(&told);
    assert!(text.contains("0 of 0 cases pass") && text.contains("interrupted by SIGINT: "), "{text}");
    let status = program.told(&["status"]);
    assert!(!status.contains(" down ") && status.contains("\n0 sessions, 4 znodes, "), "{status}");
}

#[test]
fn a_scenario_has_an_ensemble_of_its_own() {
    let ids = ["own-leader-returns", "own-cut-follower-write"];
    let output = conformance(&ids).args(["--served", "--seeds", "2"]).output().unwrap();
    let text = said(&output);
    for told in [
        "pass    own-leader-returns: 2 runs\n",
        "pass    own-cut-follower-write: 2 runs\n",
        "2 of 2 cases pass, 0 differ, 0 were skipped\n",
    ] {
        assert!(text.contains(told), "{told}: {text}");
    }
    assert_eq!(output.status.code(), Some(0), "{text}");
}

#[test]
fn the_scenario_of_the_page_is_played() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/serve/CONTROL.md")).unwrap();
    let of_file = |line: &&str| line.starts_with("{\"meta\"") || line.starts_with("{\"id\"");
    let lines: Vec<&str> = page.lines().map(str::trim).filter(of_file).collect();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("scenarios.jsonl");
    std::fs::write(&file, lines.join("\n")).unwrap();
    let output = zksim().args(["conformance", "--served"]).arg(&file).output().unwrap();
    assert!(said(&output).contains("allowed  from seed 0      c ok, r OK:kept, w OK\n"), "{}", said(&output));
    assert_eq!((lines.len(), output.status.code()), (2, Some(0)), "{}", said(&output));
}

#[test]
fn an_ensemble_on_which_no_scenario_can_be_played_gets_one_sentence() {
    let program = Program::start(&["--servers", "3"]);
    let addresses = program.addresses.join(",");
    let told = |arguments: &[&str]| {
        let output = conformance(&["own-one-disk-l"]).args(arguments).output().unwrap();
        refused(&output).to_owned()
    };
    let control = ["--control", &program.control];
    assert_eq!(
        told(&["--connect", &addresses]),
        format!(
            "{OWN} has scenarios with faults, which need the control API of the ensemble: add --control with the \
             address on the second line of `zksim serve`"
        )
    );
    let told_of = |connect: &str| told(&[&["--connect", connect][..], &control].concat());
    assert_eq!(told_of(&program.addresses[0]), "the scenarios need 3 servers, and --connect names 1");
    let why = "\"nowhere\" is not the address of a server, such as 127.0.0.1:40001";
    assert_eq!(told_of("nowhere"), why);
    let member = format!("http://{}", program.addresses[0]);
    let why = format!("{member} is not a control API: its address is on the second line of `zksim serve`");
    assert_eq!(told(&["--connect", &addresses, "--control", &member]), why);
    waits::run(async {
        let zk = program.client().await;
        zk.create("/scenario", b"", CreateMode::Persistent).await.unwrap();
        let why =
            "there is a znode /scenario on the ensemble, which a scenario makes and deletes: delete it first";
        assert_eq!(told_of(&addresses), why);
        assert!(zk.exists("/scenario").await.unwrap().is_some(), "it is somebody's");
    });
}
