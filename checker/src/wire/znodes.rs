//! Ephemeral and sequential znodes, by directory: their creators, their ends, and their cost.

use super::herd::Deleted;
use super::items::TakenItem;
use super::naming::{Naming, Suggests};
use super::paths::{ParsedPath, TextId};
use super::{Loss, Wire};
use crate::history::{Request, Session, Sym, Tables};
use std::collections::{BTreeMap, BTreeSet};

/// A znode that exists.
#[derive(Clone, Debug)]
pub(super) struct Znode {
    pub(super) parsed: ParsedPath,
    pub(super) naming: Naming,
    pub(super) is_sequential: bool,
    pub(super) czxid: u64,
    pub(super) created: u32,
    pub(super) creator: Session,
    /// The owner of an ephemeral, or zero.
    pub(super) owner: Session,
    /// Whether the reply to its create reached the client.
    pub(super) is_made: bool,
    /// Whether a single create made it, and not a transaction with other parts.
    pub(super) is_plain: bool,
    /// Whether its session read it without a watch since it was created.
    is_looked_at: bool,
    cost_from: u32,
    cost_to: Option<u32>,
    /// The number of deletes in flight from the session that created it.
    deletes: u32,
    /// The last of these, if its reply was lost.
    pub(super) delete_lost: Option<Loss>,
    /// The sessions that got its data, with the event.
    pub(super) readers: BTreeMap<Session, u32>,
}

impl Znode {
    /// Whether its session has not tried to delete it, or the delete was refused.
    pub(super) fn is_let_be(&self) -> bool {
        self.deletes == 0 && self.delete_lost.is_none()
    }

    /// Whether its session may have found it by its owner: a name with a guid needs no such read.
    pub(super) fn is_adopted(&self) -> bool {
        self.is_looked_at && !self.parsed.name.has_guid
    }

    /// Whether it is an item of a queue.
    pub(super) fn is_item(&self) -> bool {
        self.naming.suggests() == Suggests::Queue
    }
}

/// The counts and live znodes of a directory.
#[derive(Clone, Debug, Default)]
pub(super) struct Directory {
    pub(super) namings: BTreeSet<Naming>,
    pub(super) created: u64,
    pub(super) deleted_by_owner: u64,
    pub(super) deleted_with_session: u64,
    pub(super) deleted_by_others: u64,
    pub(super) written: u64,
    /// The znodes that exist, in the order in which they were created.
    pub(super) live: BTreeSet<(u64, Sym)>,
    /// Those of them that are not readers'.
    writers: BTreeSet<(u64, Sym)>,
    pub(super) contenders: u64,
    pub(super) requests: u64,
    /// The largest number of requests for one contender, with its path.
    pub(super) most: Option<(u32, TextId)>,
    pub(super) items_put: u64,
    pub(super) items_taken: u64,
    pub(super) claimed_twice: u64,
}

/// All ephemeral and sequential znodes.
#[derive(Debug, Default)]
pub(super) struct Znodes {
    pub(super) live: BTreeMap<Sym, Znode>,
    /// The znodes of a session in a directory.
    of: BTreeMap<(TextId, Session), Vec<Sym>>,
    pub(super) directories: BTreeMap<TextId, Directory>,
}

impl Znodes {
    /// Whether it is a directory with such znodes.
    pub(super) fn is_directory(&self, path: TextId) -> bool {
        self.directories.contains_key(&path)
    }

    /// The znodes of a session in a directory, oldest first.
    pub(super) fn of(&self, directory: TextId, session: Session) -> impl Iterator<Item = (Sym, &Znode)> {
        let syms = self.of.get(&(directory, session)).into_iter().flatten();
        syms.filter_map(|sym| Some((*sym, self.live.get(sym)?)))
    }

    /// The first znode of a directory after a czxid that is not a reader's.
    fn next_writer(&self, directory: TextId, czxid: u64) -> Option<u64> {
        let behind = (czxid + 1, Sym(0));
        self.directories.get(&directory)?.writers.range(behind..).next().map(|(czxid, _)| *czxid)
    }

    pub(super) fn written(&mut self, directory: TextId) {
        if let Some(directory) = self.directories.get_mut(&directory) {
            directory.written += 1;
        }
    }

    /// Notes that a session asks to delete a znode.
    pub(super) fn delete_sent(&mut self, path: Sym, session: Session, cost: u32) {
        if let Some(znode) = self.live.get_mut(&path).filter(|znode| znode.creator == session) {
            znode.deletes += 1;
            znode.cost_to = Some(cost);
            znode.delete_lost = None;
        }
    }

    /// Notes the end of a delete in flight: its reply arrived or was lost.
    pub(super) fn delete_ends(&mut self, path: Sym, session: Session, loss: Option<Loss>) {
        if let Some(znode) = self.live.get_mut(&path).filter(|znode| znode.creator == session) {
            znode.deletes = znode.deletes.saturating_sub(1);
            znode.delete_lost = loss.or(znode.delete_lost);
        }
    }

