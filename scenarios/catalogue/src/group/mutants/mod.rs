//! Mutants of the group.

mod copy;
pub(super) mod lies;

use super::workload::{DIRECTORY, WORKLOAD, client, new};
use crate::claims;
use crate::prelude::*;
use crate::session::{Interceptor, Polls, Reply, Watch, over, watched_list};
use copy::{MutantGroup, Mutation};
use std::sync::Arc;
use zk_recipes::group::GroupView;
use zk_recipes::zk::{CreateMode, Listing};

/// All mutants.
pub(super) static ALL: &[&Workload] = &[
    &EXISTS_IS_JOINED,
    &STAYS_SILENT,
    &JOINS_TWICE,
    &PERSISTENT,
    &POLLS,
    &WITHOUT_WATCH,
    &DEAF_TO_DEPARTURES,
    &OUT_TOO_EARLY,
];

/// One client's part, with the copy.
fn run<C: Client>(task: Task<C>, mutation: &'static Mutation) -> BoxFuture<'static, ()> {
    let make = Box::new(move |zk: &C::Zk| MutantGroup::new(zk, mutation));
    client(task, make).boxed()
}

/// A group that takes "the znode exists already" for success: a quickly restarted member finds the znode of its former
/// session, and vanishes with it (bookkeeper#3418; STORM-1941).
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

/// A group without ids whose member joins again after a lost reply: it has two znodes, and knows only one of them
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

/// A group whose observers poll while they wait for a change.
static POLLS: Workload = WORKLOAD.mutant(
    "group-polls",
    "an observer polls beside its watch",
    Caught::by(Gm7).within(5),
    &[],
    |_| Plan { rounds: 4, ..Plan::calm() },
    |task| client(task, over(|| Arc::new(Polls), new)).boxed(),
);

/// A group whose observers list the members and arm no watch: they never learn of a change.
static WITHOUT_WATCH: Workload = WORKLOAD.mutant(
    "group-without-watch",
    "an observer lists the members and arms no watch",
    Caught::by(Gm2).within(1),
    &[],
    |_| Plan { rounds: 4, ..Plan::calm() },
    |task| client(task, over(|| Arc::new(ListsAlone), new)).boxed(),
);

struct ListsAlone;

impl<Z: ZooKeeper> Interceptor<Z> for ListsAlone {
    fn children_watch(&self, zk: &Z, path: &str) -> Reply<(Listing, Watch)> {
        if path != DIRECTORY {
            return watched_list(zk, path);
        }
        let list = zk.children(path);
        async move { list.await.map(|list| (list, std::future::pending().boxed())) }.boxed()
    }
}

/// A group whose observers learn of members that come, but not of those that go: they give work to dead members.
static DEAF_TO_DEPARTURES: Workload = WORKLOAD.mutant(
    "group-deaf-to-departures",
    "an observer is given no view in which members have only gone",
    Caught::by(Gm3),
    &[],
    |_| Plan { rounds: 6, ..Plan::calm() },
    |task| run(task, &Mutation { tells: |before, now| !is_within(now, before), ..Mutation::RIGHT }),
);

/// Whether the second view has every member of the first one.
fn is_within(few: &GroupView, many: &GroupView) -> bool {
    few.members.iter().all(|member| many.members.iter().any(|other| other.id == member.id))
}

/// A group whose members report that they are out when a tenth of the session's timeout has passed without a reply:
/// they stop working while they are still members.
static OUT_TOO_EARLY: Workload = WORKLOAD.mutant(
    "group-out-too-early",
    "a member reports that it is out although its session cannot have ended",
    Caught::by(Gm8).within(1),
    &[],
    |_| Plan { rounds: 6, ..Plan::calm() },
    |task| run(task, &Mutation { margin: 9, ..Mutation::RIGHT }),
);
