//! An election whose leader never looks at its candidate again after taking office: when somebody deletes it, the next
//! candidate leads beside it (CURATOR-49).
//!
//! Caught by LE-9 (leadership ends in time) within some runs in which somebody deletes a leader's candidate; the harm is
//! LE-1.

use super::bend::{Bent, Own};
use crate::election::workload::client;
use crate::session::{Twist, Watch};
use futures_util::FutureExt;
use std::future::Future;
use zk_checker::RuleId;
use zk_harness::caught::Caught;
use zk_harness::plan::Plan;
use zk_harness::target::Target;
use zk_recipes::zk::{CreateMode, Created, Error, Listing, ZooKeeper};

pub(super) static TARGET: Target = Target {
    name: "election-deaf-leader",
    about: "an election whose leader is not told when its candidate is deleted",
    caught_by: Some(Caught::by(RuleId::Le9).harm(&[RuleId::Le1]).seen("CURATOR-49")),
    faults: &[],
    plan: |_| Plan { rounds: 6, ..Plan::calm() },
    sim: |c, setting, rounds, done| client::<_, Bent<_, NeverLooks>>(c, setting, rounds, done).boxed(),
    ..Target::mutant_of(&crate::election::workload::TARGET)
};

/// The wrong step.
#[derive(Clone, Default)]
struct NeverLooks(Own);

impl<Z: ZooKeeper> Twist<Z> for NeverLooks {
    fn create(
        &self,
        zk: &Z,
        path: &str,
        data: &[u8],
        mode: CreateMode,
    ) -> impl Future<Output = Result<Created, Error>> + Send + use<Z> {
        self.0.create(zk, path, data, mode)
    }

    fn children_watch(
        &self,
        zk: &Z,
        path: &str,
    ) -> impl Future<Output = Result<(Listing, Watch), Error>> + Send + use<Z> {
        let (zk, path, is_own) = (zk.clone(), path.to_owned(), self.0.has(path));
        async move {
            if is_own {
                // Nothing is armed, and nothing is told.
                return zk.children(&path).await.map(|list| (list, std::future::pending().boxed()));
            }
            zk.children_watch(&path).await.map(|(list, watch)| (list, watch.boxed()))
        }
    }
}
