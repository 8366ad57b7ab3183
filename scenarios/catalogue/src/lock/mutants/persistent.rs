//! A lock whose znodes are persistent: who dies in line stands there for ever.
//!
//! Caught by MX-4 (granted without a right) in the first run: the znode is not of the session that believes; the harm, when
//! a client dies, is MX-8 (progress).

use super::over::LockOver;
use crate::lock::workload::client;
use crate::session::Twist;
use futures_util::FutureExt;
use sim_zk::fault::Fault;
use zk_checker::RuleId;
use zk_harness::caught::Caught;
use zk_harness::plan::Plan;
use zk_harness::target::Target;
use zk_recipes::zk::{CreateMode, ZooKeeper};

pub(super) static TARGET: Target = Target {
    name: "lock-persistent",
    about: "the znodes in line do not go with their sessions",
    caught_by: Some(
        Caught::by(RuleId::Mx4)
            .or(&[(RuleId::Mx8, "somebody died in line before anybody was granted it")])
            .within(1)
            .harm(&[RuleId::Mx8]),
    ),
    faults: FAULTS,
    plan: |_| Plan::calm().with(FAULTS, 0.05),
    sim: |c, setting, rounds, done| client::<_, LockOver<_, Persistent>>(c, setting, rounds, done).boxed(),
    ..Target::mutant_of(&crate::lock::workload::TARGET)
};

const FAULTS: &[Fault] = &[Fault::ClientCrash];

/// The wrong step.
#[derive(Clone, Default)]
struct Persistent;

impl<Z: ZooKeeper> Twist<Z> for Persistent {
    fn mode(&self, mode: CreateMode) -> CreateMode {
        match mode {
            CreateMode::EphemeralSequential => CreateMode::PersistentSequential,
            mode => mode,
        }
    }
}
