//! Mutants of the name service: a claim with one wrong step.

mod copy;
mod freshness;
pub(super) mod lies;

use super::workload::{WORKLOAD, client};
use crate::claims::Mutation;
use crate::prelude::*;
use copy::MutantNames;

/// All mutants.
pub(super) static ALL: &[&Workload] =
    &[&EXISTS_IS_MINE, &LOSS_IS_REFUSAL, &RELEASE_BY_NAME, &freshness::SYNCED_READS_LOCALLY];

/// The mutants that real servers kill, without the simulation's faults.
pub(super) static REAL: &[&RealWorkload] = &[&EXISTS_IS_MINE_REAL];

/// One client's part, with the copy.
fn run<C: Client>(task: Task<C>, mutation: &'static Mutation) -> BoxFuture<'static, ()> {
    let make = Box::new(move |zk: &C::Zk, _| MutantNames { zk: zk.clone(), mutation });
    client(task, make).boxed()
}

/// A name service that takes "the znode exists already" for success: each client that asks for a name believes that it
/// owns it.
///
/// After "Name Service" of ZooKeeper's recipes page, which only says that the API is enough.
static EXISTS_IS_MINE: Workload = WORKLOAD.mutant(
    "names-exists-is-mine",
    "a name service that takes NodeExists for success",
    Caught::by(Ns1).within(1).seen("the recipes page"),
    &[],
    |_| Plan { rounds: 4, ..Plan::calm() },
    |task| run(task, &TAKES_WHAT_IS_THERE),
);

static TAKES_WHAT_IS_THERE: Mutation = Mutation { exists_is_anothers: false, ..Mutation::RIGHT };

/// The same on real servers.
static EXISTS_IS_MINE_REAL: RealWorkload =
    RealWorkload::new(&EXISTS_IS_MINE, |task| run(task, &TAKES_WHAT_IS_THERE), &[]);

/// A name service that takes a connection loss for a refusal: the caller learns that another client has the name, but
/// owns it itself for as long as its session lives.
static LOSS_IS_REFUSAL: Workload = WORKLOAD.mutant(
    "names-loss-is-refusal",
    "a name service that takes connection loss for a refusal",
    Caught::by(Ns3),
    &[Fault::ReplyLost],
    |_| Plan { rounds: 4, ..Plan::calm().with(&[Fault::ReplyLost], 0.05) },
    |task| run(task, &Mutation { looks_after_loss: false, ..Mutation::RIGHT }),
);

/// A name service that releases a name without a check of its owner: after its session has ended, it deletes the next
/// owner's.
static RELEASE_BY_NAME: Workload = WORKLOAD.mutant(
    "names-release-by-name",
    "a name service that releases a name by its path alone, whoever owns it by then",
    Caught::by(Ns4),
    &[Fault::SessionExpiry],
    |_| Plan {
        rounds: 30,
        timeout_ms: 2000,
        hostile_ms: 100_000,
        faults: 30,
        ..Plan::calm().with(&[Fault::SessionExpiry], 0.25)
    },
    |task| run(task, &Mutation { releases_its_own: false, ..Mutation::RIGHT }),
);
