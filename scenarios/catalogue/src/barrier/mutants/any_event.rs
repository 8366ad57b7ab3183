//! A barrier whose waiters take any event for its end: a write into the barrier, or a change of the session's state.
//!
//! They pass while it stands (apache/curator, GH-1290, is of that class).
//!
//! Caught by BA-5 (no other event opens a barrier) within 20 seeds with disconnects; the harm is BA-1.

use super::bend::{Bend, Bent};
use crate::barrier::workload::client;
use futures_util::FutureExt;
use sim_zk::fault::Fault;
use zk_checker::RuleId;
use zk_harness::caught::{Caught, Promise};
use zk_harness::plan::Plan;
use zk_harness::target::Target;

pub(super) static TARGET: Target = Target {
    name: "barrier-any-event",
    about: "a barrier that any event opens, a lost connection too",
    caught_by: Some(
        Caught::by(RuleId::Ba5)
            .harm(&[RuleId::Ba1])
            .breaks(Promise::Barriers)
            .seen("Curator#1290 is of this kind"),
    ),
    faults: FAULTS,
    plan: |_| Plan { servers: 3, rounds: 6, faults: 10, ..Plan::calm().with(FAULTS, 0.02) },
    sim: |c, setting, rounds, done| client::<_, Bent<_, AnyEvent>>(c, setting, rounds, done).boxed(),
    ..Target::mutant_of(&crate::barrier::workload::TARGET)
};

const FAULTS: &[Fault] = &[Fault::ServerCrash];

/// The wrong step.
#[derive(Clone)]
struct AnyEvent;

impl Bend for AnyEvent {
    const ONLY_ITS_END: bool = false;
}
