//! A double barrier whose `ready` is a regular znode that nobody removes, as ZooKeeper's recipes page has it, on a path that is
//! used again: the second round is open before anybody comes.
//!
//! Caught by DB-4 (generations) in the first seeds, on a calm network; the harm is DB-1.

use super::bend::{Bend, Bent, objects};
use crate::double_barrier::workload::client;
use futures_util::FutureExt;
use sim_zk::fault::Fault;
use zk_checker::RuleId;
use zk_harness::caught::{Caught, Promise};
use zk_harness::plan::Plan;
use zk_harness::target::Target;

pub(super) static TARGET: Target = Target {
    name: "double-barrier-ready-stays",
    about: "a double barrier whose ready is never removed, on a path that is used again",
    caught_by: Some(
        Caught::by(RuleId::Db4)
            .within(1)
            .harm(&[RuleId::Db1])
            .breaks(Promise::Barriers)
            .seen("the recipes page"),
    ),
    faults: FAULTS,
    plan: |_| Plan { clients: 3, rounds: 6, ..Plan::calm().with(FAULTS, 0.05) },
    sim: |c, setting, rounds, done| client::<_, Bent<_, ReadyStays>>(c, setting, rounds, done).boxed(),
    objects,
    ..Target::mutant_of(&crate::double_barrier::workload::TARGET)
};

const FAULTS: &[Fault] = &[];

/// The wrong step.
struct ReadyStays;

impl Bend for ReadyStays {
    const FRESH_PATH: bool = false;
    const READY_GOES: bool = false;
}
