//! A follower that reads, and then arms its watch by a second request: what is written in between it never hears of.
//!
//! Caught by CF-5 (reading and arming are one) in the first run in which somebody follows; the harm is CF-3 (the last value arrives).

use super::bend::{Broken, Step};
use crate::plan::Plan;
use crate::target::Target;
use crate::workloads::config::{client, objects};
use crate::zoo::Caught;
use futures_util::FutureExt;
use zk_checker::RuleId;

pub(super) static TARGET: Target = Target {
    name: "config-arms-late",
    about: "a follower that reads, and then arms its watch by a second request",
    caught_by: Some(Caught::by(RuleId::Cf5).within(1).harm(&[RuleId::Cf3]).seen("the recipes page")),
    faults: &[],
    plan: |_| Plan { rounds: 4, ..Plan::calm() },
    objects,
    sim: |c, setting, rounds, done| client::<_, Broken<_, ArmsLate>>(c, setting, rounds, done).boxed(),
    real: Some(|c, setting, rounds, done| client::<_, Broken<_, ArmsLate>>(c, setting, rounds, done).boxed()),
    required: &[],
    required_on_real: &[],
    stated: &crate::workloads::config::STATED,
};

/// The wrong step.
struct ArmsLate;

impl Step for ArmsLate {
    const ARMS_BY_READING: bool = false;
}
