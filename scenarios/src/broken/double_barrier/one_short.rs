//! A double barrier that opens when one participant is still missing: whoever counts takes itself for one that is not in the list
//! yet.
//!
//! Caught by DB-3 (who is counted) in the first run; the harm is DB-9 (one phase at a time).

use super::bend::{Bend, Bent, objects};
use crate::plan::Plan;
use crate::target::Target;
use crate::workloads::double_barrier::client;
use crate::zoo::{Caught, Promise};
use futures_util::FutureExt;
use zk_checker::RuleId;

pub(super) static TARGET: Target = Target {
    name: "double-barrier-one-short",
    about: "a double barrier that opens when one participant is still missing",
    caught_by: Some(Caught::by(RuleId::Db3).within(1).harm(&[RuleId::Db9]).breaks(Promise::Barriers)),
    faults: &[],
    plan: |_| Plan::calm(),
    objects,
    sim: |c, setting, rounds, done| client::<_, Bent<_, OneShort>>(c, setting, rounds, done).boxed(),
    real: None,
    required: &[],
    required_on_real: &[],
    stated: &crate::workloads::double_barrier::STATED,
};

/// The wrong step.
struct OneShort;

impl Bend for OneShort {
    const MISSING: usize = 1;
}
