//! A queue whose consumers wait, without a watch, when the queue's znode is not there: nobody tells them when it is
//! (CURATOR-308).
//!
//! Caught by QU-6 (nobody starves) when a consumer comes before the first item.

use super::bend::{Bend, Bent, ONE, one};
use crate::queue::workload::client;
use futures_util::FutureExt;
use zk_checker::RuleId;
use zk_harness::caught::Caught;
use zk_harness::plan::Plan;
use zk_harness::target::Target;

pub(super) static TARGET: Target = Target {
    name: "queue-parent-ignored",
    about: "a queue whose consumers wait without a watch while the queue is missing",
    caught_by: Some(Caught::by(RuleId::Qu6).seen("CURATOR-308")),
    faults: &[],
    plan: |_| Plan { rounds: 6, ..Plan::calm() },
    objects: one,
    sim: |c, setting, rounds, done| client::<_, Bent<IgnoresParent>>(c, setting, rounds, done, &ONE).boxed(),
    ..Target::mutant_of(&crate::queue::workload::TARGET)
};

/// The wrong step.
struct IgnoresParent;

impl Bend for IgnoresParent {
    const MAKES_PARENT: bool = false;
}
