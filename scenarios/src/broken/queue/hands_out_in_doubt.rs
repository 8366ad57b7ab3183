//! A queue that hands out an item whose delete was not answered: if it never arrived, somebody else gets the item too.
//!
//! Caught by QU-1 (no duplicate) within some 20 seeds with lost requests.

use super::bend::{Bend, Bent, ONE, Unanswered, one};
use crate::plan::Plan;
use crate::target::Target;
use crate::workloads::queue::client;
use crate::zoo::Caught;
use futures_util::FutureExt;
use sim_zk::fault::Fault;
use zk_checker::RuleId;

pub(super) static TARGET: Target = Target {
    name: "queue-hands-out-in-doubt",
    about: "a queue that hands out an item whose delete was not answered",
    caught_by: Some(Caught::by(RuleId::Qu1)),
    faults: FAULTS,
    plan: |_| Plan { rounds: 8, ..Plan::calm().with(FAULTS, 0.1) },
    objects: one,
    sim: |c, setting, rounds, done| client::<_, Bent<HandsOut>>(c, setting, rounds, done, &ONE).boxed(),
    // Without lost messages it does nothing wrong.
    real: None,
    required: &[],
    required_on_real: &[],
    stated: &crate::workloads::queue::STATED,
};

const FAULTS: &[Fault] = &[Fault::RequestLost];

/// The wrong step.
struct HandsOut;

impl Bend for HandsOut {
    const UNANSWERED: Unanswered = Unanswered::HandedOut;
}
