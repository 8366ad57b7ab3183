//! A queue whose consumers wait, without a watch, when the queue's znode is not there: nobody tells them when it is
//! (CURATOR-308).
//!
//! Caught by QU-6 (nobody starves) when a consumer comes before the first item.

use super::bend::{Bend, Bent, ONE, one};
use crate::plan::Plan;
use crate::target::Target;
use crate::workloads::queue::client;
use crate::zoo::Caught;
use futures_util::FutureExt;
use zk_checker::RuleId;

pub(in crate::broken) static TARGET: Target = Target {
    name: "queue-parent-ignored",
    about: "a queue whose consumers wait without a watch while the queue is missing",
    caught_by: Some(Caught::by(RuleId::Qu6).seen("CURATOR-308")),
    faults: &[],
    plan: |_| Plan { rounds: 6, ..Plan::calm() },
    objects: one,
    sim: |c, setting, rounds, done| client::<_, Bent<IgnoresParent>>(c, setting, rounds, done, &ONE).boxed(),
    real: None,
    required: &[],
    required_on_real: &[],
    stated: &crate::workloads::queue::STATED,
};

/// The wrong step.
struct IgnoresParent;

impl Bend for IgnoresParent {
    const MAKES_PARENT: bool = false;
}
