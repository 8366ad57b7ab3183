//! `cargo sim real lock`, as it is called: on an Apache ZooKeeper server that it starts, or on one that runs.
//!
//! Where none is installed the tests say so and pass, unless `ZK_REQUIRE_REAL=1` asks for them.

use crate::common::at_the_root;
use crate::common::command::{
    Running, Sim, ended, number_of, processes_with, refused, signal, signal_twice, stdout, wait_until,
};
use serde_json::Value;
use std::net::TcpListener;
use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;
use std::time::Duration;
use zk_real::{Server, StartError};

/// Whether the tests can run here; if not, a word about it.
fn is_installed() -> bool {
    server().is_some()
}

fn server() -> Option<Server> {
    crate::common::server(Duration::from_millis(500))
}

#[test]
fn the_lock_keeps_its_promises_on_a_real_server() {
    if !is_installed() {
        return;
    }
    let sim = Sim::new();
    let output = sim.real(&["lock", "--for", "2s"]);
    let told = stdout(&output);
    assert_eq!(output.status.code(), Some(0), "{told}{}", String::from_utf8_lossy(&output.stderr));
    assert!(told.starts_with("lock: ") && told.ends_with("  pass\n"), "{told}");
    assert!(told.contains("MX-1   pass") && told.contains("MX-13  pass"), "{told}");
    assert!(output.stderr.is_empty(), "nobody watches: {}", String::from_utf8_lossy(&output.stderr));
    sim.left_nothing();
}

#[test]
fn scripts_read_one_object_a_line() {
    if !is_installed() {
        return;
    }
    let sim = Sim::new();
    let output = sim.real(&["lock", "--for", "1s", "--clients", "2", "--seed", "7", "--format", "json"]);
    let lines: Vec<Value> =
        stdout(&output).lines().map(|line| serde_json::from_str(line).expect(line)).collect();
    let (last, rules) = lines.split_last().unwrap();
    assert!(rules.iter().all(|rule| rule["kind"] == "rule"), "{rules:?}");
    assert_eq!((&last["verdict"], &last["clients"], &last["seed"]), (&"pass".into(), &2.into(), &7.into()));
    let acquires = &last["verbs"][0];
    assert_eq!(acquires["verb"], "acquire");
    assert!(acquires["done"].as_u64() > Some(0), "{last}");
}

#[test]
fn a_broken_lock_fails_and_its_history_is_kept() {
    if !is_installed() {
        return;
    }
    let sim = Sim::new();
    let output = sim.real(&["lock-watch-all", "--for", "2s", "--clients", "5", "--format", "json"]);
    assert_eq!(output.status.code(), Some(1), "{}", stdout(&output));
    let last: Value = serde_json::from_str(stdout(&output).lines().last().unwrap()).unwrap();
    assert_eq!(last["rule"], "MX-13");
    let kept = std::fs::File::open(sim.folder.path().join(last["history"].as_str().unwrap())).unwrap();
    let kept = zk_checker::jsonl::read(std::io::BufReader::new(kept)).unwrap();
    assert!(kept.cut.is_none());
    let again = zk_checker::judge_stored(&kept, &zk_checker::RuleSet::all());
    assert_eq!(again.first().unwrap().rule, zk_checker::RuleId::Mx13);
    assert!(sim.folder.path().join(last["trace"].as_str().unwrap()).exists());
    sim.left_nothing();
}

#[test]
fn a_server_that_runs_is_used_and_left_as_it_was() {
    let Some(server) = server() else { return };
    let sim = Sim::new();
    let output = sim.real(&["lock", "--for", "1s", "--connect", &server.address()]);
    assert_eq!(output.status.code(), Some(0), "{}", stdout(&output));
    assert_eq!(at_the_root(&server.address()), ["zookeeper"]);
}

#[test]
fn an_interrupted_run_tidies_up_on_somebody_elses_server() {
    let Some(server) = server() else { return };
    let sim = Sim::new();
    let mut run = sim.command(&["lock", "--for", "60s", "--connect", &server.address()]);
    let run = run.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_until(|| server.ask("dump").unwrap().contains("-lock-"));
    signal("INT", run.id());
    let told = run.wait_with_output().unwrap();
    assert_eq!(told.status.code(), Some(130), "{told:?}");
    let said = stdout(&told);
    assert!(said.contains("lock: ") && said.contains("\ninterrupted by SIGINT: "), "{said}");
    let left = server.ask("dump").unwrap();
    assert!(!left.contains("\t0x"), "no session is left: {left}");
    assert_eq!(at_the_root(&server.address()), ["zookeeper"]);
}

