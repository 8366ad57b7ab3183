//! The tree that the transactions made, in every state that a server may still show.
//!
//! Each znode keeps its state after each transaction that touched it, so "the znode at z" is a search from the end. The
//! tree before the first transaction is unknown: the root and `/zookeeper` are not judged.

use crate::digest::{self, Digest, Stat};
use crate::history::{Event, Notify, Session, Sym, Tables, What, Who};
use crate::recent::{Aged, Recent, slot};
use std::collections::VecDeque;

/// A znode after a transaction.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Version {
    pub(crate) zxid: u64,
    pub(crate) alive: bool,
    pub(crate) czxid: u64,
    pub(crate) mzxid: u64,
    pub(crate) pzxid: u64,
    pub(crate) version: i32,
    aversion: i32,
    /// The number of children that were ever created.
    creations: i32,
    pub(crate) children: i32,
    pub(crate) owner: Session,
    length: u32,
    data: u64,
    /// The sum of the digests of the children's names.
    names: u64,
    /// The number of children that its parent had ever had at its creation; none if the parent is not known.
    pub(crate) number: Option<i32>,
}

impl Version {
    fn stat(&self) -> Stat {
        Stat {
            czxid: self.czxid,
            mzxid: self.mzxid,
            pzxid: self.pzxid,
            version: self.version,
            // Creations and deletions both count.
            cversion: self.creations.wrapping_mul(2).wrapping_sub(self.children),
            aversion: self.aversion,
            owner: self.owner,
            data_length: self.length as i32,
            num_children: self.children,
        }
    }

    pub(crate) fn digest_of_stat(&self) -> Digest {
        Digest::of_stat(&self.stat())
    }

    pub(crate) fn digest_of_data(&self) -> Digest {
        Digest::of_data(self.data, &self.stat())
    }

    pub(crate) fn digest_of_names(&self) -> Digest {
        Digest::of_names(self.names, Some(&self.stat()))
    }
}

#[derive(Clone, Debug, Default)]
struct Node {
    /// The symbol of its parent plus one, once known.
    parent: u32,
    /// The digest of its name, once known.
    name: u64,
    versions: Vec<Version>,
    /// Whether it is deleted in every state that a server may still show.
    is_past: bool,
}

impl Aged for Node {
    const BLANK: &'static Node = &Node { parent: 0, name: 0, versions: Vec::new(), is_past: false };

    fn is_done(&self) -> bool {
        self.is_past || self.versions.is_empty()
    }
}

/// The effect of a transaction on one znode.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effect {
    pub(crate) path: Sym,
    pub(crate) parent: Option<Sym>,
    /// The notification that a watch would get; none for an access list.
    pub(crate) kind: Option<Notify>,
}

/// A transaction that was applied by the first server.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Commit {
    pub(crate) zxid: u64,
    /// Its first effect.
    effects: u32,
}

/// Why an effect is impossible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Odd {
    AlreadyThere,
    NoParent,
    EphemeralParent,
    NotThere,
    HasChildren,
}

/// The number of transactions, and of ephemerals of a session, that are kept even if no server lags.
const REMEMBERED: usize = 1024;

/// The tree, and the order of transactions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Oracle {
    nodes: Recent<Node>,
    /// The transactions that a server may still apply, and some before them.
    commits: VecDeque<Commit>,
    /// The number of the first of them.
    first: u32,
    /// Their effects.
    effects: VecDeque<Effect>,
    /// The number of the first of these effects.
    first_effect: u32,
    /// Deletions that a server may not have applied, or that no rule has looked up since.
    dying: VecDeque<(u64, Sym)>,
    /// By server: the number of the last transaction that it applied, plus one; zero if unknown.
    at: Vec<u32>,
    /// By server: the same number when the server went away, or zero.
    left_at: Vec<u32>,
    /// By session: its ephemerals, deleted ones included.
    ephemerals: Vec<Vec<Sym>>,
    /// By session: the number of its live ephemerals.
    living: Vec<u32>,
    /// The contradiction in the current effect.
    pub(crate) odd: Option<Odd>,
    /// The transactions that the current server skipped: a half-open range of numbers.
    pub(crate) skipped: (u32, u32),
    /// Whether the current server applies an unknown transaction, or one that it had applied before.
    pub(crate) is_unknown: bool,
}

