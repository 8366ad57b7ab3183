//! A priority lock whose grants do not pass the gates: two who look at the same time both see nobody, and both enter.
//!
//! Caught by MX-4 (a grant is justified) within some dozen seeds; the harm is MX-3 (exclusion).

use crate::priority_lock::workload::{Guard, Urgent, client};
use crate::session::{Twist, Twisted};
use futures_util::FutureExt;
use std::future::Future;
use std::time::Duration;
use zk_checker::RuleId;
use zk_checker::history::Verb;
use zk_harness::caught::Caught;
use zk_harness::plan::Plan;
use zk_harness::target::Target;
use zk_recipes::zk::{Error, Op, OpResult, ZooKeeper};
use zk_recipes::{Preempt, Priority, PriorityLock};

pub(super) static TARGET: Target = Target {
    name: "priority-lock-no-gates",
    about: "a priority lock whose grants do not notice that somebody else was granted it meanwhile",
    caught_by: Some(Caught::by(RuleId::Mx4).harm(&[RuleId::Mx3])),
    faults: &[],
    plan: |_| Plan { clients: 4, rounds: 6, ..Plan::calm() },
    sim: |c, setting, rounds, done| client::<_, NoGates<_>>(c, setting, rounds, done).boxed(),
    ..Target::mutant_of(&crate::priority_lock::workload::TARGET)
};

/// The broken lock.
#[derive(Clone)]
struct NoGates<Z: ZooKeeper>(PriorityLock<Twisted<Z, OpensTheGates>>);

/// The wrong step.
#[derive(Clone, Default)]
struct OpensTheGates;

impl<Z: ZooKeeper> Twist<Z> for OpensTheGates {
    fn multi(
        &self,
        zk: &Z,
        mut ops: Vec<Op>,
    ) -> impl Future<Output = Result<Vec<OpResult>, Error>> + Send + use<Z> {
        for op in &mut ops {
            if let Op::Check { version, .. } | Op::Set { version, .. } = op {
                *version = None;
            }
        }
        zk.multi(ops)
    }
}

impl<Z: ZooKeeper> Urgent<Z> for NoGates<Z> {
    type Guard = Guard<Twisted<Z, OpensTheGates>>;

    fn on(zk: &Z, directory: &str, preempt: Preempt) -> Result<Self, Error> {
        Ok(NoGates(PriorityLock::on(&Twisted::over(zk), directory, preempt)?))
    }

    fn acquire(
        &self,
        verb: Verb,
        priority: Priority,
        limit: Duration,
    ) -> impl Future<Output = Result<Self::Guard, Error>> + Send {
        self.0.acquire(verb, priority, limit)
    }
}
