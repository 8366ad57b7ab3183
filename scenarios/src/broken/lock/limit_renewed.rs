//! A lock whose time limit starts anew at each wake-up (Kazoo, by reading).
//!
//! Caught by MX-12 (end of interest) within some 20 seeds.

use super::bend::{Bend, Bent, Limit};
use crate::plan::Plan;
use crate::target::Target;
use crate::workloads::lock::{client, objects};
use crate::zoo::Caught;
use futures_util::FutureExt;
use sim_zk::fault::Fault;
use zk_checker::RuleId;

pub(super) static TARGET: Target = Target {
    name: "lock-limit-renewed",
    about: "the time limit starts anew at each wake-up",
    caught_by: Some(Caught::by(RuleId::Mx12).seen("kazoo")),
    faults: FAULTS,
    plan: |_| Plan { clients: 6, ..Plan::calm() }.with(FAULTS, 0.05),
    objects,
    sim: |c, setting, rounds, done| client::<_, Bent<_, StartsAnew>>(c, setting, rounds, done).boxed(),
    // Without faults it does nothing wrong.
    real: None,
    required: &[],
    required_on_real: &[],
    stated: &crate::workloads::lock::STATED,
};

const FAULTS: &[Fault] = &[Fault::Cancel];

/// The wrong step.
#[derive(Clone)]
struct StartsAnew;

impl Bend for StartsAnew {
    const LIMIT: Limit = Limit::Renewed;
}
