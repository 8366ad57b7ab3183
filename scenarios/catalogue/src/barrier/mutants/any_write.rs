//! A barrier whose waiters take any event for its end: somebody writes into it, and they pass while it stands
//! (apache/curator, GH-1290, is of that class).
//!
//! Caught by BA-5 (no other event opens a barrier) when a stranger writes; the harm is BA-1.

use super::bend::{Bend, Bent};
use crate::barrier::workload::client;
use futures_util::FutureExt;
use sim_zk::fault::Fault;
use zk_checker::RuleId;
use zk_harness::caught::Caught;
use zk_harness::plan::Act;
use zk_harness::plan::Plan;
use zk_harness::target::Target;

/// The right barrier hears nothing of what is written: only the loss of its connection puts it to the test.
const FAULTS: &[Fault] = &[Fault::ServerCrash];

pub(super) static TARGET: Target = Target {
    name: "barrier-any-write",
    about: "a barrier that opens when somebody writes into it",
    caught_by: Some(Caught::by(RuleId::Ba5).harm(&[RuleId::Ba1]).seen("curator GH-1290")),
    faults: FAULTS,
    plan: |_| {
        let plan = Plan { servers: 3, rounds: 6, ..Plan::calm().with(FAULTS, 0.01) };
        plan.with_strangers(&[Act::Write], 0.25, 8)
    },
    sim: |c, setting, rounds, done| client::<_, Bent<_, AnyEvent>>(c, setting, rounds, done).boxed(),
    ..Target::mutant_of(&crate::barrier::workload::TARGET)
};

/// The wrong step.
#[derive(Clone)]
struct AnyEvent;

impl Bend for AnyEvent {
    const ONLY_ITS_END: bool = false;
}
