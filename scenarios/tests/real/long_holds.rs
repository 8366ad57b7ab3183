//! `cargo sim real long-holds`: who holds for many session timeouts loses nothing without a reason, and is told when there is one.
//!
//! Where no ZooKeeper is installed the tests say so and pass, unless `ZK_REQUIRE_REAL=1` asks for them.

use crate::common::command::{Sim, number_of, signal, stdout};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Output;
use std::time::Duration;

/// The rules of false loss.
const RULES: [&str; 3] = ["MX-16", "LE-10", "GM-8"];

fn is_installed() -> bool {
    crate::common::server(Duration::from_millis(500)).is_some()
}

fn told(output: &Output) -> String {
    format!("{}{}", stdout(output), String::from_utf8_lossy(&output.stderr))
}

/// The verdict of a rule, and how often it was put to the test.
fn row(output: &Output, rule: &str) -> (String, u64) {
    let lines = stdout(output).lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let row = lines.into_iter().find(|line| line["id"] == rule).expect("every rule has a row");
    (row["verdict"].as_str().unwrap().to_owned(), row["premises"].as_u64().unwrap())
}

fn last(output: &Output) -> Value {
    serde_json::from_str(stdout(output).lines().last().unwrap()).unwrap()
}

#[test]
fn hundreds_of_holds_on_idle_sessions_last_for_many_timeouts() {
    if !is_installed() {
        return;
    }
    let sim = Sim::new();
    let output = sim.real(&["long-holds", "--session-timeout", "1s", "--for", "5s", "--format", "json"]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    for (rule, least) in RULES.into_iter().zip([300, 50, 15]) {
        let (verdict, premises) = row(&output, rule);
        assert!(verdict == "pass" && premises > least, "{rule} {verdict}, {premises} premises");
    }
    let sum = last(&output);
    assert_eq!((&sum["disconnects"], &sum["expired"]), (&0.into(), &0.into()), "{sum}");
    sim.left_nothing();
}

/// How many ephemerals the server of a run has, if it answers: its configuration says where it listens.
fn ephemerals(sim: &Sim) -> Option<u64> {
    let folder = std::fs::read_dir(&sim.temporary).ok()?.next()?.ok()?.path();
    let configuration = std::fs::read_to_string(folder.join("zoo.cfg")).ok()?;
    let port = configuration.lines().find_map(|line| line.strip_prefix("clientPort="))?;
    let mut stream = TcpStream::connect(("127.0.0.1", port.parse().ok()?)).ok()?;
    // A server that does not serve yet may leave a connection without an answer for as long as it runs.
    stream.set_read_timeout(Some(Duration::from_secs(1))).ok()?;
    stream.write_all(b"mntr").ok()?;
    let mut told = String::new();
    stream.read_to_string(&mut told).ok()?;
    let line = told.lines().find_map(|line| line.strip_prefix("zk_ephemerals_count"))?;
    line.trim().parse().ok()
}

#[test]
fn a_stopped_process_is_told_what_it_has_lost_when_it_goes_on_and_a_hiccup_costs_nothing() {
    if !is_installed() {
        return;
    }
    let sim = Sim::new();
    let call = ["long-holds", "--clients", "2", "--session-timeout", "1s", "--for", "8s", "--format", "json"];
    let mut run = sim.start(&call);
    run.wait_until(|| ephemerals(&sim).is_some());
    run.wait_until(|| ephemerals(&sim) > Some(100));
    signal("STOP", run.id());
    signal("CONT", run.id());
    // More than one of the two can have.
    run.wait_until(|| ephemerals(&sim) > Some(170));
    signal("STOP", run.id());
    // Both sessions have expired, with all that was held through them.
    run.wait_until(|| ephemerals(&sim) == Some(0));
    signal("CONT", run.id());
    let output = run.output();
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    for rule in RULES {
        let (verdict, premises) = row(&output, rule);
        assert!(verdict == "pass" && premises > 0, "{rule} {verdict}, {premises} premises");
    }
    // It believed for as long as it stood still, and not for longer.
    assert_eq!(row(&output, "MX-14").0, "unavoidable", "{}", told(&output));
    let sum = last(&output);
    assert_eq!((&sum["disconnects"], &sum["expired"]), (&2.into(), &2.into()), "{sum}");
    assert!(sum["slow_process"].as_u64() > Some(0), "{sum}");
    sim.left_nothing();
}

#[test]
fn clients_stay_while_every_server_is_restarted_in_its_turn() {
    if !is_installed() {
        return;
    }
    let sim = Sim::new();
    let rolling = ["--servers", "3", "--faults", "rolling-restart", "--for", "10m", "--format", "json"];
    let mut run = sim.start(&[&["long-holds", "--clients", "2"], &rolling[..]].concat());
    let output = run.until_restarted(&sim, 3);
    let sum = last(&output);
    assert_eq!(output.status.code(), Some(128 + number_of("INT")), "{}", told(&output));
    assert!(sum["kills"].as_u64() >= Some(3) && sum["disconnects"].as_u64() > Some(0), "{sum}");
    assert_eq!(sum["expired"], 0, "{sum}");
    sim.left_nothing();
}
