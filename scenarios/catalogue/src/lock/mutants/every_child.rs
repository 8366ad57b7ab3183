//! A lock that takes every child of its directory for a contender: it waits for a znode that is none and never goes
//! (CURATOR-43; python-zk/kazoo d2140dd).
//!
//! Caught by MX-7 (lost wake-up) when a stranger leaves a child in the directory; the harm is MX-8 (progress).

use super::bend::{Bend, Bent};
use crate::lock::workload::client;
use futures_util::FutureExt;
use zk_checker::RuleId;
use zk_harness::caught::Caught;
use zk_harness::plan::Act;
use zk_harness::plan::Plan;
use zk_harness::target::Target;

pub(super) static TARGET: Target = Target {
    name: "lock-every-child",
    about: "every child of the directory counts as a contender",
    caught_by: Some(Caught::by(RuleId::Mx7).harm(&[RuleId::Mx8]).seen("CURATOR-43")),
    faults: &[],
    plan: |_| Plan { rounds: 4, ..Plan::calm() }.with_strangers(&[Act::Child], 0.25, 4),
    sim: |c, setting, rounds, done| client::<_, Bent<_, EveryChild>>(c, setting, rounds, done).boxed(),
    ..Target::mutant_of(&crate::lock::workload::TARGET)
};

/// The wrong step.
#[derive(Clone)]
struct EveryChild;

impl Bend for EveryChild {
    /// By the last ten characters, whatever they are; who has fewer stands before all others.
    fn rank(name: &str) -> Option<&str> {
        name.len().checked_sub(10).and_then(|at| name.get(at..))
    }
}
