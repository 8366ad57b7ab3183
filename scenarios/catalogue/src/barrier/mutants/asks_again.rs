//! A barrier whose waiters ask again after every event, the deletion too, as ZooKeeper's recipes page has it: who was let go and
//! finds the next barrier raised stays, for that and for every later one.
//!
//! Caught by BA-2 (a barrier opens) within 100 seeds, on a calm network.

use super::bend::{Bend, Bent};
use crate::barrier::workload::client;
use futures_util::FutureExt;
use sim_zk::fault::Fault;
use zk_checker::RuleId;
use zk_harness::caught::Caught;
use zk_harness::plan::Plan;
use zk_harness::target::Target;

pub(super) static TARGET: Target = Target {
    name: "barrier-asks-again",
    about: "a barrier whose waiters ask again after the event, and stay if it was raised again",
    caught_by: Some(Caught::by(RuleId::Ba2).seen("the recipes page")),
    faults: FAULTS,
    plan: |_| Plan { rounds: 4, ..Plan::calm().with(FAULTS, 0.05) },
    sim: |c, setting, rounds, done| client::<_, Bent<_, AsksAgain>>(c, setting, rounds, done).boxed(),
    ..Target::mutant_of(&crate::barrier::workload::TARGET)
};

const FAULTS: &[Fault] = &[];

/// The wrong step.
#[derive(Clone)]
struct AsksAgain;

impl Bend for AsksAgain {
    const EDGE: bool = false;
}
