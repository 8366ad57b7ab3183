//! A barrier whose waiters take the end of their session for the end of the barrier: any error ends the wait, and nobody looks which.
//!
//! Caught by BA-1 (barrier) within some 20 seeds with sessions that expire.

use super::bend::{Bend, Bent};
use crate::barrier::workload::client;
use futures_util::FutureExt;
use sim_zk::fault::Fault;
use zk_checker::RuleId;
use zk_harness::caught::{Caught, Promise};
use zk_harness::plan::Plan;
use zk_harness::target::Target;

pub(super) static TARGET: Target = Target {
    name: "barrier-opens-with-session",
    about: "a waiter whose session ends takes that for the end of the barrier",
    caught_by: Some(
        Caught::by(RuleId::Ba1)
            .or(&[(RuleId::Ba5, "it had been told of an event of the barrier before its session ended")])
            .breaks(Promise::Barriers),
    ),
    faults: FAULTS,
    plan: |_| Plan { rounds: 4, ..Plan::calm().with(FAULTS, 0.05) },
    sim: |c, setting, rounds, done| client::<_, Bent<_, OpensWithIt>>(c, setting, rounds, done).boxed(),
    ..Target::mutant_of(&crate::barrier::workload::TARGET)
};

const FAULTS: &[Fault] = &[Fault::SessionExpiry];

/// The wrong step.
#[derive(Clone)]
struct OpensWithIt;

impl Bend for OpensWithIt {
    const END_OF_SESSION_OPENS: bool = true;
}
