//! Futures of the user: replies, watches, alarms.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use futures_util::Stream;

use super::core::{Missed, Sent, Shared};
use super::request::{Request, Root, Said};
use super::session::Session;
use zk_protocol::session::Failure;
use zk_recipes::zk::{Error, ErrorKind, Event, TreeEvent};

/// Decodes a reply.
pub(super) type Convert<T> = fn(&Request, &Root, Said) -> Result<T, Error>;

/// The future of a request that was sent. It keeps the session alive.
#[must_use = "a dropped future forgets the answer"]
pub(super) struct Reply<T> {
    session: Arc<Session>,
    /// The request and the slot of its reply; or the error before sending; or `None` when it is done.
    state: Result<(Arc<Request>, u32), Option<Error>>,
    watch: Option<u32>,
    convert: Convert<T>,
}

impl<T> Reply<T> {
    pub(super) fn new(session: &Arc<Session>, sent: Result<Sent, Error>, convert: Convert<T>) -> Reply<T> {
        let (state, watch) = match sent {
            Ok(Sent { request, ticket, watch }) => (Ok((request, ticket)), watch),
            Err(why) => (Err(Some(why)), None),
        };
        Reply { session: session.clone(), state, watch, convert }
    }
}

impl<T> Future for Reply<T> {
    type Output = Result<(T, Option<Watch>), Error>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let ticket = match &mut this.state {
            Ok((_, ticket)) => *ticket,
            Err(why) => return Poll::Ready(Err(why.take().expect("a future is not polled after its end"))),
        };
        let shared = &this.session.shared;
        let mut core = shared.lock();
        let result = ready!(core.slots.poll_answer(ticket, context));
        drop(core);
        let Ok((request, _)) = std::mem::replace(&mut this.state, Err(None)) else {
            unreachable!("it has just been waited for")
        };
        let result = match result {
            Ok(body) => (this.convert)(&request, &shared.root, Ok(body)),
            Err(Missed::Failed(Failure::Refused(error))) => {
                (this.convert)(&request, &shared.root, Err(error))
            }
            Err(Missed::Failed(Failure::ConnectionLoss)) => Err(ErrorKind::ConnectionLoss.into()),
            Err(Missed::Failed(Failure::Over(why))) => Err(ErrorKind::SessionOver(why).into()),
            Err(Missed::Full { bytes, limit }) => Err(ErrorKind::SessionFull { bytes, limit }.into()),
        };
        // Dropping this value removes a watch that was armed although the reply is unreadable.
        let watch = this.watch.take().map(|watch| Watch::new(shared, watch));
        let result = result.map_err(|error| request.explain(&shared.root, error));
        Poll::Ready(result.map(|value| (value, watch)))
    }
}

impl<T> Drop for Reply<T> {
    fn drop(&mut self) {
        let Ok((_, ticket)) = self.state else { return };
        let shared = &self.session.shared;
        let answered = shared.lock().slots.forget(ticket, (), self.watch);
        if answered.is_some()
            && let Some(watch) = self.watch
        {
            drop(Watch::new(shared, watch));
        }
    }
}

/// The watch of a [`Client`](super::Client): see [`ZooKeeper::Watch`](zk_recipes::ZooKeeper::Watch).
///
/// # Cancellation
///
/// Dropped unfired, it is removed at the server, unless another of its kind on the same path is left.
#[must_use = "dropping a watch removes it"]
pub struct Watch {
    /// Does not keep the session alive: the last handle closes it.
    shared: Arc<Shared>,
    watch: Option<u32>,
}

impl Watch {
    fn new(shared: &Arc<Shared>, watch: u32) -> Watch {
        Watch { shared: shared.clone(), watch: Some(watch) }
    }
}

impl Future for Watch {
    type Output = Result<Event, Error>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let watch = self.watch.expect("a watch is not polled after it fired");
        let told = ready!(self.shared.lock().slots.poll_event(watch, context));
        self.watch = None;
        Poll::Ready(told)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let Some(watch) = self.watch else { return };
        self.shared.drop_watch(watch);
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch").finish_non_exhaustive()
    }
}

/// The tree watch of a [`Client`](super::Client): see [`ZooKeeper::TreeWatch`](zk_recipes::ZooKeeper::TreeWatch).
///
/// # Cancellation
///
/// Dropped, it is removed at the server, unless another watch on the same path is left.
#[derive(Debug)]
#[must_use = "dropping a watch removes it"]
pub struct TreeWatch(pub(super) Watch);

impl Stream for TreeWatch {
    type Item = Result<TreeEvent, Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let Watch { shared, watch } = &mut self.0;
        let Some(id) = *watch else { return Poll::Ready(None) };
        let mut core = shared.lock();
        let told = ready!(core.slots.poll_next(id, context));
        if told.is_err() {
            core.slots.release(id);
            *watch = None;
        }
        Poll::Ready(Some(told))
    }
}
