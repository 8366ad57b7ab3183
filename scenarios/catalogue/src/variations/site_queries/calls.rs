//! The calls of a site and of a coordinator, of which a mutant replaces one.

use crate::prelude::*;
use zk_recipes::two_phase_commit::{Coordinator, Site, Vote, Voted};

/// A call that goes on. Nothing is sent before it is polled.
pub(super) type Pending<'a, T> = BoxFuture<'a, Result<T, Error>>;

/// The calls. Each method has the right one as default.
pub(super) trait Calls<Z: ZooKeeper>: Send + Sync {
    /// Opens a transaction as a site.
    fn open<'a>(&'a self, zk: &'a Z, path: &'a str, site: &'a str) -> Pending<'a, Site<Z>> {
        Site::open(zk, path, site).boxed()
    }

    /// Votes.
    fn vote<'a>(
        &'a self,
        _: &'a Z,
        _: (&'a str, &'a str),
        site: Site<Z>,
        vote: Vote,
    ) -> Pending<'a, Voted<Z>> {
        site.vote(vote).boxed()
    }

    /// The payload that a site votes on.
    fn payload(&self, site: &Site<Z>) -> Vec<u8> {
        site.payload().to_vec()
    }

    /// The sites of a transaction, as a site knows them.
    fn sites(&self, site: &Site<Z>) -> Vec<String> {
        site.sites().to_vec()
    }

    /// The sites of a transaction, as its coordinator knows them.
    fn sites_of(&self, coordinator: &Coordinator<Z>) -> Vec<String> {
        coordinator.sites().to_vec()
    }

    /// The path of a transaction.
    fn path(&self, coordinator: &Coordinator<Z>) -> String {
        coordinator.path().to_owned()
    }
}

/// The right calls.
pub(super) struct Right;

impl<Z: ZooKeeper> Calls<Z> for Right {}
