//! A priority lock whose newcomers look at the line alone: whoever ranks first there enters, beside those who hold the lock.
//! So it is if one sorts a lock's line by priority and does nothing else.
//!
//! Caught by MX-4 (a grant is justified) within five seeds; the harm is MX-3 (exclusion).

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
use zk_recipes::zk::{Error, Listing, ZooKeeper};
use zk_recipes::{Preempt, Priority, PriorityLock};

pub(super) static TARGET: Target = Target {
    name: "priority-lock-beside",
    about: "a priority lock whose newcomers look at the line alone and enter beside the holder",
    caught_by: Some(Caught::by(RuleId::Mx4).within(5).harm(&[RuleId::Mx3])),
    faults: &[],
    plan: |_| Plan::calm(),
    sim: |c, setting, rounds, done| client::<_, Beside<_>>(c, setting, rounds, done).boxed(),
    ..Target::mutant_of(&crate::priority_lock::workload::TARGET)
};

/// The broken lock.
#[derive(Clone)]
struct Beside<Z: ZooKeeper>(PriorityLock<Twisted<Z, SeesTheLineAlone>>);

/// The wrong step.
#[derive(Clone, Default)]
struct SeesTheLineAlone;

impl<Z: ZooKeeper> Twist<Z> for SeesTheLineAlone {
    fn list_of(&self, path: &str, list: Listing) -> Listing {
        if path.ends_with("/held") { Listing { names: Vec::new(), ..list } } else { list }
    }
}

impl<Z: ZooKeeper> Urgent<Z> for Beside<Z> {
    type Guard = Guard<Twisted<Z, SeesTheLineAlone>>;

    fn on(zk: &Z, directory: &str, preempt: Preempt) -> Result<Self, Error> {
        Ok(Beside(PriorityLock::on(&Twisted::over(zk), directory, preempt)?))
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
