//! Mutants of two-phase commit: [`steps`] is the right recipe with one step replaced by a [`Mutation`]; [`page`] is a
//! copy of the two variants of ZooKeeper's recipes page.

mod coordinating;
mod deciding;
pub(super) mod lies;
mod page;
mod steps;
mod voting;

use super::recipe::Participant;
use super::workload::{WORKLOAD, client};
use crate::prelude::*;
use futures_util::future::{Either, select};
use std::future::Future;
use std::pin::pin;
use std::time::Duration;
use steps::{MutantParticipant, Mutation};

/// All mutants.
pub(super) static ALL: &[&Workload] = &[
    &deciding::ABORT_UNCHECKED,
    &page::CHILDREN_ONE_BY_ONE,
    &page::EPHEMERAL_VOTES,
    &deciding::OWN_DECISION_STANDS,
    &coordinating::OWN_READING,
    &deciding::RECORD_REMOVED_EARLY,
    &deciding::TIME_OUT_ABORTS,
    &voting::VOTES_OVERWRITTEN,
    &voting::WATCH_ALL_VOTES,
    &voting::TELLS_NO_VOTE,
    &coordinating::PRESUMED_COMMIT,
];

/// One client's part, with one step of the right recipe replaced.
fn run<C: Client>(task: Task<C>, mutation: &'static Mutation) -> BoxFuture<'static, ()> {
    let make = Box::new(move |right: &Participant<C::Zk>| MutantParticipant::new(right, mutation));
    client(task, make).boxed()
}

/// The output of `work`, or `None` at the limit.
async fn within<Z: ZooKeeper, T>(zk: &Z, limit: Duration, work: impl Future<Output = T>) -> Option<T> {
    let timer = zk.sleep_until(zk.now() + limit);
    match select(pin!(work), pin!(timer)).await {
        Either::Left((output, _)) => Some(output),
        Either::Right(_) => None,
    }
}
