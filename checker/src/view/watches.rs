//! Watches: those armed at servers, and those that a client library would register again.

use super::{NEVER, View};
use crate::history::{Notify, OpId, Session, Sym, Table};

/// A watch of a session.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Watch {
    pub(crate) session: Session,
    pub(crate) table: Table,
    pub(crate) path: Sym,
    /// The operation that armed it first.
    pub(crate) op: OpId,
    /// At a server.
    pub(crate) armed: bool,
    /// The client waits for it, and registers it again after a reconnect.
    pub(crate) registered: bool,
    /// When it went from the server without firing, or never.
    pub(crate) lost_at: u64,
    pub(crate) armed_index: u32,
}

impl View {
    pub(super) fn arm(&mut self, session: Session, table: Table, path: Sym, op: OpId) {
        let index = self.now.index;
        let same = |w: &&mut Watch| w.session == session && w.path == path && w.table == table;
        if let Some(watch) = self.watches.iter_mut().find(same) {
            watch.armed = true;
            watch.registered = true;
            watch.lost_at = NEVER;
            watch.armed_index = index;
            if op != OpId(0) {
                watch.op = op;
            }
            return;
        }
        let watch = Watch {
            session,
            table,
            path,
            op,
            armed: true,
            registered: true,
            lost_at: NEVER,
            armed_index: index,
        };
        self.watches.push(watch);
    }

    pub(super) fn fire(&mut self, session: Session, kind: Notify, path: Sym) {
        for watch in &mut self.watches {
            if watch.session == session && watch.path == path && is_told(watch.table, kind) {
                watch.armed = false;
            }
        }
        self.session_mut(session).undelivered += 1;
    }

    pub(super) fn disarm(&mut self, session: Session, table: Table, path: Sym) {
        let at = self.now.at;
        for watch in &mut self.watches {
            if watch.session == session && watch.path == path && watch.table == table {
                watch.armed = false;
                watch.lost_at = at;
            }
        }
        self.watches.retain(|watch| watch.armed || watch.registered);
    }

    /// A notification reaches its client. Gives the operation that waits for it, if that is known.
    pub(super) fn notice(&mut self, session: Session, kind: Notify, path: Sym) -> OpId {
        let mut op = OpId(0);
        let mut loose = false;
        for watch in &mut self.watches {
            if watch.session == session && watch.path == path && is_told(watch.table, kind) {
                op = watch.op;
                watch.registered = watch.armed;
                loose |= !watch.armed;
            }
        }
        if loose {
            self.watches.retain(|watch| watch.armed || watch.registered);
        }
        let session = self.session_mut(session);
        session.undelivered = session.undelivered.saturating_sub(1);
        op
    }

    /// The client asks that its watches on a path be taken away.
    pub(super) fn unregister(&mut self, session: Session, path: Sym) {
        for watch in &mut self.watches {
            if watch.session == session && watch.path == path {
                watch.registered = false;
            }
        }
        self.watches.retain(|watch| watch.armed || watch.registered);
    }

    pub(super) fn forget_watches(&mut self, session: Session) {
        self.watches.retain(|watch| watch.session != session);
    }
}

/// Whether a watch of a table is used up by a notification.
pub(crate) fn is_told(table: Table, kind: Notify) -> bool {
    match kind {
        Notify::Deleted => true,
        Notify::ChildrenChanged => table == Table::Child,
        Notify::Created | Notify::DataChanged => table == Table::Data,
    }
}
