//! Two-phase commit, broken in one step at a time.
//!
//! `Bend` names the steps that may differ. What a bend does not name is the recipe itself, so that a run shows what the
//! wrong step alone does. Two are so wrong that nothing of the recipe is left: they are written out.

mod abort_unchecked;
mod children_one_by_one;
mod ephemeral_votes;
mod own_decision_stands;
mod own_reading;
mod presumed_commit;
mod record_removed_early;
mod time_out_aborts;
mod votes_overwritten;
mod watch_all_votes;

use super::workload::{Recipe, TwoPhases};
use futures_util::future::{Either, select};
use sim_zk::fault::Fault;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::pin;
use std::time::Duration;
use zk_harness::plan::Plan;
use zk_harness::target::Target;
use zk_recipes::two_phase_commit::{Coordinator, Decision, Site, Transaction, Vote, Voted};
use zk_recipes::zk::{CreateMode, Error, ZooKeeper, path};

/// All of them.
pub(super) static ALL: &[&Target] = &[
    &abort_unchecked::TARGET,
    &children_one_by_one::TARGET,
    &ephemeral_votes::TARGET,
    &own_decision_stands::TARGET,
    &own_reading::TARGET,
    &record_removed_early::TARGET,
    &time_out_aborts::TARGET,
    &votes_overwritten::TARGET,
    &watch_all_votes::TARGET,
    &presumed_commit::TARGET,
];

/// So many transactions, of the first forms, without faults.
fn calm(rounds: u32) -> Plan {
    Plan { rounds, ..Plan::calm() }
}

/// The same, with these faults.
fn with(rounds: u32, faults: &[Fault], rate: f64) -> Plan {
    calm(rounds).with(faults, rate)
}

/// The steps that may be wrong.
trait Bend: Send + Sync + 'static {
    /// Steps 3 and 4.
    fn vote<Z: ZooKeeper>(
        site: Of<Z, Site<Z>>,
        vote: Vote,
    ) -> impl Future<Output = Result<Voted<Z>, Error>> + Send {
        async move { site.inner.vote(vote).await }
    }

    /// Steps 6 and 7 for a site.
    fn decision_within<Z: ZooKeeper>(
        voted: &Of<Z, Voted<Z>>,
        limit: Duration,
    ) -> impl Future<Output = Result<Decision, Error>> + Send {
        voted.inner.decision_within(limit)
    }

    /// Steps 5 to 7 for a coordinator.
    fn coordinate_within<Z: ZooKeeper>(
        coordinator: &Of<Z, Coordinator<Z>>,
        limit: Duration,
    ) -> impl Future<Output = Result<Decision, Error>> + Send {
        coordinator.inner.decision_within(limit)
    }

    /// Step 8.
    fn finish<Z: ZooKeeper>(voted: Of<Z, Voted<Z>>) -> impl Future<Output = Result<(), Error>> + Send {
        async move { voted.inner.finish().await }
    }
}

/// A part of the recipe, and where it plays.
struct Of<Z, T> {
    zk: Z,
    path: String,
    /// The site's name; of a coordinator, all of them.
    sites: Vec<String>,
    inner: T,
}

impl<Z: ZooKeeper, T> Of<Z, T> {
    fn new(zk: &Z, path: &str, sites: Vec<String>, inner: T) -> Self {
        Of { zk: zk.clone(), path: path.to_owned(), sites, inner }
    }

    fn site(&self, site: &str) -> String {
        format!("{}/s_{site}", self.path)
    }

    fn decision(&self) -> String {
        path::join(&self.path, "decision")
    }

    /// Creates the record, and nothing else.
    async fn record(&self, decision: Decision) -> Result<(), Error> {
        let word = if decision == Decision::Commit { "commit" } else { "abort" };
        self.zk.create(&self.decision(), word.as_bytes(), CreateMode::Persistent).await.map(drop)
    }
}

