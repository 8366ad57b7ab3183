//! The leader's part: ordering writes, refused or not, and deciding which sessions live.

use crate::message::{Ask, AskOp, Bytes, Code, Refusal};
use crate::paths::{PathId, Paths};
use crate::tree::Tree;
use crate::witness::Kind;
use std::collections::BTreeMap;
use zk_recipes::zk::{CreateMode, SessionId};

/// One change of the tree.
#[derive(Clone, Debug)]
pub(super) enum Change {
    Check,
    Create { path: PathId, data: Bytes, owner: SessionId },
    Delete { path: PathId },
    Set { path: PathId, data: Bytes },
}

/// A transaction, as the leader logs it.
#[derive(Clone, Debug)]
pub(super) struct Txn {
    pub(super) zxid: i64,
    /// Wall-clock milliseconds at the leader.
    pub(super) time: i64,
    pub(super) session: SessionId,
    pub(super) op: u32,
    pub(super) kind: Kind,
    pub(super) body: Body,
}

#[derive(Clone, Debug)]
pub(super) enum Body {
    Refused(Refusal),
    One(Change),
    Many(Vec<Change>),
    Open { timeout: u64 },
    Close,
}

/// The leader's view of a session.
#[derive(Clone, Debug)]
pub(super) struct Tracked {
    pub(super) timeout: u64,
    /// When the tracker looks at it: a multiple of the tick.
    pub(super) deadline: u64,
    /// The last touch.
    pub(super) heard: u64,
}

/// The leader's part.
#[derive(Clone, Debug)]
pub(crate) struct Leader {
    pub(super) zxid: i64,
    pub(super) sessions: BTreeMap<SessionId, Tracked>,
    pub(super) opened: i64,
    pub(super) tick: u64,
}

impl Leader {
    pub(crate) fn new(tick: u64) -> Self {
        Leader { zxid: 0, sessions: BTreeMap::new(), opened: 0, tick }
    }

    /// When the session tracker acts next.
    pub(crate) fn next_expiry(&self) -> Option<u64> {
        self.sessions.values().map(|tracked| tracked.deadline).min()
    }

    pub(crate) fn knows(&self, session: SessionId) -> bool {
        self.sessions.contains_key(&session)
    }

    /// Sessions that the leader keeps alive or has not yet given up.
    pub(crate) fn sessions(&self) -> impl Iterator<Item = SessionId> {
        self.sessions.keys().copied()
    }

    /// Expiry comes at a multiple of the tick, later than the timeout after the last touch, by at most one tick
    /// (`ExpiryQueue.roundToNextInterval`).
    pub(super) fn touch(&mut self, session: SessionId, now: u64, renegotiated: Option<u64>) -> bool {
        let tick = self.tick;
        let Some(tracked) = self.sessions.get_mut(&session) else { return false };
        if let Some(timeout) = renegotiated {
            tracked.timeout = timeout;
        }
        tracked.heard = now;
        tracked.deadline = ((now + tracked.timeout) / tick + 1) * tick;
        true
    }

    pub(super) fn order(&mut self, now: u64, session: SessionId, op: u32, kind: Kind, body: Body) -> Txn {
        self.zxid += 1;
        Txn { zxid: self.zxid, time: wall_clock_ms(now), session, op, kind, body }
    }

    /// Checks a write against the tree; what was refused takes a zxid all the same.
    pub(super) fn prepare(&mut self, tree: &Tree, paths: &mut Paths, session: SessionId, ask: Ask) -> Body {
        let mut pending = Pending { tree, paths, session, records: BTreeMap::new() };
        let one = |prepared: Result<Change, Code>| match prepared {
            Ok(change) => Body::One(change),
            Err(code) => Body::Refused(code.into()),
        };
        match ask {
            Ask::Create { path, data, mode } => one(pending.create(path, data, mode)),
            Ask::Delete { path, version } => one(pending.delete(path, version)),
            Ask::Set { path, data, version } => one(pending.set(path, data, version)),
            Ask::Multi(ops) => {
                let mut changes = Vec::with_capacity(ops.len());
                for (index, op) in ops.into_iter().enumerate() {
                    match pending.prepare(op) {
                        Ok(change) => changes.push(change),
                        Err(code) => return Body::Refused(Refusal::Multi(index as u16, code)),
                    }
                }
                Body::Many(changes)
            }
            _ => unreachable!("only writes are prepared"),
        }
    }
}

