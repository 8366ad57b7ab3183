//! Deletions, and the sessions that each notifies.

use super::Wire;
use super::naming::Suggests;
use super::paths::ParsedPath;
use super::znodes::Znode;
use crate::history::{Conn, Notify, Session, Sym};
use std::collections::BTreeMap;

/// A znode that was deleted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Deleted {
    pub(super) zxid: u64,
    pub(super) path: Sym,
    pub(super) parsed: ParsedPath,
    pub(super) czxid: u64,
    /// The czxid of the first later znode that is not a reader's.
    pub(super) next_writer: Option<u64>,
    pub(super) by: Session,
    pub(super) index: u32,
}

/// A session that a deletion notified.
#[derive(Clone, Copy, Debug)]
pub(super) struct Notified {
    pub(super) index: u32,
    /// Whether it has a persistent watch there, as caches do.
    is_cache: bool,
    is_contender: bool,
    /// Whether it is a reader with no writer between the deleted znode and its own.
    is_next_reader: bool,
}

/// A deletion, with its notifications.
#[derive(Clone, Debug)]
pub(super) struct Deletion {
    pub(super) deleted: Deleted,
    /// Notifications of sessions other than the deleter's.
    pub(super) notifications: u64,
    pub(super) notified: BTreeMap<Session, Notified>,
}

/// The deletions so far.
#[derive(Debug, Default)]
pub(super) struct Deletions {
    all: Vec<Deletion>,
    /// By the low half of the zxid, as recorded in the events of watches.
    by_zxid: BTreeMap<u32, Vec<usize>>,
}

impl Deletions {
    pub(super) fn deleted(&mut self, deleted: Deleted) {
        self.by_zxid.entry(deleted.zxid as u32).or_default().push(self.all.len());
        self.all.push(Deletion { deleted, notifications: 0, notified: BTreeMap::new() });
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Deletion> {
        self.all.iter()
    }

    /// The deletion behind a notification. One transaction may delete several znodes of a directory: the first of them
    /// changed the directory's children.
    fn behind(&self, zxid: u32, kind: Notify, path: Sym, parsed: ParsedPath) -> Option<usize> {
        let all = self.by_zxid.get(&zxid)?;
        let is_of = |at: &&usize| {
            let deleted = &self.all[**at].deleted;
            match kind {
                Notify::Deleted => deleted.path == path,
                Notify::ChildrenChanged => deleted.parsed.directory == parsed.path,
                Notify::Created | Notify::DataChanged => false,
            }
        };
        // The low half begins again with each epoch.
        let epoch = self.all[*all.iter().rev().find(is_of)?].deleted.zxid;
        all.iter().filter(is_of).find(|at| self.all[**at].deleted.zxid == epoch).copied()
    }
}

impl Deletion {
    /// The sessions that one deletion should not notify together in a directory of this kind.
    pub(super) fn herd(&self, kind: Suggests) -> impl Iterator<Item = (Session, Notified)> {
        let counts = move |told: &Notified| {
            !told.is_cache
                && (told.is_contender || kind == Suggests::Semaphore)
                && !(told.is_next_reader && kind == Suggests::SharedLock)
        };
        self.notified.iter().map(|(session, told)| (*session, *told)).filter(move |(_, told)| counts(told))
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
        let Some(at) = self.herd.behind(zxid, kind, path, parsed) else { return };
        let Deleted { by, parsed, czxid, next_writer, .. } = self.herd.all[at].deleted;
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
        let deletion = &mut self.herd.all[at];
        deletion.notifications += 1;
        let told = Notified { index: self.now.index, is_cache, is_contender, is_next_reader };
        deletion.notified.entry(session).or_insert(told);
    }
}
