//! A name service that takes "the znode exists already" for success: whoever asks for a name believes to have it.
//!
//! After "Name Service" of ZooKeeper's recipes page, which says no more than that the API is enough.
//!
//! Caught by NS-1 (one owner of a name) in the first run in which two ask for one name.

use crate::broken::claims::{Broken, Step};
use crate::plan::Plan;
use crate::target::Target;
use crate::workloads::names::{client, objects};
use crate::zoo::Caught;
use futures_util::FutureExt;
use zk_checker::RuleId;

pub(super) static TARGET: Target = Target {
    name: "names-exists-is-mine",
    about: "a name service that takes \"the znode exists already\" for success",
    caught_by: Some(Caught::by(RuleId::Ns1).within(1).seen("the recipes page")),
    faults: &[],
    plan: |_| Plan { rounds: 4, ..Plan::calm() },
    objects,
    sim: |c, setting, rounds, done| {
        client::<_, Broken<_, TakesWhatIsThere>>(c, setting, rounds, done).boxed()
    },
    real: Some(|c, setting, rounds, done| {
        client::<_, Broken<_, TakesWhatIsThere>>(c, setting, rounds, done).boxed()
    }),
    required: &[],
    required_on_real: &[],
    stated: &crate::workloads::names::STATED,
};

/// The wrong step.
#[derive(Clone, Default)]
struct TakesWhatIsThere;

impl Step for TakesWhatIsThere {
    const EXISTS_IS_ANOTHERS: bool = false;
}
