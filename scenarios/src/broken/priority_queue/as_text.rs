//! A priority queue that compares priorities as texts: 10 goes before 9.
//!
//! Caught by QU-10 (numbers are compared as numbers) when both are there; the harm is that of QU-5.

use crate::broken::queue::bend::{Bend, Bent, URGENT, urgent};
use crate::plan::Plan;
use crate::target::Target;
use crate::workloads::queue::client;
use crate::zoo::Caught;
use futures_util::FutureExt;
use zk_checker::RuleId;

pub(super) static TARGET: Target = Target {
    name: "priority-queue-as-text",
    about: "a priority queue that compares priorities as texts: 10 goes before 9",
    caught_by: Some(Caught::by(RuleId::Qu10).within(5).harm(&[RuleId::Qu5])),
    faults: &[],
    plan: |_| Plan { rounds: 6, ..Plan::calm() },
    objects: urgent,
    sim: |c, setting, rounds, done| client::<_, Bent<AsText>>(c, setting, rounds, done, &URGENT).boxed(),
    real: None,
    required: &[],
    required_on_real: &[],
    stated: &crate::workloads::priority_queue::STATED,
};

/// The wrong step.
struct AsText;

impl Bend for AsText {
    fn prefix(priority: u16) -> String {
        format!("queue-{priority}-")
    }
}
