//! A lock whose line is in the order of whole names: the guid in front decides, and not the number (ZOOKEEPER-2931,
//! ZOOKEEPER-3162).
//!
//! Caught by MX-4 (granted without a right) within a few seeds; the harm is MX-3 (mutual exclusion).

use super::bend::{Bend, Bent};
use crate::plan::Plan;
use crate::target::Target;
use crate::workloads::lock::{client, objects};
use crate::zoo::{Caught, Promise};
use futures_util::FutureExt;
use zk_checker::RuleId;

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
    objects,
    sim: |c, setting, rounds, done| client::<_, Bent<_, WholeNames>>(c, setting, rounds, done).boxed(),
    // A capture does not show what it takes to name it first.
    real: None,
    required: &[],
    required_on_real: &[],
    stated: &crate::workloads::lock::STATED,
};

/// The wrong step.
#[derive(Clone)]
struct WholeNames;

impl Bend for WholeNames {
    fn rank(name: &str) -> Option<&str> {
        Some(name)
    }
}
