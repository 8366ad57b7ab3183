//! Every workload that can be run on real servers, on three of them: the promises that the simulation puts to the test hold
//! there too; and what is broken on purpose and shows without the simulation's faults is caught there.
//!
//! Where no ZooKeeper is installed the tests say so and pass, unless `ZK_REQUIRE_REAL=1` asks for them.

use crate::common::at_the_root;
use crate::common::command::{Sim, said, stdout};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::Value;
use std::mem::forget;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use zk_catalogue::lock::workload as lock;
use zk_harness::client::Client;
use zk_harness::workload::{Task, Workload};
use zk_real::client::RealClient;
use zk_real::run::{RunRequest, run};
use zk_real::{Ensemble, EnsembleOptions, RealWorkload};
use zk_recipes::ZooKeeper;

/// How many ensembles are there at once: their runs mostly wait.
const ENSEMBLES: usize = 2;

/// Tries each of the workloads on three servers with ZooKeeper's own tick, as the command expects of somebody else's. Says what
/// is wrong with any of them.
fn tried(
    workloads: impl Iterator<Item = &'static Workload> + Send,
    wrong_with: impl Fn(&Workload, &Ensemble) -> Option<String> + Sync,
) {
    let workloads = Mutex::new(workloads);
    let try_them = || {
        let ensemble = crate::common::ensemble(3, Duration::from_secs(2))?;
        let next = || workloads.lock().unwrap().next();
        Some(std::iter::from_fn(next).filter_map(|workload| wrong_with(workload, &ensemble)).collect())
    };
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..ENSEMBLES).map(|_| scope.spawn(try_them)).collect();
        let all = threads.into_iter().map(|thread| thread.join().expect("the workloads are tried"));
        all.flatten().flat_map(|wrong: Vec<String>| wrong).collect()
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Runs a workload on servers that run already: its exit status, its last line, and everything that it told.
fn real(workload: &Workload, ensemble: &Ensemble, arguments: &[&str]) -> (Option<i32>, Value, String) {
    let address = ensemble.address();
    let call = [&[workload.name, "--connect", &address, "--format", "json"], arguments].concat();
    let sim = Sim::new();
    let output = sim.real(&call);
    let mut told = said(&output);
    let last = stdout(&output).lines().last().and_then(|line| serde_json::from_str(line).ok());
    let last: Value = last.unwrap_or_default();
    if let Some(history) = last["history"].as_str() {
        told += &kept(&sim.folder.path().join(history), workload.name);
    }
    (output.status.code(), last, told)
}

/// Keeps the history of a run with findings, which nobody can repeat, beside the tests' other files. Says where it is.
fn kept(history: &Path, name: &str) -> String {
    let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.jsonl"));
    match std::fs::copy(history, &kept) {
        Ok(_) => format!("its history: {}\n", kept.display()),
        Err(error) => format!("its history is not kept in {}: {error}\n", kept.display()),
    }
}

/// The workloads that run on real servers, and are mutants or not.
fn on_real_servers(mutants: bool) -> impl Iterator<Item = &'static Workload> {
    zk_catalogue::real_workloads()
        .map(|real| real.workload)
        .filter(move |workload| workload.is_mutant() == mutants)
}

#[test]
fn every_workload_keeps_its_promises_on_three_servers() {
    tried(on_real_servers(false), |workload, ensemble| {
        let (status, last, told) = real(workload, ensemble, &["--for", "3s"]);
        let left = at_the_root(&ensemble.address());
        // 2: an operation that was dropped leaves in doubt what it did; that is no broken promise.
        if !matches!(status, Some(0 | 2)) || last["rounds"].as_u64() == Some(0) {
            Some(format!("{workload:?} ends with {status:?}\n{told}"))
        } else if left != ["zookeeper"] {
            Some(format!("{workload:?} has left something in {left:?}"))
        } else {
            None
        }
    });
}

#[test]
fn what_is_broken_without_faults_is_caught_on_three_servers() {
    tried(on_real_servers(true), |workload, ensemble| {
        let (status, last, told) = real(workload, ensemble, &["--for", "3s", "--clients", "5"]);
        let caught_by = workload.caught_by.map(|caught| caught.by.name());
        let is_caught = status == Some(1) && last["rule"].as_str() == caught_by;
        (!is_caught).then(|| {
            format!("{workload:?} ends with {status:?}, and {caught_by:?} should have caught it\n{told}")
        })
    });
}

/// Arms a watch that nobody will ever drop.
fn forgets_a_watch(Task { client, rounds, done, .. }: Task<RealClient>) -> BoxFuture<'static, ()> {
    async move {
        for round in rounds {
            let session = client.open().await.expect("the server accepts a session");
            forget(session.exists_watch("/nobody").await.expect("it is connected"));
            forget(session);
            client.sleep(Duration::from_millis(10)).await;
            done(round + 1);
        }
    }
    .boxed()
}

static IDLE: Workload = Workload::own("forgetful", lock::objects, |_| async {}.boxed(), &lock::STATED);
static FORGETFUL: RealWorkload =
    RealWorkload { workload: &IDLE, part: forgets_a_watch, required: &[], is_long: false };

#[test]
fn a_watch_that_is_left_is_a_leak() {
    let tick = Duration::from_millis(500);
    if crate::common::server(tick).is_none() {
        return;
    }
    let options = EnsembleOptions { servers: 1, port: None, tick };
    let servers = Ensemble::start_on(&options, None).expect("it starts again");
    let order = RunRequest {
        workload: &FORGETFUL,
        clients: 2,
        seed: 1,
        length: Duration::from_millis(200),
        address: servers.address(),
        servers: Some(1),
        owned: Some(Arc::new(Mutex::new(servers))),
        harm: None,
        tick,
        timeout: Duration::from_secs(5),
        source: String::new(),
        stop: Arc::default(),
    };
    let outcome = run(&order, &|_| ()).expect("it runs");
    assert_eq!(outcome.left.watches, Some(2), "{}", outcome.report);
    let leak = "2 watches of finished clients remain on the servers";
    assert_eq!(outcome.leak().as_deref(), Some(leak), "{:?}", outcome.unfinished);
}
