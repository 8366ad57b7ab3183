//! A group whose members are persistent znodes: who dies is a member for ever.
//!
//! Caught by GM-4 (joined) in the first runs, since no session owns such a znode.

use super::bend::{Broken, Step};
use crate::group::workload::client;
use futures_util::FutureExt;
use sim_zk::fault::Fault;
use zk_checker::RuleId;
use zk_harness::caught::Caught;
use zk_harness::plan::Plan;
use zk_harness::target::Target;
use zk_recipes::zk::CreateMode;

pub(super) static TARGET: Target = Target {
    name: "group-persistent",
    about: "a group whose members are no ephemerals: who dies stays",
    caught_by: Some(Caught::by(RuleId::Gm4)),
    faults: FAULTS,
    plan: |_| Plan { rounds: 6, ..Plan::calm().with(FAULTS, 0.05) },
    sim: |c, setting, rounds, done| client::<_, Broken<_, Stays>>(c, setting, rounds, done).boxed(),
    ..Target::mutant_of(&crate::group::workload::TARGET)
};

const FAULTS: &[Fault] = &[Fault::ClientCrash];

/// The wrong step.
#[derive(Clone)]
struct Stays;

impl Step for Stays {
    const MODE: CreateMode = CreateMode::Persistent;
}
