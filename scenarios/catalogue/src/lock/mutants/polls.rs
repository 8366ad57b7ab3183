//! A lock whose waiters look again and again instead of being told.
//!
//! Caught by MX-13 (cost) in the first run in which one waits. It does no other harm.

use super::bend::{Bend, Bent};
use crate::lock::workload::client;
use futures_util::FutureExt;
use zk_checker::RuleId;
use zk_harness::caught::Caught;
use zk_harness::plan::Plan;
use zk_harness::target::Target;
use zk_real::RealTarget;

pub(super) static TARGET: Target = Target {
    name: "lock-polls",
    about: "a waiter looks again and again",
    caught_by: Some(Caught::by(RuleId::Mx13).within(1)),
    faults: &[],
    plan: |_| Plan::calm(),
    sim: |c, setting, rounds, done| client::<_, Bent<_, Polls>>(c, setting, rounds, done).boxed(),
    ..Target::mutant_of(&crate::lock::workload::TARGET)
};

/// The same on real servers.
pub(super) static REAL: RealTarget = RealTarget {
    target: &TARGET,
    part: |c, setting, rounds, done| client::<_, Bent<_, Polls>>(c, setting, rounds, done).boxed(),
    required: &[],
    is_long: false,
};

/// The wrong step.
#[derive(Clone)]
struct Polls;

impl Bend for Polls {
    const IS_TOLD: bool = false;
}
