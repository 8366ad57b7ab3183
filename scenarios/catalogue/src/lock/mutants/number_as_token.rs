//! A lock whose fencing token is the number at the end of the name: that starts again at 0 with its directory, and ends at
//! 2147483647 (zk-ruby#34; ZOOKEEPER-4372).
//!
//! Caught by MX-5 (fencing token) in the first run; the harm is MX-1 (mutual exclusion, resource), where the directory is
//! made again.

use super::bend::{Bend, Bent, Habits};
use crate::lock::workload::client;
use futures_util::FutureExt;
use zk_checker::RuleId;
use zk_harness::caught::Caught;
use zk_harness::plan::Plan;
use zk_harness::target::Target;
use zk_real::RealTarget;

pub(super) static TARGET: Target = Target {
    name: "lock-number-as-token",
    about: "the number at the end of the name is taken for the fencing token",
    caught_by: Some(Caught::by(RuleId::Mx5).within(1).seen("zk-ruby#34")),
    faults: &[],
    plan: |_| Plan::calm(),
    sim: |c, setting, rounds, done| client::<_, Bent<_, NumberAsToken>>(c, setting, rounds, done).boxed(),
    ..Target::mutant_of(&crate::lock::workload::TARGET)
};

/// The same on real servers.
pub(super) static REAL: RealTarget = RealTarget {
    target: &TARGET,
    part: |c, setting, rounds, done| client::<_, Bent<_, NumberAsToken>>(c, setting, rounds, done).boxed(),
    required: &[],
    is_long: false,
};

/// The wrong step.
#[derive(Clone)]
struct NumberAsToken;

impl Bend for NumberAsToken {
    const HABITS: Habits = Habits { stops: true, tries_until_certain: true, number_is_token: true };
}
