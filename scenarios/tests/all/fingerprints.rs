//! Failures of mutants: their fingerprints, and how a test of your own code reports them.

use std::collections::BTreeMap;
use zk_harness::fingerprint::Fingerprint;
use zk_harness::run;
use zk_harness::testing::first_failure;

fn shapes(name: &str, seeds: std::ops::Range<u64>) -> BTreeMap<Fingerprint, u32> {
    let workload = zk_catalogue::find(name).expect("the mutant exists");
    let mut shapes = BTreeMap::new();
    for seed in seeds {
        let run = run::seed(workload, &workload.plan(seed), seed);
        if run.report.first().is_some() {
            *shapes.entry(Fingerprint::of(&run)).or_default() += 1;
        }
    }
    shapes
}

#[test]
fn one_mistake_has_few_shapes_however_many_runs_show_it() {
    let shapes = shapes("lock-no-guid", 0..200);
    let runs: u32 = shapes.values().sum();
    assert!(runs > 20, "{runs} runs fail");
    assert!(shapes.len() <= 8, "{} shapes of {runs} runs: {shapes:#?}", shapes.len());
    assert!(shapes.keys().all(|shape| shape.faults.contains("reply-lost")), "{shapes:#?}");
}

#[test]
fn a_shape_has_no_names_and_no_numbers() {
    for shape in shapes("lock-event-grants", 0..50).keys() {
        let told = shape.to_string();
        assert!(!told.chars().any(|c| c.is_ascii_digit() || c == '/'), "{told}");
    }
}

#[test]
fn the_first_failure_is_told_small_and_the_right_one_has_none() {
    let broken = zk_catalogue::find("lock-no-guid").expect("the mutant exists");
    let failure = first_failure(broken, 0..20).expect("seed 2 fails");
    let text = failure.to_string();
    assert!(text.starts_with(&format!("lock-no-guid, seed {}: MX-9", failure.seed)), "{text}");
    assert!(text.contains("shrunk: clients 1,"), "{text}");
    let right = zk_catalogue::find("lock").expect("it is a workload");
    assert!(first_failure(right, 0..50).is_none());
}
