//! Retries after a connection loss and after the refusal of an overloaded server.
//!
//! A request is sent only while the handle is connected, and one that a disconnect caught is retried after the reconnect.

use crate::observe;
use crate::zk::backoff::back_off;
use crate::zk::{Error, Status, Time, ZooKeeper};
use pin_project_lite::pin_project;
use std::cell::Cell;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

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
enum RetryLimit {
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
    static RETRY_LIMIT: Cell<RetryLimit> = const { Cell::new(RetryLimit::Unbounded) };
}

/// Work that ends with the refusal when an overloaded server has refused its requests for a third of the session timeout.
pub(crate) fn bounded<F: Future>(work: F) -> Bounded<F> {
    Bounded { work, limit: RetryLimit::FromFirstRefusal }
}

/// Work that ends with the first refusal by an overloaded server.
pub(crate) fn unless_refused<F: Future>(work: F) -> Bounded<F> {
    Bounded { work, limit: RetryLimit::Until(Time::default()) }
}

pin_project! {
    /// See [`bounded`].
    pub(crate) struct Bounded<F> {
        #[pin]
        work: F,
        limit: RetryLimit,
    }
}

impl<F: Future> Future for Bounded<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        let outer = Outer(RETRY_LIMIT.replace(*this.limit));
        let polled = this.work.poll(cx);
        *this.limit = RETRY_LIMIT.get();
        drop(outer);
        polled
    }
}

/// The patience of the call around this one: it is back when this value goes, also if the work panics.
struct Outer(RetryLimit);

impl Drop for Outer {
    fn drop(&mut self) {
        RETRY_LIMIT.set(self.0);
    }
}

/// Whether a refused request may be recreated.
fn may_ask_again<Z: ZooKeeper>(zk: &Z) -> bool {
    match RETRY_LIMIT.get() {
        RetryLimit::Unbounded => true,
        RetryLimit::FromFirstRefusal => {
            RETRY_LIMIT.set(RetryLimit::Until(zk.now() + zk.timeout() / 3));
            true
        }
        RetryLimit::Until(until) => zk.now() < until,
    }
}
