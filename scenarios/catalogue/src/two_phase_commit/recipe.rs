//! The steps of one site in two-phase commit, by the right recipe or by a mutant.

use crate::recipe::limited;
use std::future::Future;
use std::time::Duration;
use zk_recipes::two_phase_commit::{Coordinator, Decision, Site, Transaction, Vote, Voted};
use zk_recipes::zk::{Error, ZooKeeper};

/// A site's access to one transaction, by the right recipe.
#[derive(Clone)]
pub struct Participant<Z> {
    /// The session.
    pub zk: Z,
    /// The path of the transaction.
    pub path: String,
    /// The name of the site.
    pub name: String,
}

/// The steps of one site in one transaction, and of its coordinator.
pub trait TwoPhases: Send + Sync + 'static {
    /// A site that may vote.
    type Site: Send + Sync;
    /// A site that has voted.
    type Voted: Send + Sync;
    /// A coordinator.
    type Coordinator: Send + Sync;

    /// Step 1.
    fn begin(
        &self,
        transaction: Transaction,
    ) -> impl Future<Output = Result<Self::Coordinator, Error>> + Send;

    /// Another coordinator replaces the first.
    fn resume(&self) -> impl Future<Output = Result<Self::Coordinator, Error>> + Send;

    /// Step 2, and the vote that a former session of the site has cast.
    fn open(&self) -> impl Future<Output = Result<(Self::Site, Option<Vote>), Error>> + Send;

    /// Steps 3 and 4.
    fn vote(&self, site: Self::Site, vote: Vote) -> impl Future<Output = Result<Self::Voted, Error>> + Send;

    /// Step 6 for a site, and step 7 at the end of a limit; zero is none.
    fn decision(
        &self,
        voted: &Self::Voted,
        limit: Duration,
    ) -> impl Future<Output = Result<Decision, Error>> + Send;

    /// The next vote of another site.
    fn next_vote(
        &self,
        voted: &Self::Voted,
    ) -> impl Future<Output = Result<Option<(String, Vote)>, Error>> + Send;

    /// Steps 5 to 7 for a coordinator.
    fn coordinate(
        &self,
        coordinator: &Self::Coordinator,
        limit: Duration,
    ) -> impl Future<Output = Result<Decision, Error>> + Send;

    /// Step 8.
    fn finish(&self, voted: Self::Voted) -> impl Future<Output = Result<(), Error>> + Send;

    /// An operator deletes the whole transaction.
    fn forget(&self, coordinator: Self::Coordinator) -> impl Future<Output = Result<(), Error>> + Send;
}

impl<Z: ZooKeeper> TwoPhases for Participant<Z> {
    type Site = Site<Z>;
    type Voted = Voted<Z>;
    type Coordinator = Coordinator<Z>;

    async fn begin(&self, transaction: Transaction) -> Result<Coordinator<Z>, Error> {
        Coordinator::begin(&self.zk, &self.path, transaction).await
    }

    async fn resume(&self) -> Result<Coordinator<Z>, Error> {
        Coordinator::resume(&self.zk, &self.path).await
    }

    async fn open(&self) -> Result<(Site<Z>, Option<Vote>), Error> {
        let site = Site::open(&self.zk, &self.path, &self.name).await?;
        let cast = site.cast();
        Ok((site, cast))
    }

    async fn vote(&self, site: Site<Z>, vote: Vote) -> Result<Voted<Z>, Error> {
        site.vote(vote).await
    }

    async fn decision(&self, voted: &Voted<Z>, limit: Duration) -> Result<Decision, Error> {
        limited(voted.decision(), limit).await
    }

    async fn next_vote(&self, voted: &Voted<Z>) -> Result<Option<(String, Vote)>, Error> {
        voted.next_vote().await
    }

    async fn coordinate(&self, coordinator: &Coordinator<Z>, limit: Duration) -> Result<Decision, Error> {
        coordinator.decision().within(limit).await
    }

    async fn finish(&self, voted: Voted<Z>) -> Result<(), Error> {
        voted.finish().await
    }

    async fn forget(&self, coordinator: Coordinator<Z>) -> Result<(), Error> {
        coordinator.forget().await
    }
}
