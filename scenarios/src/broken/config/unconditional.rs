//! A conditional write without the version that was read: of two writers that have read the same value, one loses its update.
//!
//! Caught by CF-7 (no update is lost) within 5 seeds in which two write.

use super::bend::{Broken, Step};
use crate::plan::Plan;
use crate::target::Target;
use crate::workloads::config::{client, objects};
use crate::zoo::Caught;
use futures_util::FutureExt;
use zk_checker::RuleId;

pub(super) static TARGET: Target = Target {
    name: "config-unconditional",
    about: "a conditional write without the version that was read",
    caught_by: Some(Caught::by(RuleId::Cf7).within(5)),
    faults: &[],
    plan: |_| Plan { rounds: 4, ..Plan::calm() },
    objects,
    sim: |c, setting, rounds, done| client::<_, Broken<_, Overwrites>>(c, setting, rounds, done).boxed(),
    real: Some(|c, setting, rounds, done| {
        client::<_, Broken<_, Overwrites>>(c, setting, rounds, done).boxed()
    }),
    required: &[],
    required_on_real: &[],
    stated: &crate::workloads::config::STATED,
};

/// The wrong step.
struct Overwrites;

impl Step for Overwrites {
    const WRITES_WITH_VERSION: bool = false;
}
