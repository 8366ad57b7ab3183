//! An election in which a candidate that finds the one ahead of it gone makes a new candidate: it goes to the end of the
//! line, again and again (CURATOR-504: 2.6 million znodes in two hours; CURATOR-644, CURATOR-645).
//!
//! Caught by LE-6 (stability) in the first runs in which a predecessor goes between the list and the watch.

use super::bend::{Bent, Own};
use crate::election::workload::{Electing, client};
use crate::session::{Twist, Twisted, Watch};
use futures_util::FutureExt;
use std::future::Future;
use std::time::Duration;
use zk_checker::RuleId;
use zk_harness::caught::Caught;
use zk_harness::plan::Plan;
use zk_harness::target::Target;
use zk_recipes::zk::{CreateMode, Created, Error, Listing, ZooKeeper};
use zk_recipes::{Leadership, Term};

pub(super) static TARGET: Target = Target {
    name: "election-new-candidate",
    about: "an election in which a candidate whose predecessor is gone makes a new one",
    caught_by: Some(Caught::by(RuleId::Le6).or(&[(RuleId::Mx13, "giving up one place and asking for another costs more than waiting may, before the other is there")]).within(100).seen("CURATOR-504, CURATOR-644, CURATOR-645")),
    faults: &[],
    plan: |_| Plan { clients: 4, rounds: 6, ..Plan::calm() },
    sim: |c, setting, rounds, done| client::<_, StandsAgain<_>>(c, setting, rounds, done).boxed(),
    ..Target::mutant_of(&crate::election::workload::TARGET)
};

/// The broken election.
#[derive(Clone)]
struct StandsAgain<Z: ZooKeeper>(Bent<Z, GivesUp>);

/// The wrong step: the place in line is given up.
#[derive(Clone, Default)]
struct GivesUp(Own);

impl<Z: ZooKeeper> Twist<Z> for GivesUp {
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
        let (list, path, is_own) = (zk.children_watch(path), path.to_owned(), self.0.has(path));
        async move {
            match list.await {
                Ok((list, watch)) => Ok((list, watch.boxed())),
                Err(Error::NoNode) if !is_own => Err(Error::Removed(path)),
                Err(e) => Err(e),
            }
        }
    }
}

impl<Z: ZooKeeper> Electing<Z> for StandsAgain<Z> {
    type Office = Term<Twisted<Z, GivesUp>>;
    type Follower = Leadership<Twisted<Z, GivesUp>>;

    fn on(zk: &Z, directory: &str) -> Result<Self, Error> {
        Ok(StandsAgain(Bent::on(zk, directory)?))
    }

    async fn stand(&self) -> Result<Self::Office, Error> {
        loop {
            match self.0.stand().await {
                Err(Error::Removed(_)) => {}
                other => return other,
            }
        }
    }

    fn stand_within(&self, limit: Duration) -> impl Future<Output = Result<Self::Office, Error>> + Send {
        self.0.stand_within(limit)
    }

    fn observe(&self) -> Self::Follower {
        self.0.observe()
    }
}
