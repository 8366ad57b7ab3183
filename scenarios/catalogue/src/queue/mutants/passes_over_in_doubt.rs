//! A queue that passes over an item whose delete was not answered, and takes the next: if it did arrive, the item is lost.
//!
//! Caught by QU-2 (no loss) within some 20 seeds with lost replies.

use super::bend::{Bend, Bent, ONE, Unanswered, one};
use crate::queue::workload::client;
use futures_util::FutureExt;
use sim_zk::fault::Fault;
use zk_checker::RuleId;
use zk_harness::caught::Caught;
use zk_harness::plan::Plan;
use zk_harness::target::Target;

pub(super) static TARGET: Target = Target {
    name: "queue-passes-over-in-doubt",
    about: "a queue that passes over an item whose delete was not answered",
    caught_by: Some(Caught::by(RuleId::Qu2)),
    faults: FAULTS,
    plan: |_| Plan { rounds: 8, ..Plan::calm().with(FAULTS, 0.1) },
    objects: one,
    sim: |c, setting, rounds, done| client::<_, Bent<PassesOver>>(c, setting, rounds, done, &ONE).boxed(),
    ..Target::mutant_of(&crate::queue::workload::TARGET)
};

const FAULTS: &[Fault] = &[Fault::ReplyLost];

/// The wrong step.
struct PassesOver;

impl Bend for PassesOver {
    const UNANSWERED: Unanswered = Unanswered::PassedOver;
}
