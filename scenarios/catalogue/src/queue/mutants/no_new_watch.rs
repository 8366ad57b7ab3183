//! A queue whose consumers do not watch again when another was faster: they wait for good while items come and go.
//!
//! Caught by QU-6 (nobody starves) at the instant at which nothing is left to wake one.

use super::bend::{Bend, Bent, ONE, one};
use crate::queue::workload::client;
use futures_util::FutureExt;
use zk_checker::RuleId;
use zk_harness::caught::Caught;
use zk_harness::plan::Plan;
use zk_harness::target::Target;

pub(super) static TARGET: Target = Target {
    name: "queue-no-new-watch",
    about: "a queue whose consumers do not watch again after another was faster",
    caught_by: Some(Caught::by(RuleId::Qu6).within(40)),
    faults: &[],
    plan: |_| Plan { rounds: 12, ..Plan::calm() },
    objects: one,
    sim: |c, setting, rounds, done| client::<_, Bent<WatchesOnce>>(c, setting, rounds, done, &ONE).boxed(),
    ..Target::mutant_of(&crate::queue::workload::TARGET)
};

/// The wrong step.
struct WatchesOnce;

impl Bend for WatchesOnce {
    const WATCHES_AGAIN: bool = false;
}
