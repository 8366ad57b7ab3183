//! A lock that gives a guard when the time limit is over, whether it was granted or not (Kazoo's `with lock`, by reading).
//!
//! Caught by MX-4 (granted without a right) within some 20 seeds; the harm is MX-3 (mutual exclusion).

use super::bend::{Bend, Bent, Limit};
use crate::lock::workload::client;
use futures_util::FutureExt;
use zk_checker::RuleId;
use zk_harness::caught::{Caught, Promise};
use zk_harness::plan::Plan;
use zk_harness::target::Target;

pub(super) static TARGET: Target = Target {
    name: "lock-limit-overlooked",
    about: "when the time limit is over the lock is taken for granted",
    caught_by: Some(Caught::by(RuleId::Mx4).harm(&[RuleId::Mx3]).breaks(Promise::Exclusion).seen("kazoo")),
    faults: &[],
    plan: |_| Plan { clients: 6, ..Plan::calm() },
    sim: |c, setting, rounds, done| client::<_, Bent<_, HoldsAnyway>>(c, setting, rounds, done).boxed(),
    ..Target::mutant_of(&crate::lock::workload::TARGET)
};

/// The wrong step.
#[derive(Clone)]
struct HoldsAnyway;

impl Bend for HoldsAnyway {
    const LIMIT: Limit = Limit::Overlooked;
}
