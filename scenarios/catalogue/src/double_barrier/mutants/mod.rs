//! Mutants of the double barrier: [`copy`] is the one of ZooKeeper's recipes page, in which a [`Mutation`] makes one
//! step wrong.

mod copy;
mod entering;
mod leaving;
pub(super) mod lies;
mod ready;
mod roster;

use super::workload::{Setup, WORKLOAD, client, object};
use crate::prelude::*;
use copy::{MutantDoubleBarrier, Mutation};
use zk_recipes::{Leave, Reuse};

/// All mutants.
pub(super) static ALL: &[&Workload] = &[
    &entering::ANY_WAKE,
    &leaving::ASKED_NAME,
    &ready::COUNTS_READY,
    &leaving::LEAVE_AT_ONCE,
    &ready::NO_READY,
    &leaving::ONE_WATCHER,
    &ready::READY_STAYS,
    &leaving::WATCH_ALL,
    &entering::ONE_SHORT,
    &roster::LACKS_ONE,
    &leaving::LEAVES_ITS_ZNODE,
];

/// One double barrier for all clients.
fn setup(setting: &Setting, _: u32) -> Setup {
    let participants = usize::from(setting.clients);
    let (object, reuse, leave) = (ObjectId(0), Reuse::Generations, Leave::Keeper);
    Setup { path: "/steps/all", object, participants, reuse, leave }
}

/// The double barrier, as it is declared to the checker.
fn objects(names: &mut Names, setting: &Setting) -> Vec<Object> {
    vec![object(names, &setup(setting, 0))]
}

/// The workload, with that one double barrier.
static BASE: Workload = Workload { objects, ..WORKLOAD };

/// One client's part, with the copy.
fn run<C: Client>(task: Task<C>, mutation: &'static Mutation) -> BoxFuture<'static, ()> {
    let make = Box::new(move |zk: &C::Zk, setup: &Setup, _: Option<String>, round: u32| {
        MutantDoubleBarrier::new(zk, setup, round, mutation)
    });
    client(task, setup, make).boxed()
}
