//! A shared lock whose readers look for names "starting with `write-`", as ZooKeeper's recipes page has it, although the
//! same page puts a guid in front: a reader never sees a writer.
//!
//! Caught by RW-2 (granted without a right) in the first run in which a reader stands behind a writer; the harm is RW-1
//! (readers and writers).

use super::bend::{BendShared, BentShared, ahead};
use crate::lock::mutants::bend::number;
use crate::shared_lock::workload::client;
use futures_util::FutureExt;
use zk_checker::RuleId;
use zk_harness::caught::Caught;
use zk_harness::plan::Plan;
use zk_harness::target::Target;

pub(super) static TARGET: Target = Target {
    name: "shared-lock-literal-names",
    about: "a reader looks for names that start with write-, and the guid stands in front",
    caught_by: Some(Caught::by(RuleId::Rw2).within(5).harm(&[RuleId::Rw1]).seen("the recipes page")),
    faults: &[],
    plan: |_| Plan { clients: 4, ..Plan::calm() },
    sim: |c, setting, rounds, done| {
        client::<_, BentShared<_, StartsWithWrite>>(c, setting, rounds, done).boxed()
    },
    ..Target::mutant_of(&crate::shared_lock::workload::TARGET)
};

/// The wrong step.
#[derive(Clone)]
struct StartsWithWrite;

impl BendShared for StartsWithWrite {
    fn in_the_way<'a>(reads: bool, own: &str, names: &'a [String]) -> Option<&'a String> {
        let others = ahead(own, names).filter(|name| !reads || name.starts_with("write-"));
        others.max_by_key(|name| number(name))
    }
}
