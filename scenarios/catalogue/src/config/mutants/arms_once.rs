//! A follower that does not arm its watch again after a change (CURATOR-258): it hears of the next one, and of no other.
//!
//! Caught by CF-3 (the last value arrives) in the first run in which a value changes while somebody follows it.

use super::bend::{Broken, Step};
use crate::config::workload::client;
use futures_util::FutureExt;
use zk_checker::RuleId;
use zk_harness::caught::Caught;
use zk_harness::plan::Plan;
use zk_harness::target::Target;

pub(super) static TARGET: Target = Target {
    name: "config-arms-once",
    about: "a follower that does not arm its watch again after a change",
    caught_by: Some(Caught::by(RuleId::Cf3).within(5).seen("CURATOR-258")),
    faults: &[],
    plan: |_| Plan { clients: 4, rounds: 6, ..Plan::calm() },
    sim: |c, setting, rounds, done| client::<_, Broken<_, ArmsOnce>>(c, setting, rounds, done).boxed(),
    ..Target::mutant_of(&crate::config::workload::TARGET)
};

/// The wrong step.
struct ArmsOnce;

impl Step for ArmsOnce {
    const ARMS_AFTER_A_CHANGE: bool = false;
}
