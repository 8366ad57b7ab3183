//! Ensembles of Apache ZooKeeper servers that are started here, and `cargo sim real … --servers 3` on them.
//!
//! Where none is installed the tests say so and pass, unless `ZK_REQUIRE_REAL=1` asks for them.

use crate::common::command::{
    Sim, ended, number_of, processes_with, refused, restarted, signal, stdout, wait_until,
};
use crate::common::{run, run_on};
use serde_json::Value;
use std::net::TcpListener;
use std::os::unix::process::ExitStatusExt;
use std::time::Duration;
use zk_client::{Client, Options};
use zk_real::{Ensemble, Server};
use zk_recipes::zk::{CreateMode, ErrorKind, ZooKeeper};

fn three_servers() -> Option<Ensemble> {
    crate::common::ensemble(3, Duration::from_millis(500))
}

/// Whether the tests can run here; if not, a word about it.
fn is_installed() -> bool {
    crate::common::server(Duration::from_millis(500)).is_some()
}

async fn open(address: &str) -> Client {
    crate::common::open(address, Options::new(Duration::from_secs(8))).await
}

#[test]
fn one_of_three_leads_and_what_one_is_told_all_know() {
    let Some(ensemble) = three_servers() else { return };
    let address = ensemble.address();
    assert_eq!(address.split(',').count(), 3, "{address}");
    let mode = |server: &Server| server.ask("srvr").unwrap().contains("Mode: leader");
    assert_eq!(ensemble.servers().iter().filter(|server| mode(server)).count(), 1);
    run(async {
        let first = open(&ensemble.servers()[0].address()).await;
        first.create("/a", b"told to one", CreateMode::Persistent).await.unwrap();
        for server in ensemble.servers() {
            let zk = open(&server.address()).await;
            zk.sync("/a").await.unwrap();
            assert_eq!(zk.get("/a").await.unwrap().data, b"told to one");
        }
    });
}

#[test]
fn a_session_outlives_the_leader_and_the_leader_comes_back() {
    let Some(mut ensemble) = three_servers() else { return };
    let leader = ensemble.leader().expect("one of them leads");
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let zk = run_on(&runtime, open(&ensemble.address()));
    ensemble.servers_mut()[leader].kill().unwrap();
    run_on(&runtime, async {
        loop {
            let seen = zk.status();
            match zk.create("/b", b"", CreateMode::Ephemeral).await {
                Ok(_) => break,
                Err(e) if e.is_node_exists() => break,
                Err(error) => assert_eq!(error, ErrorKind::ConnectionLoss),
            }
            // Lost as long as nobody leads; then the next server has it.
            let mut now = zk.changed(seen).await;
            while !now.is_connected() {
                assert_eq!(now.over(), None, "the session lives");
                now = zk.changed(now).await;
            }
        }
    });
    assert!(ensemble.leader().is_some_and(|now| now != leader), "another one leads");
    ensemble.servers_mut()[leader].start_again().unwrap();
    assert!(ensemble.servers()[leader].ask("srvr").unwrap().contains("Mode: follower"));
    run(async {
        let zk = open(&ensemble.servers()[leader].address()).await;
        zk.sync("/b").await.unwrap();
        assert!(zk.exists("/b").await.unwrap().is_some(), "it has caught up");
    });
}

#[test]
fn the_lock_keeps_its_promises_on_three_servers() {
    if !is_installed() {
        return;
    }
    let sim = Sim::new();
    let output = sim.real(&["lock", "--servers", "3", "--for", "3s", "--format", "json"]);
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}{}",
        stdout(&output),
        String::from_utf8_lossy(&output.stderr)
    );
    let last: Value = serde_json::from_str(stdout(&output).lines().last().unwrap()).unwrap();
    assert_eq!((&last["servers"], &last["verdict"]), (&3.into(), &"pass".into()));
    sim.left_nothing();
}

#[test]
fn the_lock_keeps_its_promises_while_servers_are_killed() {
    if !is_installed() {
        return;
    }
    let sim = Sim::new();
    let call = ["lock", "--servers", "3", "--faults", "kill", "--for", "10m", "--format", "json"];
    let output = sim.start(&call).until_restarted(&sim, 2);
    let told = format!("{}{}", stdout(&output), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(128 + number_of("INT")), "{told}");
    let last: Value = serde_json::from_str(stdout(&output).lines().last().unwrap()).unwrap();
    assert!(last["kills"].as_u64() > Some(1) && last["disconnects"].as_u64() > Some(0), "{told}");
    sim.left_nothing();
    let alone = sim.real(&["lock", "--faults", "kill"]);
    assert!(refused(&alone).starts_with("--faults kill needs --servers 3"));
}

#[test]
fn an_ensemble_that_meets_a_port_in_use_has_not_started_a_server_again() {
    let processes = |seen: &[(u32, &str)]| seen.iter().map(|&(id, file)| (id, file.to_owned())).collect();
    assert_eq!(restarted(&processes(&[(1, "a/zoo.cfg"), (2, "b/zoo.cfg"), (3, "c/zoo.cfg")])), 0);
    assert_eq!(restarted(&processes(&[(1, "a/zoo.cfg"), (2, "b/zoo.cfg"), (3, "a/zoo.cfg")])), 1);
}

#[test]
fn an_ensemble_that_is_ended_by_a_signal_leaves_nothing() {
    if !is_installed() {
        return;
    }
    let sim = Sim::new();
    let servers = |count| {
        let started = move |line: &String| line.contains("QuorumPeerMain");
        processes_with(sim.temporary.path()).into_iter().filter(started).count() >= count
    };
    for (name, number, count) in [("INT", 2, 1), ("TERM", 15, 3), ("KILL", 9, 2)] {
        let mut run = sim.command(&["lock", "--servers", "3", "--for", "60s"]).spawn().unwrap();
        wait_until(|| servers(count));
        // The first one asks for results, if it is heard at all.
        signal(name, run.id());
        if name != "KILL" {
            signal(name, run.id());
        }
        let status = ended(&mut run);
        assert!(status.signal() == Some(number) || status.code() == Some(128 + number), "{status:?}");
        wait_until(|| sim.is_empty() && processes_with(sim.temporary.path()).is_empty());
    }
}

#[test]
fn an_ensemble_that_cannot_be_started_leaves_nothing() {
    let sim = Sim::new();
    // A port with a taken one behind it.
    let (port, taken) = loop {
        let taken = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = taken.local_addr().unwrap().port();
        if port > 1024 && TcpListener::bind(("127.0.0.1", port - 1)).is_ok() {
            break (port, taken);
        }
    };
    let from = (port - 1).to_string();
    let refusal = sim.real(&["lock", "--servers", "3", "--port", &from]);
    assert_eq!(refused(&refusal), format!("port {port} of 127.0.0.1 is in use"));
    drop(taken);
    let without_java =
        sim.command(&["lock", "--servers", "3"]).env("JAVA_HOME", "/nowhere").output().unwrap();
    assert!(refused(&without_java).starts_with("no "), "Java or ZooKeeper is missing");
    let last = sim.real(&["lock", "--servers", "3", "--port", "65534"]);
    assert!(refused(&last).contains("is in use"));
    sim.left_nothing();
}

#[test]
fn one_cannot_start_servers_and_use_those_of_others() {
    let sim = Sim::new();
    for arguments in
        [["lock", "--servers", "3", "--connect", "127.0.0.1:1"], ["lock", "--servers", "0", "--for", "1s"]]
    {
        assert_eq!(sim.real(&arguments).status.code(), Some(3), "{arguments:?}");
    }
    sim.left_nothing();
}
