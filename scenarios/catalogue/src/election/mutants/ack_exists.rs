//! An election whose leader takes an acknowledgement that is there already for its own: what a former leader has left is
//! obeyed by nobody, and the leader goes on without a record.
//!
//! Caught by LE-4 (acknowledged) within a hundred seeds in which somebody deletes leaders' candidates.

use super::bend::Bent;
use crate::election::workload::client;
use crate::session::Twist;
use futures_util::FutureExt;
use std::future::Future;
use zk_checker::RuleId;
use zk_harness::caught::Caught;
use zk_harness::plan::Plan;
use zk_harness::target::Target;
use zk_recipes::zk::{Error, Op, OpResult, ZooKeeper};

pub(super) static TARGET: Target = Target {
    name: "election-ack-exists",
    about: "an election whose leader takes another's acknowledgement for its own",
    caught_by: Some(Caught::by(RuleId::Le4)),
    faults: &[],
    plan: |_| Plan { clients: 4, rounds: 20, ..Plan::calm() },
    sim: |c, setting, rounds, done| client::<_, Bent<_, Swallows>>(c, setting, rounds, done).boxed(),
    ..Target::mutant_of(&crate::election::workload::TARGET)
};

/// The wrong step.
#[derive(Clone, Default)]
struct Swallows;

impl<Z: ZooKeeper> Twist<Z> for Swallows {
    fn multi(
        &self,
        zk: &Z,
        ops: Vec<Op>,
    ) -> impl Future<Output = Result<Vec<OpResult>, Error>> + Send + use<Z> {
        let results = vec![OpResult::Checked; ops.len()];
        let multi = zk.multi(ops);
        async move {
            match multi.await {
                Err(Error::Multi { cause, .. }) if *cause == Error::NodeExists => Ok(results),
                other => other,
            }
        }
    }
}
