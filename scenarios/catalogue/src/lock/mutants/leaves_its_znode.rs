//! A lock whose waiters leave their znodes in line when they give up, by a time limit or because the future is dropped
//! (kazoo a96b1e4; zk-ruby#49; aiozk#34).
//!
//! Caught by MX-12 (end of interest) within some 20 seeds; the harm is MX-8 (progress).

use super::over::LockOver;
use crate::lock::workload::client;
use crate::session::Twist;
use futures_util::FutureExt;
use sim_zk::fault::Fault;
use zk_checker::RuleId;
use zk_harness::caught::Caught;
use zk_harness::plan::Plan;
use zk_harness::target::Target;
use zk_recipes::zk::ZooKeeper;

pub(super) static TARGET: Target = Target {
    name: "lock-leaves-its-znode",
    about: "whoever gives up leaves its znode in line",
    caught_by: Some(Caught::by(RuleId::Mx12).or(&[(RuleId::Mx8, "where a guard is dropped after its last use, only the line behind it shows that its znode stays")]).harm(&[RuleId::Mx8]).seen("kazoo a96b1e4, zk-ruby#49, aiozk#34")),
    faults: FAULTS,
    plan: |_| Plan::calm().with(FAULTS, 0.1),
    sim: |c, setting, rounds, done| {
        client::<_, LockOver<_, LeavesItsZnode>>(c, setting, rounds, done).boxed()
    },
    ..Target::mutant_of(&crate::lock::workload::TARGET)
};

const FAULTS: &[Fault] = &[Fault::Cancel];

/// The wrong step.
#[derive(Clone, Default)]
struct LeavesItsZnode;

impl<Z: ZooKeeper> Twist<Z> for LeavesItsZnode {
    fn cleans_up(&self) -> bool {
        false
    }
}
