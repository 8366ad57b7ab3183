//! What a real ensemble tells without being asked: one notification, or all changes in a tree.
//!
//! A tree watch outlives its connections by itself, since the library leaves that to its users:
//!
//! 1. Listen to the library's watcher.
//! 2. It says that the connection is there again: ask for the watch once more.
//! 3. It is armed: tell the gap, and listen to the new watcher. The connection is lost again meanwhile: listen to the
//!    old one for the next.

use std::fmt;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::{Arc, Weak};
use std::task::{Context, Poll, ready};

use futures_util::{FutureExt, Stream};
use zookeeper_client as lib;

use super::flight::Flight;
use super::recheck::{Found, Watched};
use super::session::{Sent, Session};
use crate::zk::{Error, Event, EventKind, Over, TreeEvent};

/// The watch of a [`Client`](super::Client): see [`ZooKeeper::Watch`](crate::ZooKeeper::Watch).
///
/// # Cancellation
///
/// Dropped unfired, it is removed at the server, unless another of its kind on the same path is left.
#[must_use = "dropping a watch removes it"]
pub struct Watch {
    event: Pin<Box<dyn Future<Output = lib::WatchedEvent> + Send>>,
    /// For a session whose watches may be lost while it reconnects.
    recheck: Option<Pin<Box<dyn Future<Output = Found> + Send>>>,
    session: Weak<Session>,
}

impl Watch {
    pub(super) fn new(watcher: lib::OneshotWatcher, watched: Watched, session: &Arc<Session>) -> Self {
        let session = Arc::downgrade(session);
        let recheck = watched.may_be_lost().then(|| watched.recheck(session.clone()).boxed());
        Watch { event: watcher.changed().boxed(), recheck, session }
    }
}

impl Future for Watch {
    type Output = Result<Event, Error>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let event = loop {
            if let Poll::Ready(event) = self.event.as_mut().poll(cx) {
                break event;
            }
            let Some(recheck) = &mut self.recheck else { return Poll::Pending };
            match ready!(recheck.as_mut().poll(cx)) {
                Found::Changed(event) => return Poll::Ready(Ok(event)),
                Found::Unchanged(watcher, watched) => {
                    // The new one is there before the old one goes: nothing is removed at the server.
                    self.event = watcher.changed().boxed();
                    self.recheck = Some(watched.recheck(self.session.clone()).boxed());
                }
            }
        };
        Poll::Ready(match kind(event.event_type) {
            Some(kind) => Ok(Event { kind, path: event.path }),
            // One-shot watches hear of the session only when it is over.
            None => Err(over(event.session_state, &self.session)),
        })
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch").finish_non_exhaustive()
    }
}

/// What happened to a znode; none if it is the session that something happened to.
fn kind(event: lib::EventType) -> Option<EventKind> {
    match event {
        lib::EventType::NodeCreated => Some(EventKind::NodeCreated),
        lib::EventType::NodeDeleted => Some(EventKind::NodeDeleted),
        lib::EventType::NodeDataChanged => Some(EventKind::NodeDataChanged),
        lib::EventType::NodeChildrenChanged => Some(EventKind::NodeChildrenChanged),
        lib::EventType::Session => None,
    }
}

/// The end of a session, as its watches tell it.
fn over(state: lib::SessionState, session: &Weak<Session>) -> Error {
    let closed = || session.upgrade().map_or(Over::Closed, |session| session.why_closed());
    Error::SessionOver(match state {
        lib::SessionState::AuthFailed => Over::AuthFailed,
        lib::SessionState::Expired => Over::Expired,
        _ => closed(),
    })
}

/// The request for a tree watch.
pub(super) fn tree(path: &str) -> impl FnOnce(Arc<lib::Client>) -> TreeRequest + use<> {
    let path = path.to_owned();
    move |zk| Box::pin(async move { zk.watch(&path, lib::AddWatchMode::PersistentRecursive).await })
}

type TreeRequest = Pin<Box<dyn Future<Output = Result<lib::PersistentWatcher, lib::Error>> + Send>>;

/// The tree watch of a [`Client`](super::Client): see [`ZooKeeper::TreeWatch`](crate::ZooKeeper::TreeWatch).
///
/// It is armed again after a reconnect when it is asked for what comes next: that is when it tells the gap.
///
/// # Cancellation
///
/// Dropped, it is removed at the server, unless another watch on the same path is left.
#[must_use = "dropping a watch removes it"]
pub struct TreeWatch {
    /// None when it has told the end of the session.
    watcher: Option<lib::PersistentWatcher>,
    /// Being asked for once more.
    arming: Option<Sent<Flight<lib::PersistentWatcher>>>,
    path: String,
    session: Weak<Session>,
}

impl TreeWatch {
    pub(super) fn new(watcher: lib::PersistentWatcher, path: String, session: Weak<Session>) -> Self {
        TreeWatch { watcher: Some(watcher), arming: None, path, session }
    }

    fn end(&mut self, why: Error) -> Poll<Option<Result<TreeEvent, Error>>> {
        (self.watcher, self.arming) = (None, None);
        Poll::Ready(Some(Err(why)))
    }

    /// Step 3.
    fn armed(&mut self, cx: &mut Context<'_>) -> Poll<Result<lib::PersistentWatcher, Error>> {
        let closed = Error::SessionOver(Over::Closed);
        let Some((at, sent)) = &mut self.arming else { return Poll::Pending };
        let answer = match sent {
            Ok(flight) => ready!(Pin::new(flight).poll(cx)),
            Err(e) => return Poll::Ready(Err(e.clone())),
        };
        let at = *at;
        self.arming = None;
        Poll::Ready(self.session.upgrade().ok_or(closed).and_then(|session| session.receive(at, answer)))
    }
}

impl Stream for TreeWatch {
    type Item = Result<TreeEvent, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        loop {
            if this.arming.is_some() {
                match ready!(this.armed(cx)) {
                    Ok(watcher) => {
                        this.watcher = Some(watcher);
                        return Poll::Ready(Some(Ok(TreeEvent::Gap)));
                    }
                    Err(Error::ConnectionLoss) => {}
                    Err(why) => return this.end(why),
                }
            }
            let Some(watcher) = &mut this.watcher else { return Poll::Ready(None) };
            let event = ready!(pin!(watcher.changed()).poll(cx));
            match (kind(event.event_type), event.session_state) {
                (Some(kind), _) => {
                    let event = Event { kind, path: event.path };
                    return Poll::Ready(Some(Ok(TreeEvent::Changed(event))));
                }
                (None, lib::SessionState::SyncConnected) => match this.session.upgrade() {
                    Some(session) => this.arming = Some(session.launch(Ok(()), tree(&this.path))),
                    None => return this.end(Error::SessionOver(Over::Closed)),
                },
                (None, lib::SessionState::Disconnected | lib::SessionState::ConnectedReadOnly) => {}
                (None, state) => {
                    let why = over(state, &this.session);
                    return this.end(why);
                }
            }
        }
    }
}

impl fmt::Debug for TreeWatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TreeWatch").field("path", &self.path).finish_non_exhaustive()
    }
}
