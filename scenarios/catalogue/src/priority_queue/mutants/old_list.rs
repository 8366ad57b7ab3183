//! A priority queue whose consumers use a list until it is used up, as if the order could not change: what is more urgent and
//! came later has to wait.
//!
//! Caught by QU-5 (the more urgent first) when something more urgent was put before the call.

use crate::queue::mutants::bend::{Bend, Bent, URGENT, urgent};
use crate::queue::workload::client;
use futures_util::FutureExt;
use zk_checker::RuleId;
use zk_harness::caught::Caught;
use zk_harness::plan::Plan;
use zk_harness::target::Target;

pub(super) static TARGET: Target = Target {
    name: "priority-queue-old-list",
    about: "a priority queue whose consumers go by a list of an earlier call",
    caught_by: Some(Caught::by(RuleId::Qu5)),
    faults: &[],
    plan: |_| Plan { rounds: 6, ..Plan::calm() },
    objects: urgent,
    sim: |c, setting, rounds, done| client::<_, Bent<KeepsList>>(c, setting, rounds, done, &URGENT).boxed(),
    ..Target::mutant_of(&crate::priority_queue::workload::TARGET)
};

/// The wrong step.
struct KeepsList;

impl Bend for KeepsList {
    const KEEPS_LIST: bool = true;

    fn prefix(priority: u16) -> String {
        format!("queue-{priority:05}-")
    }
}
