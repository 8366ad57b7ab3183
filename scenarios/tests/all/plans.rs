//! The lock under drawn plans: any number of clients and rounds, any mixture of faults and acts of foreign clients.

use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestError, TestRng, TestRunner};
use zk_catalogue::lock::workload as lock;
use zk_checker::{RuleId, Verdict};
use zk_harness::plan::Plan;
use zk_harness::plans::plans;
use zk_harness::run;

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_lock_keeps_its_promises_whatever_the_plan(plan in plans(), seed in any::<u64>()) {
        plan.check().expect("a drawn plan makes sense");
        let run = run::seed(&lock::WORKLOAD, &plan, seed);
        prop_assert!(run.verdict() <= Verdict::Unavoidable, "seed {seed}, {plan}\n{:?}\n{}", run.end, run.report);
    }

    #[test]
    fn a_plan_reads_back_as_it_was_written(plan in plans()) {
        let text = serde_json::to_string(&plan).expect("a plan is plain data");
        prop_assert_eq!(serde_json::from_str::<Plan>(&text).expect("its own text"), plan);
    }
}

/// The message of a failing property.
fn smallest(fails: impl Fn(&Plan) -> bool) -> Plan {
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let property = |plan: Plan| if fails(&plan) { Err(TestCaseError::fail("it fails")) } else { Ok(()) };
    match runner.run(&plans(), property) {
        Err(TestError::Fail(_, plan)) => plan,
        other => panic!("some plan fails: {other:?}"),
    }
}

#[test]
fn a_plan_that_fails_is_told_as_small_as_it_gets() {
    let plan = smallest(|plan| plan.clients >= 3 && plan.rates.contains_key("reply-lost"));
    assert_eq!((plan.clients, plan.rounds, plan.servers), (3, 1, 1), "{plan}");
    assert_eq!(plan.rates.keys().collect::<Vec<_>>(), ["reply-lost"]);
    assert!(plan.interference.is_none(), "{plan}");
    assert_eq!(plan.faults, 0, "how many strike made no difference");
}

#[test]
fn the_plan_of_a_broken_recipe_shrinks_to_what_breaks_it() {
    let herd = zk_catalogue::find("lock-watch-all").expect("it is there");
    let plan = smallest(|plan| run::seed(herd, plan, 7).report.of(RuleId::Mx13) == Verdict::Fail);
    assert!(plan.clients <= 4 && plan.rounds == 1 && plan.servers == 1, "{plan}");
    assert!(plan.rates.is_empty() && plan.interference.is_none(), "{plan}");
}
