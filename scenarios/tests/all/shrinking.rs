//! What becomes of runs that fail: smaller ones that fail in the same way.

use sim_zk::fault::Fault;
use std::process::Command;
use std::sync::Mutex;
use zk_catalogue::lock::workload as lock;
use zk_checker::Verdict;
use zk_harness::plan::Plan;
use zk_harness::recording::Recording;
use zk_harness::run::{self, Run};
use zk_harness::shrink::{RUNS, ShrinkError, Shrunk, shrink};
use zk_harness::threads::on_threads;
use zk_harness::workload::Workload;
use zk_scenarios::mutation_score::shrunk::first_caught;

fn named(name: &str) -> &'static Workload {
    zk_catalogue::find(name).expect("it is there")
}

fn shrunk(workload: &'static Workload, runs: u32) -> (Run, Shrunk) {
    let (_, run) = first_caught(workload, 0..1000).expect("a thousand seeds show what is wrong");
    let shrunk = shrink(run.again(), runs).expect("it fails");
    (run, shrunk)
}

/// Some of each kind: by a fault, by the order of things, on three servers, by a foreign client, in a wrong world.
const SOME: [&str; 7] = [
    "lock-no-guid",
    "lock-whole-names",
    "lock-no-settle",
    "queue-hands-out-in-doubt",
    "barrier-any-write",
    "double-barrier-ready-stays",
    "raw-forgets-trees",
];

#[test]
fn a_lost_reply_is_all_that_is_left_of_a_lock_without_guids() {
    // By hand: the reply to one client's create is lost, and it creates again. No other client is needed.
    let (workload, plan) = (named("lock-no-guid"), Plan::calm().with(&[Fault::ReplyLost], 0.05));
    let plan = Plan { rounds: 1, ..plan };
    let mut runs = (0..1000).map(|seed| run::seed(workload, &plan, seed));
    let run = runs.find(|run| run.what_failed() == "MX-9").expect("some run loses that reply");
    let shrunk = shrink(run.again(), RUNS).expect("it fails");
    let after = shrunk.after();
    assert_eq!((after.clients, after.rounds, after.servers, after.faults, after.choices), (1, 1, 1, 1, 1));
    let told = shrunk.failure.deviations[0].describe(&shrunk.failure.run.history.header.clients);
    assert!(told.starts_with("a: reply-lost at reply number "), "{told}");
    let nearest = shrunk.nearest.expect("without the lost reply nothing is wrong");
    assert_eq!(nearest.without, Some(shrunk.failure.deviations[0]));
}

#[test]
fn the_same_rule_is_broken_and_the_run_replays_to_the_same_hash() {
    for workload in SOME.map(named) {
        let (run, shrunk) = shrunk(workload, RUNS);
        assert_eq!(run.what_failed(), shrunk.what, "{workload:?}");
        let (recorded, workload) =
            Recording::read(&shrunk.recorded().code(), zk_catalogue::find).expect("its own code");
        let again = run::replay(workload, &recorded.plan, recorded.choices.clone());
        assert_eq!(again.hash, shrunk.failure.run.hash, "{workload:?}");
        assert_eq!((again.what_failed(), again.verdict()), (shrunk.what.clone(), run.verdict()));
        let counted = recorded.choices.iter().filter(|choice| **choice > 0).count();
        assert_eq!(counted, shrunk.after().choices, "what matters is what is not calm");
    }
}

#[test]
fn it_comes_to_the_same_every_time_and_makes_no_more_runs_than_it_may() {
    for (workload, runs) in SOME.map(named).into_iter().zip([0, 1, 7, 50, 200, 1000, RUNS]) {
        let ((_, one), (_, two)) = (shrunk(workload, runs), shrunk(workload, runs));
        assert_eq!(one.recorded(), two.recorded(), "{workload:?}");
        assert_eq!((one.runs, one.is_cut_short), (two.runs, two.is_cut_short));
        assert!(one.runs <= runs, "{} of {runs}", one.runs);
    }
}

#[test]
fn it_never_makes_a_run_larger() {
    for workload in SOME.map(named) {
        for runs in [20, 400] {
            let (_, shrunk) = shrunk(workload, runs);
            let (before, after) = (shrunk.before, shrunk.after());
            assert!(after.clients <= before.clients && after.rounds <= before.rounds, "{workload:?}");
            assert!(after.servers <= before.servers && after.acts <= before.acts, "{workload:?}");
            assert!(after.faults <= before.faults && after.choices <= before.choices, "{workload:?}");
        }
    }
}

#[test]
fn the_nearest_run_that_passes_differs_in_one_choice() {
    for name in ["lock-no-guid", "queue-hands-out-in-doubt", "barrier-any-write"] {
        let (_, shrunk) = shrunk(named(name), RUNS);
        let nearest = shrunk.nearest.expect("one choice less and it passes");
        assert!(nearest.passing.run.verdict() < Verdict::Unknown, "{name}");
        let lacks = nearest.without.expect("a choice");
        assert!(!nearest.passing.deviations.contains(&lacks) && shrunk.failure.deviations.contains(&lacks));
        assert_eq!(nearest.passing.run.plan, shrunk.failure.run.plan);
    }
}

