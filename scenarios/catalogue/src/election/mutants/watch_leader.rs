//! An election in which all candidates watch the leader, not each the candidate just ahead: when it goes, all of them wake.
//! It is the simple solution of ZooKeeper's recipes page, which warns of the herd.
//!
//! Caught by LE-7 (cost) in the first run in which two wait for the same leader. It does no other harm.

use super::bend::Bent;
use crate::election::workload::client;
use crate::session::{Twist, Watch};
use futures_util::FutureExt;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use zk_checker::RuleId;
use zk_harness::caught::{Caught, Promise};
use zk_harness::plan::Plan;
use zk_harness::target::Target;
use zk_real::RealTarget;
use zk_recipes::zk::{Error, Listing, ZooKeeper, path};

pub(super) static TARGET: Target = Target {
    name: "election-watch-leader",
    about: "an election whose candidates all watch the leader: its going wakes all of them",
    caught_by: Some(
        Caught::by(RuleId::Le7).within(1).breaks(Promise::NoHerd).seen("the recipes page warns of it"),
    ),
    faults: &[],
    plan: |_| Plan { clients: 4, ..Plan::calm() },
    sim: |c, setting, rounds, done| client::<_, Bent<_, WatchesTheFirst>>(c, setting, rounds, done).boxed(),
    ..Target::mutant_of(&crate::election::workload::TARGET)
};

/// The same on real servers.
pub(super) static REAL: RealTarget = RealTarget {
    target: &TARGET,
    part: |c, setting, rounds, done| client::<_, Bent<_, WatchesTheFirst>>(c, setting, rounds, done).boxed(),
    required: &[],
    is_long: false,
};

/// The wrong step.
#[derive(Clone, Default)]
struct WatchesTheFirst(Arc<Mutex<Option<String>>>);

impl<Z: ZooKeeper> Twist<Z> for WatchesTheFirst {
    fn list_of(&self, directory: &str, list: Listing) -> Listing {
        let number = |name: &&String| name.rsplit_once("-n_").map(|(_, number)| number.to_owned());
        let candidates = list.names.iter().filter(|name| number(name).is_some());
        let first = candidates.min_by_key(number).map(|name| path::join(directory, name));
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = first;
        list
    }

    fn children_watch(
        &self,
        zk: &Z,
        path: &str,
    ) -> impl Future<Output = Result<(Listing, Watch), Error>> + Send + use<Z> {
        let first = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let list = zk.children_watch(first.as_deref().unwrap_or(path));
        async move { list.await.map(|(list, watch)| (list, watch.boxed())) }
    }
}
