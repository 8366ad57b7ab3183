//! A group whose members are persistent znodes: who dies is a member for ever.
//!
//! Caught by GM-4 (joined) in the first runs, since no session owns such a znode.

use super::bend::{Broken, Step};
use crate::plan::Plan;
use crate::target::Target;
use crate::workloads::group::{client, objects};
use crate::zoo::Caught;
use futures_util::FutureExt;
use sim_zk::fault::Fault;
use zk_checker::RuleId;
use zk_recipes::zk::CreateMode;

pub(super) static TARGET: Target = Target {
    name: "group-persistent",
    about: "a group whose members are no ephemerals: who dies stays",
    caught_by: Some(Caught::by(RuleId::Gm4)),
    faults: FAULTS,
    plan: |_| Plan { rounds: 6, ..Plan::calm().with(FAULTS, 0.05) },
    objects,
    sim: |c, setting, rounds, done| client::<_, Broken<_, Stays>>(c, setting, rounds, done).boxed(),
    // Without these faults it does nothing wrong.
    real: None,
    required: &[],
    required_on_real: &[],
    stated: &crate::workloads::group::STATED,
};

const FAULTS: &[Fault] = &[Fault::ClientCrash];

/// The wrong step.
#[derive(Clone)]
struct Stays;

impl Step for Stays {
    const MODE: CreateMode = CreateMode::Persistent;
}
