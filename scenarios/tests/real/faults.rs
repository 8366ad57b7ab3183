//! `cargo sim real … --faults`: real servers, their links and their clients are hurt, and the recipes keep their promises.
//!
//! Where none is installed the tests say so and pass, unless `ZK_REQUIRE_REAL=1` asks for them.

use crate::common::command::{Sim, ended, processes_with, refused, signal, stdout, wait_until};
use serde_json::Value;
use std::path::Path;
use std::process::Output;
use std::time::Duration;

fn is_installed() -> bool {
    crate::common::server(Duration::from_millis(500)).is_some()
}

fn told(output: &Output) -> String {
    format!("{}{}", stdout(output), String::from_utf8_lossy(&output.stderr))
}

fn last(output: &Output) -> Value {
    serde_json::from_str(stdout(output).lines().last().unwrap()).unwrap()
}

#[test]
fn the_lock_and_the_queue_keep_their_promises_whatever_is_done_to_the_ensemble() {
    if !is_installed() {
        return;
    }
    let sim = Sim::new();
    let all = ["--servers", "3", "--faults", "all", "--for", "8s", "--seed", "5", "--format", "json"];
    let output = sim.real(&[&["lock", "queue"], &all[..]].concat());
    let sum = last(&output);
    // 2: an operation that was dropped leaves in doubt what it did; that is no broken promise.
    assert!(matches!(output.status.code(), Some(0 | 2)), "{}", told(&output));
    assert_eq!(
        (&sum["kind"], &sum["runs"], &sum["failed"]),
        (&"summary".into(), &2.into(), &0.into()),
        "{sum}"
    );
    assert!(sum["faults"].as_object().unwrap().len() > 3 && sum["disconnects"].as_u64() > Some(0), "{sum}");
    assert!(sum["done"].as_u64() > Some(50), "{sum}");
    assert_eq!((&sum["left"]["watches"], &sum["left"]["znodes"]), (&0.into(), &0.into()), "{sum}");
    assert!(sum["memory_kib"]["end"].as_u64() > Some(0), "{sum}");
    sim.left_nothing();
}

#[test]
fn a_reply_is_lost_on_the_way_from_a_single_server_and_from_anothers() {
    let Some(server) = crate::common::server(Duration::from_secs(2)) else { return };
    let sim = Sim::new();
    let faults = ["lock", "--faults", "reply-lost,request-lost", "--for", "4s", "--format", "json"];
    for call in [&["--servers", "1"][..], &["--connect", &server.address()]] {
        let output = sim.real(&[&faults[..], call].concat());
        let sum = last(&output);
        assert!(matches!(output.status.code(), Some(0 | 2)), "{}", told(&output));
        let faults = &sum["faults"];
        assert!(faults["reply-lost"].as_u64() > Some(0) && sum["lost"].as_u64() > Some(0), "{sum}");
    }
    sim.left_nothing();
}

/// Whether some process that names a path in its command line stands still.
fn is_stopped(path: &Path) -> bool {
    let path = path.to_str().unwrap();
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    processes.map(|entry| entry.path()).any(|process| {
        let line = std::fs::read(process.join("cmdline")).unwrap_or_default();
        let status = std::fs::read_to_string(process.join("status")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(path) && status.contains("State:\tT (stopped)")
    })
}

#[test]
fn a_stopped_server_does_not_outlive_a_run_that_is_ended_by_a_signal() {
    if !is_installed() {
        return;
    }
    let sim = Sim::new();
    for (name, seed) in [("INT", "1"), ("KILL", "2")] {
        let call = ["lock", "--servers", "3", "--for", "60s", "--faults", "pause", "--seed", seed];
        let mut run = sim.command(&call).spawn().unwrap();
        wait_until(|| is_stopped(sim.temporary.path()));
        signal(name, run.id());
        if name != "KILL" {
            signal(name, run.id());
        }
        ended(&mut run);
        wait_until(|| sim.is_empty() && processes_with(sim.temporary.path()).is_empty());
    }
}

#[test]
fn faults_that_cannot_be_done_are_refused_in_one_sentence() {
    let sim = Sim::new();
    let call = |arguments: &[&str]| refused(&sim.real(&[&["lock"], arguments].concat())).to_owned();
    assert_eq!(
        call(&["--faults", "kill,pauze", "--servers", "3"]),
        r#"there is no fault called "pauze"; did you mean "pause"?"#
    );
    assert!(
        call(&["--faults", "zebra"]).starts_with(r#"there is no fault called "zebra"; there are kill, "#)
    );
    assert_eq!(
        call(&["--faults", "partition"]),
        "--faults partition needs --servers 3 or more, to keep a quorum"
    );
    assert_eq!(
        call(&["--faults", "reply-lost,pause", "--connect", "127.0.0.1:1"]),
        "--faults pause needs servers that this program starts, not those of --connect"
    );
    assert!(call(&["--faults", "all", "--servers", "2"]).starts_with("--faults kill needs"));
    sim.left_nothing();
}
