//! A shared lock whose writers watch the highest reader ahead and enter when it goes, although lower ones may hold still
//! (zk-ruby, before e346f31).
//!
//! Caught by RW-2 (granted without a right) within some 20 seeds; the harm is RW-1 (readers and writers).

use super::bend::{BendShared, BentShared};
use crate::shared_lock::workload::client;
use futures_util::FutureExt;
use zk_checker::RuleId;
use zk_harness::caught::Caught;
use zk_harness::plan::Plan;
use zk_harness::target::Target;

pub(super) static TARGET: Target = Target {
    name: "shared-lock-highest-reader",
    about: "a writer watches the highest reader ahead and enters when it goes",
    caught_by: Some(Caught::by(RuleId::Rw2).harm(&[RuleId::Rw1]).seen("zk-ruby e346f31")),
    faults: &[],
    plan: |_| Plan { clients: 4, ..Plan::calm() },
    sim: |c, setting, rounds, done| {
        client::<_, BentShared<_, EntersWhenItGoes>>(c, setting, rounds, done).boxed()
    },
    ..Target::mutant_of(&crate::shared_lock::workload::TARGET)
};

/// The wrong step.
#[derive(Clone)]
struct EntersWhenItGoes;

impl BendShared for EntersWhenItGoes {
    const LOOKS_AGAIN: bool = false;
}
