//! A conditional write without the version that was read: of two writers that have read the same value, one loses its update.
//!
//! Caught by CF-7 (no update is lost) within 5 seeds in which two write.

use super::bend::{Broken, Step};
use crate::config::workload::client;
use futures_util::FutureExt;
use zk_checker::RuleId;
use zk_harness::caught::Caught;
use zk_harness::plan::Plan;
use zk_harness::target::Target;
use zk_real::RealTarget;

pub(super) static TARGET: Target = Target {
    name: "config-unconditional",
    about: "a conditional write without the version that was read",
    caught_by: Some(Caught::by(RuleId::Cf7).within(5)),
    faults: &[],
    plan: |_| Plan { rounds: 4, ..Plan::calm() },
    sim: |c, setting, rounds, done| client::<_, Broken<_, Overwrites>>(c, setting, rounds, done).boxed(),
    ..Target::mutant_of(&crate::config::workload::TARGET)
};

/// The same on real servers.
pub(super) static REAL: RealTarget = RealTarget {
    target: &TARGET,
    part: |c, setting, rounds, done| client::<_, Broken<_, Overwrites>>(c, setting, rounds, done).boxed(),
    required: &[],
    is_long: false,
};

/// The wrong step.
struct Overwrites;

impl Step for Overwrites {
    const WRITES_WITH_VERSION: bool = false;
}
