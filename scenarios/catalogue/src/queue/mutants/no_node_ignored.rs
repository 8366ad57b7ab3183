//! A queue whose consumers hand an item out although their delete met "no such znode": another consumer has it as well.
//!
//! Caught by QU-1 (no duplicate) when two consumers race for an item.

use super::bend::{Bend, Bent, ONE, one};
use crate::queue::workload::client;
use futures_util::FutureExt;
use zk_checker::RuleId;
use zk_harness::caught::Caught;
use zk_harness::plan::Plan;
use zk_harness::target::Target;

pub(super) static TARGET: Target = Target {
    name: "queue-no-node-ignored",
    about: "a queue whose consumers hand out an item that another was faster to delete",
    caught_by: Some(Caught::by(RuleId::Qu1).within(5)),
    faults: &[],
    plan: |_| Plan { rounds: 6, ..Plan::calm() },
    objects: one,
    sim: |c, setting, rounds, done| client::<_, Bent<IgnoresNoNode>>(c, setting, rounds, done, &ONE).boxed(),
    ..Target::mutant_of(&crate::queue::workload::TARGET)
};

/// The wrong step.
struct IgnoresNoNode;

impl Bend for IgnoresNoNode {
    const IGNORES_NO_NODE: bool = true;
}
