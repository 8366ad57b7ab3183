//! A name service that gives a name back by its name alone: after its session has ended, it takes the next owner's.
//!
//! Caught by NS-4 (only one's own) within 20 seeds with sessions that expire.

use crate::broken::claims::{Broken, Step};
use crate::plan::Plan;
use crate::target::Target;
use crate::workloads::names::{client, objects};
use crate::zoo::Caught;
use futures_util::FutureExt;
use sim_zk::fault::Fault;
use zk_checker::RuleId;

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
    objects,
    sim: |c, setting, rounds, done| {
        client::<_, Broken<_, TakesWhatItIsCalled>>(c, setting, rounds, done).boxed()
    },
    // Without sessions that end it does nothing wrong.
    real: None,
    required: &[],
    required_on_real: &[],
    stated: &crate::workloads::names::STATED,
};

const FAULTS: &[Fault] = &[Fault::SessionExpiry];

/// The wrong step.
#[derive(Clone, Default)]
struct TakesWhatItIsCalled;

impl Step for TakesWhatItIsCalled {
    const RELEASES_ITS_OWN: bool = false;
}
