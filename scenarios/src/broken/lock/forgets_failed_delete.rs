//! A lock whose release forgets it although the delete failed with the connection: the znode stands in line as long as the
//! session lives (CURATOR-678, CURATOR-202).
//!
//! Caught by MX-12 (end of interest) within some 20 seeds with lost requests; the harm is MX-8 (progress).

use super::bend::{Bend, Bent, Habits};
use crate::plan::Plan;
use crate::target::Target;
use crate::workloads::lock::{client, objects};
use crate::zoo::Caught;
use futures_util::FutureExt;
use sim_zk::fault::Fault;
use zk_checker::RuleId;

pub(super) static TARGET: Target = Target {
    name: "lock-forgets-failed-delete",
    about: "a release forgets the lock although its delete failed",
    caught_by: Some(Caught::by(RuleId::Mx12).harm(&[RuleId::Mx8]).seen("CURATOR-678, CURATOR-202")),
    faults: FAULTS,
    plan: |_| Plan::calm().with(FAULTS, 0.05),
    objects,
    sim: |c, setting, rounds, done| {
        client::<_, Bent<_, ForgetsAFailedDelete>>(c, setting, rounds, done).boxed()
    },
    // Without faults it does nothing wrong.
    real: None,
    required: &[],
    required_on_real: &[],
    stated: &crate::workloads::lock::STATED,
};

const FAULTS: &[Fault] = &[Fault::RequestLost];

/// The wrong step.
#[derive(Clone)]
struct ForgetsAFailedDelete;

impl Bend for ForgetsAFailedDelete {
    const HABITS: Habits = Habits { stops: true, tries_until_certain: false, number_is_token: false };
}
