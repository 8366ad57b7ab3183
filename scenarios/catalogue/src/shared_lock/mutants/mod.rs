//! Mutants of the shared lock.

mod copy;
pub(crate) mod lies;
mod readers;
mod writers;

use super::workload::{DIRECTORY, WORKLOAD, client};
use crate::lock::mutants::copy::{MutantLock, Mutation};
use crate::prelude::*;
use zk_harness::workload::TaskFn;

/// All mutants.
pub(super) static ALL: &[&Workload] = &[
    &readers::LATER_WRITER,
    &writers::HIGHEST_READER,
    &readers::LOWEST_WRITER,
    &readers::LITERAL_NAMES,
    &readers::READERS_IN_LINE,
    &writers::WRITER_PASSES_READERS,
];

/// A mutant of the shared lock: all need four clients, and no faults.
const fn mutant(
    name: &'static str,
    about: &'static str,
    caught: Caught,
    sim: TaskFn<SimProcess>,
) -> Workload {
    let plan = |_| Plan { clients: 4, ..Plan::calm() };
    WORKLOAD.mutant(name, about, caught, &[], plan, sim)
}

/// One client's part, with the copy.
fn run<C: Client>(task: Task<C>, mutation: &'static Mutation) -> BoxFuture<'static, ()> {
    let make = Box::new(move |zk: &C::Zk| MutantLock::new(zk, DIRECTORY, mutation));
    client(task, make).boxed()
}
