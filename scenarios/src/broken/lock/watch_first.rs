//! A lock whose waiters all watch the first in line: every release wakes everybody (kazoo 7dd4c4c).
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
    name: "lock-watch-first",
    about: "a lock whose waiters all watch the first in line",
    caught_by: Some(Caught::by(RuleId::Mx13).within(1).breaks(Promise::NoHerd).seen("kazoo 7dd4c4c")),
    faults: &[],
    plan: |_| Plan { clients: 4, ..Plan::calm() },
    objects,
    sim: |c, setting, rounds, done| client::<_, Bent<_, WatchesTheFirst>>(c, setting, rounds, done).boxed(),
    real: Some(|c, setting, rounds, done| {
        client::<_, Bent<_, WatchesTheFirst>>(c, setting, rounds, done).boxed()
    }),
    required: &[],
    required_on_real: &[RuleId::Mx1, RuleId::Mx13],
    stated: &crate::workloads::lock::STATED,
};

/// The wrong step.
#[derive(Clone)]
struct WatchesTheFirst;

impl Bend for WatchesTheFirst {
    const WATCHES: Watches = Watches::First;
}
