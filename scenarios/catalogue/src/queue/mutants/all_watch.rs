//! A queue that is declared free of herds, and whose idle consumers all watch it, as on ZooKeeper's recipes page: every put
//! wakes everybody.
//!
//! Caught by QU-7 (wake-ups of consumers) in the first run in which two wait.

use crate::queue::workload::{self as queue, QUEUES, Way, client};
use futures_util::FutureExt;
use zk_checker::RuleId;
use zk_harness::caught::{Caught, Promise};
use zk_harness::plan::Plan;
use zk_harness::target::Target;
use zk_recipes::zk::ZooKeeper;
use zk_recipes::{Consumer, Idle, Producer};

pub(super) static TARGET: Target = Target {
    name: "queue-all-watch",
    about: "a queue whose idle consumers all watch it, and that is declared to wake one",
    caught_by: Some(Caught::by(RuleId::Qu7).within(5).breaks(Promise::NoHerd).seen("the recipes page")),
    faults: &[],
    plan: |_| Plan { clients: 6, rounds: 6, ..Plan::calm() },
    sim: |c, setting, rounds, done| client::<_, AllWatch>(c, setting, rounds, done, &QUEUES).boxed(),
    ..Target::mutant_of(&crate::queue::workload::TARGET)
};

/// The library's queue, used in another way than it is declared.
struct AllWatch;

impl<Z: ZooKeeper> queue::Recipe<Z> for AllWatch {
    type Puts = Producer<Z>;
    type Gets = Consumer<Z>;

    fn open(zk: &Z, way: &Way, prefetch: usize) -> (Producer<Z>, Consumer<Z>) {
        let textbook = Way { idle: Idle::Textbook, ..*way };
        <queue::Right as queue::Recipe<Z>>::open(zk, &textbook, prefetch)
    }
}
