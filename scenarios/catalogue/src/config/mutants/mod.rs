//! Mutants of the configuration.

mod copy;
pub(super) mod lies;

use super::workload::{WORKLOAD, client, new};
use crate::prelude::*;
use crate::session::{Intercepted, Polls};
use copy::{MutantConfig, Mutation};
use std::sync::Arc;

/// All mutants.
pub(super) static ALL: &[&Workload] = &[&ARMS_LATE, &ARMS_ONCE, &UNCONDITIONAL, &POLLS];

/// The mutants that real servers kill, without the simulation's faults.
pub(super) static REAL: &[&RealWorkload] = &[&ARMS_LATE_REAL, &UNCONDITIONAL_REAL];

/// One client's part, with the copy.
fn run<C: Client>(task: Task<C>, mutation: &'static Mutation) -> BoxFuture<'static, ()> {
    let make = Box::new(move |zk: &C::Zk, path: &_| MutantConfig::new(zk, path, mutation));
    client(task, make).boxed()
}

/// A follower that reads, and then arms its watch by a second request: it misses a write in between.
static ARMS_LATE: Workload = WORKLOAD.mutant(
    "config-arms-late",
    "a follower that reads, and then arms its watch by a second request",
    Caught::by(Cf5).within(1).harm(&[Cf3]).seen("the recipes page"),
    &[],
    |_| Plan { rounds: 4, ..Plan::calm() },
    |task| run(task, &SECOND_REQUEST),
);

static SECOND_REQUEST: Mutation = Mutation { arms_by_reading: false, ..Mutation::RIGHT };

/// The same on real servers.
static ARMS_LATE_REAL: RealWorkload = RealWorkload::new(&ARMS_LATE, |task| run(task, &SECOND_REQUEST), &[]);

/// A follower that does not arm its watch again after a change (CURATOR-258): it receives the next change only.
static ARMS_ONCE: Workload = WORKLOAD.mutant(
    "config-arms-once",
    "a follower that does not arm its watch again after a change",
    Caught::by(Cf3).within(5).seen("CURATOR-258"),
    &[],
    |_| Plan { clients: 4, rounds: 6, ..Plan::calm() },
    |task| run(task, &Mutation { arms_after_a_change: false, ..Mutation::RIGHT }),
);

/// A configuration whose followers poll while they wait for a change.
static POLLS: Workload = WORKLOAD.mutant(
    "config-polls",
    "a follower polls beside its watch",
    Caught::by(Cf8).within(5),
    &[],
    |_| Plan { rounds: 4, ..Plan::calm() },
    |task| client(task, Box::new(|zk, path| new(&Intercepted::new(zk, Arc::new(Polls)), path))).boxed(),
);

/// A conditional write without the version that was read: of two writers that have read the same value, one loses its update.
static UNCONDITIONAL: Workload = WORKLOAD.mutant(
    "config-unconditional",
    "a conditional write without the version that was read",
    Caught::by(Cf7).within(5),
    &[],
    |_| Plan { rounds: 4, ..Plan::calm() },
    |task| run(task, &OVERWRITES),
);

static OVERWRITES: Mutation = Mutation { writes_with_version: false, ..Mutation::RIGHT };

/// The same on real servers.
static UNCONDITIONAL_REAL: RealWorkload =
    RealWorkload::new(&UNCONDITIONAL, |task| run(task, &OVERWRITES), &[]);
