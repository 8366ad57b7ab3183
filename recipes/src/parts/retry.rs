//! Retries after a connection loss and after the refusal of an overloaded server.
//!
//! A request is sent only while the handle is connected, and one that a disconnect caught is retried after the reconnect.

use crate::observe;
use crate::zk::backoff::back_off;
use crate::zk::{Error, ErrorKind, Status, Time, ZooKeeper};
use pin_project_lite::pin_project;
use std::cell::Cell;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Waits until the handle is connected. Disconnected, a recipe sends nothing.
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

/// Waits for the reconnect after a request failed with connection loss. The loss may be reported before the change of
/// state, so the old status does not count.
pub(crate) async fn reconnected<Z: ZooKeeper>(zk: &Z, before: Status) -> Result<Status, Error> {
    observe::second_try(zk);
    if zk.status() == before {
        zk.changed(before).await;
    }
    connected(zk).await
}

/// Waits until a failed request may be retried: after connection loss until the reconnect, after the refusal of an
/// overloaded server for a backoff, unless the limit of a [`bounded`] call is over. Any other error is returned.
pub(crate) async fn again<Z: ZooKeeper>(zk: &Z, status: Status, error: Error) -> Result<(), Error> {
    match error {
        Error { kind: ErrorKind::ConnectionLoss, .. } => reconnected(zk, status).await.map(drop),
        error if error.is_retryable_refusal() && may_ask_again(zk) => {
            observe::second_try(zk);
            back_off(zk, REFUSED).await;
            connected(zk).await.map(drop)
        }
        error => Err(error),
    }
}

/// The value of an answer; `None`: the request failed, and may be retried now, see [`again`].
pub(crate) async fn unless_again<Z: ZooKeeper, T>(
    zk: &Z,
    status: Status,
    answer: Result<T, Error>,
) -> Result<Option<T>, Error> {
    match answer {
        Ok(value) => Ok(Some(value)),
        Err(e) => again(zk, status, e).await.map(|()| None),
    }
}

/// The answer to a request that may be repeated: asks until it is answered, or refused for good.
pub(crate) async fn until_answered<Z: ZooKeeper, T, F: Future<Output = Result<T, Error>>>(
    zk: &Z,
    ask: impl Fn() -> F,
) -> Result<T, Error> {
    loop {
        let status = connected(zk).await?;
        if let Some(value) = unless_again(zk, status, ask().await).await? {
            return Ok(value);
        }
    }
}

/// Whether a write of a call may have been applied: its reply was lost. A refusal that comes later is one of the retry, and says
/// nothing of the first attempt.
#[derive(Debug, Default)]
pub(crate) struct Doubt(bool);

impl Doubt {
    /// As [`again`]; an error that ends the call keeps the outcome unknown if a reply was lost.
    pub(crate) async fn again<Z: ZooKeeper>(
        &mut self,
        zk: &Z,
        status: Status,
        error: Error,
    ) -> Result<(), Error> {
        self.0 |= error.is_outcome_unknown();
        again(zk, status, error).await.map_err(|error| self.about(error))
    }

    /// Drives a write. Whoever drops it meanwhile does not learn whether it was applied.
    pub(crate) async fn during<T>(
        &mut self,
        write: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        let before = std::mem::replace(&mut self.0, true);
        let result = write.await;
        self.0 = before;
        result
    }

    /// Whether a reply was lost.
    pub(crate) fn is_there(&self) -> bool {
        self.0
    }

    /// The error that ends the call.
    pub(crate) fn about(&self, error: Error) -> Error {
        if self.0 { error.while_in_doubt() } else { error }
    }
}

/// As [`until_answered`], for a write that may be repeated: an error that comes after a lost reply leaves the outcome unknown.
pub(crate) async fn until_written<Z: ZooKeeper, T, F: Future<Output = Result<T, Error>>>(
    zk: &Z,
    write: impl Fn() -> F,
) -> Result<T, Error> {
    let mut doubt = Doubt::default();
    loop {
        let status = connected(zk).await?;
        match write().await {
            Ok(value) => return Ok(value),
            Err(e) => doubt.again(zk, status, e).await?,
        }
    }
}

/// The answer to a request; `None` for a missing znode.
pub(crate) fn present<T>(answer: Result<T, Error>) -> Result<Option<T>, Error> {
    match answer {
        Ok(value) => Ok(Some(value)),
        Err(e) if e.is_no_node() => Ok(None),
        Err(e) => Err(e),
    }
}

/// The retry count of the backoff where callers keep none: a fifth of a second.
const REFUSED: u32 = 3;

/// How long a call retries what an overloaded server refuses.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RetryLimit {
    /// While the caller waits and the session lives.
    Unbounded,
    /// For a part of the session timeout, from the first refusal on. Without a refusal no decision depends on time.
    FromFirstRefusal,
    /// Until this instant.
    Until(Time),
}

thread_local! {
    /// The limit of the call that is being polled on this thread. Shared helpers at many levels send requests; a
    /// thread-local avoids an argument through all of them.
    static RETRY_LIMIT: Cell<RetryLimit> = const { Cell::new(RetryLimit::Unbounded) };
}

/// Bounds `work`: it fails with the refusal after an overloaded server has refused for a third of the session timeout.
pub(crate) fn bounded<F: Future>(work: F) -> Bounded<F> {
    Bounded { work, limit: RetryLimit::FromFirstRefusal }
}

/// Bounds `work`: it fails with the first refusal of an overloaded server.
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

/// Restores the limit of the enclosing call, also when the work panics.
struct Outer(RetryLimit);

impl Drop for Outer {
    fn drop(&mut self) {
        RETRY_LIMIT.set(self.0);
    }
}

/// Whether a refused request may be retried.
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
