//! Waiting for whichever comes first, in a fixed order: what is named first wins a tie.
//!
//! By combinators, and not by `async fn`: that keeps a future that it is given twice, once as it came and once where it is polled.
//! A few of them inside each other make a hundred kilobytes of a small one, and a caller's stack is two megabytes.

use crate::observe;
use crate::zk::backoff::back_off;
use crate::zk::{Error, Status, Time, ZooKeeper};
use futures_util::FutureExt;
use futures_util::future::{Either, lazy};
use pin_project_lite::pin_project;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

/// The output of the first of two futures; `a` if both are ready.
pub(crate) fn first<A: Future, B: Future>(a: A, b: B) -> First<A, B> {
    First { b, a }
}

pin_project! {
    /// See [`first`]. What is given up second goes first.
    pub(crate) struct First<A, B> {
        #[pin]
        b: B,
        #[pin]
        a: A,
    }
}

impl<A: Future, B: Future> Future for First<A, B> {
    type Output = Either<A::Output, B::Output>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        if let Poll::Ready(output) = this.a.poll(cx) {
            return Poll::Ready(Either::Left(output));
        }
        this.b.poll(cx).map(Either::Right)
    }
}

/// The output of `work`, or [`Error::TimedOut`] at `until`. If both are ready together, the work wins.
pub(crate) fn within<Z: ZooKeeper, T>(
    zk: &Z,
    until: Time,
    work: impl Future<Output = Result<T, Error>>,
) -> impl Future<Output = Result<T, Error>> {
    // The limit is set when the work begins, and neither is kept when it has come to its end.
    lazy(move |_| first(work, zk.sleep_until(until))).flatten().map(|end| match end {
        Either::Left(result) => result,
        Either::Right(()) => Err(Error::TimedOut),
    })
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
            observe::session_over(zk, &over);
            return Err(over);
        }
        status = zk.changed(status).await;
    }
    Ok(status)
}

/// After a request was caught by a disconnect: waits until requests can leave again. The loss may be told before the
/// state, so the state of before is no answer.
pub(crate) async fn reconnected<Z: ZooKeeper>(zk: &Z, before: Status) -> Result<Status, Error> {
    observe::second_try(zk);
    if zk.status() == before {
        zk.changed(before).await;
    }
    connected(zk).await
}

/// A request that was caught by a disconnect is asked again as soon as requests can leave, and one that an overloaded server
/// refused after a pause; any other error ends the attempt.
pub(crate) async fn again<Z: ZooKeeper>(zk: &Z, status: Status, error: Error) -> Result<(), Error> {
    match error {
        Error::ConnectionLoss => reconnected(zk, status).await.map(drop),
        error if error.is_retryable_refusal() => {
            observe::second_try(zk);
            back_off(zk, REFUSED).await;
            connected(zk).await.map(drop)
        }
        error => Err(error),
    }
}

/// How many refusals a pause between two tries stands for where nobody counts them: a fifth of a second.
const REFUSED: u32 = 3;
