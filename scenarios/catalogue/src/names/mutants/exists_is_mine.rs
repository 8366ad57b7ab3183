//! A name service that takes "the znode exists already" for success: whoever asks for a name believes to have it.
//!
//! After "Name Service" of ZooKeeper's recipes page, which says no more than that the API is enough.
//!
//! Caught by NS-1 (one owner of a name) in the first run in which two ask for one name.

use super::bend::Broken;
use crate::claims::Step;
use crate::names::workload::client;
use futures_util::FutureExt;
use zk_checker::RuleId;
use zk_harness::caught::Caught;
use zk_harness::plan::Plan;
use zk_harness::target::Target;
use zk_real::RealTarget;

pub(super) static TARGET: Target = Target {
    name: "names-exists-is-mine",
    about: "a name service that takes \"the znode exists already\" for success",
    caught_by: Some(Caught::by(RuleId::Ns1).within(1).seen("the recipes page")),
    faults: &[],
    plan: |_| Plan { rounds: 4, ..Plan::calm() },
    sim: |c, setting, rounds, done| {
        client::<_, Broken<_, TakesWhatIsThere>>(c, setting, rounds, done).boxed()
    },
    ..Target::mutant_of(&crate::names::workload::TARGET)
};

/// The same on real servers.
pub(super) static REAL: RealTarget = RealTarget {
    target: &TARGET,
    part: |c, setting, rounds, done| {
        client::<_, Broken<_, TakesWhatIsThere>>(c, setting, rounds, done).boxed()
    },
    required: &[],
    is_long: false,
};

/// The wrong step.
#[derive(Clone, Default)]
struct TakesWhatIsThere;

impl Step for TakesWhatIsThere {
    const EXISTS_IS_ANOTHERS: bool = false;
}
