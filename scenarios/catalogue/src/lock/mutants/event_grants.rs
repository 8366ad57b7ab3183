//! A lock whose waiters hold as soon as they are woken, without a second look: "the znode ahead is gone" is taken for "it is
//! my turn", also when a waiter in the middle of the line gave up.
//!
//! Caught by MX-4 (granted without a right) within some 20 seeds; the harm is MX-3 (mutual exclusion).

use super::bend::{Bend, Bent};
use crate::lock::workload::client;
use futures_util::FutureExt;
use sim_zk::fault::Fault;
use zk_checker::RuleId;
use zk_harness::caught::{Caught, Promise};
use zk_harness::plan::Plan;
use zk_harness::target::Target;

pub(super) static TARGET: Target = Target {
    name: "lock-event-grants",
    about: "any wake-up grants, without a second look",
    caught_by: Some(
        Caught::by(RuleId::Mx4)
            .harm(&[RuleId::Mx3])
            .breaks(Promise::Exclusion)
            .seen("Curator#1290 is of this kind"),
    ),
    faults: FAULTS,
    plan: |_| Plan { clients: 4, ..Plan::calm() }.with(FAULTS, 0.05),
    sim: |c, setting, rounds, done| client::<_, Bent<_, EventGrants>>(c, setting, rounds, done).boxed(),
    ..Target::mutant_of(&crate::lock::workload::TARGET)
};

const FAULTS: &[Fault] = &[Fault::Cancel];

/// The wrong step.
#[derive(Clone)]
struct EventGrants;

impl Bend for EventGrants {
    const LOOKS_AGAIN: bool = false;
}
