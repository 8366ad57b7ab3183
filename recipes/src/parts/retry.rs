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
use std::cell::Cell;
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

/// The output of `attempt`, or `None` if the connection is lost before, or is not there. It is [`bounded`].
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
/// refused after a pause, unless it is a [`bounded`] call whose time is over; any other error ends the attempt.
pub(crate) async fn again<Z: ZooKeeper>(zk: &Z, status: Status, error: Error) -> Result<(), Error> {
    match error {
        Error::ConnectionLoss => reconnected(zk, status).await.map(drop),
        error if error.is_retryable_refusal() && may_ask_again(zk) => {
            observe::second_try(zk);
            back_off(zk, REFUSED).await;
            connected(zk).await.map(drop)
        }
        error => Err(error),
    }
}

/// How many refusals a pause between two tries stands for where nobody counts them: a fifth of a second.
const REFUSED: u32 = 3;

/// How long a call asks again what an overloaded server refuses.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Patience {
    /// As long as its caller waits, and its session lives.
    Unbounded,
    /// For a part of the session timeout, from the first refusal on. Without a refusal nothing depends on time.
    FromFirstRefusal,
    /// Until then.
    Until(Time),
}

thread_local! {
    /// The patience of the call that is being polled on this thread. Requests are made in many places below a call, and share
    /// these with calls that wait: an argument would have to pass through all of them.
    static PATIENCE: Cell<Patience> = const { Cell::new(Patience::Unbounded) };
}

/// Work that ends with the refusal when an overloaded server has refused its requests for a third of the session timeout.
pub(crate) fn bounded<F: Future>(work: F) -> Bounded<F> {
    Bounded { work, patience: Patience::FromFirstRefusal }
}

/// Work that ends with the first refusal by an overloaded server.
pub(crate) fn unless_refused<F: Future>(work: F) -> Bounded<F> {
    Bounded { work, patience: Patience::Until(Time::default()) }
}

pin_project! {
    /// See [`bounded`].
    pub(crate) struct Bounded<F> {
        #[pin]
        work: F,
        patience: Patience,
    }
}

impl<F: Future> Future for Bounded<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        let outer = Outer(PATIENCE.replace(*this.patience));
        let polled = this.work.poll(cx);
        *this.patience = PATIENCE.get();
        drop(outer);
        polled
    }
}

/// The patience of the call around this one: it is back when this value goes, also if the work panics.
struct Outer(Patience);

impl Drop for Outer {
    fn drop(&mut self) {
        PATIENCE.set(self.0);
    }
}

/// Whether a refused request may be made again.
fn may_ask_again<Z: ZooKeeper>(zk: &Z) -> bool {
    match PATIENCE.get() {
        Patience::Unbounded => true,
        Patience::FromFirstRefusal => {
            PATIENCE.set(Patience::Until(zk.now() + zk.timeout() / 3));
            true
        }
        Patience::Until(until) => zk.now() < until,
    }
}
