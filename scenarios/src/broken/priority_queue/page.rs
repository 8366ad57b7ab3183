//! A priority queue whose names are `queue-YY` and the number, as ZooKeeper's recipes page has them, with nothing to say how
//! wide YY is and nothing between the two: priority 10 goes before 9, and a priority runs into the number.
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
    name: "priority-queue-page",
    about: "a priority queue with names as on ZooKeeper's recipes page: queue-YY and the number",
    caught_by: Some(Caught::by(RuleId::Qu10).within(5).harm(&[RuleId::Qu5]).seen("the recipes page")),
    faults: &[],
    plan: |_| Plan { rounds: 6, ..Plan::calm() },
    objects: urgent,
    sim: |c, setting, rounds, done| client::<_, Bent<Page>>(c, setting, rounds, done, &URGENT).boxed(),
    real: None,
    required: &[],
    required_on_real: &[],
    stated: &crate::workloads::priority_queue::STATED,
};

/// The wrong step.
struct Page;

impl Bend for Page {
    fn prefix(priority: u16) -> String {
        format!("queue-{priority}")
    }
}
