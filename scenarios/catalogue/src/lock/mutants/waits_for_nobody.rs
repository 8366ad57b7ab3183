//! A lock whose waiters wait although the one ahead is gone already when they come to watch it: nothing will ever wake them
//! (helix PR#44; samuel/go-zookeeper#10).
//!
//! Caught by MX-7 (lost wake-up) within some 20 seeds; the harm is MX-8 (progress).

use super::bend::{Bend, Bent};
use crate::lock::workload::client;
use futures_util::FutureExt;
use zk_checker::RuleId;
use zk_harness::caught::Caught;
use zk_harness::plan::Plan;
use zk_harness::target::Target;

pub(super) static TARGET: Target = Target {
    name: "lock-waits-for-nobody",
    about: "the one ahead is gone when it is to be watched, and is waited for all the same",
    caught_by: Some(Caught::by(RuleId::Mx7).harm(&[RuleId::Mx8]).seen("helix#44, samuel/go-zookeeper#10")),
    faults: &[],
    plan: |_| Plan::calm(),
    sim: |c, setting, rounds, done| client::<_, Bent<_, WaitsForNobody>>(c, setting, rounds, done).boxed(),
    ..Target::mutant_of(&crate::lock::workload::TARGET)
};

/// The wrong step.
#[derive(Clone)]
struct WaitsForNobody;

impl Bend for WaitsForNobody {
    const SEES_THAT_IT_IS_GONE: bool = false;
}
