//! Tasks that wait for a change other than a reply: of a session status, of a process, of the whole world.

use super::Sim;
use super::shared::Core;
use std::future::{Future, poll_fn};
use std::task::{Context, Poll};
use zk_recipes::zk::waiters::{Place, Waiters};

impl Sim {
    /// Resolves with the result of `look`, now or after a change that wakes the waiters in `queue`.
    pub(super) fn until<T, Q, F>(
        &self,
        queue: Q,
        look: F,
    ) -> impl Future<Output = T> + Send + Unpin + use<T, Q, F>
    where
        Q: Fn(&mut Core) -> &mut Waiters + Send + Unpin,
        F: Fn(&Core) -> Option<T> + Send + Unpin,
    {
        let mut waiter = Waiter { sim: self.clone(), queue, place: None };
        poll_fn(move |context| waiter.poll(&look, context))
    }
}

/// A waiting future. Its drop leaves the queue.
struct Waiter<Q: Fn(&mut Core) -> &mut Waiters> {
    sim: Sim,
    queue: Q,
    place: Option<Place>,
}

impl<Q: Fn(&mut Core) -> &mut Waiters> Waiter<Q> {
    fn poll<T>(&mut self, look: impl Fn(&Core) -> Option<T>, context: &Context<'_>) -> Poll<T> {
        let mut core = self.sim.core();
        if let Some(found) = look(&core) {
            return Poll::Ready(found);
        }
        let replaced = (self.queue)(&mut core).wait(&mut self.place, context);
        drop(core);
        drop(replaced);
        Poll::Pending
    }
}

impl<Q: Fn(&mut Core) -> &mut Waiters> Drop for Waiter<Q> {
    fn drop(&mut self) {
        let Some(place) = self.place.take() else { return };
        let mut waker = None;
        self.sim.unless_ended(|core| waker = (self.queue)(core).leave(place));
        drop(waker);
    }
}
