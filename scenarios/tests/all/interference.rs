//! Third parties: the recipes take what they do, and recipes that do not are caught, with the harm that it does.

use zk_checker::{RuleId, Verdict};
use zk_harness::plan::Act;
use zk_harness::plan::Plan;
use zk_harness::recording::Recording;
use zk_harness::run;
use zk_harness::workload::Workload;

/// All acts of foreign clients, and no fault.
fn meddling() -> Plan {
    Plan { servers: 3, rounds: 3, ..Plan::calm() }.with_interference(&Act::ALL, 0.1, 6)
}

fn workload(name: &str) -> &'static Workload {
    zk_catalogue::find(name).expect("it is there")
}

#[test]
fn every_recipe_tolerates_interference() {
    // Operations without a recipe have no directory to meddle with, and calls that are refused leave nothing in one.
    let meddled = |workload: &&Workload| !matches!(workload.name, "raw" | "invalid-input");
    for workload in zk_catalogue::workloads().filter(meddled) {
        let mut acts = 0;
        for seed in 0..150 {
            let run = run::seed(workload, &meddling(), seed);
            assert!(run.verdict() <= Verdict::Unavoidable, "{} seed {seed}: {}", workload.name, run.report);
            acts += run.faults().count();
        }
        assert!(acts > 20, "{}: foreign clients acted {acts} times", workload.name);
    }
}

#[test]
fn a_run_with_interference_replays_by_its_choices() {
    for seed in 0..30 {
        let workload = workload("queue");
        let run = run::seed(workload, &meddling(), seed);
        let recorded = Recording::of(&run);
        let (recorded, workload) =
            Recording::read(&recorded.code(), zk_catalogue::find).expect("its own code reads back");
        assert_eq!(run::replay(workload, &recorded.plan, recorded.choices).hash, run.hash, "seed {seed}");
    }
}

#[test]
fn the_harm_that_a_wrong_step_does_shows_in_some_run() {
    let parents = Plan { rounds: 6, ..Plan::calm() }.with_interference(&[Act::Parent], 0.25, 6);
    for (name, plan, harm) in [
        ("lock-missing-is-first", None, RuleId::Mx2),
        ("lock-every-child", None, RuleId::Mx8),
        ("election-deaf-when-deposed", None, RuleId::Le1),
        ("barrier-any-write", None, RuleId::Ba1),
        // The number begins at 0 again when the directory is made again: then the resource refuses the wrong one.
        ("lock-number-as-token", Some(parents), RuleId::Mx1),
    ] {
        let workload = workload(name);
        let seen = (0..100).any(|seed| {
            let plan = plan.clone().unwrap_or_else(|| workload.plan(seed));
            run::seed(workload, &plan, seed).report.of(harm) == Verdict::Fail
        });
        assert!(seen, "{name}: {}", harm.name());
    }
}

#[test]
fn a_plan_without_interference_does_not_mention_it() {
    let plan = Plan::drawn(7);
    let written = serde_json::to_string(&plan).expect("a plan can be written");
    assert!(!written.contains("interference"));
    assert_eq!(serde_json::from_str::<Plan>(&written).expect("it reads back"), plan);
    let odd = Plan::calm().with_interference(&[Act::Write], 0.5, 1);
    assert!(odd.check().is_err_and(|error| error.to_string().contains("foreign-write")));
    assert!(Act::ALL.into_iter().all(|act| Act::from_name(act.name()) == Some(act)));
}
