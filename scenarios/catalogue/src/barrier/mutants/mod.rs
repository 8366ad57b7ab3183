//! Mutants of the barrier: [`copy`] is a copy of it that a [`Mutation`] makes wrong in one step.

mod copy;
pub(super) mod lies;
mod passing;
mod waiting;

use super::workload::{WORKLOAD, client};
use crate::prelude::*;
use copy::{MutantBarrier, Mutation};
use zk_recipes::While;

/// All mutants.
pub(super) static ALL: &[&Workload] = &[
    &passing::ANY_EVENT,
    &waiting::ASKS_AGAIN,
    &waiting::DEAF,
    &waiting::EXISTS_WATCH,
    &passing::OPENS_WITH_SESSION,
    &passing::ANY_WRITE,
    &waiting::POLLS,
];

/// One client's part, with the copy.
fn run<C: Client>(task: Task<C>, mutation: &'static Mutation) -> BoxFuture<'static, ()> {
    let make = Box::new(move |zk: &C::Zk, lives: While| MutantBarrier::new(zk, lives, mutation));
    client(task, make).boxed()
}
