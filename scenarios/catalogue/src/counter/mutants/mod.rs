//! Mutants of the counter: as other libraries count, and one wrong step in it.

mod copy;
pub(super) mod lies;

use super::workload::{WORKLOAD, client};
use crate::prelude::*;
use copy::{Mutation, Optimistic};

/// All mutants.
pub(super) static ALL: &[&Workload] = &[
    &COUNTS_TWICE,
    &LOSS_IS_REFUSAL,
    &UNCONDITIONAL,
    &TELLS_ITS_FIRST_READ,
    &COMPARES_AND_THEN_SETS,
    &READS_LOCALLY,
];

/// One client's part, with the copy.
fn run<C: Client>(task: Task<C>, mutation: &'static Mutation) -> BoxFuture<'static, ()> {
    client(task, Box::new(move |zk: &C::Zk| Optimistic { zk: zk.clone(), mutation })).boxed()
}

fn crowd(_: u64) -> Plan {
    Plan { clients: 4, rounds: 6, ..Plan::calm() }
}

fn lossy(_: u64) -> Plan {
    Plan { rounds: 6, ..Plan::calm().with(&[Fault::ReplyLost], 0.05) }
}

/// A counter that reads and writes again after a lost reply: the addition was applied, and is applied once more. Seen in
/// Curator's `DistributedAtomicLong` and in Kazoo's `Counter`.
static COUNTS_TWICE: Workload = WORKLOAD.mutant(
    "counter-counts-twice",
    "an addition whose reply was lost is made again, whether it was applied or not",
    Caught::by(Ct1).seen("Curator 5.4, Kazoo 2.11"),
    &[Fault::ReplyLost],
    lossy,
    |task| run(task, &Mutation { looks_after_loss: true, ..Mutation::RIGHT }),
);

/// A counter that reports a lost reply as a refusal, as whoever takes `succeeded() == false` of Curator's `AtomicValue` for "not
/// added".
static LOSS_IS_REFUSAL: Workload = WORKLOAD.mutant(
    "counter-loss-is-refusal",
    "an addition whose reply was lost is reported as refused",
    Caught::by(Ct1),
    &[Fault::ReplyLost],
    lossy,
    |task| run(task, &Mutation { loss_is_refusal: true, ..Mutation::RIGHT }),
);

/// A counter that writes without the version that it has read. Its version counts each write, so additions of one are counted all
/// the same, and told wrong; of two others at once one is lost.
static UNCONDITIONAL: Workload = WORKLOAD.mutant(
    "counter-unconditional",
    "a counter that reads the count, and writes the sum on no condition",
    Caught::by(Ct2).or(&[(Ct1, "an addition of many is lost")]).within(20),
    &[],
    crowd,
    |task| run(task, &Mutation { writes_with_version: false, ..Mutation::RIGHT }),
);

/// A counter that tells what it has read first, and added to, although another client was faster and it has tried again.
static TELLS_ITS_FIRST_READ: Workload = WORKLOAD.mutant(
    "counter-tells-its-first-read",
    "an addition that was tried again tells the sum of its first try",
    Caught::by(Ct2).within(20),
    &[],
    crowd,
    |task| run(task, &Mutation { tells_its_last_try: false, ..Mutation::RIGHT }),
);

/// A counter that compares, and then sets on no condition.
static COMPARES_AND_THEN_SETS: Workload = WORKLOAD.mutant(
    "counter-compares-and-then-sets",
    "compare and set that compares what it has read, and then sets on no condition",
    Caught::by(Ct3),
    &[],
    |_| Plan { clients: 5, rounds: 12, ..Plan::calm() },
    |task| run(task, &Mutation { sets_with_version: false, ..Mutation::RIGHT }),
);

/// A counter that reads whatever the connected server has, however fresh it was asked for.
static READS_LOCALLY: Workload = WORKLOAD.mutant(
    "counter-reads-locally",
    "a read of the count that is to be fresh asks the connected server alone",
    Caught::by(An1).or(&[(Ct2, "the count was another one at its call")]),
    &[],
    |_| Plan { rounds: 8, ..Plan::calm() },
    |task| run(task, &Mutation { asks_as_freshly: false, ..Mutation::RIGHT }),
);
