//! An election whose leaders write the acknowledgement without a check that their candidate is there: one who has been
//! deposed without knowing puts on record that it leads, beside or instead of the one who does.
//!
//! Caught by LE-4 (acknowledged) within a hundred seeds in which leaders stand still or lose their connections.

use super::bend::Bent;
use crate::election::workload::client;
use crate::session::Twist;
use futures_util::FutureExt;
use sim_zk::fault::Fault;
use std::future::Future;
use zk_checker::RuleId;
use zk_harness::caught::Caught;
use zk_harness::plan::Plan;
use zk_harness::target::Target;
use zk_recipes::zk::{Error, Op, OpResult, ZooKeeper, path};

pub(super) static TARGET: Target = Target {
    name: "election-unchecked-ack",
    about: "an election whose acknowledgement is written without a check of one's own candidate",
    caught_by: Some(Caught::by(RuleId::Le4).within(100)),
    faults: FAULTS,
    plan: |_| Plan { rounds: 6, ..Plan::calm().with(FAULTS, 0.05) },
    sim: |c, setting, rounds, done| client::<_, Bent<_, DoesNotCheck>>(c, setting, rounds, done).boxed(),
    ..Target::mutant_of(&crate::election::workload::TARGET)
};

const FAULTS: &[Fault] = &[Fault::ClientPause, Fault::SessionExpiry];

/// The wrong step.
#[derive(Clone, Default)]
struct DoesNotCheck;

impl<Z: ZooKeeper> Twist<Z> for DoesNotCheck {
    fn multi(
        &self,
        zk: &Z,
        mut ops: Vec<Op>,
    ) -> impl Future<Output = Result<Vec<OpResult>, Error>> + Send + use<Z> {
        let acknowledges = ops.iter().any(|op| matches!(op, Op::Create { .. }));
        if acknowledges && let Some(Op::Check { path, .. }) = ops.first_mut() {
            // The directory is always there.
            *path = path::split(path).0.to_owned();
        }
        zk.multi(ops)
    }
}
