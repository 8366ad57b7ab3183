//! Watches of a session that proves who it is by SASL, looked at once more after each reconnect.
//!
//! The library hands its watches to the server again before it has proved who we are, which takes two round trips. A
//! change meanwhile fires them, and a server with the fix of CVE-2024-23944 (ZOOKEEPER-4799, since 3.8.4 and 3.9.2) tells
//! nobody of a znode that those whom it does not know may not read. The watch is gone, and its holder waits for ever.
//! So, when requests are answered again:
//!
//! 1. Read once more what was read when the watch was armed, and arm another.
//! 2. It differs: tell what the watch would have told.
//! 3. It does not: the other watch is the watch from now on.

use std::future::pending;
use std::sync::{Arc, Weak};

use zookeeper_client as lib;

use super::session::Session;
use super::translate;
use crate::zk::{Error, Event, EventKind, Stat};

/// What a watch waits for a change of.
#[derive(Clone, Debug)]
pub(super) struct Watched {
    path: String,
    saw: Saw,
    /// The connection on which it was asked for, or one before; none if no watch of the session can be lost.
    connection: Option<u32>,
}

/// The znode, by its last write, or that there was none; or its children, by the last one that came or went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Saw {
    Znode(Option<i64>),
    Children(i64),
}

/// What a look brings.
pub(super) enum Found {
    /// The change that the watch is for.
    Changed(Event),
    /// None, and another watch for it.
    Unchanged(lib::OneshotWatcher, Watched),
}

impl Watched {
    pub(super) fn znode(path: String, stat: Option<&Stat>, connection: Option<u32>) -> Watched {
        Watched { path, saw: Saw::Znode(stat.map(|stat| stat.mzxid)), connection }
    }

    pub(super) fn children(path: String, stat: &Stat, connection: Option<u32>) -> Watched {
        Watched { path, saw: Saw::Children(stat.pzxid), connection }
    }

    /// Whether it has to be looked at after a reconnect.
    pub(super) fn may_be_lost(&self) -> bool {
        self.connection.is_some()
    }

    /// Waits for another connection, and looks. Never, if the session ends before that: its watches tell.
    pub(super) async fn recheck(mut self, session: Weak<Session>) -> Found {
        loop {
            self.connection = Session::reconnected(&session, self.connection).await;
            if self.connection.is_none() {
                return pending().await;
            }
            match self.look(&session).await {
                Ok((watcher, saw)) => {
                    return match self.saw.changed(saw) {
                        Some(kind) => Found::Changed(Event { kind, path: self.path }),
                        None => Found::Unchanged(watcher, self),
                    };
                }
                Err(Error::NoNode) => {
                    return Found::Changed(Event { kind: EventKind::NodeDeleted, path: self.path });
                }
                // With the next connection; or refused, and then the server tells what it may.
                Err(_) => {}
            }
        }
    }

    async fn look(&self, session: &Weak<Session>) -> Result<(lib::OneshotWatcher, Saw), Error> {
        let path = self.path.clone();
        match self.saw {
            Saw::Znode(_) => {
                let call = |zk: Arc<lib::Client>| async move { zk.check_and_watch_stat(&path).await };
                let (stat, watcher) = Session::ask(session, call).await?;
                Ok((watcher, Saw::Znode(stat.map(|stat| translate::stat(stat).mzxid))))
            }
            Saw::Children(_) => {
                let call = |zk: Arc<lib::Client>| async move { zk.get_and_watch_children(&path).await };
                let (_, stat, watcher) = Session::ask(session, call).await?;
                Ok((watcher, Saw::Children(translate::stat(stat).pzxid)))
            }
        }
    }
}

impl Saw {
    /// What a server tells whose client comes back with this and finds that (`DataTree.setWatches`).
    fn changed(self, now: Saw) -> Option<EventKind> {
        match (self, now) {
            (a, b) if a == b => None,
            (Saw::Znode(None), _) => Some(EventKind::NodeCreated),
            (_, Saw::Znode(None)) => Some(EventKind::NodeDeleted),
            (Saw::Znode(_), _) => Some(EventKind::NodeDataChanged),
            (Saw::Children(_), _) => Some(EventKind::NodeChildrenChanged),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_tells_what_a_server_would() {
        let (missing, znode) = (Saw::Znode(None), |mzxid| Saw::Znode(Some(mzxid)));
        for (before, now, told) in [
            (missing, missing, None),
            (missing, znode(7), Some(EventKind::NodeCreated)),
            (znode(7), znode(7), None),
            (znode(7), znode(8), Some(EventKind::NodeDataChanged)),
            (znode(7), missing, Some(EventKind::NodeDeleted)),
            (Saw::Children(7), Saw::Children(7), None),
            (Saw::Children(7), Saw::Children(9), Some(EventKind::NodeChildrenChanged)),
        ] {
            assert_eq!(before.changed(now), told, "{before:?}, then {now:?}");
        }
    }
}
