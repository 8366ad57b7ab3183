//! A priority queue that compares priorities as texts: 10 goes before 9.
//!
//! Caught by QU-10 (numbers are compared as numbers) when both are there; the harm is that of QU-5.

use crate::queue::mutants::bend::{Bend, Bent, URGENT, urgent};
use crate::queue::workload::client;
use futures_util::FutureExt;
use zk_checker::RuleId;
use zk_harness::caught::Caught;
use zk_harness::plan::Plan;
use zk_harness::target::Target;

pub(super) static TARGET: Target = Target {
    name: "priority-queue-as-text",
    about: "a priority queue that compares priorities as texts: 10 goes before 9",
    caught_by: Some(Caught::by(RuleId::Qu10).within(5).harm(&[RuleId::Qu5])),
    faults: &[],
    plan: |_| Plan { rounds: 6, ..Plan::calm() },
    objects: urgent,
    sim: |c, setting, rounds, done| client::<_, Bent<AsText>>(c, setting, rounds, done, &URGENT).boxed(),
    ..Target::mutant_of(&crate::priority_queue::workload::TARGET)
};

/// The wrong step.
struct AsText;

impl Bend for AsText {
    fn prefix(priority: u16) -> String {
        format!("queue-{priority}-")
    }
}
