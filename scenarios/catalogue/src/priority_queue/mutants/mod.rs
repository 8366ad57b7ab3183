//! Mutants of the priority queue: the [copy](crate::queue::mutants::copy) of the queue, with names that begin with a priority.

pub(super) mod lies;

use super::workload::WORKLOAD;
use crate::prelude::*;
use crate::queue::mutants::copy::{Mutation, open};
use crate::queue::workload::{Way, client, declared};
use zk_harness::workload::TaskFn;
use zk_recipes::{Delivery, Idle, Order};

/// All mutants.
pub(super) static ALL: &[&Workload] = &[&AS_TEXT, &OLD_LIST, &PAGE];

/// One priority queue whose idle consumers all watch.
static URGENT: [Way; 1] = [Way {
    path: "/jobs/bent",
    delivery: Delivery::AtMostOnce,
    idle: Idle::Textbook,
    order: Some(Order::Fresh),
}];

/// The priority queue, as it is declared to the checker.
fn objects(names: &mut Names, _: &Setting) -> Vec<Object> {
    declared(&URGENT, names)
}

/// A mutant of the priority queue; no mutant needs faults.
const fn mutant(
    name: &'static str,
    about: &'static str,
    caught: Caught,
    sim: TaskFn<SimProcess>,
) -> Workload {
    let plan = |_| Plan { rounds: 6, ..Plan::calm() };
    Workload { objects, ..WORKLOAD.mutant(name, about, caught, &[], plan, sim) }
}

/// One client's part, with the copy.
fn run<C: Client>(task: Task<C>, mutation: &'static Mutation) -> BoxFuture<'static, ()> {
    let open = Box::new(move |zk: &C::Zk, way: &Way, _: usize| open(zk, way, mutation));
    client(task, &URGENT, open).boxed()
}

/// No wrong step.
const RIGHT: Mutation = Mutation { prefix: |priority| format!("queue-{priority:05}-"), ..Mutation::RIGHT };

/// A priority queue that compares priorities as texts: 10 goes before 9.
static AS_TEXT: Workload = mutant(
    "priority-queue-as-text",
    "a priority queue that compares priorities as text: 10 before 9",
    Caught::by(Qu10).within(5).harm(&[Qu5]),
    |task| run(task, &Mutation { prefix: |priority| format!("queue-{priority}-"), ..RIGHT }),
);

/// A priority queue whose consumers use up a list before they read it anew, as if the order could not change: a more
/// urgent item that comes later has to wait.
static OLD_LIST: Workload = mutant(
    "priority-queue-old-list",
    "a priority queue whose consumers use the list of an earlier call",
    Caught::by(Qu5),
    |task| run(task, &Mutation { keeps_list: true, ..RIGHT }),
);

/// A priority queue whose names are `queue-YY` and the number, as in ZooKeeper's recipes page, which defines neither
/// the width of YY nor a separator: priority 10 goes before 9, and a priority runs into the number.
static PAGE: Workload = mutant(
    "priority-queue-page",
    "a priority queue with names as on ZooKeeper's recipes page: queue-YY and the number",
    Caught::by(Qu10).within(5).harm(&[Qu5]).seen("the recipes page"),
    |task| run(task, &Mutation { prefix: |priority| format!("queue-{priority}"), ..RIGHT }),
);