    /// Notes that a session reads a znode.
    pub(super) fn note_read(&mut self, path: Sym, session: Session, watch: bool) {
        if let Some(znode) = self.live.get_mut(&path).filter(|znode| znode.creator == session && !watch) {
            znode.is_looked_at = true;
        }
    }

    /// Notes that a session has read the data of an item.
    pub(super) fn note_item_read(&mut self, path: Sym, session: Session, index: u32) {
        if let Some(znode) = self.live.get_mut(&path).filter(|znode| znode.is_item()) {
            znode.readers.entry(session).or_insert(index);
        }
    }

    fn insert(&mut self, path: Sym, znode: Znode) {
        let ParsedPath { directory, .. } = znode.parsed;
        self.of.entry((directory, znode.creator)).or_default().push(path);
        let of = self.directories.entry(directory).or_default();
        of.namings.insert(znode.naming);
        of.created += 1;
        of.items_put += u64::from(znode.is_item());
        of.live.insert((znode.czxid, path));
        if !znode.parsed.name.is_reader {
            of.writers.insert((znode.czxid, path));
        }
        self.live.insert(path, znode);
    }

    fn remove(&mut self, path: Sym) -> Option<Znode> {
        let znode = self.live.remove(&path)?;
        let key = (znode.parsed.directory, znode.creator);
        if let Some(of) = self.of.get_mut(&key) {
            of.retain(|other| *other != path);
            if of.is_empty() {
                self.of.remove(&key);
            }
        }
        if let Some(directory) = self.directories.get_mut(&znode.parsed.directory) {
            directory.live.remove(&(znode.czxid, path));
            directory.writers.remove(&(znode.czxid, path));
        }
        Some(znode)
    }
}

impl Wire {
    pub(super) fn created(&mut self, tables: Tables<'_>, zxid: u64, path: Sym, owner: Session) {
        let parsed = self.paths.parsed(tables, path);
        let txn = self.txn.filter(|txn| txn.zxid == zxid);
        let asked = txn.map_or(Session(0), |txn| txn.session);
        let creator = if owner == Session(0) { asked } else { owner };
        // A request with the complete path asked for no sequence number.
        let is_whole = parsed.front != parsed.path && self.create_in_flight(creator, parsed.path).is_some();
        let is_sequential = parsed.name.front.is_some() && !is_whole;
        if !is_sequential && owner == Session(0) {
            return;
        }
        let is_claim = parsed.name.naming.suggests() == Suggests::Queue && (is_whole || owner != Session(0));
        let cost = self.create_in_flight(creator, parsed.front);
        let znode = Znode {
            parsed,
            naming: if is_claim { Naming::Claim } else { parsed.name.naming },
            is_sequential,
            czxid: zxid,
            created: self.now.index,
            creator,
            owner,
            is_made: false,
            is_plain: txn.is_some_and(|txn| txn.kind == Request::Create),
            is_looked_at: false,
            cost_from: cost.unwrap_or_else(|| self.cost(creator, parsed.directory)),
            cost_to: None,
            deletes: 0,
            delete_lost: None,
            readers: BTreeMap::new(),
        };
        self.znodes.insert(path, znode);
        self.joins(path);
    }

    pub(super) fn made(&mut self, path: Sym, parsed: ParsedPath) {
        if let Some(znode) = self.znodes.live.get_mut(&path) {
            znode.is_made = true;
            self.learns_name(path, parsed);
        }
    }

    pub(super) fn deleted(&mut self, tables: Tables<'_>, zxid: u64, path: Sym, by: Session) {
        let parsed = self.paths.parsed(tables, path);
        let Some(znode) = self.znodes.remove(path) else { return };
        let kind = self.txn.filter(|txn| txn.zxid == zxid).map(|txn| txn.kind);
        let with_session = kind == Some(Request::CloseSession);
        let by_owner = by == znode.creator && by != Session(0) && !with_session;
        let cost = znode.cost_to.unwrap_or_else(|| self.cost(znode.creator, parsed.directory));
        let cost = (cost + 1).saturating_sub(znode.cost_from);
        if let Some(directory) = self.znodes.directories.get_mut(&parsed.directory) {
            directory.deleted_with_session += u64::from(with_session);
            directory.deleted_by_owner += u64::from(by_owner);
            directory.deleted_by_others += u64::from(!with_session && !by_owner);
            if znode.owner != Session(0) {
                directory.contenders += 1;
                directory.requests += u64::from(cost);
                if directory.most.is_none_or(|(most, _)| cost > most) {
                    directory.most = Some((cost, parsed.path));
                }
            }
            if znode.is_item() {
                directory.items_taken += 1;
                directory.claimed_twice += u64::from(znode.readers.len() > 1 && by != Session(0));
            }
        }
        let next_writer = self.znodes.next_writer(parsed.directory, znode.czxid);
        let index = self.now.index;
        let deleted = Deleted { zxid, path, parsed, czxid: znode.czxid, next_writer, by, index };
        self.herd.deleted(deleted);
        self.leaves(path, &znode, by_owner);
        if kind == Some(Request::Delete) {
            let read = znode.readers.get(&by).copied();
            self.items.taken(path, by, TakenItem { created: znode.created, deleted: index, read });
        }
    }
}
