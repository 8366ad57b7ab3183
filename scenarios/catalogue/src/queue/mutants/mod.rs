//! Mutants of the queue: [`copy`] is a plain copy in which a [`Mutation`] makes one step wrong; other mutants misuse
//! the right queue.

mod claims;
pub(crate) mod copy;
pub(crate) mod lies;
mod putting;
mod taking;
mod waiting;

use super::workload::{WORKLOAD, Way, client, declared};
use crate::prelude::*;
use copy::Mutation;
use zk_recipes::{Delivery, Idle};

/// All mutants.
pub(super) static ALL: &[&Workload] = &[
    &waiting::ALL_WATCH,
    &claims::CONFIRMS_BLINDLY,
    &taking::DELETE_AGAIN,
    &putting::EPHEMERAL_ITEMS,
    &taking::NEWEST_FIRST,
    &waiting::NO_NEW_WATCH,
    &taking::NO_NODE_IGNORED,
    &waiting::PARENT_IGNORED,
    &putting::PUT_AGAIN,
    &taking::HANDS_OUT_IN_DOUBT,
    &taking::PASSES_OVER_IN_DOUBT,
    &claims::BLIND_TO_LOST_CLAIMS,
    &waiting::PARENT_TAKEN_UNSEEN,
];

/// One queue whose idle consumers all watch.
static ONE: [Way; 1] =
    [Way { path: "/queues/bent", delivery: Delivery::AtMostOnce, idle: Idle::Textbook, order: None }];

/// The queue, as it is declared to the checker.
fn objects(names: &mut Names, _: &Setting) -> Vec<Object> {
    declared(&ONE, names)
}

/// The workload, with that one queue.
static BASE: Workload = Workload { objects, ..WORKLOAD };

/// One client's part, with the copy.
fn run<C: Client>(task: Task<C>, mutation: &'static Mutation) -> BoxFuture<'static, ()> {
    let open = Box::new(move |zk: &C::Zk, way: &Way, _: usize| copy::open(zk, way, mutation));
    client(task, &ONE, open).boxed()
}
