//! A call of a recipe: a future, which can be limited before it is awaited.

use crate::zk::{Time, ZooKeeper};
use pin_project_lite::pin_project;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

/// The work of a [`Call`], which begins at its first poll. The recipes make it.
pub trait Work: Send {
    /// The result of the call.
    type Output;
    /// The call once it has begun.
    type Future: Future<Output = Self::Output> + Send;

    #[doc(hidden)]
    fn begin(self, until: Option<Time>) -> Self::Future;
}

impl<B, F> Work for B
where
    B: FnOnce(Option<Time>) -> F + Send,
    F: Future + Send,
{
    type Output = F::Output;
    type Future = F;

    fn begin(self, until: Option<Time>) -> F {
        self(until)
    }
}

pin_project! {
    /// A call of a recipe: what acquires, waits, enters or joins, and what gives back (`release`, `resign`, `leave`).
    /// Nothing is sent before its first poll.
    ///
    /// Await it, or limit it first:
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use zk_recipes::{Lock, LockOptions};
    /// # sim_zk::doc_example(|zk| async move {
    /// let lock = Lock::new(&zk, "/locks/printer", LockOptions::default())?;
    /// let held = lock.acquire().within(Duration::from_secs(10)).await?;
    /// held.release().within(Duration::from_secs(5)).await?;
    /// # Ok(())
    /// # });
    /// ```
    #[must_use = "a call does nothing unless it is awaited"]
    pub struct Call<Z, W: Work> {
        zk: Z,
        until: Option<Time>,
        begin: Option<W>,
        #[pin]
        work: Option<W::Future>,
    }
}

impl<Z: ZooKeeper, W: Work> Call<Z, W> {
    pub(crate) fn new(zk: &Z, begin: W) -> Self {
        Call { zk: zk.clone(), until: None, begin: Some(begin), work: None }
    }

    /// Limits the call, over all its retries. The time counts from this call of `within`, not from the first poll. Most
    /// calls give up when it is over, with [`Error::is_timed_out`](crate::Error::is_timed_out), and their clean-up is
    /// under way; the docs of each call say what it does.
    pub fn within(mut self, limit: Duration) -> Self {
        self.until = Some(self.zk.now() + limit);
        self
    }
}

impl<Z, W: Work> Future for Call<Z, W> {
    type Output = W::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<W::Output> {
        let mut this = self.project();
        if let Some(begin) = this.begin.take() {
            this.work.set(Some(begin.begin(*this.until)));
        }
        this.work.as_pin_mut().expect("it has begun").poll(cx)
    }
}

impl<Z, W: Work> fmt::Debug for Call<Z, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call").field("until", &self.until).finish_non_exhaustive()
    }
}
