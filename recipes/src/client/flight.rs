//! Requests whose answer borrows the library's client.
//!
//! Some of the library's methods send at the call but return a future that borrows the client. Such a future cannot
//! leave the call, so the client moves in with it: the whole call becomes a future that owns a share of the client, and
//! is polled once, at the call, which makes the request leave.
//!
//! The session closes when the last share is gone. So that an answer that nobody asks for cannot hold a session open,
//! [`Flights`] knows all that are on their way, and [`land`](Flights::land) takes their shares away.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Waker};

use zookeeper_client as lib;

type Answer<T> = Result<T, lib::Error>;

/// One request on its way.
pub(super) struct Flight<T> {
    place: Arc<Place<T>>,
}

struct Place<T>(Mutex<Stage<T>>);

enum Stage<T> {
    Flying { call: Pin<Box<dyn Future<Output = Answer<T>> + Send>>, waker: Option<Waker> },
    Landed(Answer<T>),
    Taken,
}

impl<T> Place<T> {
    fn lock(&self) -> MutexGuard<'_, Stage<T>> {
        // Nothing here panics between two writes.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Future for Flight<T> {
    type Output = Answer<T>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Answer<T>> {
        let mut stage = self.place.lock();
        let answer = match std::mem::replace(&mut *stage, Stage::Taken) {
            Stage::Flying { mut call, .. } => match call.as_mut().poll(cx) {
                Poll::Ready(answer) => answer,
                Poll::Pending => {
                    *stage = Stage::Flying { call, waker: Some(cx.waker().clone()) };
                    return Poll::Pending;
                }
            },
            Stage::Landed(answer) => answer,
            Stage::Taken => panic!("a future is not polled again after it was ready"),
        };
        Poll::Ready(answer)
    }
}

trait Landing: Send + Sync {
    fn land(&self);
}

impl<T: Send> Landing for Place<T> {
    /// Takes the answer if it is there, and gives up the client's share in any case.
    fn land(&self) {
        let mut stage = self.lock();
        if let Stage::Flying { call, waker } = &mut *stage {
            let answer = match call.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
                Poll::Ready(answer) => answer,
                Poll::Pending => Err(lib::Error::ClientClosed),
            };
            let waker = waker.take();
            *stage = Stage::Landed(answer);
            drop(stage);
            if let Some(waker) = waker {
                waker.wake();
            }
        }
    }
}

/// All flights of a session that may still be on their way.
#[derive(Default)]
pub(super) struct Flights(Mutex<Vec<Weak<dyn Landing>>>);

impl Flights {
    /// Lets a request leave: `call` owns its share of the client, and sends when it is polled first, which is here.
    pub(super) fn depart<T, F>(&self, call: F) -> Flight<T>
    where
        T: Send + 'static,
        F: Future<Output = Answer<T>> + Send + 'static,
    {
        let mut call = Box::pin(call);
        let stage = match call.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(answer) => {
                return Flight { place: Arc::new(Place(Mutex::new(Stage::Landed(answer)))) };
            }
            Poll::Pending => Stage::Flying { call, waker: None },
        };
        let place = Arc::new(Place(Mutex::new(stage)));
        let entry: Weak<Place<T>> = Arc::downgrade(&place);
        let mut known = self.lock();
        if known.len() == known.capacity() {
            // Before the list grows, those that were dropped or have landed leave it. As many as are left may come
            // before the next look.
            known.retain(|flight| flight.strong_count() > 0);
            let left = known.len();
            known.reserve(left);
        }
        known.push(entry);
        Flight { place }
    }

    /// Whether any may still be on their way.
    pub(super) fn is_empty(&self) -> bool {
        self.lock().iter().all(|flight| flight.strong_count() == 0)
    }

    /// Ends them all: with the answer if it has come, with "closed" if not.
    pub(super) fn land(&self) {
        let known = std::mem::take(&mut *self.lock());
        for flight in known.iter().filter_map(Weak::upgrade) {
            flight.land();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Weak<dyn Landing>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

    use futures_util::FutureExt;
    use futures_util::future::{pending, ready};

    use super::*;

    #[test]
    fn a_call_begins_before_anybody_polls() {
        let sent = Arc::new(AtomicBool::new(false));
        let seen = sent.clone();
        let flight = Flights::default().depart(async move {
            seen.store(true, SeqCst);
            Ok(7)
        });
        assert!(sent.load(SeqCst));
        assert_eq!(flight.now_or_never(), Some(Ok(7)));
    }

    #[test]
    fn a_flight_that_lands_gives_up_its_share_of_the_client() {
        let (flights, share) = (Flights::default(), Arc::new(()));
        let held = share.clone();
        let mut flight = flights.depart::<(), _>(async move {
            let _held = held;
            pending().await
        });
        assert_eq!((&mut flight).now_or_never(), None);
        assert_eq!(Arc::strong_count(&share), 2);
        flights.land();
        assert_eq!(Arc::strong_count(&share), 1);
        assert_eq!(flight.now_or_never(), Some(Err(lib::Error::ClientClosed)));
    }

    #[test]
    fn the_list_of_flights_does_not_grow_with_those_that_are_over() {
        let flights = Flights::default();
        for _ in 0..10_000 {
            drop(flights.depart::<(), _>(pending()));
            drop(flights.depart(ready(Ok(()))));
        }
        assert!(flights.lock().capacity() < 100);
        assert!(flights.is_empty());
    }
}
