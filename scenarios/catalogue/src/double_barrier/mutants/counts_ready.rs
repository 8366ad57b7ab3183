//! A double barrier that counts all children, `ready` among them, on a path that is used again: in the second round one less is
//! enough (Netflix/curator#99).
//!
//! Caught by DB-3 (who is counted) within 20 seeds, on a calm network; the harm is DB-1.

use super::bend::{Bend, Bent, objects};
use crate::double_barrier::workload::client;
use futures_util::FutureExt;
use sim_zk::fault::Fault;
use zk_checker::RuleId;
use zk_harness::caught::{Caught, Promise};
use zk_harness::plan::Plan;
use zk_harness::target::Target;

pub(super) static TARGET: Target = Target {
    name: "double-barrier-counts-ready",
    about: "a double barrier that counts ready as a participant, on a path that is used again",
    caught_by: Some(
        Caught::by(RuleId::Db3).harm(&[RuleId::Db1]).breaks(Promise::Barriers).seen("Netflix/curator#99"),
    ),
    faults: FAULTS,
    plan: |_| Plan { clients: 2, rounds: 8, ..Plan::calm().with(FAULTS, 0.05) },
    sim: |c, setting, rounds, done| client::<_, Bent<_, CountsReady>>(c, setting, rounds, done).boxed(),
    objects,
    ..Target::mutant_of(&crate::double_barrier::workload::TARGET)
};

const FAULTS: &[Fault] = &[];

/// The wrong step.
struct CountsReady;

impl Bend for CountsReady {
    const FRESH_PATH: bool = false;
    const READY_IS_NOBODY: bool = false;
    const READY_GOES: bool = false;
}
