//! Pending changes at the leader: a request is checked against the tree as it will be.
//!
//! As in `PrepRequestProcessor`: a queue of change records (`outstandingChanges`), and an index by path of the
//! current ones (`outstandingChangesForPath`). A record is removed when the leader has applied its transaction.

use crate::acl::Acl;
use crate::message::Code;
use crate::paths::{PathId, Paths, UsedPaths};
use crate::tree::{Tree, java_set};
use crate::txn::Life;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use zk_recipes::zk::SessionId;

/// The part of a znode that requests are checked against.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub version: i32,
    pub aversion: i32,
    pub creations: i32,
    pub children: i32,
    pub life: Life,
    pub acl: Acl,
}

impl Node {
    pub(super) fn is_ephemeral(&self) -> bool {
        matches!(self.life, Life::Ephemeral(_))
    }
}

/// A number below those of all records.
const NEVER: u64 = 0;

#[derive(Clone, Debug)]
struct Record {
    zxid: i64,
    path: PathId,
    /// The znode, or `None` if it will be deleted.
    node: Option<Node>,
    /// The previous record of the same path.
    before: u64,
    /// The previous record of a znode of the same session.
    owned_before: u64,
}

impl Record {
    fn owner(&self) -> Option<SessionId> {
        match self.node.as_ref()?.life {
            Life::Ephemeral(session) => Some(session),
            _ => None,
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Head {
    newest: u64,
    /// The current record; `None` after a failed multi that named a path with one.
    counts: Option<u64>,
}

/// Change records.
#[derive(Clone, Debug)]
pub(super) struct Pending {
    records: VecDeque<Record>,
    /// The number of the oldest record.
    first: u64,
    heads: BTreeMap<PathId, Head>,
    /// The newest record of a znode per session.
    owned: BTreeMap<SessionId, u64>,
}

impl Default for Pending {
    fn default() -> Self {
        let records = VecDeque::new();
        Pending { records, first: NEVER + 1, heads: BTreeMap::new(), owned: BTreeMap::new() }
    }
}

impl Pending {
    pub(super) fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    fn record(&self, number: u64) -> Option<&Record> {
        let index = number.checked_sub(self.first)?;
        self.records.get(usize::try_from(index).ok()?)
    }

    /// Returns the znode at a path as it will be.
    pub(super) fn look_up(&self, path: PathId, tree: &Tree) -> Result<Node, Code> {
        if let Some(number) = self.counting(path) {
            let record = self.record(number).expect("what counts is still pending");
            return record.node.clone().ok_or(Code::NoNode);
        }
        let node = tree.get(path).ok_or(Code::NoNode)?;
        Ok(Node {
            version: node.version,
            aversion: node.aversion,
            creations: node.creations,
            children: node.num_children() as i32,
            life: node.life,
            acl: node.acl.clone(),
        })
    }

    /// Adds the paths of all records.
    pub(super) fn paths(&self, used: &mut UsedPaths) {
        used.extend(self.heads.keys().copied());
        used.extend(self.records.iter().map(|record| record.path));
    }

    /// Returns the number of the current record of a path.
    pub(super) fn counting(&self, path: PathId) -> Option<u64> {
        self.heads.get(&path)?.counts
    }

    /// Adds a change of a path, or its deletion.
    pub(super) fn add(&mut self, zxid: i64, path: PathId, node: Option<Node>) {
        let number = self.first + self.records.len() as u64;
        let head = Head { newest: number, counts: Some(number) };
        let before = self.heads.insert(path, head).map_or(NEVER, |head| head.newest);
        let mut record = Record { zxid, path, node, before, owned_before: NEVER };
        if let Some(session) = record.owner() {
            record.owned_before = self.owned.insert(session, number).unwrap_or(NEVER);
        }
        self.records.push_back(record);
    }

    /// Rolls a failed multi back: removes its records, and restores the current records of the paths it named
    /// (`rollbackPendingChanges`; ZOOKEEPER-1624).
    pub(super) fn roll_back(&mut self, zxid: i64, counted: &[(PathId, u64)]) {
        while let Some(record) = self.records.pop_back_if(|record| record.zxid == zxid) {
            if record.before < self.first {
                self.heads.remove(&record.path);
            } else {
                self.heads.insert(record.path, Head { newest: record.before, counts: None });
            }
            if let Some(session) = record.owner() {
                if record.owned_before < self.first {
                    self.owned.remove(&session);
                } else {
                    self.owned.insert(session, record.owned_before);
                }
            }
        }
        for (path, number) in counted {
            if let Some(head) = self.heads.get_mut(path) {
                head.counts = Some(*number);
            }
        }
    }

    /// Removes the records of transactions up to that one, which the leader has applied.
    pub(super) fn applied(&mut self, zxid: i64) {
        while let Some(record) = self.records.pop_front_if(|record| record.zxid <= zxid) {
            let number = self.first;
            self.first += 1;
            if let Some(head) = self.heads.get_mut(&record.path) {
                if head.newest == number {
                    self.heads.remove(&record.path);
                } else if head.counts == Some(number) {
                    head.counts = None;
                }
            }
            if let Some(session) = record.owner()
                && self.owned.get(&session) == Some(&number)
            {
                self.owned.remove(&session);
            }
        }
    }

    fn chain(&self, newest: Option<u64>, before: impl Fn(&Record) -> u64) -> Vec<u64> {
        let step = |number: &u64| self.record(*number).map(&before);
        std::iter::successors(newest, step).take_while(|number| *number >= self.first).collect()
    }

    fn chain_of_path(&self, path: PathId) -> Vec<u64> {
        self.chain(self.heads.get(&path).map(|head| head.newest), |record| record.before)
    }

    /// Returns the ephemerals that a session will have, in the order of the Java copy of its set: the copy is made
    /// from the tree, and then updated record by record. Only records that affect this session are visited.
    pub(super) fn ephemerals(&self, session: SessionId, tree: &Tree, paths: &Paths) -> Vec<PathId> {
        if self.records.is_empty() {
            return tree.ephemerals(session, paths);
        }
        let copied = tree.ephemerals_for_copy(session, paths);
        let owned = self.chain(self.owned.get(&session).copied(), |record| record.owned_before);
        let mut matters: BTreeSet<u64> = owned.iter().copied().collect();
        let pending = owned.iter().filter_map(|number| self.record(*number)).map(|record| record.path);
        for path in copied.iter().copied().chain(pending) {
            matters.extend(self.chain_of_path(path));
        }

        let mut buckets = java_set::buckets_of_clone(copied.len());
        let mut age_of: BTreeMap<PathId, usize> = copied.into_iter().zip(0..).collect();
        let mut age = age_of.len();
        for record in matters.into_iter().filter_map(|number| self.record(number)) {
            if record.node.is_none() {
                age_of.remove(&record.path);
            } else if record.owner() == Some(session) {
                age_of.entry(record.path).or_insert(age);
                age += 1;
                buckets = java_set::grown(buckets, age_of.len());
            }
        }
        let mut listed: Vec<(u32, usize, PathId)> =
            age_of.into_iter().map(|(path, age)| (paths.path_bucket(path, buckets), age, path)).collect();
        listed.sort_unstable();
        listed.into_iter().map(|(_, _, path)| path).collect()
    }
}
