//! A follower that reads, and then arms its watch by a second request: what is written in between it never hears of.
//!
//! Caught by CF-5 (reading and arming are one) in the first run in which somebody follows; the harm is CF-3 (the last value arrives).

use super::bend::{Broken, Step};
use crate::config::workload::client;
use futures_util::FutureExt;
use zk_checker::RuleId;
use zk_harness::caught::Caught;
use zk_harness::plan::Plan;
use zk_harness::target::Target;
use zk_real::RealTarget;

pub(super) static TARGET: Target = Target {
    name: "config-arms-late",
    about: "a follower that reads, and then arms its watch by a second request",
    caught_by: Some(Caught::by(RuleId::Cf5).within(1).harm(&[RuleId::Cf3]).seen("the recipes page")),
    faults: &[],
    plan: |_| Plan { rounds: 4, ..Plan::calm() },
    sim: |c, setting, rounds, done| client::<_, Broken<_, ArmsLate>>(c, setting, rounds, done).boxed(),
    ..Target::mutant_of(&crate::config::workload::TARGET)
};

/// The same on real servers.
pub(super) static REAL: RealTarget = RealTarget {
    target: &TARGET,
    part: |c, setting, rounds, done| client::<_, Broken<_, ArmsLate>>(c, setting, rounds, done).boxed(),
    required: &[],
    is_long: false,
};

/// The wrong step.
struct ArmsLate;

impl Step for ArmsLate {
    const ARMS_BY_READING: bool = false;
}
