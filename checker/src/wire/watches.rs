//! Watches that are armed at servers, and their notifications.

use super::Wire;
use super::herd::{Deleted, Notified};
use super::paths::{ParsedPath, Paths, TextId};
use super::znodes::Znode;
use crate::history::{Conn, Notify, Session, Sym, Table, WatchMode};
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
    fn fire(&mut self, session: Session, kind: Notify, path: TextId, conn: Conn) {
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

impl Wire {
    pub(super) fn fire(
        &mut self,
        session: Session,
        kind: Notify,
        path: Sym,
        parsed: ParsedPath,
        zxid: u32,
        conn: Conn,
    ) {
        let is_cache = self.watches.covers(session, parsed.path, &self.paths);
        self.watches.fire(session, kind, parsed.path, conn);
        // A change that was missed while disconnected has zxid 0, which no transaction has.
        let Some(deletion) = self.herd.behind(zxid, kind, path, parsed) else { return };
        let Deleted { by, parsed, czxid, next_writer, .. } = deletion.deleted;
        if by == session {
            return;
        }
        let own = || self.znodes.of(parsed.directory, session).map(|(_, znode)| znode);
        let is_contender = own().next().is_some();
        let is_next = |znode: &Znode| {
            let is_before_writer = next_writer.is_none_or(|next| znode.czxid < next);
            znode.parsed.name.is_reader && znode.czxid > czxid && is_before_writer
        };
        let is_next_reader = own().any(is_next);
        deletion.notifications += 1;
        let told = Notified { index: self.now.index, is_cache, is_contender, is_next_reader };
        deletion.notified.entry(session).or_insert(told);
    }
}
