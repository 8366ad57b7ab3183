//! A name service that takes a lost connection for a refusal: the caller is told that somebody else has the name, and the
//! name is its own for as long as its session lives.
//!
//! Caught by NS-3 (a lost reply is neither yes nor no) within 20 seeds with lost replies.

use super::bend::Broken;
use crate::claims::Step;
use crate::names::workload::client;
use futures_util::FutureExt;
use sim_zk::fault::Fault;
use zk_checker::RuleId;
use zk_harness::caught::Caught;
use zk_harness::plan::Plan;
use zk_harness::target::Target;

pub(super) static TARGET: Target = Target {
    name: "names-loss-is-refusal",
    about: "a name service that takes a lost connection for a refusal",
    caught_by: Some(Caught::by(RuleId::Ns3)),
    faults: FAULTS,
    plan: |_| Plan { rounds: 4, ..Plan::calm().with(FAULTS, 0.05) },
    sim: |c, setting, rounds, done| client::<_, Broken<_, GivesUp>>(c, setting, rounds, done).boxed(),
    ..Target::mutant_of(&crate::names::workload::TARGET)
};

const FAULTS: &[Fault] = &[Fault::ReplyLost];

/// The wrong step.
#[derive(Clone, Default)]
struct GivesUp;

impl Step for GivesUp {
    const LOOKS_AFTER_LOSS: bool = false;
}
