//! A double barrier whose entrants take any wake-up for the opening: a change of the session's state since they began lets them in
//! (apache/curator, GH-1290).
//!
//! Caught by DB-9 (one phase at a time) within 20 seeds with disconnects; the harm is DB-1.

use super::bend::{Bend, Bent, objects};
use crate::double_barrier::workload::client;
use futures_util::FutureExt;
use sim_zk::fault::Fault;
use zk_checker::RuleId;
use zk_harness::caught::{Caught, Promise};
use zk_harness::plan::Plan;
use zk_harness::target::Target;

pub(super) static TARGET: Target = Target {
    name: "double-barrier-any-wake",
    about: "a double barrier that any wake-up lets in, a lost connection too",
    caught_by: Some(
        Caught::by(RuleId::Db9).harm(&[RuleId::Db1]).breaks(Promise::Barriers).seen("Curator#1290"),
    ),
    faults: FAULTS,
    plan: |_| Plan { clients: 3, rounds: 3, ..Plan::calm().with(FAULTS, 0.05) },
    sim: |c, setting, rounds, done| client::<_, Bent<_, AnyWake>>(c, setting, rounds, done).boxed(),
    objects,
    ..Target::mutant_of(&crate::double_barrier::workload::TARGET)
};

const FAULTS: &[Fault] = &[Fault::Disconnect];

/// The wrong step.
struct AnyWake;

impl Bend for AnyWake {
    const ONLY_READY: bool = false;
}
