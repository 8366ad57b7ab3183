//! Select: the first of two futures, in a fixed order; the first argument wins a tie.
//!
//! A combinator, since an `async fn` keeps a future argument twice, once as it came and once where it is polled: a few of
//! them nested make 100 kB of a small future, and a stack has 2 MB.

use futures_util::future::Either;
use pin_project_lite::pin_project;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Returns the output of the first of two futures; `a` if both are ready.
pub(crate) fn first<A: Future, B: Future>(a: A, b: B) -> First<A, B> {
    First { b, a }
}

pin_project! {
    /// See [`first`]. The second argument is dropped first.
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
