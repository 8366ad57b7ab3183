//! A priority queue whose names are `queue-YY` and the number, as ZooKeeper's recipes page has them, with nothing to say how
//! wide YY is and nothing between the two: priority 10 goes before 9, and a priority runs into the number.
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
    name: "priority-queue-page",
    about: "a priority queue with names as on ZooKeeper's recipes page: queue-YY and the number",
    caught_by: Some(Caught::by(RuleId::Qu10).within(5).harm(&[RuleId::Qu5]).seen("the recipes page")),
    faults: &[],
    plan: |_| Plan { rounds: 6, ..Plan::calm() },
    objects: urgent,
    sim: |c, setting, rounds, done| client::<_, Bent<Page>>(c, setting, rounds, done, &URGENT).boxed(),
    ..Target::mutant_of(&crate::priority_queue::workload::TARGET)
};

/// The wrong step.
struct Page;

impl Bend for Page {
    fn prefix(priority: u16) -> String {
        format!("queue-{priority}")
    }
}
