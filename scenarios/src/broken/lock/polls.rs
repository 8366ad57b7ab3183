//! A lock whose waiters look again and again instead of being told.
//!
//! Caught by MX-13 (cost) in the first run in which one waits. It does no other harm.

use super::bend::{Bend, Bent};
use crate::plan::Plan;
use crate::target::Target;
use crate::workloads::lock::{client, objects};
use crate::zoo::Caught;
use futures_util::FutureExt;
use zk_checker::RuleId;

pub(super) static TARGET: Target = Target {
    name: "lock-polls",
    about: "a waiter looks again and again",
    caught_by: Some(Caught::by(RuleId::Mx13).within(1)),
    faults: &[],
    plan: |_| Plan::calm(),
    objects,
    sim: |c, setting, rounds, done| client::<_, Bent<_, Polls>>(c, setting, rounds, done).boxed(),
    real: Some(|c, setting, rounds, done| client::<_, Bent<_, Polls>>(c, setting, rounds, done).boxed()),
    required: &[],
    required_on_real: &[],
    stated: &crate::workloads::lock::STATED,
};

/// The wrong step.
#[derive(Clone)]
struct Polls;

impl Bend for Polls {
    const IS_TOLD: bool = false;
}
