//! Watches that are armed at servers.

use super::paths::{Paths, TextId};
use crate::history::{Conn, Notify, Session, Table, WatchMode};
use std::collections::BTreeMap;

/// Where and how a watch is armed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Armed {
    pub(super) server: u8,
    pub(super) conn: Conn,
    pub(super) mode: WatchMode,
}

/// The watches of all sessions.
#[derive(Debug, Default)]
pub(super) struct Watches {
    armed: BTreeMap<(Session, TextId, Table), Armed>,
    /// The number of those that stay armed, by session.
    persistent: BTreeMap<Session, u32>,
}

impl Watches {
    pub(super) fn arm(&mut self, session: Session, table: Table, path: TextId, armed: Armed) {
        self.remove(session, table, path, Conn(0));
        if !armed.mode.is_one_shot() {
            *self.persistent.entry(session).or_default() += 1;
        }
        self.armed.insert((session, path, table), armed);
    }

    /// Removes a watch, unless the session has armed it again on another connection.
    fn remove(&mut self, session: Session, table: Table, path: TextId, conn: Conn) {
        let key = (session, path, table);
        let Some(armed) = self.armed.get(&key) else { return };
        if !conn.is_none() && !armed.conn.is_none() && armed.conn != conn {
            return;
        }
        if !armed.mode.is_one_shot()
            && let Some(count) = self.persistent.get_mut(&session)
        {
            *count -= 1;
        }
        self.armed.remove(&key);
    }

    pub(super) fn disarm(&mut self, session: Session, table: Table, path: TextId, conn: Conn) {
        self.remove(session, table, path, conn);
    }

    /// Uses up the one-shot watches of a notification.
    pub(super) fn fire(&mut self, session: Session, kind: Notify, path: TextId, conn: Conn) {
        let tables = match kind {
            Notify::Deleted => &[Table::Data, Table::Child][..],
            Notify::ChildrenChanged => &[Table::Child],
            Notify::Created | Notify::DataChanged => &[Table::Data],
        };
        for table in tables {
            if self.armed.get(&(session, path, *table)).is_some_and(|armed| armed.mode.is_one_shot()) {
                self.remove(session, *table, path, conn);
            }
        }
    }

    /// Removes the watches at a server that has stopped serving.
    pub(super) fn lose_server(&mut self, server: u8) {
        let lost = |armed: &Armed| armed.server == server;
        for ((session, _, _), _) in
            self.armed.iter().filter(|(_, armed)| lost(armed) && !armed.mode.is_one_shot())
        {
            if let Some(count) = self.persistent.get_mut(session) {
                *count -= 1;
            }
        }
        self.armed.retain(|_, armed| !lost(armed));
    }

    /// Whether a persistent watch of a session covers a path.
    pub(super) fn covers(&self, session: Session, path: TextId, paths: &Paths) -> bool {
        if self.persistent.get(&session).is_none_or(|count| *count == 0) {
            return false;
        }
        let has = |path: TextId, at_least: WatchMode| {
            [Table::Data, Table::Child].into_iter().any(|table| {
                self.armed.get(&(session, path, table)).is_some_and(|armed| armed.mode >= at_least)
            })
        };
        let text = paths.text(path);
        let above = text.rmatch_indices('/').map(|(at, _)| if at == 0 { "/" } else { &text[..at] });
        has(path, WatchMode::Persistent)
            || above.filter_map(|above| paths.find(above)).any(|above| has(above, WatchMode::Recursive))
    }

    /// The watches of a session.
    pub(super) fn of(&self, session: Session) -> impl Iterator<Item = (TextId, Table, Armed)> {
        let first = (session, TextId::FIRST, Table::Data);
        let all = self.armed.range(first..).take_while(move |((of, _, _), _)| *of == session);
        all.map(|((_, path, table), armed)| (*path, *table, *armed))
    }

    /// The watches of all sessions.
    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = (Session, TextId, Table, Armed)> {
        self.armed.iter().map(|((session, path, table), armed)| (*session, *path, *table, *armed))
    }
}
