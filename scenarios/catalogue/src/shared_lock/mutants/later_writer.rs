//! A shared lock whose readers wait for any writer in the list: where none is ahead, for one behind them, which waits for the
//! reader, and both wait for ever (kazoo#649).
//!
//! Caught by RW-4 (readers together) within a few seeds; the harm is MX-8 (progress).

use super::bend::{BendShared, BentShared, is_writer, nearest_ahead};
use crate::lock::mutants::bend::number;
use crate::shared_lock::workload::client;
use futures_util::FutureExt;
use zk_checker::RuleId;
use zk_harness::caught::Caught;
use zk_harness::plan::Plan;
use zk_harness::target::Target;

pub(super) static TARGET: Target = Target {
    name: "shared-lock-later-writer",
    about: "a reader waits for a writer behind it, which waits for the reader",
    caught_by: Some(Caught::by(RuleId::Rw4).within(5).harm(&[RuleId::Mx8]).seen("kazoo#649")),
    faults: &[],
    plan: |_| Plan { clients: 4, ..Plan::calm() },
    sim: |c, setting, rounds, done| client::<_, BentShared<_, AnyWriter>>(c, setting, rounds, done).boxed(),
    ..Target::mutant_of(&crate::shared_lock::workload::TARGET)
};

/// The wrong step.
#[derive(Clone)]
struct AnyWriter;

impl BendShared for AnyWriter {
    fn in_the_way<'a>(reads: bool, own: &str, names: &'a [String]) -> Option<&'a String> {
        let later = names.iter().filter(|name| reads && is_writer(name) && number(name) > number(own));
        nearest_ahead(reads, own, names).or_else(|| later.min_by_key(|name| number(name)))
    }
}