#[test]
fn a_run_that_does_not_fail_is_not_shrunk() {
    let plan = lock::WORKLOAD.plan(1);
    let run = run::seed(&lock::WORKLOAD, &plan, 1);
    let error = shrink(run.again(), RUNS).expect_err("it passes");
    assert_eq!(error, ShrinkError::DoesNotFail(Verdict::Pass));
}

#[test]
fn every_broken_recipe_shrinks_to_twenty_choices_and_three_clients() {
    let all: Vec<_> = zk_catalogue::mutants().collect();
    let large = Mutex::new(Vec::new());
    on_threads(0..all.len() as u64, 1, 2, &|index| {
        let workload = all[index as usize];
        let (_, shrunk) = shrunk(workload, RUNS);
        let after = shrunk.after();
        let (clients, choices) = match workload.name {
            // Who watches the whole directory is woken for nothing from the fourth on: no run of three breaks the rule.
            "double-barrier-watch-all" => (4, 20),
            _ => (3, 20),
        };
        if after.clients > clients || after.choices > choices {
            large.lock().expect("no thread panics").push((workload.name, after));
        }
        true
    });
    let large = large.into_inner().expect("all threads are done");
    assert!(large.is_empty(), "{large:#?}");
}

// ── the command line ──

fn zksim(folder: &std::path::Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_zksim"))
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("the program runs");
    let text = |bytes| String::from_utf8(bytes).expect("it prints text");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn the_command_of_a_shrunk_run_replays_it_in_a_fresh_process() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (status, said, _) = zksim(folder.path(), &["sweep", "lock-no-guid", "--seeds", "30"]);
    assert_eq!(status, Some(1));
    assert!(
        said.contains("failures, by rule and fingerprint") && said.contains("after reply-lost"),
        "{said}"
    );
    let after = |text: &str, word: &str| {
        let line = text.lines().find_map(|line| line.trim().strip_prefix(word));
        line.and_then(|line| line.trim().strip_prefix("cargo sim ")).expect(word).to_owned()
    };
    let replay = |command: &str| {
        let arguments: Vec<&str> = command.split(' ').chain(["--format", "json"]).collect();
        let (status, said, _) = zksim(folder.path(), &arguments);
        assert_eq!(status, Some(1), "{said}");
        let line = said.lines().next().expect("a line about the run");
        serde_json::from_str::<serde_json::Value>(line).expect("an object")
    };
    let (small, large) = (replay(&after(&said, "then")), replay(&after(&said, "exactly")));
    assert_eq!((&small["rule"], &large["rule"]), (&"MX-9".into(), &"MX-9".into()));
    let file = after(&said, "exactly").replace("replay ", "");
    let (status, said, _) = zksim(folder.path(), &["shrink", &file]);
    assert_eq!(status, Some(1), "{said}");
    assert!(said.contains("nearest run that passes: the same without"), "{said}");
    assert_eq!(replay(&after(&said, "exactly"))["hash"], small["hash"]);
    assert_eq!(replay(&after(&said, "anywhere"))["hash"], small["hash"]);
}

#[test]
fn nothing_is_overwritten_by_what_is_kept() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (_, said, _) = zksim(folder.path(), &["run", "lock-watch-all", "--seed", "1"]);
    assert!(said.contains("cargo sim shrink target/sim/lock-watch-all-seed-1.json"), "{said}");
    let shrink = |more: &[&str]| {
        let all = [&["shrink", "target/sim/lock-watch-all-seed-1.json"], more].concat();
        let (status, _, error) = zksim(folder.path(), &all);
        (status, error)
    };
    let refused = |(status, error): (Option<i32>, String), words: &str| {
        assert_eq!(status, Some(3), "{error}");
        assert!(error.contains(words), "{error}");
    };
    refused(shrink(&["--keep", "herd"]), "there is no folder scenarios/regressions here");
    std::fs::create_dir_all(folder.path().join("scenarios/regressions")).expect("a folder");
    refused(shrink(&["--keep", "../herd"]), r#""../herd" is not a name for a regression"#);
    assert_eq!(shrink(&["--keep", "herd"]).0, Some(1));
    refused(shrink(&["--keep", "herd"]), "herd.json exists already");
    let (status, said, _) = zksim(folder.path(), &["replay", "scenarios/regressions/herd.json"]);
    assert_eq!(status, Some(1));
    assert!(said.contains("expected  fail by MX-13: as expected"), "{said}");
    assert_eq!(shrink(&["--out", "small.json"]).0, Some(1));
    refused(shrink(&["--out", "small.json"]), "small.json exists already");
    let (status, _, error) = zksim(folder.path(), &["shrink", "nonsense"]);
    refused((status, error), r#""nonsense" is neither a file nor the code of a run"#);
}
