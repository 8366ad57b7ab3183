//! A group that takes "the znode exists already" for success: a member that was quickly restarted finds the znode of its former session, and vanishes with it (bookkeeper#3418; STORM-1941).
//!
//! Caught by GM-4 (joined) within 20 seeds.

use super::bend::{Broken, Step};
use crate::group::workload::client;
use futures_util::FutureExt;
use sim_zk::fault::Fault;
use zk_checker::RuleId;
use zk_harness::caught::Caught;
use zk_harness::plan::Plan;
use zk_harness::target::Target;

pub(super) static TARGET: Target = Target {
    name: "group-exists-is-joined",
    about: "a group that takes \"the znode exists already\" for success",
    caught_by: Some(Caught::by(RuleId::Gm4).seen("STORM-1941, bookkeeper#3418")),
    faults: FAULTS,
    plan: |_| Plan { rounds: 8, ..Plan::calm().with(FAULTS, 0.02) },
    sim: |c, setting, rounds, done| {
        client::<_, Broken<_, TakesWhatIsThere>>(c, setting, rounds, done).boxed()
    },
    ..Target::mutant_of(&crate::group::workload::TARGET)
};

const FAULTS: &[Fault] = &[Fault::SessionExpiry, Fault::ClientCrash];

/// The wrong step.
#[derive(Clone)]
struct TakesWhatIsThere;

impl Step for TakesWhatIsThere {
    const EXISTS_IS_ANOTHERS: bool = false;
}
