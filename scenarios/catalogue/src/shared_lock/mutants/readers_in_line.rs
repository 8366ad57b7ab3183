//! A shared lock whose readers wait for whoever stands just ahead, reader or not: they hold one after the other.
//!
//! Caught by RW-4 (readers together) in the first runs. It does no other harm.

use super::bend::{BendShared, BentShared, ahead};
use crate::lock::mutants::bend::number;
use crate::shared_lock::workload::client;
use futures_util::FutureExt;
use zk_checker::RuleId;
use zk_harness::caught::Caught;
use zk_harness::plan::Plan;
use zk_harness::target::Target;

pub(super) static TARGET: Target = Target {
    name: "shared-lock-readers-in-line",
    about: "readers wait for the readers ahead of them",
    caught_by: Some(
        Caught::by(RuleId::Rw4)
            .or(&[(RuleId::Mx7, "where a writer stands ahead too, nothing tells it when that goes")])
            .within(5),
    ),
    faults: &[],
    plan: |_| Plan { clients: 4, ..Plan::calm() },
    sim: |c, setting, rounds, done| {
        client::<_, BentShared<_, WaitsForReaders>>(c, setting, rounds, done).boxed()
    },
    ..Target::mutant_of(&crate::shared_lock::workload::TARGET)
};

/// The wrong step.
#[derive(Clone)]
struct WaitsForReaders;

impl BendShared for WaitsForReaders {
    fn in_the_way<'a>(_: bool, own: &str, names: &'a [String]) -> Option<&'a String> {
        ahead(own, names).max_by_key(|name| number(name))
    }
}