impl Oracle {
    pub(crate) fn update(&mut self, tables: Tables<'_>, event: &Event) {
        self.odd = None;
        self.skipped = (0, 0);
        self.is_unknown = false;
        match event.what {
            What::Txn { zxid, .. } => {
                self.is_unknown = self.commits.back().is_some_and(|last| last.zxid >= zxid);
                let effects = self.first_effect + self.effects.len() as u32;
                self.commits.push_back(Commit { zxid, effects });
                self.apply(event.who, zxid);
                self.forget();
            }
            What::Applied { zxid } => self.apply(event.who, zxid),
            What::Created { zxid, path, owner } => self.create(tables, path, zxid, owner),
            What::Deleted { zxid, path, .. } => self.delete(tables, path, zxid),
            What::Written { zxid, path } => {
                self.effect(path, None, Some(Notify::DataChanged));
                self.change(path, zxid, |node| {
                    node.version = node.version.wrapping_add(1);
                    node.mzxid = zxid;
                });
            }
            What::Restricted { zxid, path } => {
                self.effect(path, None, None);
                self.change(path, zxid, |node| node.aversion = node.aversion.wrapping_add(1));
            }
            What::Data { length, digest } => {
                let last = self.effects.back().map(|effect| effect.path);
                let last = last.and_then(|path| self.nodes.get_mut(path.0 as usize)?.versions.last_mut());
                if let Some(node) = last {
                    (node.length, node.data) = (length, digest);
                }
            }
            // A server that restarts may have received everything in one snapshot.
            What::Ceased => {
                let at = std::mem::take(self.at_mut(event.who));
                let number = server(event.who);
                let left_at = slot(&mut self.left_at, number);
                *left_at = at.max(*left_at);
            }
            _ => {}
        }
    }

    fn at_mut(&mut self, who: Who) -> &mut u32 {
        slot(&mut self.at, server(who))
    }

    fn apply(&mut self, who: Who, zxid: u64) {
        let Some(number) = self.number_of(zxid) else {
            self.is_unknown = true;
            return;
        };
        let at = self.at_mut(who);
        let before = *at;
        *at = number + 1;
        if before != 0 && number > before {
            self.skipped = (before, number);
        }
        self.is_unknown |= number < before;
    }

    /// The number before which a server has applied everything; for a server that is away, as far as known.
    pub(crate) fn reached(&self, who: Who) -> u32 {
        let of = |table: &[u32]| table.get(server(who)).copied().unwrap_or(0);
        of(&self.at).max(of(&self.left_at))
    }

    /// The number of a transaction.
    pub(crate) fn number_of(&self, zxid: u64) -> Option<u32> {
        let from_end = self.commits.iter().rev().take(8).position(|commit| commit.zxid == zxid);
        let at = match from_end {
            Some(at) => self.commits.len() - 1 - at,
            None => self.commits.binary_search_by_key(&zxid, |commit| commit.zxid).ok()?,
        };
        Some(self.first + at as u32)
    }

    /// The zxid of the transaction of that number.
    pub(crate) fn zxid_of(&self, number: u32) -> Option<u64> {
        self.commit(number).map(|commit| commit.zxid)
    }

    /// The number of the first transaction after a zxid.
    pub(crate) fn number_after(&self, zxid: u64) -> u32 {
        self.first + self.commits.partition_point(|commit| commit.zxid <= zxid) as u32
    }

    /// The number of the transaction before the latest one.
    pub(crate) fn latest_but_one(&self) -> Option<u32> {
        (self.first + self.commits.len() as u32).checked_sub(2)
    }

    fn commit(&self, number: u32) -> Option<&Commit> {
        self.commits.get(number.checked_sub(self.first)? as usize)
    }

    /// The zxid of the last transaction that all servers have applied: no server shows an older state.
    fn oldest(&self) -> u64 {
        // A server that was away may come back in any state.
        let oldest = self.at.iter().copied().min().unwrap_or(0).checked_sub(1);
        oldest.and_then(|at| self.zxid_of(at)).unwrap_or(0)
    }

