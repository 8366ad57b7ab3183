//! A double barrier with one watcher for both phases: a notification of `ready` that comes late, when its receiver leaves
//! already, means to it that all are out (apache/curator, PR#416).
//!
//! Caught by DB-9 (one phase at a time) within 100 seeds, on a calm network; the harm is DB-2.

use super::bend::{Bend, Bent, objects};
use crate::double_barrier::workload::client;
use futures_util::FutureExt;
use sim_zk::fault::Fault;
use zk_checker::RuleId;
use zk_harness::caught::Caught;
use zk_harness::plan::Plan;
use zk_harness::target::Target;

pub(super) static TARGET: Target = Target {
    name: "double-barrier-one-watcher",
    about: "a double barrier with one watcher for both phases",
    caught_by: Some(Caught::by(RuleId::Db9).within(100).harm(&[RuleId::Db2]).seen("Curator#416")),
    faults: FAULTS,
    plan: |_| Plan { clients: 3, rounds: 3, ..Plan::calm().with(FAULTS, 0.05) },
    sim: |c, setting, rounds, done| client::<_, Bent<_, OneWatcher>>(c, setting, rounds, done).boxed(),
    objects,
    ..Target::mutant_of(&crate::double_barrier::workload::TARGET)
};

const FAULTS: &[Fault] = &[];

/// The wrong step.
struct OneWatcher;

impl Bend for OneWatcher {
    const OWN_WATCHES: bool = false;
}
