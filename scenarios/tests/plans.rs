//! The lock under drawn plans: any number of clients and rounds, any mixture of faults and strangers.

use proptest::prelude::*;
use sim_zk::fault::Fault;
use zk_checker::Verdict;
use zk_scenarios::plan::{Plan, Strangers};
use zk_scenarios::run;
use zk_scenarios::strangers::Act;
use zk_scenarios::workloads::lock;

fn plans() -> impl Strategy<Value = Plan> {
    let rates = proptest::collection::btree_map(
        proptest::sample::select(Fault::ALL.map(|fault| fault.name().to_owned()).to_vec()),
        0.0..0.2f64,
        0..Fault::ALL.len(),
    );
    (1u8..6, 1u8..6, 1u32..4, 4000u64..20_000, 0u32..10, rates, strangers()).prop_map(
        |(servers, clients, rounds, timeout_ms, faults, rates, strangers)| Plan {
            servers,
            clients,
            rounds,
            timeout_ms,
            hostile_ms: 30_000,
            faults,
            rates,
            strangers,
        },
    )
}

fn strangers() -> impl Strategy<Value = Strangers> {
    let acts = proptest::sample::select(Act::ALL.map(|act| act.name().to_owned()).to_vec());
    let rates = proptest::collection::btree_map(acts, 0.0..0.25f64, 1..=Act::ALL.len());
    let some = (1u32..8, rates).prop_map(|(acts, rates)| Strangers { acts, rates });
    prop_oneof![Just(Strangers::default()), some]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_lock_keeps_its_promises_whatever_the_plan(plan in plans(), seed in any::<u64>()) {
        plan.check().expect("a drawn plan makes sense");
        let run = run::seed(&lock::TARGET, &plan, seed);
        prop_assert!(run.verdict() <= Verdict::Inherent, "seed {seed}, {plan}\n{:?}\n{}", run.end, run.report);
    }

    #[test]
    fn a_plan_reads_back_as_it_was_written(plan in plans()) {
        let text = serde_json::to_string(&plan).expect("a plan is plain data");
        prop_assert_eq!(serde_json::from_str::<Plan>(&text).expect("its own text"), plan);
    }
}
