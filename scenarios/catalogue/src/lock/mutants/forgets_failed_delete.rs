//! A lock whose release forgets it although the delete failed with the connection: the znode stands in line as long as the
//! session lives (CURATOR-678, CURATOR-202).
//!
//! Caught by MX-12 (end of interest) within some 20 seeds with lost requests; the harm is MX-8 (progress).

use super::bend::{Bend, Bent, Habits};
use crate::lock::workload::client;
use futures_util::FutureExt;
use sim_zk::fault::Fault;
use zk_checker::RuleId;
use zk_harness::caught::Caught;
use zk_harness::plan::Plan;
use zk_harness::target::Target;

pub(super) static TARGET: Target = Target {
    name: "lock-forgets-failed-delete",
    about: "a release forgets the lock although its delete failed",
    caught_by: Some(Caught::by(RuleId::Mx12).harm(&[RuleId::Mx8]).seen("CURATOR-678, CURATOR-202")),
    faults: FAULTS,
    plan: |_| Plan::calm().with(FAULTS, 0.05),
    sim: |c, setting, rounds, done| {
        client::<_, Bent<_, ForgetsAFailedDelete>>(c, setting, rounds, done).boxed()
    },
    ..Target::mutant_of(&crate::lock::workload::TARGET)
};

const FAULTS: &[Fault] = &[Fault::RequestLost];

/// The wrong step.
#[derive(Clone)]
struct ForgetsAFailedDelete;

impl Bend for ForgetsAFailedDelete {
    const HABITS: Habits = Habits { stops: true, tries_until_certain: false, number_is_token: false };
}
