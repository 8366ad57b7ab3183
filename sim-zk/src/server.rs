//! A server: its copy of the tree, its watches and the sessions it serves; and the leader's part: ordering writes and
//! deciding which sessions live.
//!
//! 1. *Prepare* (leader): check a write against the tree and what is pending, give it a zxid, refused or not.
//! 2. *Apply* (every server, in zxid order): change the tree, fire watches, answer if the client is ours.
//!
//! With one server both happen in one step. The cut is there for the others: nothing in `apply` asks the leader.

use crate::message::{Answer, Ask, AskOp, Bytes, Code, Down, OpAnswer, Refusal, Table, Tag, Up};
use crate::paths::{PathId, Paths};
use crate::tree::Tree;
use crate::witness::{Happening, Kind, Outcome, Witness};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use zk_recipes::zk::{CreateMode, EventKind, SessionId};

/// Names a connection: never used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConnId(pub u32);

/// What a server touches beside itself while it works.
pub(crate) struct Scene<'a> {
    pub now: u64,
    pub paths: &'a mut Paths,
    pub witness: &'a mut dyn Witness,
    /// What it sends: to which connection, what, and for which request.
    pub outbox: &'a mut Vec<(ConnId, Down)>,
}

impl Scene<'_> {
    fn tell(&mut self, happening: Happening) {
        self.witness.saw(self.now, &happening, self.paths);
    }
}

/// One change of the tree.
#[derive(Clone, Debug)]
enum Change {
    Check,
    Create { path: PathId, data: Bytes, owner: SessionId },
    Delete { path: PathId },
    Set { path: PathId, data: Bytes },
}

/// A transaction, as the leader logs it.
#[derive(Clone, Debug)]
struct Txn {
    zxid: i64,
    /// Wall-clock milliseconds at the leader.
    time: i64,
    session: SessionId,
    op: u32,
    kind: Kind,
    body: Body,
}

#[derive(Clone, Debug)]
enum Body {
    Refused(Refusal),
    One(Change),
    Many(Vec<Change>),
    Open { timeout: u64 },
    Close,
}

/// The leader's view of a session.
#[derive(Clone, Debug)]
struct Tracked {
    timeout: u64,
    /// When the tracker looks at it: a multiple of the tick.
    deadline: u64,
    /// The last touch.
    heard: u64,
}

/// The leader's part.
#[derive(Clone, Debug)]
pub(crate) struct Leader {
    zxid: i64,
    sessions: BTreeMap<SessionId, Tracked>,
    opened: i64,
    tick: u64,
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
    fn touch(&mut self, session: SessionId, now: u64, renegotiated: Option<u64>) -> bool {
        let tick = self.tick;
        let Some(tracked) = self.sessions.get_mut(&session) else { return false };
        if let Some(timeout) = renegotiated {
            tracked.timeout = timeout;
        }
        tracked.heard = now;
        tracked.deadline = ((now + tracked.timeout) / tick + 1) * tick;
        true
    }

    fn order(&mut self, now: u64, session: SessionId, op: u32, kind: Kind, body: Body) -> Txn {
        self.zxid += 1;
        Txn { zxid: self.zxid, time: wall_clock_ms(now), session, op, kind, body }
    }

