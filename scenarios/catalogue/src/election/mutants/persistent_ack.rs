//! An election whose acknowledgement is a plain znode that stays, as the note of ZooKeeper's recipes page leaves it open: a
//! leader that has gone is on record still, and whoever leads next finds the name taken.
//!
//! Caught by LE-4 (acknowledged) at the first acknowledgement.

use super::bend::Bent;
use crate::election::workload::client;
use crate::session::Twist;
use futures_util::FutureExt;
use std::future::Future;
use zk_checker::RuleId;
use zk_harness::caught::Caught;
use zk_harness::plan::Plan;
use zk_harness::target::Target;
use zk_recipes::zk::{CreateMode, Error, Op, OpResult, ZooKeeper};

pub(super) static TARGET: Target = Target {
    name: "election-persistent-ack",
    about: "an election whose acknowledgement stays when its leader has gone",
    caught_by: Some(Caught::by(RuleId::Le4).seen("the recipes page")),
    faults: &[],
    plan: |_| Plan::calm(),
    sim: |c, setting, rounds, done| client::<_, Bent<_, Stays>>(c, setting, rounds, done).boxed(),
    ..Target::mutant_of(&crate::election::workload::TARGET)
};

/// The wrong step.
#[derive(Clone, Default)]
struct Stays;

impl<Z: ZooKeeper> Twist<Z> for Stays {
    fn multi(
        &self,
        zk: &Z,
        mut ops: Vec<Op>,
    ) -> impl Future<Output = Result<Vec<OpResult>, Error>> + Send + use<Z> {
        for op in &mut ops {
            if let Op::Create { mode, .. } = op {
                *mode = CreateMode::Persistent;
            }
        }
        zk.multi(ops)
    }
}
