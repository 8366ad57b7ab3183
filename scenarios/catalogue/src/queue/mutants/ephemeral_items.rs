//! A queue whose items are ephemeral, as ZooKeeper's recipes page has them: they go with their producer's session.
//!
//! Caught by QU-8 (items stay) at the first put. The harm, lost items, shows when a producer dies.

use super::bend::{Bend, BentPuts, ONE, one};
use crate::queue::workload::{self as queue, Way, client};
use futures_util::FutureExt;
use sim_zk::fault::Fault;
use zk_checker::RuleId;
use zk_harness::caught::Caught;
use zk_harness::plan::Plan;
use zk_harness::target::Target;
use zk_recipes::Consumer;
use zk_recipes::zk::{CreateMode, ZooKeeper};

pub(super) static TARGET: Target = Target {
    name: "queue-ephemeral-items",
    about: "a queue whose items are ephemeral, as on ZooKeeper's recipes page",
    caught_by: Some(Caught::by(RuleId::Qu8).within(1).harm(&[RuleId::Qu2]).seen("the recipes page")),
    faults: &[Fault::ClientCrash],
    plan: |_| Plan { rounds: 6, ..Plan::calm() }.with(TARGET.faults, 0.02),
    objects: one,
    sim: |c, setting, rounds, done| client::<_, Recipe>(c, setting, rounds, done, &ONE).boxed(),
    ..Target::mutant_of(&crate::queue::workload::TARGET)
};

/// The wrong step.
struct Ephemeral;

impl Bend for Ephemeral {
    const MODE: CreateMode = CreateMode::EphemeralSequential;
}

/// The library's consumers, and the wrong producers.
struct Recipe;

impl<Z: ZooKeeper> queue::Recipe<Z> for Recipe {
    type Puts = BentPuts<Z, Ephemeral>;
    type Gets = Consumer<Z>;

    fn open(zk: &Z, way: &Way, prefetch: usize) -> (BentPuts<Z, Ephemeral>, Consumer<Z>) {
        (BentPuts::new(zk, way), <queue::Right as queue::Recipe<Z>>::open(zk, way, prefetch).1)
    }
}
