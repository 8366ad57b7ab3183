//! A double barrier with sequential znodes that, to leave, deletes the name that it had asked for: there is no such znode,
//! which it takes for "deleted already" (ZOOKEEPER-4406).
//!
//! Its znode stays, and so does everybody. Caught by DB-6 (progress) in the first seeds, on a calm network; the harm is DB-10.

use super::bend::{Bend, Bent, objects};
use crate::double_barrier::workload::client;
use futures_util::FutureExt;
use sim_zk::fault::Fault;
use zk_checker::RuleId;
use zk_harness::caught::Caught;
use zk_harness::plan::Plan;
use zk_harness::target::Target;

pub(super) static TARGET: Target = Target {
    name: "double-barrier-asked-name",
    about: "a double barrier with sequential znodes that deletes the name it had asked for",
    caught_by: Some(Caught::by(RuleId::Db6).within(1).seen("ZOOKEEPER-4406")),
    faults: FAULTS,
    plan: |_| Plan { clients: 3, rounds: 1, ..Plan::calm().with(FAULTS, 0.05) },
    sim: |c, setting, rounds, done| client::<_, Bent<_, AskedName>>(c, setting, rounds, done).boxed(),
    objects,
    ..Target::mutant_of(&crate::double_barrier::workload::TARGET)
};

const FAULTS: &[Fault] = &[];

/// The wrong step.
struct AskedName;

impl Bend for AskedName {
    const DELETES_ITS_OWN: bool = false;
}
