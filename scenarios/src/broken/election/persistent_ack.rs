//! An election whose acknowledgement is a plain znode that stays, as the note of ZooKeeper's recipes page leaves it open: a
//! leader that has gone is on record still, and whoever leads next finds the name taken.
//!
//! Caught by LE-4 (acknowledged) at the first acknowledgement.

use super::bend::Bent;
use crate::broken::session::Twist;
use crate::plan::Plan;
use crate::target::Target;
use crate::workloads::election::{client, objects};
use crate::zoo::Caught;
use futures_util::FutureExt;
use std::future::Future;
use zk_checker::RuleId;
use zk_recipes::zk::{CreateMode, Error, Op, OpResult, ZooKeeper};

pub(super) static TARGET: Target = Target {
    name: "election-persistent-ack",
    about: "an election whose acknowledgement stays when its leader has gone",
    caught_by: Some(Caught::by(RuleId::Le4).seen("the recipes page")),
    faults: &[],
    plan: |_| Plan::calm(),
    objects,
    sim: |c, setting, rounds, done| client::<_, Bent<_, Stays>>(c, setting, rounds, done).boxed(),
    // A capture does not show what it takes to name it first.
    real: None,
    required: &[],
    required_on_real: &[],
    stated: &crate::workloads::election::STATED,
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
