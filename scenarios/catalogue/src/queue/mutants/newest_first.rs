//! A queue that gives the newest item first: its names are sorted the wrong way round.
//!
//! Caught by QU-4 (first in, first out) as soon as two items wait.

use super::bend::{Bend, Bent, ONE, one};
use crate::queue::workload::client;
use futures_util::FutureExt;
use zk_checker::RuleId;
use zk_harness::caught::Caught;
use zk_harness::plan::Plan;
use zk_harness::target::Target;

pub(super) static TARGET: Target = Target {
    name: "queue-newest-first",
    about: "a queue that gives the newest item first",
    caught_by: Some(Caught::by(RuleId::Qu4).within(5)),
    faults: &[],
    plan: |_| Plan { rounds: 6, ..Plan::calm() },
    objects: one,
    sim: |c, setting, rounds, done| client::<_, Bent<NewestFirst>>(c, setting, rounds, done, &ONE).boxed(),
    ..Target::mutant_of(&crate::queue::workload::TARGET)
};

/// The wrong step.
struct NewestFirst;

impl Bend for NewestFirst {
    const NEWEST_FIRST: bool = true;
}
