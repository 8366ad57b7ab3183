//! Mutants with wrong steps in joining, wrong names or a wrong order.

use super::copy::Mutation;
use super::{WORKLOAD, run};
use crate::prelude::*;

/// A lock whose znodes bear no guid: when the reply to its create is lost, the client creates again.
///
/// If the first znode exists, it stays among the contenders for as long as the session lives. All contenders behind it
/// wait for a client that does not know that it is first (ZOOKEEPER-1262; zk-ruby#54).
pub(super) static NO_GUID: Workload = WORKLOAD.mutant(
    "lock-no-guid",
    "a lock without guids in its znodes' names: after a lost reply it creates again",
    Caught::by(Mx9)
        .or(&[(
            Mx12,
            "the first znode outlives an acquire whose time limit is over, before there is a second",
        )])
        .harm(&[Mx8])
        .seen("ZOOKEEPER-1262, zk-ruby#54"),
    &[Fault::ReplyLost],
    |_| Plan::calm().with(&[Fault::ReplyLost], 0.05),
    |task| run(task, &Mutation { guid: false, ..Mutation::RIGHT }),
);

/// A lock that looks for its znode by the guid after a lost reply, as in ZooKeeper's recipes page, and creates again if
/// the list lacks it. But the server that replies may lag behind the first create, and then there are two znodes
/// (CURATOR-264).
pub(super) static NO_SETTLE: Workload = WORKLOAD.mutant(
    "lock-no-settle",
    "a lock that looks for its znode without a settling write, and creates again",
    Caught::by(Mx9).within(100).harm(&[Mx8]).seen("CURATOR-264; the recipes page"),
    LAGGING,
    |_| Plan { servers: 3, faults: 6, ..Plan::calm().with(LAGGING, 0.05) },
    |task| run(task, &Mutation { settles: false, ..Mutation::RIGHT }),
);

const LAGGING: &[Fault] = &[Fault::ReplyLost, Fault::Disconnect, Fault::ApplyStall, Fault::LinkHeld];

/// A lock whose contenders are ordered by whole names: the guid in front decides, not the number (ZOOKEEPER-2931,
/// ZOOKEEPER-3162).
pub(super) static WHOLE_NAMES: Workload = WORKLOAD.mutant(
    "lock-whole-names",
    "contenders are ordered by whole names, so the guid decides",
    Caught::by(Mx4)
        .within(5)
        .harm(&[Mx3, Mx6])
        .breaks(Promise::Exclusion)
        .seen("ZOOKEEPER-2931, ZOOKEEPER-3162"),
    &[],
    |_| Plan { clients: 2, rounds: 1, ..Plan::calm() },
    |task| run(task, &Mutation { rank: |name| Some(name), ..Mutation::RIGHT }),
);

/// A lock that takes every child of its directory for a contender: it waits for a foreign znode that never goes
/// (CURATOR-43; python-zk/kazoo d2140dd).
pub(super) static EVERY_CHILD: Workload = WORKLOAD.mutant(
    "lock-every-child",
    "every child of the directory counts as a contender",
    Caught::by(Mx7).harm(&[Mx8]).seen("CURATOR-43"),
    &[],
    |_| Plan { rounds: 4, ..Plan::calm() }.with_interference(&[Act::Child], 0.25, 4),
    |task| run(task, &Mutation { rank: last_ten, ..Mutation::RIGHT }),
);

/// The last ten characters, whatever they are; a shorter name comes before all others.
fn last_ten(name: &str) -> Option<&str> {
    name.len().checked_sub(10).and_then(|at| name.get(at..))
}
