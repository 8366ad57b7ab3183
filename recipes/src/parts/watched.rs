//! A state that futures wait for.

use super::locked::locked;
use crate::zk::waiters::{Place, Waiters};
use std::future::poll_fn;
use std::sync::Mutex;
use std::task::{Poll, Waker};

/// A state behind a lock, and the futures that wait for its change.
#[derive(Default)]
pub(crate) struct Watched<S>(Mutex<(S, Waiters)>);

impl<S> Watched<S> {
    pub(crate) fn new(state: S) -> Self {
        Watched(Mutex::new((state, Waiters::default())))
    }

    /// Looks at the state, or changes what nobody waits for.
    pub(crate) fn with<T>(&self, looks: impl FnOnce(&mut S) -> T) -> T {
        looks(&mut locked(&self.0).0)
    }

    /// Changes the state, and wakes those that wait for a change. What `change` returns is dropped outside of the lock.
    pub(crate) fn change<T>(&self, change: impl FnOnce(&mut S) -> T) -> T {
        let mut wakers = Vec::new();
        let mut inner = locked(&self.0);
        let output = change(&mut inner.0);
        inner.1.wake_all(&mut wakers);
        drop(inner);
        wakers.into_iter().for_each(Waker::wake);
        output
    }

    /// Resolves when `finds` finds something in the state.
    pub(crate) async fn until<T>(&self, finds: impl Fn(&S) -> Option<T>) -> T {
        let mut waiter = Waiter { watched: self, place: None };
        poll_fn(move |context| {
            let mut inner = locked(&self.0);
            if let Some(found) = finds(&inner.0) {
                return Poll::Ready(found);
            }
            let replaced = inner.1.wait(&mut waiter.place, context);
            drop(inner);
            drop(replaced);
            Poll::Pending
        })
        .await
    }
}

/// The place of a future among those that wait for a change.
struct Waiter<'a, S> {
    watched: &'a Watched<S>,
    place: Option<Place>,
}

impl<S> Drop for Waiter<'_, S> {
    fn drop(&mut self) {
        let waker = self.place.take().and_then(|place| locked(&self.watched.0).1.leave(place));
        drop(waker);
    }
}
