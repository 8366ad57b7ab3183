//! A revocable lock that removes whom it makes go at once: the "freaking laser beams" of ZooKeeper's recipes page, without
//! a word before.
//!
//! Caught by RV-2 (force) in the first run in which somebody is made to go.

use super::bend::{BendRevocable, BentRevocable};
use crate::revocable_lock::workload::client;
use crate::session::Twist;
use futures_util::FutureExt;
use zk_checker::RuleId;
use zk_harness::caught::Caught;
use zk_harness::plan::Plan;
use zk_harness::target::Target;
use zk_recipes::zk::ZooKeeper;

pub(super) static TARGET: Target = Target {
    name: "revocable-lock-no-grace",
    about: "who is made to go is removed at once",
    caught_by: Some(Caught::by(RuleId::Rv2).within(1).seen("the recipes page")),
    faults: &[],
    plan: |_| Plan { clients: 4, ..Plan::calm() },
    sim: |c, setting, rounds, done| client::<_, BentRevocable<_, Beams>>(c, setting, rounds, done).boxed(),
    ..Target::mutant_of(&crate::revocable_lock::workload::TARGET)
};

/// The wrong step.
#[derive(Clone, Default)]
struct Beams;

impl<Z: ZooKeeper> Twist<Z> for Beams {}

impl<Z: ZooKeeper> BendRevocable<Z> for Beams {
    const HAS_GRACE: bool = false;
}
