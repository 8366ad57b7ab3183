//! A double barrier in which who leaves deletes its znode and goes, whoever is still inside.
//!
//! Caught by DB-2 (double barrier, leave) in the first seeds, on a calm network.

use super::bend::{Bend, Bent, objects};
use crate::double_barrier::workload::client;
use futures_util::FutureExt;
use sim_zk::fault::Fault;
use zk_checker::RuleId;
use zk_harness::caught::{Caught, Promise};
use zk_harness::plan::Plan;
use zk_harness::target::Target;

pub(super) static TARGET: Target = Target {
    name: "double-barrier-leave-at-once",
    about: "a double barrier in which who leaves waits for nobody",
    caught_by: Some(Caught::by(RuleId::Db2).within(1).breaks(Promise::Barriers)),
    faults: FAULTS,
    plan: |_| Plan { clients: 3, rounds: 3, ..Plan::calm().with(FAULTS, 0.05) },
    sim: |c, setting, rounds, done| client::<_, Bent<_, LeavesAtOnce>>(c, setting, rounds, done).boxed(),
    objects,
    ..Target::mutant_of(&crate::double_barrier::workload::TARGET)
};

const FAULTS: &[Fault] = &[];

/// The wrong step.
struct LeavesAtOnce;

impl Bend for LeavesAtOnce {
    const LEAVE_WAITS: bool = false;
}
