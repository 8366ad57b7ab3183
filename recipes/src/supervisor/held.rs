//! A hold in the hands of its work.

use crate::parts::locked::locked;
use futures_util::task::AtomicWaker;
use std::fmt;
use std::future::poll_fn;
use std::ops::Deref;
use std::sync::{Arc, Mutex, Weak};
use std::task::Poll;

/// A hold in the hands of its work: it dereferences to the hold.
///
/// The supervisor has the hold back when the last clone is gone, and does nothing with it before: work that hands a clone to a
/// task or a thread has not ended until that drops it.
pub struct Held<H>(Arc<Lent<H>>);

struct Lent<H> {
    /// Taken when it is dropped.
    hold: Option<H>,
    back: Weak<Back<H>>,
}

impl<H> Held<H> {
    /// Lends a hold. The future resolves with it when the last clone is gone.
    pub(super) fn lend(hold: H) -> (Held<H>, Return<H>) {
        let back = Arc::new(Back { hold: Mutex::new(None), waker: AtomicWaker::new() });
        (Held(Arc::new(Lent { hold: Some(hold), back: Arc::downgrade(&back) })), Return(back))
    }
}

impl<H> Drop for Lent<H> {
    fn drop(&mut self) {
        // Without its keeper it is dropped here, and gives back in the background.
        if let Some(back) = self.back.upgrade() {
            *locked(&back.hold) = self.hold.take();
            back.waker.wake();
        }
    }
}

impl<H> Clone for Held<H> {
    fn clone(&self) -> Self {
        Held(self.0.clone())
    }
}

impl<H> Deref for Held<H> {
    type Target = H;

    fn deref(&self) -> &H {
        self.0.hold.as_ref().expect("it is there until the last clone is dropped")
    }
}

impl<H: fmt::Debug> fmt::Debug for Held<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Held").field(&**self).finish()
    }
}

/// The way back of a hold.
pub(super) struct Return<H>(Arc<Back<H>>);

struct Back<H> {
    hold: Mutex<Option<H>>,
    waker: AtomicWaker,
}

impl<H> Return<H> {
    /// The hold, once the last clone is gone.
    pub(super) async fn hold(self) -> H {
        poll_fn(|context| {
            self.0.waker.register(context.waker());
            locked(&self.0.hold).take().map_or(Poll::Pending, Poll::Ready)
        })
        .await
    }
}