    /// Drops transactions that all servers have applied.
    fn forget(&mut self) {
        if self.commits.len() < 2 * REMEMBERED {
            return;
        }
        let oldest = self.oldest();
        let past =
            self.commits.partition_point(|commit| commit.zxid < oldest).min(self.commits.len() - REMEMBERED);
        self.commits.drain(..past);
        self.first += past as u32;
        let from = self.commits.front().map_or(self.first_effect, |first| first.effects);
        self.effects.drain(..(from - self.first_effect) as usize);
        self.first_effect = from;
        while let Some((_, path)) = self.dying.pop_front_if(|(zxid, _)| *zxid <= oldest) {
            let Some(node) = self.nodes.get_mut(path.0 as usize) else { continue };
            node.is_past = node.versions.last().is_some_and(|last| !last.alive && last.zxid <= oldest);
        }
    }

    /// The effects of a transaction.
    pub(crate) fn effects_of(&self, number: u32) -> impl ExactSizeIterator<Item = &Effect> {
        let place = |commit: &Commit| (commit.effects - self.first_effect) as usize;
        let from = self.commit(number).map_or(self.effects.len(), place);
        let end = self.commit(number + 1).map_or(self.effects.len(), place);
        self.effects.range(from..end)
    }

    /// The number of effects of the latest transaction so far.
    pub(crate) fn effects_so_far(&self) -> usize {
        let effects = self.first_effect as usize + self.effects.len();
        self.commits.back().map_or(0, |last| effects - last.effects as usize)
    }

    /// The znode in the state of a transaction; none if it did not exist, or is unknown.
    pub(crate) fn node_at(&self, path: Sym, zxid: u64) -> Option<&Version> {
        let node = self.nodes.get(path.0 as usize)?;
        node.versions.iter().rev().find(|version| version.zxid <= zxid).filter(|version| version.alive)
    }

    /// The number of children that a znode has ever had; for a deleted znode, that of its last incarnation.
    pub(crate) fn creations(&self, path: Sym) -> i32 {
        self.latest(path).map_or(0, |node| node.creations)
    }

    /// The last effect on a znode up to a transaction, its deletion included.
    pub(crate) fn last_change(&self, path: Sym, zxid: u64) -> u64 {
        let node = self.nodes.get(path.0 as usize);
        let mut versions = node.into_iter().flat_map(|node| node.versions.iter().rev());
        versions.find(|version| version.zxid <= zxid).map_or(0, |version| version.zxid)
    }

    /// The creation and deletion of the last incarnation of a znode that does not exist in the state of a
    /// transaction.
    pub(crate) fn last_life(&self, path: Sym, zxid: u64) -> Option<(u64, u64)> {
        let node = self.nodes.get(path.0 as usize)?;
        let end = node.versions.iter().rposition(|version| version.zxid <= zxid)?;
        let gone = &node.versions[end];
        (!gone.alive).then_some((gone.czxid, gone.zxid))
    }

