//! Mutants that misuse `ready`.

use super::copy::Mutation;
use super::{BASE, run};
use crate::prelude::*;

/// A double barrier that counts all children, including `ready`, on a path that is used again: in the second round one
/// participant less suffices (Netflix/curator#99).
pub(super) static COUNTS_READY: Workload = BASE.mutant(
    "double-barrier-counts-ready",
    "a double barrier that counts ready as a participant, on a path that is used again",
    Caught::by(Db3).harm(&[Db1]).breaks(Promise::Barriers).seen("Netflix/curator#99"),
    &[],
    |_| Plan { clients: 2, rounds: 8, ..Plan::calm() },
    |task| {
        let mutation =
            &Mutation { fresh_path: false, ready_is_nobody: false, ready_goes: false, ..Mutation::RIGHT };
        run(task, mutation)
    },
);

/// A double barrier without `ready`: participants count the children until there are enough. A fast one leaves before a
/// slow one has counted; the slow one waits for ever (ZOOKEEPER-1011).
pub(super) static NO_READY: Workload = BASE.mutant(
    "double-barrier-no-ready",
    "a double barrier without ready: every participant counts the children",
    Caught::by(Db6).seen("ZOOKEEPER-1011"),
    &[Fault::ReplyLate],
    |_| Plan { clients: 2, rounds: 6, ..Plan::calm().with(&[Fault::ReplyLate], 0.2) },
    |task| run(task, &Mutation { has_ready: false, ..Mutation::RIGHT }),
);

/// A double barrier whose `ready` is a regular znode that is never deleted, as in ZooKeeper's recipes page, on a path
/// that is used again: the second round is open before any participant arrives.
pub(super) static READY_STAYS: Workload = BASE.mutant(
    "double-barrier-ready-stays",
    "a double barrier whose ready is never removed, on a path that is used again",
    Caught::by(Db4).within(1).harm(&[Db1]).breaks(Promise::Barriers).seen("the recipes page"),
    &[],
    |_| Plan { clients: 3, rounds: 6, ..Plan::calm() },
    |task| run(task, &Mutation { fresh_path: false, ready_goes: false, ..Mutation::RIGHT }),
);
