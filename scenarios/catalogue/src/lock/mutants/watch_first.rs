//! A lock whose waiters all watch the first in line: every release wakes everybody (kazoo 7dd4c4c).
//!
//! Caught by MX-13 (cost) in the first run in which two wait. It does no other harm.

use super::bend::{Bend, Bent, Watches};
use crate::lock::workload::client;
use futures_util::FutureExt;
use zk_checker::RuleId;
use zk_harness::caught::{Caught, Promise};
use zk_harness::plan::Plan;
use zk_harness::target::Target;
use zk_real::RealTarget;

pub(super) static TARGET: Target = Target {
    name: "lock-watch-first",
    about: "a lock whose waiters all watch the first in line",
    caught_by: Some(Caught::by(RuleId::Mx13).within(1).breaks(Promise::NoHerd).seen("kazoo 7dd4c4c")),
    faults: &[],
    plan: |_| Plan { clients: 4, ..Plan::calm() },
    sim: |c, setting, rounds, done| client::<_, Bent<_, WatchesTheFirst>>(c, setting, rounds, done).boxed(),
    ..Target::mutant_of(&crate::lock::workload::TARGET)
};

/// The same on real servers.
pub(super) static REAL: RealTarget = RealTarget {
    target: &TARGET,
    part: |c, setting, rounds, done| client::<_, Bent<_, WatchesTheFirst>>(c, setting, rounds, done).boxed(),
    required: &[RuleId::Mx1, RuleId::Mx13],
    is_long: false,
};

/// The wrong step.
#[derive(Clone)]
struct WatchesTheFirst;

impl Bend for WatchesTheFirst {
    const WATCHES: Watches = Watches::First;
}
