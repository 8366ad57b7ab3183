//! A double barrier that opens when one participant is still missing: whoever counts takes itself for one that is not in the list
//! yet.
//!
//! Caught by DB-3 (who is counted) in the first run; the harm is DB-9 (one phase at a time).

use super::bend::{Bend, Bent, objects};
use crate::double_barrier::workload::client;
use futures_util::FutureExt;
use zk_checker::RuleId;
use zk_harness::caught::{Caught, Promise};
use zk_harness::plan::Plan;
use zk_harness::target::Target;

pub(super) static TARGET: Target = Target {
    name: "double-barrier-one-short",
    about: "a double barrier that opens when one participant is still missing",
    caught_by: Some(Caught::by(RuleId::Db3).within(1).harm(&[RuleId::Db9]).breaks(Promise::Barriers)),
    faults: &[],
    plan: |_| Plan::calm(),
    sim: |c, setting, rounds, done| client::<_, Bent<_, OneShort>>(c, setting, rounds, done).boxed(),
    objects,
    ..Target::mutant_of(&crate::double_barrier::workload::TARGET)
};

/// The wrong step.
struct OneShort;

impl Bend for OneShort {
    const MISSING: usize = 1;
}
