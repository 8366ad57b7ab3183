//! Deletions, and the sessions that each notifies.

use super::Wire;
use super::naming::Suggests;
use super::paths::{Place, TextId};
use crate::history::{Conn, Notify, Session, Sym};
use std::collections::BTreeMap;

/// A znode that was deleted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Deleted {
    pub(super) zxid: u64,
    pub(super) path: Sym,
    pub(super) place: Place,
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
    fn behind(&self, zxid: u32, kind: Notify, path: Sym, place: Place) -> Option<usize> {
        let all = self.by_zxid.get(&zxid)?;
        let is_of = |at: &&usize| {
            let deleted = &self.all[**at].deleted;
            match kind {
                Notify::Deleted => deleted.path == path,
                Notify::ChildrenChanged => deleted.place.directory == place.path,
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
        place: Place,
        zxid: u32,
        conn: Conn,
    ) {
        let is_cache = self.watches.covers(session, place.path, &self.paths);
        self.watches.fire(session, kind, place.path, conn);
        // A change that was missed while disconnected has zxid 0, which no transaction has.
        let Some(at) = self.herd.behind(zxid, kind, path, place) else { return };
        let Deleted { by, place, czxid, next_writer, .. } = self.herd.all[at].deleted;
        if by == session {
            return;
        }
        let (is_contender, is_next_reader) = self.stands(place.directory, session, czxid, next_writer);
        let deletion = &mut self.herd.all[at];
        deletion.notifications += 1;
        let told = Notified { index: self.now.index, is_cache, is_contender, is_next_reader };
        deletion.notified.entry(session).or_insert(told);
    }

    /// Whether a session has a znode in a directory, and a reader's znode between the deleted one and the next
    /// writer's.
    fn stands(&self, directory: TextId, session: Session, czxid: u64, next: Option<u64>) -> (bool, bool) {
        let of = || self.znodes.of(directory, session).map(|(_, znode)| znode);
        let is_next = |czxid_of: u64| czxid_of > czxid && next.is_none_or(|next| czxid_of < next);
        (of().next().is_some(), of().any(|znode| znode.place.name.is_reader && is_next(znode.czxid)))
    }
}
