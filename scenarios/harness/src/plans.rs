//! Plans for property tests: `proptest` draws them, and shrinks them when a property fails.
//!
//! ```
//! use proptest::prelude::*;
//! use zk_checker::Verdict;
//! use zk_harness::workload::{Stated, Workload};
//! use zk_harness::{plans::plans, run};
//!
//! // In place of your own code.
//! static IDLE: Workload = Workload::own("idle", |_, _| Vec::new(), |_| Box::pin(async {}), &STATED);
//! static STATED: Stated =
//!     Stated { finishes_within: std::time::Duration::from_secs(60), rules: None, sometimes: &[] };
//!
//! proptest! {
//!     # #![proptest_config(ProptestConfig { cases: 5, failure_persistence: None, ..ProptestConfig::default() })]
//!     # /*
//!     #[test]
//!     # */
//!     fn it_keeps_its_promises(plan in plans(), seed in any::<u64>()) {
//!         prop_assert!(run::seed(&IDLE, &plan, seed).verdict() <= Verdict::Unavoidable);
//!     }
//! }
//! # it_keeps_its_promises();
//! ```

use crate::plan::{Act, Interference, Plan, Scheduling};
use proptest::prelude::*;
use sim_zk::fault::Fault;

/// Plans of up to five clients and servers, with any mixture of faults and acts of foreign clients.
///
/// When a property fails, proptest first removes foreign clients, then kinds of fault, then clients, rounds and
/// servers. The result is a plan that fails and that no single step makes smaller without making it pass.
pub fn plans() -> impl Strategy<Value = Plan> {
    let names: Vec<String> = Fault::DRAWN.iter().map(|fault| fault.name().to_owned()).collect();
    let most = names.len();
    let rates = proptest::collection::btree_map(proptest::sample::select(names), 0.0..0.2f64, 0..most);
    // The order of the fields is the order in which proptest shrinks them.
    (interference(), rates, 0u32..10, 1u8..6, 1u32..4, 1u8..6, 4000u64..20_000).prop_map(
        |(interference, rates, faults, clients, rounds, servers, timeout_ms)| Plan {
            servers,
            clients,
            rounds,
            timeout_ms,
            hostile_ms: 30_000,
            faults,
            rates,
            interference,
            order: Scheduling::Timed,
            first_number: 0,
        },
    )
}

/// No foreign clients, or some with up to seven acts.
pub fn interference() -> impl Strategy<Value = Interference> {
    let acts = proptest::sample::select(Act::ALL.map(|act| act.name().to_owned()).to_vec());
    let rates = proptest::collection::btree_map(acts, 0.0..0.25f64, 1..=Act::ALL.len());
    let some = (1u32..8, rates).prop_map(|(acts, rates)| Interference { acts, rates });
    prop_oneof![Just(Interference::default()), some]
}
