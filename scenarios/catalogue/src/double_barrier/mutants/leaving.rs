//! Mutants with wrong steps in leaving.

use super::copy::Mutation;
use super::{BASE, run};
use crate::double_barrier::workload::{self, WORKLOAD, client, new};
use crate::prelude::*;
use crate::session::{Intercepted, LeavesItsZnode};
use std::sync::Arc;

/// A double barrier with sequential znodes whose participants delete, to leave, the name that they had asked for: no
/// such znode exists, which they take for "deleted already" (ZOOKEEPER-4406). The real znode stays, and blocks every
/// participant.
pub(super) static ASKED_NAME: Workload = BASE.mutant(
    "double-barrier-asked-name",
    "a double barrier with sequential znodes that deletes the name it had asked for",
    Caught::by(Db6).within(1).seen("ZOOKEEPER-4406"),
    &[],
    |_| Plan { clients: 3, rounds: 1, ..Plan::calm() },
    |task| run(task, &Mutation { deletes_its_own: false, ..Mutation::RIGHT }),
);

/// A double barrier whose participants delete their znodes and leave at once, although others are still inside.
pub(super) static LEAVE_AT_ONCE: Workload = BASE.mutant(
    "double-barrier-leave-at-once",
    "a double barrier in which a leaving participant waits for no other",
    Caught::by(Db2).within(1).breaks(Promise::Barriers),
    &[],
    |_| Plan { clients: 3, rounds: 3, ..Plan::calm() },
    |task| run(task, &Mutation { leave_waits: false, ..Mutation::RIGHT }),
);

/// A double barrier with one watcher for both phases: a late notification of `ready`, delivered when the participant
/// leaves already, means to it that all have left (apache/curator, PR#416).
pub(super) static ONE_WATCHER: Workload = BASE.mutant(
    "double-barrier-one-watcher",
    "a double barrier with one watcher for both phases",
    Caught::by(Db9).within(100).harm(&[Db2]).seen("Curator#416"),
    &[],
    |_| Plan { clients: 3, rounds: 3, ..Plan::calm() },
    |task| run(task, &Mutation { own_watches: false, ..Mutation::RIGHT }),
);

/// A double barrier whose participants, to leave, delete their znodes at once and watch the directory until it is
/// empty: every departure wakes all that have left before.
pub(super) static WATCH_ALL: Workload = BASE.mutant(
    "double-barrier-watch-all",
    "a double barrier in which all leaving participants watch the whole directory",
    Caught::by(Db8).within(1).breaks(Promise::NoHerd),
    &[],
    |_| Plan { clients: 4, rounds: 3, ..Plan::calm() },
    |task| run(task, &Mutation { watches_one: false, ..Mutation::RIGHT }),
);

/// A double barrier whose participants leave their znodes when they are dropped or give up: the others wait for them.
pub(super) static LEAVES_ITS_ZNODE: Workload = WORKLOAD.mutant(
    "double-barrier-leaves-its-znode",
    "a participant that gives up, or is dropped, leaves its znode behind",
    Caught::by(Db6).or(&[(Db10, "the others have gone when it is overdue")]).within(5).harm(&[Db10]),
    &[],
    |_| Plan { rounds: 5, ..Plan::calm() },
    |task| {
        let over = |zk: &_| Intercepted::new(zk, Arc::new(LeavesItsZnode));
        let make = move |zk: &_, setup: &_, id, round| new(&over(zk), setup, id, round);
        client(task, workload::setup, Box::new(make)).boxed()
    },
);
