//! Waiting for whichever comes first, in a fixed order: what is named first wins a tie.

use crate::zk::{Error, Status, Time, ZooKeeper};
use futures_util::future::{Either, select};
use std::future::Future;
use std::pin::pin;

/// The output of the first of two futures; `a` if both are ready.
pub(crate) async fn first<A: Future, B: Future>(a: A, b: B) -> Either<A::Output, B::Output> {
    match select(pin!(a), pin!(b)).await {
        Either::Left((output, _)) => Either::Left(output),
        Either::Right((output, _)) => Either::Right(output),
    }
}

/// The output of `work`, or [`Error::TimedOut`] at `until`. If both are ready together, the work wins.
pub(crate) async fn within<Z: ZooKeeper, T>(
    zk: &Z,
    until: Time,
    work: impl Future<Output = Result<T, Error>>,
) -> Result<T, Error> {
    match first(work, zk.sleep_until(until)).await {
        Either::Left(result) => result,
        Either::Right(()) => Err(Error::TimedOut),
    }
}

/// The output of `attempt`, or `None` if the connection is lost before, or is not there.
pub(crate) async fn while_connected<Z: ZooKeeper, T>(
    zk: &Z,
    attempt: impl Future<Output = Result<Option<T>, Error>>,
) -> Result<Option<T>, Error> {
    let before = zk.status();
    if before.is_connected()
        && let Either::Left(result) = first(attempt, zk.changed(before)).await
    {
        return result;
    }
    zk.status().over().map_or(Ok(None), Err)
}

/// Waits until requests can leave. While they cannot, a recipe sends nothing.
pub(crate) async fn connected<Z: ZooKeeper>(zk: &Z) -> Result<Status, Error> {
    let mut status = zk.status();
    while !status.is_connected() {
        if let Some(over) = status.over() {
            return Err(over);
        }
        status = zk.changed(status).await;
    }
    Ok(status)
}

/// After a request was caught by a disconnect: waits until requests can leave again. The loss may be told before the
/// state, so the state of before is no answer.
pub(crate) async fn reconnected<Z: ZooKeeper>(zk: &Z, before: Status) -> Result<Status, Error> {
    if zk.status() == before {
        zk.changed(before).await;
    }
    connected(zk).await
}

/// A read that was caught by a disconnect is asked again, as soon as requests can leave; any other error ends the attempt.
pub(crate) async fn again<Z: ZooKeeper>(zk: &Z, status: Status, error: Error) -> Result<(), Error> {
    match error {
        Error::ConnectionLoss => reconnected(zk, status).await.map(drop),
        error => Err(error),
    }
}
