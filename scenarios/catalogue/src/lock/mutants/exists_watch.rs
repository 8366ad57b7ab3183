//! A lock whose waiters watch by `exists`: where the one ahead is gone already, that leaves a watch for its creation, which
//! never comes (CURATOR-107; kazoo 9b0a793).
//!
//! Caught by MX-11 (leak) within some 20 seeds. It does no other harm.

use super::over::LockOver;
use crate::lock::workload::client;
use crate::session::{Twist, Watch};
use futures_util::FutureExt;
use std::future::Future;
use zk_checker::RuleId;
use zk_harness::caught::Caught;
use zk_harness::plan::Plan;
use zk_harness::target::Target;
use zk_recipes::zk::{Error, Listing, ZooKeeper};

pub(super) static TARGET: Target = Target {
    name: "lock-exists-watch",
    about: "a waiter watches by exists, which leaves a watch where nobody is",
    caught_by: Some(Caught::by(RuleId::Mx11).seen("CURATOR-107, kazoo 9b0a793")),
    faults: &[],
    plan: |_| Plan { clients: 4, ..Plan::calm() },
    sim: |c, setting, rounds, done| {
        client::<_, LockOver<_, WatchesByExists>>(c, setting, rounds, done).boxed()
    },
    ..Target::mutant_of(&crate::lock::workload::TARGET)
};

/// The wrong step.
#[derive(Clone, Default)]
struct WatchesByExists;

impl<Z: ZooKeeper> Twist<Z> for WatchesByExists {
    fn children_watch(
        &self,
        zk: &Z,
        path: &str,
    ) -> impl Future<Output = Result<(Listing, Watch), Error>> + Send + use<Z> {
        let exists = zk.exists_watch(path);
        async move {
            let (stat, watch) = exists.await?;
            match stat {
                Some(stat) => Ok((Listing { names: Vec::new(), stat }, watch.boxed())),
                None => {
                    // Nobody takes it away again.
                    std::mem::forget(watch);
                    Err(Error::NoNode)
                }
            }
        }
    }
}
