//! A barrier whose waiters only hear events of the barrier: when their session ends, with it their watch, they wait for ever.
//!
//! Caught by BA-2 (a barrier opens) within 20 seeds with sessions that expire.

use super::bend::{Bend, Bent};
use crate::barrier::workload::client;
use futures_util::FutureExt;
use sim_zk::fault::Fault;
use zk_checker::RuleId;
use zk_harness::caught::Caught;
use zk_harness::plan::Plan;
use zk_harness::target::Target;

pub(super) static TARGET: Target = Target {
    name: "barrier-deaf",
    about: "a barrier whose waiters do not hear that their session is over",
    caught_by: Some(Caught::by(RuleId::Ba2).seen("kazoo")),
    faults: FAULTS,
    plan: |_| Plan { rounds: 4, ..Plan::calm().with(FAULTS, 0.05) },
    sim: |c, setting, rounds, done| client::<_, Bent<_, DeafToTheEnd>>(c, setting, rounds, done).boxed(),
    ..Target::mutant_of(&crate::barrier::workload::TARGET)
};

const FAULTS: &[Fault] = &[Fault::SessionExpiry];

/// The wrong step.
#[derive(Clone)]
struct DeafToTheEnd;

impl Bend for DeafToTheEnd {
    const ENDS_WITH_SESSION: bool = false;
}
