//! A name service whose names are persistent znodes: who dies keeps its names for ever.
//!
//! Caught by NS-3 in the first runs: success was told, and no session owns the name.

use crate::broken::claims::{Broken, Step};
use crate::plan::Plan;
use crate::target::Target;
use crate::workloads::names::{client, objects};
use crate::zoo::Caught;
use futures_util::FutureExt;
use sim_zk::fault::Fault;
use zk_checker::RuleId;
use zk_recipes::zk::CreateMode;

pub(super) static TARGET: Target = Target {
    name: "names-persistent",
    about: "a name service whose names are no ephemerals: who dies keeps its names",
    caught_by: Some(Caught::by(RuleId::Ns3)),
    faults: FAULTS,
    plan: |_| Plan { rounds: 4, ..Plan::calm().with(FAULTS, 0.05) },
    objects,
    sim: |c, setting, rounds, done| client::<_, Broken<_, Stays>>(c, setting, rounds, done).boxed(),
    // A capture does not show whose a znode is.
    real: None,
    required: &[],
    required_on_real: &[],
};

const FAULTS: &[Fault] = &[Fault::ClientCrash];

/// The wrong step.
#[derive(Clone, Default)]
struct Stays;

impl Step for Stays {
    const MODE: CreateMode = CreateMode::Persistent;
}
