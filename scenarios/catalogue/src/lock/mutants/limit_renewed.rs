//! A lock whose time limit starts anew at each wake-up (Kazoo, by reading).
//!
//! Caught by MX-12 (end of interest) within some 20 seeds.

use super::bend::{Bend, Bent, Limit};
use crate::lock::workload::client;
use futures_util::FutureExt;
use sim_zk::fault::Fault;
use zk_checker::RuleId;
use zk_harness::caught::Caught;
use zk_harness::plan::Plan;
use zk_harness::target::Target;

pub(super) static TARGET: Target = Target {
    name: "lock-limit-renewed",
    about: "the time limit starts anew at each wake-up",
    caught_by: Some(Caught::by(RuleId::Mx12).seen("kazoo")),
    faults: FAULTS,
    plan: |_| Plan { clients: 6, ..Plan::calm() }.with(FAULTS, 0.05),
    sim: |c, setting, rounds, done| client::<_, Bent<_, StartsAnew>>(c, setting, rounds, done).boxed(),
    ..Target::mutant_of(&crate::lock::workload::TARGET)
};

const FAULTS: &[Fault] = &[Fault::Cancel];

/// The wrong step.
#[derive(Clone)]
struct StartsAnew;

impl Bend for StartsAnew {
    const LIMIT: Limit = Limit::Renewed;
}
