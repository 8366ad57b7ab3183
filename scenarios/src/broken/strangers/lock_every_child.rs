//! A lock that takes every child of its directory for a contender: it waits for a znode that is none and never goes
//! (CURATOR-43; python-zk/kazoo d2140dd).
//!
//! Caught by MX-7 (lost wake-up) when a stranger leaves a child in the directory; the harm is MX-8 (progress).

use crate::broken::lock::bend::{Bend, Bent};
use crate::plan::Plan;
use crate::strangers::Act;
use crate::target::Target;
use crate::workloads::lock::{client, objects};
use crate::zoo::Caught;
use futures_util::FutureExt;
use zk_checker::RuleId;

pub(in crate::broken) static TARGET: Target = Target {
    name: "lock-every-child",
    about: "every child of the directory counts as a contender",
    caught_by: Some(Caught::by(RuleId::Mx7).harm(&[RuleId::Mx8]).seen("CURATOR-43")),
    faults: &[],
    plan: |_| Plan { rounds: 4, ..Plan::calm() }.with_strangers(&[Act::Child], 0.25, 4),
    objects,
    sim: |c, setting, rounds, done| client::<_, Bent<_, EveryChild>>(c, setting, rounds, done).boxed(),
    real: None,
    required: &[],
    required_on_real: &[],
    stated: &crate::workloads::lock::STATED,
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
