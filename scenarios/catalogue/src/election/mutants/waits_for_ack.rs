//! An election whose candidates wait for the leader's acknowledgement before they watch the one ahead: a leader that goes
//! without having begun leaves all of them waiting for ever (zk-ruby).
//!
//! Caught by MX-7 (no lost wake-up) in the first runs; the harm is LE-5 (progress).

use super::bend::{Bent, Own};
use crate::election::workload::client;
use crate::session::{Twist, Watch};
use futures_util::FutureExt;
use std::future::Future;
use zk_checker::RuleId;
use zk_harness::caught::Caught;
use zk_harness::plan::Plan;
use zk_harness::target::Target;
use zk_recipes::zk::{CreateMode, Created, Error, Listing, ZooKeeper, path};

pub(super) static TARGET: Target = Target {
    name: "election-waits-for-ack",
    about: "an election whose candidates wait for the acknowledgement before they watch ahead",
    caught_by: Some(
        Caught::by(RuleId::Mx7)
            .or(&[
                (RuleId::Le7, "all who wait for the acknowledgement are woken by it at once"),
                (RuleId::Mx13, "each looks for the acknowledgement too, which is a request more"),
            ])
            .within(1)
            .harm(&[RuleId::Le5])
            .seen("zk-ruby"),
    ),
    faults: &[],
    plan: |_| Plan::calm(),
    sim: |c, setting, rounds, done| client::<_, Bent<_, WaitsForTheRecord>>(c, setting, rounds, done).boxed(),
    ..Target::mutant_of(&crate::election::workload::TARGET)
};

/// The wrong step.
#[derive(Clone, Default)]
struct WaitsForTheRecord(Own);

impl<Z: ZooKeeper> Twist<Z> for WaitsForTheRecord {
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
            if !is_own {
                let record = path::join(path::split(&path).0, "leader");
                if let (None, coming) = zk.exists_watch(&record).await? {
                    coming.await?;
                }
            }
            zk.children_watch(&path).await.map(|(list, watch)| (list, watch.boxed()))
        }
    }
}