    pub(crate) fn ephemerals_of(&self, session: Session) -> &[Sym] {
        self.ephemerals.get(usize::from(session.0)).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn living_of(&self, session: Session) -> u32 {
        self.living.get(usize::from(session.0)).copied().unwrap_or(0)
    }

    /// The parent of a path, if it has a symbol.
    pub(crate) fn parent_of(&mut self, tables: Tables<'_>, path: Sym) -> Option<Sym> {
        let node = self.nodes.slot(path.0 as usize);
        if node.parent == 0 {
            let text = tables.names.get(path)?;
            let (parent, name) = text.rsplit_once('/')?;
            let parent = tables.names.find(if parent.is_empty() { "/" } else { parent })?;
            (node.parent, node.name) = (parent.0 + 1, digest::name(name));
        }
        Some(Sym(node.parent - 1))
    }

    /// The parent of a path that was created or deleted.
    pub(crate) fn known_parent(&self, path: Sym) -> Option<Sym> {
        self.nodes.get(path.0 as usize).and_then(|node| node.parent.checked_sub(1)).map(Sym)
    }

    fn effect(&mut self, path: Sym, parent: Option<Sym>, kind: Option<Notify>) {
        self.effects.push_back(Effect { path, parent, kind });
    }

    fn latest(&self, path: Sym) -> Option<&Version> {
        self.nodes.get(path.0 as usize).and_then(|node| node.versions.last())
    }

    fn push(&mut self, path: Sym, version: Version) {
        let oldest = self.oldest();
        if !version.alive {
            self.dying.push_back((version.zxid, path));
        }
        let node = self.nodes.slot(path.0 as usize);
        node.is_past = false;
        let versions = &mut node.versions;
        match versions.last_mut() {
            Some(last) if last.zxid == version.zxid => *last = version,
            _ => versions.push(version),
        }
        // States that no server shows any more are dropped.
        if versions.len().is_multiple_of(32) {
            let shown = versions.iter().rposition(|version| version.zxid <= oldest).unwrap_or(0);
            versions.drain(..shown);
        }
    }

    fn change(&mut self, path: Sym, zxid: u64, change: impl FnOnce(&mut Version)) {
        match self.latest(path).copied() {
            Some(mut version) if version.alive => {
                version.zxid = zxid;
                change(&mut version);
                self.push(path, version);
            }
            Some(_) => self.odd = Some(Odd::NotThere),
            None => {}
        }
    }

    fn create(&mut self, tables: Tables<'_>, path: Sym, zxid: u64, owner: Session) {
        let parent = self.parent_of(tables, path);
        self.effect(path, parent, Some(Notify::Created));
        if self.latest(path).is_some_and(|node| node.alive) {
            self.odd = Some(Odd::AlreadyThere);
        }
        let mut number = None;
        if let Some(parent) = parent.and_then(|parent| self.latest(parent)) {
            match (parent.alive, parent.owner) {
                (false, _) => self.odd = Some(Odd::NoParent),
                (true, Session(1..)) => self.odd = Some(Odd::EphemeralParent),
                (true, _) => number = Some(parent.creations),
            }
        }
        let (czxid, mzxid, pzxid) = (zxid, zxid, zxid);
        self.push(
            path,
            Version {
                zxid,
                alive: true,
                czxid,
                mzxid,
                pzxid,
                owner,
                number,
                creations: tables.header.first_number,
                ..Version::default()
            },
        );
        if owner != Session(0) {
            let at = usize::from(owner.0);
            *slot(&mut self.living, at) += 1;
            let nodes = &self.nodes;
            let all = slot(&mut self.ephemerals, at);
            if all.len() >= REMEMBERED && all.len().is_multiple_of(REMEMBERED) {
                all.retain(|path| nodes.at(path.0 as usize).versions.last().is_some_and(|last| last.alive));
            }
            all.push(path);
        }
        let name = self.nodes[path.0 as usize].name;
        if let Some(parent) = parent.filter(|_| number.is_some()) {
            self.change(parent, zxid, |parent| {
                // At the maximum the count and the pzxid no longer change (`DataTree.createNode`).
                if let Some(more) = parent.creations.checked_add(1) {
                    (parent.creations, parent.pzxid) = (more, zxid);
                }
                parent.children += 1;
                parent.names = parent.names.wrapping_add(name);
            });
        }
    }

    fn delete(&mut self, tables: Tables<'_>, path: Sym, zxid: u64) {
        let parent = self.parent_of(tables, path);
        self.effect(path, parent, Some(Notify::Deleted));
        let Some(node) = self.latest(path).copied() else { return };
        if !node.alive {
            self.odd = Some(Odd::NotThere);
            return;
        }
        if node.children > 0 {
            self.odd = Some(Odd::HasChildren);
        }
        self.push(path, Version { zxid, alive: false, ..node });
        if let Some(living) = self.living.get_mut(usize::from(node.owner.0)).filter(|_| node.owner.0 != 0) {
            *living = living.saturating_sub(1);
        }
        let name = self.nodes[path.0 as usize].name;
        if let Some(parent) = parent.filter(|_| node.number.is_some()) {
            let odd = self.odd;
            self.change(parent, zxid, |parent| {
                parent.children -= 1;
                parent.pzxid = parent.pzxid.max(zxid);
                parent.names = parent.names.wrapping_sub(name);
            });
            self.odd = odd;
        }
    }
}

fn server(who: Who) -> usize {
    if let Who::Server(number) = who { usize::from(number) } else { 0 }
}

/// Whether a path existed before the first recorded event.
pub(crate) fn is_unjudged(path: &str) -> bool {
    path == "/" || path == "/zookeeper" || path.starts_with("/zookeeper/") || !path.starts_with('/')
}
