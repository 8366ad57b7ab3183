//! A verb that works for long and is asked to end: it tells what it has found so far, keeps its files, and ends with the
//! documented status.

use crate::command::{Running, said, signal, stdout, wait_until};
use serde_json::Value;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// The number that a signal adds to 128.
const SIGNALS: [(&str, i32); 2] = [("INT", 2), ("TERM", 15)];

/// A call that would take hours.
fn zksim(folder: &TempDir, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_zksim"));
    command.args(arguments).current_dir(folder).stdin(Stdio::null());
    command
}

/// The same, where a shell without job control has started it by `&`.
fn in_the_background(folder: &TempDir, arguments: &[&str]) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' INT; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_zksim")]).args(arguments);
    command.current_dir(folder).stdin(Stdio::null());
    command
}

/// Whether a process listens: the thread that hears of the signals begins when all of them are registered.
fn listens(process: u32) -> bool {
    let threads = std::fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let mut names = threads.filter_map(|thread| std::fs::read_to_string(thread.path().join("comm")).ok());
    names.any(|name| name == "signals\n")
}

/// Starts a call and interrupts it as soon as it listens.
fn interrupted(command: &mut Command, name: &str) -> Output {
    let mut running = Running::start(command);
    let process = running.id();
    running.wait_until(|| listens(process));
    signal(name, process);
    running.output()
}

fn summary(output: &Output) -> Value {
    let last = stdout(output).lines().last().unwrap_or_else(|| panic!("no line: {output:?}"));
    serde_json::from_str(last).unwrap_or_else(|_| panic!("no summary: {last}"))
}

/// Verbs in which nothing fails for a long time.
fn calls() -> Vec<Vec<&'static str>> {
    const SCENARIOS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/all/ensemble/own.jsonl");
    vec![
        vec!["sweep", "lock", "--seeds", "100000000"],
        vec!["sweep", "lock", "--seeds", "100000000", "--until-covered"],
        vec!["sweep", "lock", "barrier", "--seeds", "100000000", "--vary", "--interference"],
        vec!["mutants", "lock-watch-all", "--seeds", "100000000"],
        vec!["mutants", "lock-watch-all", "--seeds", "100000000", "--strategies"],
        vec!["explore", "lock", "--faults", "3"],
        vec!["run", "lock", "--plan", "long.json"],
        vec!["judge", "pipe"],
        vec!["conformance", SCENARIOS, "--seeds", "100000000"],
        vec!["conformance", SCENARIOS, "--served", "--seeds", "1000000"],
        vec!["hunt", "mute", "--programs", "programs"],
    ]
}

/// A folder with a plan that takes long, a history that never comes, and a program that never connects.
fn desk() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let plan =
        r#"{"clients": 64, "rounds": 1000, "timeout_ms": 6000, "hostile_ms": 0, "faults": 0, "rates": {}}"#;
    std::fs::write(folder.path().join("long.json"), plan).unwrap();
    assert!(Command::new("mkfifo").arg(folder.path().join("pipe")).status().unwrap().success());
    let program = folder.path().join("programs/mute");
    std::fs::create_dir_all(&program).unwrap();
    std::fs::write(program.join("program.json"), MUTE).unwrap();
    folder
}

const MUTE: &str = r#"{
  "name": "mute", "version": "1", "language": "sh", "sources": [], "prepare": [], "install": "sh",
  "command": ["sh", "-c", "cat"], "probe": ["true"],
  "scenarios": [{"name": "lock", "kind": "lock", "object": "/hunted", "clients": 2, "hold": "does nothing", "promises": []}]
}"#;

#[test]
fn every_verb_ends_with_what_it_has_found_and_the_status_of_the_signal() {
    for call in calls() {
        for (name, number) in SIGNALS {
            let folder = desk();
            let output = interrupted(&mut zksim(&folder, &[&call[..], &["--format", "json"]].concat()), name);
            assert_eq!(output.status.code(), Some(128 + number), "{call:?}: {}", said(&output));
            assert_eq!(summary(&output)["interrupted"], true, "{call:?}: {}", said(&output));
        }
    }
}

#[test]
fn people_are_told_too_also_where_a_script_has_made_the_signal_ignored() {
    for call in calls() {
        let folder = desk();
        let output = interrupted(&mut in_the_background(&folder, &call), "INT");
        assert_eq!(output.status.code(), Some(130), "{call:?}: {}", said(&output));
        let text = said(&output);
        assert!(text.contains("interrupted by SIGINT: "), "{call:?}: {text}");
    }
}

