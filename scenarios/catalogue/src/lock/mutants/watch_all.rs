//! A lock whose waiters all watch the directory, instead of each the znode just ahead: every release wakes everybody,
//! and every newcomer too. ZooKeeper's recipes page calls it the herd effect.
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
    name: "lock-watch-all",
    about: "a lock whose waiters all watch the directory: every release wakes everybody",
    caught_by: Some(
        Caught::by(RuleId::Mx13).within(1).breaks(Promise::NoHerd).seen("the recipes page warns of it"),
    ),
    faults: &[],
    plan: |_| Plan::calm(),
    sim: |c, setting, rounds, done| client::<_, WatchAll<_>>(c, setting, rounds, done).boxed(),
    ..Target::mutant_of(&crate::lock::workload::TARGET)
};

/// The same on real servers.
pub(super) static REAL: RealTarget = RealTarget {
    target: &TARGET,
    part: |c, setting, rounds, done| client::<_, WatchAll<_>>(c, setting, rounds, done).boxed(),
    required: &[RuleId::Mx1, RuleId::Mx13],
    is_long: false,
};

/// The broken lock.
type WatchAll<Z> = Bent<Z, WatchesTheDirectory>;

/// The wrong step.
#[derive(Clone)]
struct WatchesTheDirectory;

impl Bend for WatchesTheDirectory {
    const WATCHES: Watches = Watches::Directory;
}
