//! A lock whose waiters leave their watches behind when they give up.
//!
//! Caught by MX-11 (leak) within some 20 seeds, or by MX-13 (cost) when such a watch wakes one who does not wait any more.

use crate::broken::session::{LockOver, Twist, Watch};
use crate::plan::Plan;
use crate::target::Target;
use crate::workloads::lock::{client, objects};
use crate::zoo::Caught;
use futures_util::FutureExt;
use futures_util::future::poll_fn;
use sim_zk::fault::Fault;
use std::future::Future;
use std::mem::ManuallyDrop;
use zk_checker::RuleId;
use zk_recipes::zk::{Error, Listing, ZooKeeper};

pub(super) static TARGET: Target = Target {
    name: "lock-leaves-its-watch",
    about: "a waiter that gives up leaves its watch",
    caught_by: Some(Caught::by(RuleId::Mx11)),
    faults: FAULTS,
    plan: |_| Plan::calm().with(FAULTS, 0.1),
    objects,
    sim: |c, setting, rounds, done| {
        client::<_, LockOver<_, LeavesItsWatch>>(c, setting, rounds, done).boxed()
    },
    // A capture does not show what it takes to name it first.
    real: None,
    required: &[],
    required_on_real: &[],
};

const FAULTS: &[Fault] = &[Fault::Cancel];

/// The wrong step.
#[derive(Clone, Default)]
struct LeavesItsWatch;

impl<Z: ZooKeeper> Twist<Z> for LeavesItsWatch {
    fn children_watch(
        &self,
        zk: &Z,
        path: &str,
    ) -> impl Future<Output = Result<(Listing, Watch), Error>> + Send + use<Z> {
        let list = zk.children_watch(path);
        async move {
            let (list, watch) = list.await?;
            // Whoever drops this does not take the watch away.
            let mut watch = ManuallyDrop::new(watch.boxed());
            Ok((list, poll_fn(move |cx| watch.poll_unpin(cx)).boxed()))
        }
    }
}
