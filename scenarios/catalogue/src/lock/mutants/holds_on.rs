//! A lock whose holders go on whatever becomes of their connection and their session (CURATOR-206; libkv#156).
//!
//! Caught by MX-14 (belief kept too long) within some 20 seeds in which a holder stands still for longer than its session
//! lives: when it goes on it has to stop at once.

use super::bend::{Bend, Bent, Habits};
use crate::lock::workload::client;
use futures_util::FutureExt;
use sim_zk::fault::Fault;
use zk_checker::RuleId;
use zk_harness::caught::Caught;
use zk_harness::plan::Plan;
use zk_harness::target::Target;

pub(super) static TARGET: Target = Target {
    name: "lock-holds-on",
    about: "a holder goes on whatever becomes of its connection and its session",
    caught_by: Some(Caught::by(RuleId::Mx14).harm(&[RuleId::Mx2]).seen("CURATOR-206, libkv#156")),
    faults: FAULTS,
    plan: |_| Plan::calm().with(FAULTS, 0.1),
    sim: |c, setting, rounds, done| client::<_, Bent<_, HoldsOn>>(c, setting, rounds, done).boxed(),
    ..Target::mutant_of(&crate::lock::workload::TARGET)
};

const FAULTS: &[Fault] = &[Fault::ClientPause];

/// The wrong step.
#[derive(Clone)]
struct HoldsOn;

impl Bend for HoldsOn {
    const HABITS: Habits = Habits { stops: false, tries_until_certain: true, number_is_token: false };
}
