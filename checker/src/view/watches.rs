//! Watches: those armed at servers, and those that a client library would register again.

use super::{NEVER, View};
use crate::history::{Conn, Notify, OpId, Session, SessionState, Sym, Table, WatchMode, Who};
use crate::recent::slot;

/// A watch of a session.
///
/// A session may have an old connection at one server and a new one at another: only a watch on the connection that
/// its client uses can wake it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Watch {
    pub(crate) session: Session,
    pub(crate) table: Table,
    pub(crate) path: Sym,
    /// The operation that armed it first.
    pub(crate) op: OpId,
    /// Whether it is armed at a server.
    pub(crate) armed: bool,
    /// Which server, and on which connection.
    pub(crate) server: u8,
    pub(crate) conn: Conn,
    pub(crate) mode: WatchMode,
    /// Whether the client waits for it, and registers it again after a reconnect.
    pub(crate) registered: bool,
    /// The time at which the server dropped it without firing, or never.
    pub(crate) lost_at: u64,
    pub(crate) armed_index: u32,
    /// The number of its notifications in flight, and the number of those sent before it was armed last.
    undelivered: u32,
    earlier: u32,
}

/// Where and how a watch is armed.
#[derive(Clone, Copy)]
pub(crate) struct Armed {
    pub(crate) session: Session,
    pub(crate) table: Table,
    pub(crate) path: Sym,
    pub(crate) server: u8,
    pub(crate) conn: Conn,
    pub(crate) mode: WatchMode,
}

/// All watches, each session's together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Watches {
    /// By session.
    of: Vec<Vec<Watch>>,
}

impl Watches {
    /// The watches of a session, in the order in which they were armed first.
    pub(crate) fn of(&self, session: Session) -> &[Watch] {
        self.of.get(usize::from(session.0)).map_or(&[], Vec::as_slice)
    }

    /// All of them, session by session.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Watch> {
        self.of.iter().flatten()
    }

    fn of_mut(&mut self, session: Session) -> &mut Vec<Watch> {
        slot(&mut self.of, usize::from(session.0))
    }
}

/// Drops watches that are neither armed nor registered.
fn forget_gone(watches: &mut Vec<Watch>) {
    watches.retain(|watch| watch.armed || watch.registered);
}

impl Watch {
    fn is_on(&self, conn: Conn) -> bool {
        conn.is_none() || self.conn.is_none() || self.conn == conn
    }

    fn lose(&mut self, at: u64) {
        self.armed = false;
        self.lost_at = at;
    }

    /// Notes a notification. A notification sent before the watch was armed again does not end the watch.
    fn tells(&mut self) {
        self.undelivered = self.undelivered.saturating_sub(1);
        if self.earlier > 0 {
            self.earlier -= 1;
        } else if self.mode.is_one_shot() {
            self.registered = self.armed;
        }
    }
}

impl View {
    /// Whether a client has replaced a connection, or lost it.
    pub(crate) fn has_left(&self, session: Session, conn: Conn) -> bool {
        let view = self.session(session);
        !conn.is_none() && !view.conn.is_none() && (view.conn != conn || view.is_suspended)
    }

    pub(super) fn arm(&mut self, armed: Armed, op: OpId) {
        let index = self.now.index;
        let Armed { session, table, path, server, conn, mode } = armed;
        // The client does not read this connection any more.
        if self.has_left(session, conn) {
            return;
        }
        let watches = self.watches.of_mut(session);
        let again = watches.iter_mut().find(|w| w.path == path && w.table == table);
        let (before, undelivered) =
            again.as_ref().map_or((OpId(0), 0), |watch| (watch.op, watch.undelivered));
        let watch = Watch {
            session,
            table,
            path,
            op: if op == OpId(0) { before } else { op },
            armed: true,
            server,
            conn,
            mode,
            registered: true,
            lost_at: NEVER,
            armed_index: index,
            undelivered,
            earlier: undelivered,
        };
        match again {
            Some(again) => *again = watch,
            None => watches.push(watch),
        }
    }

    pub(super) fn fire(&mut self, session: Session, kind: Notify, path: Sym, conn: Conn) {
        if self.has_left(session, conn) {
            return;
        }
        for watch in self.watches.of_mut(session) {
            let told = watch.path == path && fires(watch.table, kind);
            if told && watch.is_on(conn) && watch.mode.is_one_shot() {
                watch.armed = false;
                watch.undelivered += 1;
            }
        }
        self.session_mut(session).undelivered += 1;
    }

    pub(super) fn disarm(&mut self, session: Session, table: Table, path: Sym, conn: Conn) {
        let at = self.now.at;
        let watches = self.watches.of_mut(session);
        for watch in watches.iter_mut().filter(|watch| watch.path == path && watch.table == table) {
            if watch.is_on(conn) {
                watch.lose(at);
            }
        }
        forget_gone(watches);
    }

    /// Delivers a notification. Returns the operation that waits for it, if that is known.
    pub(super) fn notice(&mut self, session: Session, kind: Notify, path: Sym) -> OpId {
        let mut op = OpId(0);
        let watches = self.watches.of_mut(session);
        for watch in watches.iter_mut().filter(|w| w.path == path && fires(w.table, kind)) {
            op = watch.op;
            watch.tells();
        }
        forget_gone(watches);
        let session = self.session_mut(session);
        session.undelivered = session.undelivered.saturating_sub(1);
        op
    }

    /// Notes that the client asks to remove its watches on a path.
    pub(super) fn unregister(&mut self, session: Session, path: Sym) {
        let watches = self.watches.of_mut(session);
        watches.iter_mut().filter(|watch| watch.path == path).for_each(|watch| watch.registered = false);
        forget_gone(watches);
    }

    pub(super) fn forget_watches(&mut self, session: Session) {
        *self.watches.of_mut(session) = Vec::new();
    }

    /// Closes a server's connections, and removes their watches.
    pub(super) fn lose_watches_of(&mut self, server: u8) {
        let at = self.now.at;
        for watches in &mut self.watches.of {
            for watch in watches.iter_mut().filter(|watch| watch.armed && watch.server == server) {
                watch.lose(at);
            }
            forget_gone(watches);
        }
    }

    /// Moves the client to another connection, or to none.
    pub(super) fn moves(&mut self, session: Session, state: SessionState, conn: Conn, server: u8) {
        let connected = state == SessionState::Connected;
        let view = self.session_mut(session);
        if connected && !conn.is_none() {
            view.conn = conn;
            view.server = server;
            view.undelivered = 0;
            *slot(&mut self.conns, usize::from(conn.0)) = session;
        }
        let (now, conn) = (self.now.at, self.session(session).conn);
        if conn.is_none() {
            return;
        }
        let watches = self.watches.of_mut(session);
        for watch in watches.iter_mut().filter(|watch| !connected || !watch.is_on(conn)) {
            (watch.undelivered, watch.earlier) = (0, 0);
            if watch.armed {
                watch.lose(now);
            }
        }
        forget_gone(watches);
    }

    /// The number of a server; zero for a client.
    pub(super) fn server_of(who: Who) -> u8 {
        match who {
            Who::Server(number) => number,
            Who::Client(_) | Who::World => 0,
        }
    }
}

/// Whether a notification uses up a watch of a table.
pub(crate) fn fires(table: Table, kind: Notify) -> bool {
    match kind {
        Notify::Deleted => true,
        Notify::ChildrenChanged => table == Table::Child,
        Notify::Created | Notify::DataChanged => table == Table::Data,
    }
}
