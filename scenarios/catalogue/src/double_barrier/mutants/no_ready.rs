//! A double barrier without `ready`: everybody counts the children until there are enough. A fast one has left again before a slow
//! one has counted, which waits for ever (ZOOKEEPER-1011).
//!
//! Caught by DB-6 (progress) within 20 seeds with answers that are slow.

use super::bend::{Bend, Bent, objects};
use crate::double_barrier::workload::client;
use futures_util::FutureExt;
use sim_zk::fault::Fault;
use zk_checker::RuleId;
use zk_harness::caught::Caught;
use zk_harness::plan::Plan;
use zk_harness::target::Target;

pub(super) static TARGET: Target = Target {
    name: "double-barrier-no-ready",
    about: "a double barrier without ready: everybody counts the children",
    caught_by: Some(Caught::by(RuleId::Db6).seen("ZOOKEEPER-1011")),
    faults: FAULTS,
    plan: |_| Plan { clients: 2, rounds: 6, ..Plan::calm().with(FAULTS, 0.2) },
    sim: |c, setting, rounds, done| client::<_, Bent<_, NoReady>>(c, setting, rounds, done).boxed(),
    objects,
    ..Target::mutant_of(&crate::double_barrier::workload::TARGET)
};

const FAULTS: &[Fault] = &[Fault::ReplyLate];

/// The wrong step.
struct NoReady;

impl Bend for NoReady {
    const HAS_READY: bool = false;
}
