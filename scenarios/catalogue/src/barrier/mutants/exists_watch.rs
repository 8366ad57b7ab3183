//! A barrier that asks whether its znode exists, with a watch, as ZooKeeper's recipes page has it: on a barrier that does not
//! stand, that leaves a watch on its creation, which nobody waits for (CURATOR-654).
//!
//! Caught by BA-4 (nothing left at a barrier) in the first seeds, on a calm network.

use super::bend::{Bend, Bent};
use crate::barrier::workload::client;
use futures_util::FutureExt;
use sim_zk::fault::Fault;
use zk_checker::RuleId;
use zk_harness::caught::Caught;
use zk_harness::plan::Plan;
use zk_harness::target::Target;

pub(super) static TARGET: Target = Target {
    name: "barrier-exists-watch",
    about: "a barrier that asks exists with a watch, and leaves it behind when none stands",
    caught_by: Some(Caught::by(RuleId::Ba4).within(1).seen("CURATOR-654; the recipes page")),
    faults: FAULTS,
    plan: |_| Plan { rounds: 4, ..Plan::calm().with(FAULTS, 0.05) },
    sim: |c, setting, rounds, done| client::<_, Bent<_, LeavesTheWatch>>(c, setting, rounds, done).boxed(),
    ..Target::mutant_of(&crate::barrier::workload::TARGET)
};

const FAULTS: &[Fault] = &[];

/// The wrong step.
#[derive(Clone)]
struct LeavesTheWatch;

impl Bend for LeavesTheWatch {
    const NO_WATCH_LEFT: bool = false;
}
