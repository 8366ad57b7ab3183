//! Mutants with wrong steps in waiting.

use super::copy::Mutation;
use super::{BASE, run};
use crate::prelude::*;
use crate::queue::workload::{QUEUES, Way, client, objects, open};
use zk_recipes::{Consumer, Idle, Producer};

/// A queue that is declared free of herds, but whose idle consumers all watch it, as in ZooKeeper's recipes page: every
/// put wakes all consumers.
pub(super) static ALL_WATCH: Workload = Workload {
    objects,
    ..BASE.mutant(
        "queue-all-watch",
        "a queue whose idle consumers all watch it, and that is declared to wake one",
        Caught::by(Qu7).within(5).breaks(Promise::NoHerd).seen("the recipes page"),
        &[],
        |_| Plan { clients: 6, rounds: 6, ..Plan::calm() },
        |task| client(task, &QUEUES, Box::new(open_as_textbook)).boxed(),
    )
};

/// The right queue, used differently than declared.
fn open_as_textbook<Z: ZooKeeper>(zk: &Z, way: &Way, prefetch: usize) -> (Producer<Z>, Consumer<Z>) {
    open(zk, &Way { idle: Idle::Textbook, ..*way }, prefetch)
}

/// A queue whose consumers do not watch again when another was faster: they wait for ever while items come and go.
pub(super) static NO_NEW_WATCH: Workload = BASE.mutant(
    "queue-no-new-watch",
    "a queue whose consumers do not watch again after a lost race",
    Caught::by(Qu6).within(40),
    &[],
    |_| Plan { rounds: 12, ..Plan::calm() },
    |task| run(task, &Mutation { watches_again: false, ..Mutation::RIGHT }),
);

/// A queue whose consumers wait, without a watch, when the queue's znode is missing: they are not notified of its
/// creation (CURATOR-308).
pub(super) static PARENT_IGNORED: Workload = BASE.mutant(
    "queue-parent-ignored",
    "a queue whose consumers wait without a watch while the queue is missing",
    Caught::by(Qu6).seen("CURATOR-308"),
    &[],
    |_| Plan { rounds: 6, ..Plan::calm() },
    |task| run(task, &Mutation { makes_parent: false, ..Mutation::RIGHT }),
);

/// A queue whose consumers wait, without a watch, when the queue's znode is missing, under a foreign client that
/// deletes the whole queue: they are not notified of its creation (CURATOR-308).
pub(super) static PARENT_TAKEN_UNSEEN: Workload = Workload {
    name: "queue-parent-taken-unseen",
    about: "a queue whose consumers wait without a watch when a foreign client has deleted the queue",
    plan: |_| Plan { rounds: 6, ..Plan::calm() }.with_interference(&[Act::Parent], 0.25, 4),
    ..PARENT_IGNORED
};
