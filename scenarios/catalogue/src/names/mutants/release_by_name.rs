//! A name service that gives a name back by its name alone: after its session has ended, it takes the next owner's.
//!
//! Caught by NS-4 (only one's own) within 20 seeds with sessions that expire.

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
    name: "names-release-by-name",
    about: "a name service that gives a name back by its name alone, whoever has it by then",
    caught_by: Some(Caught::by(RuleId::Ns4)),
    faults: FAULTS,
    plan: |_| Plan {
        rounds: 30,
        timeout_ms: 2000,
        hostile_ms: 100_000,
        faults: 30,
        ..Plan::calm().with(FAULTS, 0.25)
    },
    sim: |c, setting, rounds, done| {
        client::<_, Broken<_, TakesWhatItIsCalled>>(c, setting, rounds, done).boxed()
    },
    ..Target::mutant_of(&crate::names::workload::TARGET)
};

const FAULTS: &[Fault] = &[Fault::SessionExpiry];

/// The wrong step.
#[derive(Clone, Default)]
struct TakesWhatItIsCalled;

impl Step for TakesWhatItIsCalled {
    const RELEASES_ITS_OWN: bool = false;
}