#[test]
fn failures_that_were_counted_are_told_and_the_files_kept() {
    let folder = tempfile::tempdir().unwrap();
    let call =
        ["sweep", "lock-watch-all", "--seeds", "100000000", "--out", "out.jsonl", "--junit", "out.xml"];
    let mut running = Running::start(&mut zksim(&folder, &[&call[..], &["--format", "json"]].concat()));
    // The line of a run that has failed.
    assert!(running.first_lines(1)[0].contains("\"rule\""));
    signal("INT", running.id());
    let output = running.output();
    assert_eq!(output.status.code(), Some(1), "something was found: {}", said(&output));
    assert!(summary(&output)["failed"].as_u64() > Some(0), "{}", said(&output));
    let lines = std::fs::read_to_string(folder.path().join("out.jsonl")).unwrap();
    let last: Value = serde_json::from_str(lines.lines().last().unwrap()).unwrap();
    assert_eq!((&last["kind"], &last["interrupted"]), (&"summary".into(), &true.into()));
    assert!(std::fs::read_to_string(folder.path().join("out.xml")).unwrap().ends_with("</testsuites>\n"));
    assert!(
        folder.path().join("target/sim").read_dir().unwrap().next().is_some(),
        "the first failure is kept"
    );
    // Half a shard is no shard.
    let merged = zksim(&folder, &["merge", "out.jsonl"]).output().unwrap();
    assert_eq!(merged.status.code(), Some(3));
    assert!(said(&merged).contains("out.jsonl is incomplete: it has "), "{}", said(&merged));
}

#[test]
fn a_sweep_for_people_shows_its_table() {
    let folder = tempfile::tempdir().unwrap();
    let call = ["sweep", "lock", "barrier", "--seeds", "100000000", "--each", "--out", "out.jsonl"];
    let mut running = Running::start(&mut zksim(&folder, &call));
    // The lines of runs are written while it goes on, into a file beside.
    running.wait_until(|| {
        let files = folder.path().read_dir().unwrap().flatten();
        files.filter_map(|file| file.metadata().ok()).any(|file| file.len() > 0)
    });
    signal("TERM", running.id());
    let output = running.output();
    let text = stdout(&output);
    for told in [
        "lock: ",
        "  rule   verdict",
        "  interrupted after ",
        "interrupted by SIGTERM: 1 of 2 workloads were begun",
    ] {
        assert!(text.contains(told), "{told}: {text}");
    }
    assert!(!text.contains("barrier: "), "{text}");
}

/// Two signals that arrive together: whichever is second finds that there was another.
#[test]
fn a_second_signal_ends_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let mut running = Running::start(&mut zksim(&folder, &["sweep", "lock", "--seeds", "100000000"]));
    let process = running.id();
    running.wait_until(|| listens(process));
    for name in ["STOP", "INT", "TERM", "CONT"] {
        signal(name, process);
    }
    let ended = running.output().status;
    assert!(matches!(ended.signal(), Some(2 | 15)), "{ended:?}");
}

#[test]
fn a_hangup_that_is_ignored_stays_ignored() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' HUP; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_zksim")]);
    command.args(["sweep", "lock", "--seeds", "100000000"]).current_dir(&folder).stdin(Stdio::null());
    let mut running = Running::start(&mut command);
    let process = running.id();
    running.wait_until(|| listens(process));
    let ignored = |process: u32| {
        let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap().trim().to_owned();
        u64::from_str_radix(&mask, 16).unwrap() & 1 == 1
    };
    assert!(ignored(process));
    signal("TERM", process);
    assert_eq!(running.output().status.code(), Some(143));
}

#[test]
fn a_shrink_that_is_interrupted_has_the_smallest_run_so_far() {
    let folder = tempfile::tempdir().unwrap();
    let failed = zksim(&folder, &["run", "lock-no-guid", "--seed", "2", "--shrink", "0"]).output().unwrap();
    assert_eq!(failed.status.code(), Some(1), "{}", said(&failed));
    let recorded = "target/sim/lock-no-guid-seed-2.json";
    wait_until(|| Path::new(&folder.path().join(recorded)).exists());
    let call = ["shrink", recorded, "--runs", "1000000", "--format", "json"];
    let output = interrupted(&mut zksim(&folder, &call), "INT");
    assert_eq!(output.status.code(), Some(1), "it fails: {}", said(&output));
    let first: Value = serde_json::from_str(stdout(&output).lines().next().unwrap()).unwrap();
    assert_eq!(first["kind"], "shrunk");
}
