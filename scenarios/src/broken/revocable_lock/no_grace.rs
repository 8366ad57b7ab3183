//! A revocable lock that removes whom it makes go at once: the "freaking laser beams" of ZooKeeper's recipes page, without
//! a word before.
//!
//! Caught by RV-2 (force) in the first run in which somebody is made to go.

use super::bend::{BendRevocable, BentRevocable};
use crate::broken::session::Twist;
use crate::plan::Plan;
use crate::target::Target;
use crate::workloads::revocable_lock::{client, objects};
use crate::zoo::Caught;
use futures_util::FutureExt;
use zk_checker::RuleId;
use zk_recipes::zk::ZooKeeper;

pub(super) static TARGET: Target = Target {
    name: "revocable-lock-no-grace",
    about: "who is made to go is removed at once",
    caught_by: Some(Caught::by(RuleId::Rv2).within(1).seen("the recipes page")),
    faults: &[],
    plan: |_| Plan { clients: 4, ..Plan::calm() },
    objects,
    sim: |c, setting, rounds, done| client::<_, BentRevocable<_, Beams>>(c, setting, rounds, done).boxed(),
    // A capture does not show what it takes to name it first.
    real: None,
    required: &[],
    required_on_real: &[],
    stated: &crate::workloads::revocable_lock::STATED,
};

/// The wrong step.
#[derive(Clone, Default)]
struct Beams;

impl<Z: ZooKeeper> Twist<Z> for Beams {}

impl<Z: ZooKeeper> BendRevocable<Z> for Beams {
    const HAS_GRACE: bool = false;
}
