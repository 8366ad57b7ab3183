//! A lock whose line is in the order of whole names: the guid in front decides, and not the number (ZOOKEEPER-2931,
//! ZOOKEEPER-3162).
//!
//! Caught by MX-4 (granted without a right) within a few seeds; the harm is MX-3 (mutual exclusion).

use super::bend::{Bend, Bent};
use crate::lock::workload::client;
use futures_util::FutureExt;
use zk_checker::RuleId;
use zk_harness::caught::{Caught, Promise};
use zk_harness::plan::Plan;
use zk_harness::target::Target;

pub(super) static TARGET: Target = Target {
    name: "lock-whole-names",
    about: "the line is in the order of whole names, so the guid decides",
    caught_by: Some(
        Caught::by(RuleId::Mx4)
            .within(5)
            .harm(&[RuleId::Mx3])
            .breaks(Promise::Exclusion)
            .seen("ZOOKEEPER-2931, ZOOKEEPER-3162"),
    ),
    faults: &[],
    plan: |_| Plan { clients: 2, rounds: 1, ..Plan::calm() },
    sim: |c, setting, rounds, done| client::<_, Bent<_, WholeNames>>(c, setting, rounds, done).boxed(),
    ..Target::mutant_of(&crate::lock::workload::TARGET)
};

/// The wrong step.
#[derive(Clone)]
struct WholeNames;

impl Bend for WholeNames {
    fn rank(name: &str) -> Option<&str> {
        Some(name)
    }
}