    /// Checks a write against the tree; what was refused takes a zxid all the same.
    fn prepare(&mut self, tree: &Tree, paths: &mut Paths, session: SessionId, ask: Ask) -> Body {
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

/// A server.
#[derive(Clone, Debug)]
pub(crate) struct Server {
    id: u8,
    pub tree: Tree,
    applied: i64,
    data_watches: BTreeSet<(PathId, ConnId)>,
    child_watches: BTreeSet<(PathId, ConnId)>,
    serves: BTreeMap<ConnId, SessionId>,
}

impl Server {
    pub(crate) fn new(id: u8, paths: &mut Paths) -> Self {
        Server {
            id,
            tree: Tree::pristine(paths, &Arc::from([])),
            applied: 0,
            data_watches: BTreeSet::new(),
            child_watches: BTreeSet::new(),
            serves: BTreeMap::new(),
        }
    }

    /// Armed watches, with the session they belong to.
    pub(crate) fn watches(&self) -> impl Iterator<Item = (Table, PathId, SessionId)> {
        let of = |table| {
            move |(path, conn): &(PathId, ConnId)| {
                (table, *path, self.serves.get(conn).copied().unwrap_or_default())
            }
        };
        self.data_watches.iter().map(of(Table::Data)).chain(self.child_watches.iter().map(of(Table::Child)))
    }

    /// A packet arrives.
    pub(crate) fn receive(&mut self, leader: &mut Leader, conn: ConnId, packet: Up, scene: &mut Scene<'_>) {
        match packet {
            Up::Connect { session, last_zxid, timeout } => {
                self.connect(leader, conn, session, last_zxid, timeout, scene);
            }
            Up::Request { xid, ask, tag } => self.request(leader, conn, xid, ask, tag, scene),
            Up::Fin => self.forget(conn, scene),
        }
    }

    fn connect(
        &mut self,
        leader: &mut Leader,
        conn: ConnId,
        session: SessionId,
        last_zxid: i64,
        timeout: u64,
        scene: &mut Scene<'_>,
    ) {
        if last_zxid > self.applied {
            // A server that is behind what the client has seen refuses by closing, without an answer.
            scene.outbox.push((conn, Down::Fin));
            return;
        }
        let timeout = timeout.clamp(2 * leader.tick, 20 * leader.tick);
        if session == SessionId(0) {
            leader.opened += 1;
            // As a real server: its own number in the high byte, then something that grows.
            let session = SessionId((i64::from(self.id) + 1) << 56 | leader.opened);
            leader.sessions.insert(session, Tracked { timeout, deadline: 0, heard: scene.now });
            leader.touch(session, scene.now, None);
            let txn = leader.order(scene.now, session, 0, Kind::Connect, Body::Open { timeout });
            let _ = self.apply(txn, scene);
            self.serves.insert(conn, session);
            scene.outbox.push((conn, Down::Connected { session, timeout }));
            return;
        }
        let old: Vec<ConnId> =
            self.serves.iter().filter(|(_, served)| **served == session).map(|(conn, _)| *conn).collect();
        for conn in old {
            self.forget(conn, scene);
            scene.outbox.push((conn, Down::Fin));
        }
        if leader.touch(session, scene.now, Some(timeout)) {
            self.serves.insert(conn, session);
            scene.outbox.push((conn, Down::Connected { session, timeout }));
        } else {
            scene.outbox.push((conn, Down::Connected { session: SessionId(0), timeout: 0 }));
            scene.outbox.push((conn, Down::Fin));
        }
    }

    fn request(
        &mut self,
        leader: &mut Leader,
        conn: ConnId,
        xid: i32,
        ask: Ask,
        tag: Tag,
        scene: &mut Scene<'_>,
    ) {
        // A request of a session that is gone is dropped without a word: the connection is being closed.
        let Some(session) = self.serves.get(&conn).copied() else { return };
        if !leader.touch(session, scene.now, None) {
            return;
        }
        let closing = ask == Ask::CloseSession;
        let result = match ask {
            Ask::Create { .. } | Ask::Delete { .. } | Ask::Set { .. } | Ask::Multi(_) => {
                let kind = kind_of(&ask);
                let body = leader.prepare(&self.tree, scene.paths, session, ask);
                let txn = leader.order(scene.now, session, tag.op, kind, body);
                self.apply(txn, scene)
            }
            Ask::CloseSession => {
                leader.sessions.remove(&session);
                let txn = leader.order(scene.now, session, tag.op, Kind::CloseSession, Body::Close);
                self.apply(txn, scene)
            }
            read => self.read(conn, session, read, tag.op, scene),
        };
        scene.outbox.push((conn, Down::Reply { xid, zxid: self.applied, result }));
        if closing {
            self.forget(conn, scene);
            scene.outbox.push((conn, Down::Fin));
        }
    }

    /// The session tracker's turn: every session whose deadline has passed ends.
    pub(crate) fn expire(&mut self, leader: &mut Leader, scene: &mut Scene<'_>) {
        let due: Vec<SessionId> = leader
            .sessions
            .iter()
            .filter(|(_, tracked)| tracked.deadline <= scene.now)
            .map(|(session, _)| *session)
            .collect();
        for session in due {
            let tracked = leader.sessions.remove(&session).expect("it was just found");
            scene.tell(Happening::Marked { server: self.id, session, heard: tracked.heard });
            let txn = leader.order(scene.now, session, 0, Kind::CloseSession, Body::Close);
            let _ = self.apply(txn, scene);
            let conns: Vec<ConnId> =
                self.serves.iter().filter(|(_, served)| **served == session).map(|(conn, _)| *conn).collect();
            for conn in conns {
                self.forget(conn, scene);
                scene.outbox.push((conn, Down::Fin));
            }
        }
    }

    /// A connection is gone, and its watches with it.
    fn forget(&mut self, conn: ConnId, scene: &mut Scene<'_>) {
        let Some(session) = self.serves.remove(&conn) else { return };
        let server = self.id;
        for (table, watches) in
            [(Table::Data, &mut self.data_watches), (Table::Child, &mut self.child_watches)]
        {
            watches.retain(|(path, of)| {
                if *of == conn {
                    let gone = Happening::Disarmed { server, session, table, path: *path };
                    scene.witness.saw(scene.now, &gone, scene.paths);
                }
                *of != conn
            });
        }
    }

    // ── reads ──

    fn read(
        &mut self,
        conn: ConnId,
        session: SessionId,
        ask: Ask,
        op: u32,
        scene: &mut Scene<'_>,
    ) -> Result<Answer, Refusal> {
        match ask {
            Ask::Exists { path, watch } => {
                let stat = self.tree.get(path).map(|node| node.stat());
                if watch {
                    self.arm(Table::Data, path, conn, session, op, scene);
                }
                Ok(Answer::MaybeStat(stat))
            }
            Ask::Get { path, watch } => {
                let node = self.tree.get(path).ok_or(Refusal::NoNode)?;
                let answer = Answer::Data(node.data.clone(), node.stat());
                if watch {
                    self.arm(Table::Data, path, conn, session, op, scene);
                }
                Ok(answer)
            }
            Ask::Children { path, watch } => {
                let stat = self.tree.get(path).ok_or(Refusal::NoNode)?.stat();
                let names = self.tree.children(path, scene.paths).unwrap_or_default();
                if watch {
                    self.arm(Table::Child, path, conn, session, op, scene);
                }
                Ok(Answer::Children(names, stat))
            }
            Ask::GetMany(paths) => Ok(Answer::Many(
                paths
                    .iter()
                    .map(|path| self.tree.get(*path).map(|node| (node.data.clone(), node.stat())))
                    .collect(),
            )),
            Ask::RemoveWatches { path, table } => {
                if self.watches_mut(table).remove(&(path, conn)) {
                    scene.tell(Happening::Disarmed { server: self.id, session, table, path });
                    Ok(Answer::Nothing)
                } else {
                    Err(Refusal::NoWatcher)
                }
            }
            Ask::SetWatches { relative, data, exist, child } => {
                self.set_watches(conn, session, relative, &data, &exist, &child, scene);
                Ok(Answer::Nothing)
            }
            Ask::Sync { .. } | Ask::Ping => Ok(Answer::Nothing),
            Ask::Create { .. } | Ask::Delete { .. } | Ask::Set { .. } | Ask::Multi(_) | Ask::CloseSession => {
                unreachable!("writes are ordered by the leader")
            }
        }
    }

    fn watches_mut(&mut self, table: Table) -> &mut BTreeSet<(PathId, ConnId)> {
        match table {
            Table::Data => &mut self.data_watches,
            Table::Child => &mut self.child_watches,
        }
    }

    fn arm(
        &mut self,
        table: Table,
        path: PathId,
        conn: ConnId,
        session: SessionId,
        op: u32,
        scene: &mut Scene<'_>,
    ) {
        if self.watches_mut(table).insert((path, conn)) {
            scene.tell(Happening::Armed { server: self.id, session, op, table, path });
        }
    }

    /// What a client that comes back believes to be armed: what changed since is told at once, the rest is armed again
    /// (`DataTree.setWatches`). A znode created and deleted meanwhile is never told.
    #[allow(clippy::too_many_arguments, reason = "the request's three lists")]
    fn set_watches(
        &mut self,
        conn: ConnId,
        session: SessionId,
        relative: i64,
        data: &[PathId],
        exist: &[PathId],
        child: &[PathId],
        scene: &mut Scene<'_>,
    ) {
        let tell = |kind, path, scene: &mut Scene<'_>| scene.outbox.push((conn, Down::Notify { kind, path }));
        for path in data {
            match self.tree.get(*path).map(|node| node.mzxid()) {
                None => tell(EventKind::NodeDeleted, *path, scene),
                Some(mzxid) if mzxid > relative => tell(EventKind::NodeDataChanged, *path, scene),
                Some(_) => self.arm(Table::Data, *path, conn, session, 0, scene),
            }
        }
        for path in exist {
            match self.tree.get(*path) {
                Some(_) => tell(EventKind::NodeCreated, *path, scene),
                None => self.arm(Table::Data, *path, conn, session, 0, scene),
            }
        }
        for path in child {
            match self.tree.get(*path).map(|node| node.pzxid()) {
                None => tell(EventKind::NodeDeleted, *path, scene),
                Some(pzxid) if pzxid > relative => tell(EventKind::NodeChildrenChanged, *path, scene),
                Some(_) => self.arm(Table::Child, *path, conn, session, 0, scene),
            }
        }
    }

    // ── transactions ──

    fn apply(&mut self, txn: Txn, scene: &mut Scene<'_>) -> Result<Answer, Refusal> {
        assert!(txn.zxid > self.applied, "transactions are applied in the order of their zxids");
        self.applied = txn.zxid;
        let Txn { zxid, session, op, kind, .. } = txn;
        let outcome = match &txn.body {
            Body::Refused(refusal) => outcome_of(*refusal),
            _ => Outcome::Ok,
        };
        scene.tell(Happening::Txn { server: self.id, zxid, session, op, kind, outcome });
        match txn.body.clone() {
            Body::Refused(refusal) => Err(refusal),
            Body::One(change) => Ok(match self.change(change, &txn, scene) {
                OpAnswer::Created(path) => {
                    let stat = self.tree.get(path).map(|node| node.stat()).unwrap_or_default();
                    Answer::Created { path, stat }
                }
                OpAnswer::Set(stat) => Answer::Stat(stat),
                OpAnswer::Checked | OpAnswer::Deleted => Answer::Nothing,
            }),
            Body::Many(changes) => Ok(Answer::Multi(
                changes.into_iter().map(|change| self.change(change, &txn, scene)).collect(),
            )),
            Body::Open { timeout } => {
                scene.tell(Happening::Opened { server: self.id, session, timeout, zxid });
                Ok(Answer::Nothing)
            }
            Body::Close => {
                for path in self.tree.ephemerals(session).to_vec() {
                    self.change(Change::Delete { path }, &txn, scene);
                }
                scene.tell(Happening::Ended { server: self.id, session, zxid });
                Ok(Answer::Nothing)
            }
        }
    }

    fn change(&mut self, change: Change, txn: &Txn, scene: &mut Scene<'_>) -> OpAnswer {
        let (server, zxid, op) = (self.id, txn.zxid, txn.op);
        match change {
            Change::Check => OpAnswer::Checked,
            Change::Create { path, data, owner } => {
                self.tree.create(path, data, owner, zxid, txn.time, scene.paths);
                scene.tell(Happening::Created { server, zxid, op, path, owner });
                self.fire(Table::Data, path, EventKind::NodeCreated, txn, &[], scene);
                let parent = scene.paths.parent(path);
                self.fire(Table::Child, parent, EventKind::NodeChildrenChanged, txn, &[], scene);
                OpAnswer::Created(path)
            }
            Change::Delete { path } => {
                self.tree.delete(path, zxid, scene.paths);
                scene.tell(Happening::Deleted { server, zxid, op, path, by: txn.session });
                let told = self.fire(Table::Data, path, EventKind::NodeDeleted, txn, &[], scene);
                self.fire(Table::Child, path, EventKind::NodeDeleted, txn, &told, scene);
                let parent = scene.paths.parent(path);
                self.fire(Table::Child, parent, EventKind::NodeChildrenChanged, txn, &[], scene);
                OpAnswer::Deleted
            }
            Change::Set { path, data } => {
                let stat = self.tree.set(path, data, zxid, txn.time);
                scene.tell(Happening::Written { server, zxid, op, path });
                self.fire(Table::Data, path, EventKind::NodeDataChanged, txn, &[], scene);
                OpAnswer::Set(stat)
            }
        }
    }

    /// Fires the one-shot watches of a table on a path; a connection already told in this step is passed over, its
    /// watch is used up all the same. Returns who was told.
    fn fire(
        &mut self,
        table: Table,
        path: PathId,
        kind: EventKind,
        txn: &Txn,
        told: &[ConnId],
        scene: &mut Scene<'_>,
    ) -> Vec<ConnId> {
        let watches = self.watches_mut(table);
        let fired: Vec<ConnId> =
            watches.range((path, ConnId(0))..=(path, ConnId(u32::MAX))).map(|(_, conn)| *conn).collect();
        for conn in &fired {
            watches.remove(&(path, *conn));
        }
        for conn in &fired {
            let session = self.serves.get(conn).copied().unwrap_or_default();
            if told.contains(conn) {
                scene.tell(Happening::Disarmed { server: self.id, session, table, path });
                continue;
            }
            scene.tell(Happening::Fired { server: self.id, session, op: txn.op, kind, path, zxid: txn.zxid });
            scene.outbox.push((*conn, Down::Notify { kind, path }));
        }
        fired
    }
}

/// What kind of request it is.
pub(crate) fn kind_of(ask: &Ask) -> Kind {
    match ask {
        Ask::Create { .. } => Kind::Create,
        Ask::Delete { .. } => Kind::Delete,
        Ask::Set { .. } => Kind::Set,
        Ask::Exists { .. } => Kind::Exists,
        Ask::Get { .. } => Kind::Get,
        Ask::Children { .. } => Kind::Children,
        Ask::GetMany(_) => Kind::MultiRead,
        Ask::Multi(_) => Kind::Multi,
        Ask::Sync { .. } => Kind::Sync,
        Ask::RemoveWatches { .. } => Kind::RemoveWatches,
        Ask::SetWatches { .. } => Kind::SetWatches,
        Ask::Ping => Kind::Ping,
        Ask::CloseSession => Kind::CloseSession,
    }
}

/// How a refusal is told.
pub(crate) fn outcome_of(refusal: Refusal) -> Outcome {
    match refusal {
        Refusal::NoNode | Refusal::Multi(_, Code::NoNode) => Outcome::NoNode,
        Refusal::NodeExists | Refusal::Multi(_, Code::NodeExists) => Outcome::NodeExists,
        Refusal::BadVersion | Refusal::Multi(_, Code::BadVersion) => Outcome::BadVersion,
        Refusal::NotEmpty | Refusal::Multi(_, Code::NotEmpty) => Outcome::NotEmpty,
        Refusal::NoChildrenForEphemerals | Refusal::Multi(_, Code::NoChildrenForEphemerals) => {
            Outcome::NoChildrenForEphemerals
        }
        Refusal::SessionExpired => Outcome::SessionExpired,
        Refusal::BadArguments | Refusal::NoWatcher | Refusal::Multi(_, Code::BadArguments) => Outcome::Other,
    }
}

impl Ask {
    /// The path a request is about, as far as it is about one.
    pub(crate) fn path(&self) -> PathId {
        match self {
            Ask::Create { path, .. }
            | Ask::Delete { path, .. }
            | Ask::Set { path, .. }
            | Ask::Exists { path, .. }
            | Ask::Get { path, .. }
            | Ask::Children { path, .. }
            | Ask::Sync { path }
            | Ask::RemoveWatches { path, .. } => *path,
            Ask::Multi(ops) => match ops.first() {
                Some(
                    AskOp::Check { path, .. }
                    | AskOp::Create { path, .. }
                    | AskOp::Delete { path, .. }
                    | AskOp::Set { path, .. },
                ) => *path,
                None => PathId::ROOT,
            },
            Ask::GetMany(paths) => paths.first().copied().unwrap_or(PathId::ROOT),
            Ask::SetWatches { .. } | Ask::Ping | Ask::CloseSession => PathId::ROOT,
        }
    }

    /// Which watch the request arms, if it succeeds.
    pub(crate) fn arms(&self) -> Option<(Table, PathId)> {
        match self {
            Ask::Exists { path, watch: true } | Ask::Get { path, watch: true } => Some((Table::Data, *path)),
            Ask::Children { path, watch: true } => Some((Table::Child, *path)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TICK: u64 = 2_000_000;
    const TIMEOUT: u64 = 6_000_000;

    /// A server, its leader, and what it has sent.
    struct Bench {
        server: Server,
        leader: Leader,
        paths: Paths,
        sent: Vec<(ConnId, Down)>,
    }

    impl Bench {
        fn new() -> Self {
            let mut paths = Paths::default();
            let server = Server::new(0, &mut paths);
            Bench { server, leader: Leader::new(TICK), paths, sent: Vec::new() }
        }

        fn receive(&mut self, now: u64, conn: u32, packet: Up) -> Vec<Down> {
            let mut scene = Scene { now, paths: &mut self.paths, witness: &mut (), outbox: &mut self.sent };
            self.server.receive(&mut self.leader, ConnId(conn), packet, &mut scene);
            self.sent.drain(..).map(|(_, packet)| packet).collect()
        }

        fn connect(&mut self, conn: u32, session: SessionId, last_zxid: i64) -> Vec<Down> {
            self.receive(0, conn, Up::Connect { session, last_zxid, timeout: TIMEOUT })
        }

        fn ask(&mut self, conn: u32, ask: Ask) -> Vec<Down> {
            self.receive(0, conn, Up::Request { xid: 1, ask, tag: Tag::default() })
        }
    }

    fn session_of(answer: &[Down]) -> SessionId {
        match answer {
            [.., Down::Connected { session, timeout: TIMEOUT }] => *session,
            other => panic!("a session must have begun, but: {other:?}"),
        }
    }

    #[test]
    fn a_client_that_has_seen_more_than_the_server_is_turned_away_without_an_answer() {
        let mut bench = Bench::new();
        let session = session_of(&bench.connect(0, SessionId(0), 0));
        let applied = bench.server.applied;
        assert_eq!(bench.connect(1, session, applied + 1), [Down::Fin]);
        assert_eq!(bench.connect(2, SessionId(0), applied + 1), [Down::Fin], "a new session too");
        assert!(bench.server.serves.contains_key(&ConnId(0)), "its connection is left alone");
        assert_eq!(session_of(&bench.connect(3, session, applied)), session);
        assert_eq!(bench.server.applied, applied, "a return takes no zxid");
    }

    #[test]
    fn a_new_connection_of_a_session_ends_the_old_one_with_its_watches() {
        let mut bench = Bench::new();
        let session = session_of(&bench.connect(0, SessionId(0), 0));
        bench.ask(0, Ask::Exists { path: PathId::ROOT, watch: true });
        let answer = bench.connect(1, session, 0);
        assert_eq!(answer, [Down::Fin, Down::Connected { session, timeout: TIMEOUT }]);
        assert_eq!(bench.server.watches().count(), 0);
        assert_eq!(
            bench.ask(0, Ask::Sync { path: PathId::ROOT }),
            [],
            "what comes over the old one is not heard"
        );
    }

    #[test]
    fn an_unknown_session_is_told_that_it_is_over() {
        let mut bench = Bench::new();
        let over = [Down::Connected { session: SessionId(0), timeout: 0 }, Down::Fin];
        assert_eq!(bench.connect(0, SessionId(77), 0), over);
    }

    #[test]
    fn a_deletion_missed_by_two_watches_is_told_twice() {
        let mut bench = Bench::new();
        let path = bench.paths.intern("/gone");
        bench.connect(0, SessionId(0), 0);
        let told =
            bench.ask(0, Ask::SetWatches { relative: 0, data: vec![path], exist: vec![], child: vec![path] });
        let gone = Down::Notify { kind: EventKind::NodeDeleted, path };
        assert_eq!(told[..2], [gone.clone(), gone]);
        assert!(matches!(told[2..], [Down::Reply { .. }]), "and before the answer");
    }
}
