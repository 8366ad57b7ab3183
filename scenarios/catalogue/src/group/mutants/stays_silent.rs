//! A member that neither joins again after its session has ended nor says that it is out (CURATOR-97; grizzly#1329).
//!
//! Caught by GM-6 (after an expiry) within 20 seeds with sessions that expire.

use super::bend::{Broken, Step};
use crate::group::workload::client;
use futures_util::FutureExt;
use sim_zk::fault::Fault;
use zk_checker::RuleId;
use zk_harness::caught::Caught;
use zk_harness::plan::Plan;
use zk_harness::target::Target;

pub(super) static TARGET: Target = Target {
    name: "group-stays-silent",
    about: "a member that neither joins again after its session has ended nor says that it is out",
    caught_by: Some(Caught::by(RuleId::Gm6).seen("grizzly#1329, CURATOR-97")),
    faults: FAULTS,
    plan: |_| Plan { rounds: 8, ..Plan::calm().with(FAULTS, 0.02) },
    sim: |c, setting, rounds, done| client::<_, Broken<_, StaysSilent>>(c, setting, rounds, done).boxed(),
    ..Target::mutant_of(&crate::group::workload::TARGET)
};

const FAULTS: &[Fault] = &[Fault::SessionExpiry];

/// The wrong step.
#[derive(Clone)]
struct StaysSilent;

impl Step for StaysSilent {
    const SAYS_THAT_IT_IS_OUT: bool = false;
}
