//! The comparison runs: every row with a few operations, so that no peer's program rots. No assertion depends on how fast.

use serde_json::Value;
use std::process::{Command, Output};

/// The variable that makes the installed libraries take part, on a real server.
const REQUIRE: &str = "ZK_REQUIRE_REAL";

/// Whether the crate of that name is one of the peers.
const HAS_CRATE: bool = cfg!(feature = "zookeeper-client");

fn peers(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_zk-peers")).args(arguments).output().expect("the program starts")
}

/// The entries of all rows that ended as they should: nothing failed, no promise was broken, requests were counted.
fn entries(arguments: &[&str]) -> Vec<Value> {
    let output = peers(arguments);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let text = String::from_utf8(output.stdout).expect("it prints text");
    let entries: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect(line)).collect();
    for entry in &entries {
        assert_eq!(entry["failures"], Value::Array(Vec::new()), "{entry}");
        assert_eq!(entry["violations"], 0, "{entry}");
        assert!(entry["cost"]["requests"].as_f64().is_some_and(|requests| requests > 0.0), "{entry}");
    }
    entries
}

/// The rows that a library takes part in, in the order of the table.
fn rows_of<'a>(entries: &'a [Value], library: &str) -> Vec<&'a str> {
    let own = entries.iter().filter(|entry| entry["library"] == library);
    let mut rows: Vec<&str> = own.filter_map(|entry| entry["row"].as_str()).collect();
    rows.dedup();
    rows
}

const QUICK: [&str; 5] = ["--quick", "--runs", "1", "--format", "json"];

#[test]
fn every_row_runs_without_any_server_installed() {
    let names = if HAS_CRATE { "ours,zookeeper-client,raw" } else { "ours,raw" };
    let peers = ["--storage", "simulated", "--figures", "counts", "--peers", names];
    let entries = entries(&[&QUICK[..], &peers].concat());
    assert_eq!(rows_of(&entries, "ours").len(), 22);
    let raw = ["requests", "lock-free", "lock-2", "lock-8", "lock-32", "lock-128"];
    assert_eq!(rows_of(&entries, "raw"), raw);
    let theirs = [&raw[..], &["election", "idle-1000"]].concat();
    assert_eq!(rows_of(&entries, "zookeeper-client"), if HAS_CRATE { theirs } else { Vec::new() });
    // A free lock: two requests in one round trip, and the release.
    let lock = entries.iter().find(|entry| entry["row"] == "lock-free").expect("the row is there");
    assert_eq!(lock["cost"]["requests"], 3.0);
}

#[test]
fn rates_and_round_trips_are_measured_too() {
    let peers = ["--storage", "simulated", "--peers", "ours,raw", "--only", "lock-free,queue-1x1"];
    for entry in entries(&[&QUICK[..], &peers].concat()) {
        assert!(entry["rates"][0].as_f64().is_some_and(|rate| rate > 0.0), "{entry}");
        let slowest = entry["round_trips"].as_object().and_then(|steps| steps.values().next_back()?.as_f64());
        assert!(slowest.is_some_and(|round_trips| round_trips > 0.0), "{entry}");
    }
}

#[test]
fn libraries_that_are_installed_run_on_a_real_server() {
    if std::env::var_os(REQUIRE).is_none() {
        eprintln!("left out: {REQUIRE}=1 asks for it");
        return;
    }
    let rows = ["lock-free", "barrier-8", "queue-1x1"];
    let entries = entries(&[&QUICK[..], &["--figures", "counts", "--only", &rows.join(",")]].concat());
    assert_eq!(rows_of(&entries, "ours"), rows);
}

#[cfg(not(feature = "zookeeper-client"))]
#[test]
fn a_library_that_is_not_there_is_named_with_what_is_missing() {
    let missing = "this program is built without the feature zookeeper-client (cargo peers has it)";
    let asked = peers(&["--peers", "zookeeper-client"]);
    assert_eq!(asked.status.code(), Some(3));
    let errors = String::from_utf8_lossy(&asked.stderr);
    assert_eq!(errors, format!("error: zookeeper-client is not installed: {missing}\n"));
    let listed = peers(&["--list"]);
    let text = String::from_utf8_lossy(&listed.stdout);
    assert!(text.contains(&format!("  zookeeper-client   not installed: {missing}\n")), "{text}");
}

#[test]
fn bad_input_is_one_sentence() {
    let output = peers(&["--only", "lok"]);
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{told}");
    assert!(told.starts_with("error: there is no row \"lok\": there are requests, lock-free"), "{told}");
    assert_eq!(told.lines().count(), 1, "{told}");
    assert_eq!(peers(&["--runs", "0"]).status.code(), Some(2));
}
