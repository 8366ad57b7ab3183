//! A shared lock whose writers wait for writers alone: they enter beside readers.
//!
//! Caught by RW-2 (granted without a right) in the first runs; the harm is RW-1 (readers and writers).

use super::bend::{BendShared, BentShared, ahead, is_writer};
use crate::lock::mutants::bend::number;
use crate::shared_lock::workload::client;
use futures_util::FutureExt;
use zk_checker::RuleId;
use zk_harness::caught::Caught;
use zk_harness::plan::Plan;
use zk_harness::target::Target;

pub(super) static TARGET: Target = Target {
    name: "shared-lock-writer-passes-readers",
    about: "writers wait for writers alone, and enter beside readers",
    caught_by: Some(
        Caught::by(RuleId::Rw2)
            .or(&[(RuleId::Rw5, "a writer that goes wakes it although readers still stand ahead")])
            .within(5)
            .harm(&[RuleId::Rw1]),
    ),
    faults: &[],
    plan: |_| Plan { clients: 4, ..Plan::calm() },
    sim: |c, setting, rounds, done| {
        client::<_, BentShared<_, PassesReaders>>(c, setting, rounds, done).boxed()
    },
    ..Target::mutant_of(&crate::shared_lock::workload::TARGET)
};

/// The wrong step.
#[derive(Clone)]
struct PassesReaders;

impl BendShared for PassesReaders {
    fn in_the_way<'a>(_: bool, own: &str, names: &'a [String]) -> Option<&'a String> {
        ahead(own, names).filter(|name| is_writer(name)).max_by_key(|name| number(name))
    }
}