fn wall_clock_ms(now: u64) -> i64 {
    // 2020-01-01, so that times look like times.
    1_577_836_800_000 + (now / 1000) as i64
}

/// The tree as it will be once everything before has been applied (`PrepRequestProcessor`'s change records).
struct Pending<'a> {
    tree: &'a Tree,
    paths: &'a mut Paths,
    session: SessionId,
    records: BTreeMap<PathId, Record>,
}

#[derive(Clone, Copy)]
struct Record {
    exists: bool,
    version: i32,
    creations: i32,
    children: i32,
    ephemeral: bool,
}

impl Pending<'_> {
    fn record(&self, path: PathId) -> Record {
        if let Some(record) = self.records.get(&path) {
            return *record;
        }
        match self.tree.get(path) {
            Some(node) => Record {
                exists: true,
                version: node.version,
                creations: node.creations,
                children: node.num_children() as i32,
                ephemeral: node.owner != SessionId(0),
            },
            None => Record { exists: false, version: 0, creations: 0, children: 0, ephemeral: false },
        }
    }

    fn prepare(&mut self, op: AskOp) -> Result<Change, Code> {
        match op {
            AskOp::Check { path, version } => self.check(path, version).map(|_| Change::Check),
            AskOp::Create { path, data, mode } => self.create(path, data, mode),
            AskOp::Delete { path, version } => self.delete(path, version),
            AskOp::Set { path, data, version } => self.set(path, data, version),
        }
    }

    fn check(&self, path: PathId, version: Option<i32>) -> Result<Record, Code> {
        let record = self.record(path);
        match version {
            _ if !record.exists => Err(Code::NoNode),
            // On the wire, -1 is any version.
            Some(version) if version != -1 && version != record.version => Err(Code::BadVersion),
            _ => Ok(record),
        }
    }

    fn create(&mut self, path: PathId, data: Bytes, mode: CreateMode) -> Result<Change, Code> {
        let parent_id = self.paths.parent(path);
        let mut parent = self.record(parent_id);
        if !parent.exists {
            return Err(Code::NoNode);
        }
        let path = if mode.is_sequential() {
            let name = format!("{}{:010}", self.paths.text(path), parent.creations);
            self.paths.intern(&name)
        } else {
            path
        };
        if self.record(path).exists {
            return Err(Code::NodeExists);
        }
        if parent.ephemeral {
            return Err(Code::NoChildrenForEphemerals);
        }
        parent.creations = parent.creations.wrapping_add(1);
        parent.children += 1;
        self.records.insert(parent_id, parent);
        let ephemeral = mode.is_ephemeral();
        self.records.insert(path, Record { exists: true, version: 0, creations: 0, children: 0, ephemeral });
        Ok(Change::Create { path, data, owner: if ephemeral { self.session } else { SessionId(0) } })
    }

    fn delete(&mut self, path: PathId, version: Option<i32>) -> Result<Change, Code> {
        if path.0 <= 3 {
            // The root and ZooKeeper's own znodes are the first four of every world.
            return Err(Code::BadArguments);
        }
        let mut record = self.check(path, version)?;
        if record.children > 0 {
            return Err(Code::NotEmpty);
        }
        record.exists = false;
        self.records.insert(path, record);
        let parent_id = self.paths.parent(path);
        let mut parent = self.record(parent_id);
        parent.children -= 1;
        self.records.insert(parent_id, parent);
        Ok(Change::Delete { path })
    }

    fn set(&mut self, path: PathId, data: Bytes, version: Option<i32>) -> Result<Change, Code> {
        let mut record = self.check(path, version)?;
        record.version = record.version.wrapping_add(1);
        self.records.insert(path, record);
        Ok(Change::Set { path, data })
    }
}
