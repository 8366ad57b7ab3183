//! The calls of a service, of which a mutant replaces one.

use crate::prelude::*;
use std::future::Future;
use zk_recipes::group::{Group, GroupView, Membership, Views};
use zk_recipes::names::{Names, PermanentName, Registration};
use zk_recipes::zk::Guid;
use zk_recipes::{HoldState, LostReason, Stop, Update, Updates};

/// A call that goes on. Nothing is sent before it is polled.
pub(super) type Pending<'a, T> = BoxFuture<'a, Result<T, Error>>;

/// The calls. Each method has the right one as default.
pub(super) trait Calls<Z: ZooKeeper>: Send + Sync {
    /// Replaces the data of a registration.
    fn set<'a>(&'a self, _: &'a Z, registered: &'a Registration<Z>, data: &'a [u8]) -> Pending<'a, ()> {
        registered.set(data).boxed()
    }

    /// Replaces the value of a permanent name.
    fn set_permanent<'a>(
        &'a self,
        _: &'a Z,
        registered: &'a PermanentName<Z>,
        data: &'a [u8],
    ) -> Pending<'a, ()> {
        registered.set(data).boxed()
    }

    /// Finds a permanent registration again.
    fn registered<'a>(
        &'a self,
        names: &'a Names<Z>,
        name: &'a str,
        guid: Guid,
    ) -> Pending<'a, Option<PermanentName<Z>>> {
        names.registered(name, guid).boxed()
    }

    /// The next change of a name, given the number of changes that the follower has received.
    fn next_value<'a>(&'a self, updates: &'a mut Updates<Z>, _: u32) -> Pending<'a, Update> {
        updates.next().boxed()
    }

    /// Joins, without a time limit.
    fn join<'a>(
        &'a self,
        group: &'a Group<Z>,
        id: Option<&'a str>,
        data: &'a [u8],
    ) -> Pending<'a, Membership<Z>> {
        group.join(id, data).boxed()
    }

    /// Replaces the data of a member.
    fn set_member<'a>(&'a self, _: &'a Z, member: &'a Membership<Z>, data: &'a [u8]) -> Pending<'a, ()> {
        member.set(data).boxed()
    }

    /// The czxid of a member.
    fn czxid(&self, member: &Membership<Z>) -> i64 {
        member.token()
    }

    /// The state of a registration.
    fn registration_state(&self, registered: &Registration<Z>) -> HoldState {
        registered.state()
    }

    /// Works while the name is its own.
    fn run_registered<'a>(
        &'a self,
        registered: &'a Registration<Z>,
        work: BoxFuture<'a, ()>,
    ) -> BoxFuture<'a, Result<(), Stop>> {
        registered.run(work).boxed()
    }

    /// Waits until a suspect registration is confirmed or lost.
    fn resumed_registration<'a>(
        &'a self,
        _: &'a Z,
        registered: &'a Registration<Z>,
    ) -> BoxFuture<'a, Result<(), LostReason>> {
        registered.resumed().boxed()
    }

    /// The state of a member.
    fn state(&self, member: &Membership<Z>) -> HoldState {
        member.state()
    }

    /// Waits until a suspect membership is confirmed or lost.
    fn resumed<'a>(&'a self, _: &'a Z, member: &'a Membership<Z>) -> BoxFuture<'a, Result<(), LostReason>> {
        member.resumed().boxed()
    }

    /// Works while it is a member.
    fn run<'a>(
        &'a self,
        member: &'a Membership<Z>,
        work: BoxFuture<'a, ()>,
    ) -> BoxFuture<'a, Result<(), Stop>> {
        member.run(work).boxed()
    }

    /// The next view of the group.
    fn next_view<'a>(&'a self, views: &'a mut Views<Z>) -> Pending<'a, GroupView> {
        views.next().boxed()
    }
}

/// The right calls.
pub(super) struct Right;

impl<Z: ZooKeeper> Calls<Z> for Right {}

/// The result of the work, or `TimedOut` after that time by the client's own clock.
pub(super) async fn until<T>(
    time: impl Future<Output = ()>,
    work: impl Future<Output = Result<T, Error>>,
) -> Result<T, Error> {
    use futures_util::future::{Either, select};
    match select(std::pin::pin!(work), std::pin::pin!(time)).await {
        Either::Left((result, _)) => result,
        Either::Right(_) => Err(ErrorKind::TimedOut.into()),
    }
}
