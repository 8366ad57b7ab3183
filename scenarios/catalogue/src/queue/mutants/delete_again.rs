//! A queue whose consumers send a delete again when its answer was lost, take "no such znode" for another consumer's work,
//! and go on to the next item: the first is lost, although the queue promises to lose none. Measured in Apache Curator 5.4
//! and Kazoo 2.11.
//!
//! Caught by QU-2 (no loss) when everything has come to rest.

use super::bend::{Bend, Bent, ONE, one};
use crate::queue::workload::client;
use futures_util::FutureExt;
use sim_zk::fault::Fault;
use zk_checker::RuleId;
use zk_harness::caught::Caught;
use zk_harness::plan::Plan;
use zk_harness::target::Target;

pub(super) static TARGET: Target = Target {
    name: "queue-delete-again",
    about: "a queue whose consumers send a delete again and take its refusal for another's work",
    caught_by: Some(Caught::by(RuleId::Qu2).seen("kazoo, Curator")),
    faults: &[Fault::ReplyLost],
    plan: |_| Plan { rounds: 6, ..Plan::calm() }.with(TARGET.faults, 0.05),
    objects: one,
    sim: |c, setting, rounds, done| client::<_, Bent<DeletesAgain>>(c, setting, rounds, done, &ONE).boxed(),
    ..Target::mutant_of(&crate::queue::workload::TARGET)
};

/// The wrong step.
struct DeletesAgain;

impl Bend for DeletesAgain {
    const DELETES_AGAIN: bool = true;
}
