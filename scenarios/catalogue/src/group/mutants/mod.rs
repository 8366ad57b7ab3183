//! Mutants of the group.

mod copy;
pub(super) mod lies;

use super::workload::{WORKLOAD, client};
use crate::claims;
use crate::prelude::*;
use copy::{MutantGroup, Mutation};
use zk_recipes::zk::CreateMode;

/// All mutants.
pub(super) static ALL: &[&Workload] = &[&EXISTS_IS_JOINED, &STAYS_SILENT, &JOINS_TWICE, &PERSISTENT];

/// One client's part, with the copy.
fn run<C: Client>(task: Task<C>, mutation: &'static Mutation) -> BoxFuture<'static, ()> {
    let make = Box::new(move |zk: &C::Zk| MutantGroup::new(zk, mutation));
    client(task, make).boxed()
}

/// A group that takes "the znode exists already" for success: a member that was quickly restarted finds the znode of its
/// former session, and vanishes with it (bookkeeper#3418; STORM-1941).
static EXISTS_IS_JOINED: Workload = WORKLOAD.mutant(
    "group-exists-is-joined",
    "a group that takes NodeExists for success",
    Caught::by(Gm4).seen("STORM-1941, bookkeeper#3418"),
    RESTARTING,
    |_| Plan { rounds: 8, ..Plan::calm().with(RESTARTING, 0.02) },
    |task| run(task, &TAKES_WHAT_IS_THERE),
);

const RESTARTING: &[Fault] = &[Fault::SessionExpiry, Fault::ClientCrash];

static TAKES_WHAT_IS_THERE: Mutation = Mutation {
    claim: claims::Mutation { exists_is_anothers: false, ..claims::Mutation::RIGHT },
    ..Mutation::RIGHT
};

/// A group whose members neither join again after their session has ended nor report that they are out (CURATOR-97;
/// grizzly#1329).
static STAYS_SILENT: Workload = WORKLOAD.mutant(
    "group-stays-silent",
    "a member that neither joins again after its session has ended nor says that it is out",
    Caught::by(Gm6).seen("grizzly#1329, CURATOR-97"),
    &[Fault::SessionExpiry],
    |_| Plan { rounds: 8, ..Plan::calm().with(&[Fault::SessionExpiry], 0.02) },
    |task| run(task, &Mutation { says_that_it_is_out: false, ..Mutation::RIGHT }),
);

/// A group without ids whose member joins again after a lost reply: it has two znodes, and knows one of them
/// (twitter/commons).
static JOINS_TWICE: Workload = WORKLOAD.mutant(
    "group-joins-twice",
    "a group that joins again after a lost reply, and has two znodes",
    Caught::by(Gm5).seen("twitter/commons"),
    &[Fault::ReplyLost],
    |_| Plan { rounds: 6, ..Plan::calm().with(&[Fault::ReplyLost], 0.05) },
    |task| run(task, &Mutation { looks_after_loss: false, ..Mutation::RIGHT }),
);

/// A group whose members are persistent znodes: a client that dies is a member for ever.
///
/// No session owns such a znode, so the mutant is found before a client dies.
static PERSISTENT: Workload = WORKLOAD.mutant(
    "group-persistent",
    "a group with persistent member znodes: a dead member stays",
    Caught::by(Gm4),
    &[Fault::ClientCrash],
    |_| Plan { rounds: 6, ..Plan::calm().with(&[Fault::ClientCrash], 0.05) },
    |task| run(task, &STAYS),
);

static STAYS: Mutation = Mutation {
    claim: claims::Mutation { mode: CreateMode::Persistent, ..claims::Mutation::RIGHT },
    ..Mutation::RIGHT
};