/// The output of `work`, or `None` when the limit is over.
async fn within<Z: ZooKeeper, T>(zk: &Z, limit: Duration, work: impl Future<Output = T>) -> Option<T> {
    let timer = zk.sleep_until(zk.now() + limit);
    match select(pin!(work), pin!(timer)).await {
        Either::Left((output, _)) => Some(output),
        Either::Right(_) => None,
    }
}

/// After a lost connection: waits until there is one again.
async fn connected<Z: ZooKeeper>(zk: &Z) -> Result<(), Error> {
    let mut status = zk.status();
    while !status.is_connected() {
        if let Some(over) = status.over() {
            return Err(over);
        }
        status = zk.changed(status).await;
    }
    Ok(())
}

/// The bent recipe.
struct Bent<Z, B>(PhantomData<fn() -> (Z, B)>);

impl<Z: ZooKeeper, B: Bend> TwoPhases<Z> for Bent<Z, B> {
    type Site = Of<Z, Site<Z>>;
    type Voted = Of<Z, Voted<Z>>;
    type Coordinator = Of<Z, Coordinator<Z>>;

    async fn begin(zk: &Z, path: &str, transaction: Transaction) -> Result<Self::Coordinator, Error> {
        let sites = transaction.sites.clone();
        Ok(Of::new(zk, path, sites, Recipe::begin(zk, path, transaction).await?))
    }

    async fn resume(zk: &Z, path: &str) -> Result<Self::Coordinator, Error> {
        let heir = Recipe::resume(zk, path).await?;
        Ok(Of::new(zk, path, heir.sites().to_vec(), heir))
    }

    async fn open(zk: &Z, path: &str, site: &str) -> Result<(Self::Site, Option<Vote>), Error> {
        let (opened, cast) = Recipe::open(zk, path, site).await?;
        Ok((Of::new(zk, path, vec![site.to_owned()], opened), cast))
    }

    async fn vote(site: Self::Site, vote: Vote) -> Result<Self::Voted, Error> {
        let (zk, path, sites) = (site.zk.clone(), site.path.clone(), site.sites.clone());
        Ok(Of { zk, path, sites, inner: B::vote(site, vote).await? })
    }

    async fn decision(voted: &Self::Voted) -> Result<Decision, Error> {
        voted.inner.decision().await
    }

    async fn decision_within(voted: &Self::Voted, limit: Duration) -> Result<Decision, Error> {
        B::decision_within(voted, limit).await
    }

    async fn next_vote(voted: &Self::Voted) -> Result<Option<(String, Vote)>, Error> {
        voted.inner.next_vote().await
    }

    async fn coordinate_within(coordinator: &Self::Coordinator, limit: Duration) -> Result<Decision, Error> {
        B::coordinate_within(coordinator, limit).await
    }

    async fn finish(voted: Self::Voted) -> Result<(), Error> {
        B::finish(voted).await
    }

    async fn forget(coordinator: Self::Coordinator) -> Result<(), Error> {
        coordinator.inner.forget().await
    }
}

/// A target that runs a bent recipe in the workload of the right one.
macro_rules! target {
    ($recipe:ty, $name:literal, $about:literal, $caught:expr, $faults:expr, $plan:expr) => {
        target!($recipe, $name, $about, $caught, $faults, $plan, $crate::two_phase_commit::workload::objects);
    };
    ($recipe:ty, $name:literal, $about:literal, $caught:expr, $faults:expr, $plan:expr, $objects:expr) => {
        pub(super) static TARGET: zk_harness::target::Target = zk_harness::target::Target {
            name: $name,
            about: $about,
            caught_by: Some($caught),
            faults: $faults,
            plan: $plan,
            objects: $objects,
            sim: |c, setting, rounds, done| {
                let part = $crate::two_phase_commit::workload::client::<_, $recipe>(c, setting, rounds, done);
                futures_util::FutureExt::boxed(part)
            },
            ..zk_harness::target::Target::mutant_of(&$crate::two_phase_commit::workload::TARGET)
        };
    };
}
use target;