#[test]
fn what_cannot_be_run_is_told_in_one_sentence() {
    let sim = Sim::new();
    assert_eq!(
        refused(&sim.real(&["lokc"])),
        r#"there is no workload, mutant or story called "lokc"; did you mean "lock"?"#
    );
    assert!(
        refused(&sim.real(&["lock-no-guid", "--connect", "127.0.0.1:1"]))
            .starts_with("lock-no-guid fails only")
    );
    assert!(refused(&sim.real(&["lock", "--for", "0s"])).starts_with("--for must be at least a second"));
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    assert_eq!(refused(&sim.real(&["lock", "--port", &port])), format!("port {port} of 127.0.0.1 is in use"));
    drop(taken);
    let address = format!("127.0.0.1:{port}");
    assert_eq!(
        refused(&sim.real(&["lock", "--connect", &address])),
        format!("no ZooKeeper server answers at {address}")
    );
    sim.left_nothing();
}

#[test]
fn what_is_missing_is_told_in_one_sentence() {
    let sim = Sim::new();
    let without = |variable: &str| sim.command(&["lock"]).env(variable, "/nowhere").output().unwrap();
    assert!(refused(&without("ZOOKEEPER_HOME")).contains("which ZOOKEEPER_HOME names"));
    let told = without("JAVA_HOME");
    let told = refused(&told);
    // Where ZooKeeper is missing as well, that is said first.
    let missing = [StartError::NoJava("/nowhere/bin/java".into()), StartError::NoZooKeeper];
    assert!(missing.iter().any(|error| error.to_string() == told), "{told}");
    sim.left_nothing();
}

#[test]
fn a_run_that_is_ended_by_a_signal_leaves_nothing() {
    if !is_installed() {
        return;
    }
    let sim = Sim::new();
    let java = || processes_with(sim.temporary.path()).iter().any(|line| line.contains("QuorumPeerMain"));
    let reached: [&dyn Fn() -> bool; 3] = [&|| true, &|| !sim.is_empty(), &java];
    for stage in reached {
        let mut run = sim.command(&["lock", "--for", "60s"]).spawn().unwrap();
        wait_until(stage);
        signal("KILL", run.id());
        assert_eq!(ended(&mut run).signal(), Some(9));
        wait_until(|| sim.is_empty() && processes_with(sim.temporary.path()).is_empty());
    }
    for name in ["INT", "TERM"] {
        let mut run = sim.command(&["lock", "--for", "60s"]).spawn().unwrap();
        wait_until(java);
        signal_twice(name, run.id());
        let status = ended(&mut run);
        // The first one may have done by then what it asks for.
        let number = number_of(name);
        assert!(status.signal() == Some(number) || status.code() == Some(128 + number), "{status:?}");
        wait_until(|| sim.is_empty() && processes_with(sim.temporary.path()).is_empty());
    }
}

/// Also where a script has started the tests with `&`, so that SIGINT is ignored from the beginning.
#[test]
fn a_run_that_is_interrupted_tells_what_it_found_and_leaves_nothing() {
    if !is_installed() {
        return;
    }
    let sim = Sim::new();
    for (name, shell) in [("INT", "trap '' INT; exec \"$@\""), ("TERM", "exec \"$@\"")] {
        let run = ["lock", "--for", "60s", "--format", "json"];
        let mut run = Running::start(&mut sim.behind(shell, &run));
        run.wait_until(|| {
            processes_with(sim.temporary.path()).iter().any(|line| line.contains("QuorumPeerMain"))
        });
        signal(name, run.id());
        let told = run.output();
        assert_eq!(told.status.code(), Some(128 + number_of(name)), "{told:?}");
        let last = stdout(&told).lines().last().expect("a summary").to_owned();
        assert!(last.contains("\"interrupted\":true"), "{last}");
        wait_until(|| sim.is_empty() && processes_with(sim.temporary.path()).is_empty());
    }
}
