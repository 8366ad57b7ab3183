//! Select helpers: work that ends at a deadline, or at a disconnect.

use super::retry::bounded;
use crate::zk::{Error, ErrorKind, Time, ZooKeeper};
use futures_util::FutureExt;
use futures_util::future::{Either, lazy, pending};
use std::future::Future;

pub(crate) use crate::zk::select::first;

/// Returns the output of `work`, or [`Error::is_timed_out`] at `until`, if there is a limit. If both are ready together, the
/// work wins.
pub(crate) fn within<Z: ZooKeeper, T>(
    zk: &Z,
    until: Option<Time>,
    work: impl Future<Output = Result<T, Error>>,
) -> impl Future<Output = Result<T, Error>> {
    // The alarm starts with the work, and both are dropped at the end.
    lazy(move |_| first(work, alarm(zk, until))).flatten().map(|end| match end {
        Either::Left(result) => result,
        Either::Right(()) => Err(ErrorKind::TimedOut.into()),
    })
}

/// Resolves at `until`, or never.
pub(crate) fn alarm<Z: ZooKeeper>(zk: &Z, until: Option<Time>) -> impl Future<Output = ()> + Send + use<Z> {
    match until {
        Some(until) => zk.sleep_until(until).left_future(),
        None => pending().right_future(),
    }
}

/// Returns the output of `attempt`, or `None` on a disconnect. The attempt is [`bounded`].
pub(crate) async fn while_connected<Z: ZooKeeper, T>(
    zk: &Z,
    attempt: impl Future<Output = Result<Option<T>, Error>>,
) -> Result<Option<T>, Error> {
    let before = zk.status();
    if before.is_connected()
        && let Either::Left(result) = first(bounded(attempt), zk.changed(before)).await
    {
        return result;
    }
    zk.status().over().map_or(Ok(None), Err)
}
