//! Many seeds: the lock holds, the ensemble keeps ZooKeeper's promises, and a run is a function of its choices.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use zk_catalogue::lock::workload as lock;
use zk_catalogue::variations::raw;
use zk_checker::{Probe, RuleId, Verdict};
use zk_harness::plan::Plan;
use zk_harness::recording::Recording;
use zk_harness::run;
use zk_harness::strategy::{Search, Strategy};
use zk_harness::sweep::Sweep;
use zk_harness::tally::Tally;
use zk_harness::workload::Workload;

fn no_guid() -> &'static Workload {
    zk_catalogue::find("lock-no-guid").expect("it is there")
}

fn sweep(workload: &'static Workload, seeds: u64, jobs: usize) -> Sweep {
    Sweep { jobs, ..Sweep::new(Search::new(workload, Strategy::Swarm, None), 0..seeds) }
}

#[test]
fn the_lock_keeps_its_promises_under_every_kind_of_fault() {
    let sweep = sweep(&lock::WORKLOAD, 2000, 2);
    let tally = sweep.tally();
    assert_eq!(tally.failures, [].into());
    assert_eq!(sweep.missing(&tally).faults, []);
    // A lock neither syncs nor watches for good: see `raw`. Writes under a hold, and calls whose cost MX-13 does not judge, are made by `guard-methods`,
    // and work over many holds by `supervised`.
    let untested = [RuleId::Zk12, RuleId::Zk14, RuleId::Mx17, RuleId::Sv1, RuleId::Sv2, RuleId::An4];
    assert_eq!(tally.never_tested(), untested, "every other rule was put to the test");
    assert!(sweep.verdict(&tally) <= Verdict::Unavoidable);
}

#[test]
fn the_ensemble_keeps_zookeepers_promises_and_shows_what_zookeeper_does_not_exclude() {
    let mut seen = BTreeSet::new();
    for workload in [&raw::WORKLOAD, &lock::WORKLOAD] {
        let sweep = sweep(workload, 10_000, 2);
        let tally = sweep.tally();
        assert_eq!(tally.failures, [].into());
        assert_eq!(sweep.missing(&tally).faults, []);
        if *workload == raw::WORKLOAD {
            assert!(tally.never_tested().iter().all(|rule| !rule.name().starts_with("ZK")));
        }
        seen.extend(tally.probes.into_iter().filter(|(_, count)| *count > 0).map(|(probe, _)| probe));
    }
    let unseen: Vec<&str> =
        Probe::ALL.iter().filter(|probe| !seen.contains(*probe)).map(|probe| probe.name()).collect();
    assert_eq!(unseen, [] as [&str; 0], "a simulation that never shows these is too kind");
}

#[test]
fn a_sweep_that_leaves_a_required_rule_untested_proves_nothing_and_names_it() {
    // A single client on a fault-free network never has to stop.
    let plan = Plan { clients: 1, ..Plan::calm() };
    let search = Search::new(&lock::WORKLOAD, Strategy::Swarm, Some(plan));
    let sweep = Sweep { search, ..sweep(&lock::WORKLOAD, 20, 1) };
    let tally = sweep.tally();
    assert_eq!((tally.failures.len(), sweep.verdict(&tally)), (0, Verdict::Vacuous));
    assert_eq!(sweep.missing(&tally).faults, []);
    assert_eq!(sweep.missing(&tally).rules, [RuleId::Mx14]);
}

#[test]
fn a_sweep_comes_to_the_same_with_any_number_of_threads_and_in_any_shards() {
    let count =
        |tally: &Tally| (tally.runs, tally.events, tally.steps, tally.verdicts.clone(), tally.faults.clone());
    let one = sweep(no_guid(), 300, 1).tally();
    let three = sweep(no_guid(), 300, 3).tally();
    assert_eq!(count(&one), count(&three));
    assert_eq!(one.failures, three.failures);
    assert!(!one.shapes.is_empty(), "some run fails");
    assert_eq!(one.shapes, three.shapes);
    let shards: u64 =
        (0..4).map(|i| Sweep { shard: (i, 4), ..sweep(no_guid(), 300, 1) }.tally().events).sum();
    assert_eq!(shards, one.events);
}

#[test]
fn a_recorded_run_is_the_run() {
    for seed in 0..200 {
        let plan = Plan::drawn(seed);
        let run = run::seed(&lock::WORKLOAD, &plan, seed);
        let recorded = Recording::of(&run);
        let (recorded, workload) =
            Recording::read(&recorded.code(), zk_catalogue::find).expect("its own code reads back");
        let again = run::replay(workload, &recorded.plan, recorded.choices);
        assert_eq!(again.hash, run.hash, "seed {seed}");
    }
}

#[test]
fn a_seed_alone_is_the_seed_in_the_middle_of_a_sweep() {
    let found = Mutex::new(Vec::new());
    sweep(&lock::WORKLOAD, 100, 2).tally_until(&AtomicBool::new(false), &|seed, run| {
        let run = run.expect("no run panics");
        found.lock().expect("no thread panics").push((seed, run.hash, run.history.events.len()));
    });
    let mut found = found.into_inner().expect("no thread panics");
    found.sort_unstable();
    for (seed, hash, events) in found {
        let alone = std::thread::spawn(move || run::seed(&lock::WORKLOAD, &Plan::drawn(seed), seed));
        let alone = alone.join().expect("it does not panic");
        assert_eq!((alone.hash, alone.history.events.len()), (hash, events), "seed {seed}");
    }
}
