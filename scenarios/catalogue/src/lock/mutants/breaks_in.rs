//! A lock whose waiters take the first in line for dead when their time is over, and delete its znode.
//!
//! Caught by MX-10 (who deletes) within some 20 seeds; the harm is MX-2 (mutual exclusion).

use super::bend::{Bend, Bent, Limit};
use crate::lock::workload::client;
use futures_util::FutureExt;
use zk_checker::RuleId;
use zk_harness::caught::Caught;
use zk_harness::plan::Plan;
use zk_harness::target::Target;

pub(super) static TARGET: Target = Target {
    name: "lock-breaks-in",
    about: "a waiter whose time is over deletes the first znode in line",
    caught_by: Some(Caught::by(RuleId::Mx10).or(&[
                (RuleId::Mx13, "the list and the delete of one who waits are counted when they are sent, before the znode goes"),
                (RuleId::Mx12, "who breaks in comes back after its time was over"),
            ]).harm(&[RuleId::Mx2])),
    faults: &[],
    plan: |_| Plan { clients: 4, ..Plan::calm() },
    sim: |c, setting, rounds, done| client::<_, Bent<_, TakesItForDead>>(c, setting, rounds, done).boxed(),
    ..Target::mutant_of(&crate::lock::workload::TARGET)
};

/// The wrong step.
#[derive(Clone)]
struct TakesItForDead;

impl Bend for TakesItForDead {
    const LIMIT: Limit = Limit::Forced;
}
