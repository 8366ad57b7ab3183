//! Deletions, and the sessions that each notifies.

use super::naming::Suggests;
use super::paths::ParsedPath;
use crate::history::{Notify, Session, Sym};
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
    pub(super) is_cache: bool,
    pub(super) is_contender: bool,
    /// Whether it is a reader with no writer between the deleted znode and its own.
    pub(super) is_next_reader: bool,
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
    pub(super) fn behind(
        &mut self,
        zxid: u32,
        kind: Notify,
        path: Sym,
        parsed: ParsedPath,
    ) -> Option<&mut Deletion> {
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
        let at = *all.iter().filter(is_of).find(|at| self.all[**at].deleted.zxid == epoch)?;
        self.all.get_mut(at)
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
