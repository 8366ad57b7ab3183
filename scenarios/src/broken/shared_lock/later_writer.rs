//! A shared lock whose readers wait for any writer in the list: where none is ahead, for one behind them, which waits for the
//! reader, and both wait for ever (kazoo#649).
//!
//! Caught by RW-4 (readers together) within a few seeds; the harm is MX-8 (progress).

use super::bend::{BendShared, BentShared, is_writer, nearest_ahead};
use crate::broken::lock::bend::number;
use crate::plan::Plan;
use crate::target::Target;
use crate::workloads::shared_lock::{client, objects};
use crate::zoo::Caught;
use futures_util::FutureExt;
use zk_checker::RuleId;

pub(super) static TARGET: Target = Target {
    name: "shared-lock-later-writer",
    about: "a reader waits for a writer behind it, which waits for the reader",
    caught_by: Some(Caught::by(RuleId::Rw4).within(5).harm(&[RuleId::Mx8]).seen("kazoo#649")),
    faults: &[],
    plan: |_| Plan { clients: 4, ..Plan::calm() },
    objects,
    sim: |c, setting, rounds, done| client::<_, BentShared<_, AnyWriter>>(c, setting, rounds, done).boxed(),
    // A capture does not show what it takes to name it first.
    real: None,
    required: &[],
    required_on_real: &[],
    stated: &crate::workloads::shared_lock::STATED,
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
