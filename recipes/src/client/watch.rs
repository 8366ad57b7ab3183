//! One notification of a real ensemble.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Weak;
use std::task::{Context, Poll, ready};

use zookeeper_client as lib;

use super::session::Session;
use crate::zk::{Error, Event, EventKind, Over};

/// The watch of a [`Client`](super::Client): see [`ZooKeeper::Watch`](crate::ZooKeeper::Watch).
///
/// # Cancellation
///
/// Dropped unfired, it is removed at the server, unless another of its kind on the same path is left.
#[must_use = "dropping a watch removes it"]
pub struct Watch {
    event: Pin<Box<dyn Future<Output = lib::WatchedEvent> + Send>>,
    session: Weak<Session>,
}

impl Watch {
    pub(super) fn new(watcher: lib::OneshotWatcher, session: Weak<Session>) -> Self {
        Watch { event: Box::pin(watcher.changed()), session }
    }
}

impl Future for Watch {
    type Output = Result<Event, Error>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let event = ready!(self.event.as_mut().poll(cx));
        let kind = match event.event_type {
            lib::EventType::NodeCreated => EventKind::NodeCreated,
            lib::EventType::NodeDeleted => EventKind::NodeDeleted,
            lib::EventType::NodeDataChanged => EventKind::NodeDataChanged,
            lib::EventType::NodeChildrenChanged => EventKind::NodeChildrenChanged,
            // One-shot watches hear of the session only when it is over.
            lib::EventType::Session => {
                let closed = self.session.upgrade().map_or(Over::Closed, |session| session.why_closed());
                return Poll::Ready(Err(Error::SessionOver(match event.session_state {
                    lib::SessionState::AuthFailed => Over::AuthFailed,
                    lib::SessionState::Expired => Over::Expired,
                    _ => closed,
                })));
            }
        };
        Poll::Ready(Ok(Event { kind, path: event.path }))
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch").finish_non_exhaustive()
    }
}
