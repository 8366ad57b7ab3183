//! Mutants with wrong steps in waiting.

use super::copy::{Mutation, Watches};
use super::{WORKLOAD, run};
use crate::prelude::*;

/// A lock whose waiters all watch the directory instead of their predecessors' znodes: every release and every newcomer
/// wakes all of them. ZooKeeper's recipes page calls it the herd effect.
pub(super) static WATCH_ALL: Workload = WORKLOAD.mutant(
    "lock-watch-all",
    "a lock whose waiters all watch the directory: every release wakes all of them",
    Caught::by(Mx13).within(1).breaks(Promise::NoHerd).seen("the recipes page warns of it"),
    &[],
    |_| Plan::calm(),
    |task| run(task, &WATCHES_ALL),
);

static WATCHES_ALL: Mutation = Mutation { watches: Watches::Directory, ..Mutation::RIGHT };

/// The same on real servers.
pub(super) static WATCH_ALL_REAL: RealWorkload =
    RealWorkload::new(&WATCH_ALL, |task| run(task, &WATCHES_ALL), &[Mx1, Mx13]);

/// A lock whose waiters all watch the first contender: every release wakes all of them (kazoo 7dd4c4c).
pub(super) static WATCH_FIRST: Workload = WORKLOAD.mutant(
    "lock-watch-first",
    "a lock whose waiters all watch the first contender",
    Caught::by(Mx13).within(1).breaks(Promise::NoHerd).seen("kazoo 7dd4c4c"),
    &[],
    |_| Plan { clients: 4, ..Plan::calm() },
    |task| run(task, &WATCHES_FIRST),
);

static WATCHES_FIRST: Mutation = Mutation { watches: Watches::First, ..Mutation::RIGHT };

/// The same on real servers.
pub(super) static WATCH_FIRST_REAL: RealWorkload =
    RealWorkload::new(&WATCH_FIRST, |task| run(task, &WATCHES_FIRST), &[Mx1, Mx13]);

/// A lock whose waiters poll instead of watching.
pub(super) static POLLS: Workload = WORKLOAD.mutant(
    "lock-polls",
    "a waiter polls",
    Caught::by(Mx13).within(1),
    &[],
    |_| Plan::calm(),
    |task| run(task, &POLLING),
);

static POLLING: Mutation = Mutation { polls: true, ..Mutation::RIGHT };

/// The same on real servers.
pub(super) static POLLS_REAL: RealWorkload = RealWorkload::new(&POLLS, |task| run(task, &POLLING), &[]);

/// A lock whose woken waiters hold without listing again: they take "the predecessor is gone" for "it is my turn", even
/// when a waiter in the middle gave up.
pub(super) static EVENT_GRANTS: Workload = WORKLOAD.mutant(
    "lock-event-grants",
    "any wake-up grants, without another list",
    Caught::by(Mx4).harm(&[Mx3]).breaks(Promise::Exclusion).seen("Curator#1290 is of this kind"),
    &[Fault::Cancel],
    |_| Plan { clients: 4, ..Plan::calm() }.with(&[Fault::Cancel], 0.05),
    |task| run(task, &Mutation { looks_again: false, ..Mutation::RIGHT }),
);

/// A lock whose waiters wait although the predecessor is already gone when they set the watch: no notification ever
/// wakes them (helix PR#44; samuel/go-zookeeper#10).
pub(super) static WAITS_FOR_NOBODY: Workload = WORKLOAD.mutant(
    "lock-waits-for-nobody",
    "the predecessor is gone before the watch is armed, and the waiter still waits for it",
    Caught::by(Mx7).harm(&[Mx8]).seen("helix#44, samuel/go-zookeeper#10"),
    &[],
    |_| Plan::calm(),
    |task| run(task, &Mutation { sees_that_it_is_gone: false, ..Mutation::RIGHT }),
);
