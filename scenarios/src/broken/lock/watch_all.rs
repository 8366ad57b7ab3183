//! A lock whose waiters all watch the directory, instead of each the znode just ahead: every release wakes everybody,
//! and every newcomer too. ZooKeeper's recipes page calls it the herd effect.
//!
//! Caught by MX-13 (cost) in the first run in which two wait. It does no other harm.

use super::bend::{Bend, Bent, Watches};
use crate::plan::Plan;
use crate::target::Target;
use crate::workloads::lock::{client, objects};
use crate::zoo::{Caught, Promise};
use futures_util::FutureExt;
use zk_checker::RuleId;

pub(super) static TARGET: Target = Target {
    name: "lock-watch-all",
    about: "a lock whose waiters all watch the directory: every release wakes everybody",
    caught_by: Some(
        Caught::by(RuleId::Mx13).within(1).breaks(Promise::NoHerd).seen("the recipes page warns of it"),
    ),
    faults: &[],
    plan: |_| Plan::calm(),
    objects,
    sim: |c, setting, rounds, done| client::<_, WatchAll<_>>(c, setting, rounds, done).boxed(),
    real: Some(|c, setting, rounds, done| client::<_, WatchAll<_>>(c, setting, rounds, done).boxed()),
    required: &[],
    required_on_real: &[RuleId::Mx1, RuleId::Mx13],
    stated: &crate::workloads::lock::STATED,
};

/// The broken lock.
type WatchAll<Z> = Bent<Z, WatchesTheDirectory>;

/// The wrong step.
#[derive(Clone)]
struct WatchesTheDirectory;

impl Bend for WatchesTheDirectory {
    const WATCHES: Watches = Watches::Directory;
}
