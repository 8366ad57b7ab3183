//! A queue that hands out an item whose delete was not answered: if it never arrived, somebody else gets the item too.
//!
//! Caught by QU-1 (no duplicate) within some 20 seeds with lost requests.

use super::bend::{Bend, Bent, ONE, Unanswered, one};
use crate::queue::workload::client;
use futures_util::FutureExt;
use sim_zk::fault::Fault;
use zk_checker::RuleId;
use zk_harness::caught::Caught;
use zk_harness::plan::Plan;
use zk_harness::target::Target;

pub(super) static TARGET: Target = Target {
    name: "queue-hands-out-in-doubt",
    about: "a queue that hands out an item whose delete was not answered",
    caught_by: Some(Caught::by(RuleId::Qu1)),
    faults: FAULTS,
    plan: |_| Plan { rounds: 8, ..Plan::calm().with(FAULTS, 0.1) },
    objects: one,
    sim: |c, setting, rounds, done| client::<_, Bent<HandsOut>>(c, setting, rounds, done, &ONE).boxed(),
    ..Target::mutant_of(&crate::queue::workload::TARGET)
};

const FAULTS: &[Fault] = &[Fault::RequestLost];

/// The wrong step.
struct HandsOut;

impl Bend for HandsOut {
    const UNANSWERED: Unanswered = Unanswered::HandedOut;
}
