//! A queue that passes over an item whose delete was not answered, and takes the next: if it did arrive, the item is lost.
//!
//! Caught by QU-2 (no loss) within some 20 seeds with lost replies.

use super::bend::{Bend, Bent, ONE, Unanswered, one};
use crate::plan::Plan;
use crate::target::Target;
use crate::workloads::queue::client;
use crate::zoo::Caught;
use futures_util::FutureExt;
use sim_zk::fault::Fault;
use zk_checker::RuleId;

pub(super) static TARGET: Target = Target {
    name: "queue-passes-over-in-doubt",
    about: "a queue that passes over an item whose delete was not answered",
    caught_by: Some(Caught::by(RuleId::Qu2)),
    faults: FAULTS,
    plan: |_| Plan { rounds: 8, ..Plan::calm().with(FAULTS, 0.1) },
    objects: one,
    sim: |c, setting, rounds, done| client::<_, Bent<PassesOver>>(c, setting, rounds, done, &ONE).boxed(),
    // Without lost messages it does nothing wrong.
    real: None,
    required: &[],
    required_on_real: &[],
    stated: &crate::workloads::queue::STATED,
};

const FAULTS: &[Fault] = &[Fault::ReplyLost];

/// The wrong step.
struct PassesOver;

impl Bend for PassesOver {
    const UNANSWERED: Unanswered = Unanswered::PassedOver;
}
