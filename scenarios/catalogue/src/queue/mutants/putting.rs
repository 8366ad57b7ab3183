//! Mutants with wrong steps in putting. Their consumers are those of the right queue.

use super::copy::{MutantProducer, Mutation};
use super::{BASE, ONE};
use crate::prelude::*;
use crate::queue::workload::{self as queue, Way, client};
use zk_recipes::zk::CreateMode;

/// One client's part, with the copy's producers.
fn run<C: Client>(task: Task<C>, mutation: &'static Mutation) -> BoxFuture<'static, ()> {
    let open = Box::new(move |zk: &C::Zk, way: &Way, prefetch: usize| {
        (MutantProducer::new(zk, way, mutation), queue::open(zk, way, prefetch).1)
    });
    client(task, &ONE, open).boxed()
}

/// A queue whose items are ephemeral, as in ZooKeeper's recipes page: they are deleted with their producer's session.
///
/// The harm, lost items, shows when a producer dies.
pub(super) static EPHEMERAL_ITEMS: Workload = BASE.mutant(
    "queue-ephemeral-items",
    "a queue whose items are ephemeral, as on ZooKeeper's recipes page",
    Caught::by(Qu8).within(1).harm(&[Qu2]).seen("the recipes page"),
    &[Fault::ClientCrash],
    |_| Plan { rounds: 6, ..Plan::calm() }.with(&[Fault::ClientCrash], 0.02),
    |task| run(task, &Mutation { mode: CreateMode::EphemeralSequential, ..Mutation::RIGHT }),
);

/// A queue whose producers put again when the reply to a put was lost: the queue has the item twice. Measured in Apache
/// Curator 5.4.
pub(super) static PUT_AGAIN: Workload = BASE.mutant(
    "queue-put-again",
    "a queue whose producers put again after a lost reply",
    Caught::by(Qu3).seen("Curator"),
    &[Fault::ReplyLost],
    |_| Plan { rounds: 6, ..Plan::calm() }.with(&[Fault::ReplyLost], 0.05),
    |task| run(task, &Mutation { puts_again: true, ..Mutation::RIGHT }),
);
