//! Mutants with a wrong time limit.

use super::copy::{Limit, Mutation};
use super::{WORKLOAD, run};
use crate::prelude::*;

/// A lock that returns a guard at the time limit, whether it was granted or not (Kazoo's `with lock`, by reading).
pub(super) static LIMIT_OVERLOOKED: Workload = WORKLOAD.mutant(
    "lock-limit-overlooked",
    "at the time limit the lock counts as granted",
    Caught::by(Mx4).harm(&[Mx3]).breaks(Promise::Exclusion).seen("kazoo"),
    &[],
    |_| Plan { clients: 6, ..Plan::calm() },
    |task| run(task, &Mutation { limit: Limit::Overlooked, ..Mutation::RIGHT }),
);

/// A lock whose time limit restarts at each wake-up (Kazoo, by reading).
pub(super) static LIMIT_RENEWED: Workload = WORKLOAD.mutant(
    "lock-limit-renewed",
    "the time limit starts anew at each wake-up",
    Caught::by(Mx12).seen("kazoo"),
    &[Fault::Cancel],
    |_| Plan { clients: 6, ..Plan::calm() }.with(&[Fault::Cancel], 0.05),
    |task| run(task, &Mutation { limit: Limit::Renewed, ..Mutation::RIGHT }),
);

/// A lock whose waiters, at their time limit, take the first contender for dead and delete its znode.
pub(super) static BREAKS_IN: Workload = WORKLOAD.mutant(
    "lock-breaks-in",
    "a waiter deletes the first contender's znode at its time limit",
    Caught::by(Mx10)
        .or(&[
            (
                Mx13,
                "the list and the delete of one who waits are counted when they are sent, before the znode goes",
            ),
            (Mx12, "who breaks in comes back after its time was over"),
        ])
        .harm(&[Mx2]),
    &[],
    |_| Plan { clients: 4, ..Plan::calm() },
    |task| {
        run(task, &Mutation { limit: Limit::Forced, ..Mutation::RIGHT })
    },
);
