//! A queue whose producers put again when the answer to a put was lost: the item is there twice. Measured in Apache
//! Curator 5.4.
//!
//! Caught by QU-3 (one put, one item) at the second znode.

use super::bend::{Bend, BentPuts, ONE, one};
use crate::queue::workload::{self as queue, Way, client};
use futures_util::FutureExt;
use sim_zk::fault::Fault;
use zk_checker::RuleId;
use zk_harness::caught::Caught;
use zk_harness::plan::Plan;
use zk_harness::target::Target;
use zk_recipes::Consumer;
use zk_recipes::zk::ZooKeeper;

pub(super) static TARGET: Target = Target {
    name: "queue-put-again",
    about: "a queue whose producers put again when an answer was lost",
    caught_by: Some(Caught::by(RuleId::Qu3).seen("Curator")),
    faults: &[Fault::ReplyLost],
    plan: |_| Plan { rounds: 6, ..Plan::calm() }.with(TARGET.faults, 0.05),
    objects: one,
    sim: |c, setting, rounds, done| client::<_, Recipe>(c, setting, rounds, done, &ONE).boxed(),
    ..Target::mutant_of(&crate::queue::workload::TARGET)
};

/// The wrong step.
struct PutsAgain;

impl Bend for PutsAgain {
    const PUTS_AGAIN: bool = true;
}

/// The library's consumers, and the wrong producers.
struct Recipe;

impl<Z: ZooKeeper> queue::Recipe<Z> for Recipe {
    type Puts = BentPuts<Z, PutsAgain>;
    type Gets = Consumer<Z>;

    fn open(zk: &Z, way: &Way, prefetch: usize) -> (BentPuts<Z, PutsAgain>, Consumer<Z>) {
        (BentPuts::new(zk, way), <queue::Right as queue::Recipe<Z>>::open(zk, way, prefetch).1)
    }
}
