//! Preparation: the leader checks a write, in the order of checks of ZooKeeper. A refused write takes a zxid too.
//!
//! As in `PrepRequestProcessor`, the first failing check decides the reply, and the write is checked against the tree
//! as it will be after all earlier writes.

use super::pending::{Node, Pending};
use super::{Replica, Settings};
use crate::acl::{Acl, Identity, perms};
use crate::injected_bug::InjectedBug;
use crate::message::{Ask, AskOp, Code, Content, CreateForm, Creation, Refusal};
use crate::paths::{PathId, Paths, UsedPaths};
use crate::tree::Tree;
use crate::txn::{Body, CLOSE_BYTES, Change, Life};
use std::collections::BTreeMap;
use zk_protocol::wire::jute::LENGTH_BYTES;
use zk_recipes::zk::SessionId;

/// The tree as it will be after all proposals.
#[derive(Clone, Debug, Default)]
pub(crate) struct Prep {
    pending: Pending,
    /// The correction of the sequence counter of each parent, under the bug `RecountsChildren` only.
    recount: Option<BTreeMap<PathId, i32>>,
}

impl Prep {
    /// Adds the paths that it remembers.
    pub(crate) fn paths(&self, used: &mut UsedPaths) {
        self.pending.paths(used);
        used.extend(self.recount.iter().flat_map(BTreeMap::keys).copied());
    }

    /// Creates the state of a new leader, with an injected bug if any.
    pub(crate) fn with(bug: Option<InjectedBug>) -> Self {
        let recount = (bug == Some(InjectedBug::RecountsChildren)).then(BTreeMap::new);
        Prep { recount, ..Prep::default() }
    }

    /// Checks a write. `zxid` is the zxid of its transaction. [`refused_for_session`] has checked the session before.
    #[allow(clippy::too_many_arguments, reason = "who asks for what, where")]
    pub(crate) fn prepare(
        &mut self,
        replica: &Replica,
        zxid: i64,
        session: SessionId,
        ids: &[Identity],
        ask: &Ask,
        settings: &Settings,
        paths: &mut Paths,
    ) -> Body {
        let (pending, recount) = (&mut self.pending, self.recount.as_mut());
        let mut check = Check { pending, recount, tree: &replica.tree, paths, settings, zxid, session, ids };
        let checked = match ask {
            Ask::Multi(ops) => return check.multi(ops, None),
            Ask::Refused(ask, code, at) => match &**ask {
                Ask::Multi(ops) if *code != Code::SystemError => return check.multi(ops, Some((*at, *code))),
                _ => Err(*code),
            },
            Ask::Create(creation) => check.create(creation.form, creation),
            Ask::Delete { path, version } => check.delete(*path, *version),
            Ask::Set { path, data, version } => check.set(*path, data, *version),
            Ask::SetAcl { path, acl, version } => check.set_acl(*path, acl, *version),
            Ask::Check { path, version } => check.check(*path, *version),
            Ask::Reconfig => Err(Code::ReconfigDisabled),
            Ask::Malformed(_) => Err(Code::MarshallingError),
            other => unreachable!("{other:?} is no write"),
        };
        match checked {
            Ok(change) => Body::One(change),
            Err(code) => Body::Refused(code.into()),
        }
    }

    /// Closes a session: its ephemerals will be deleted. The counters of their parents are unchanged until this is
    /// applied, so the parents cannot be deleted before.
    pub(crate) fn close(&mut self, replica: &Replica, zxid: i64, session: SessionId, paths: &Paths) -> Body {
        let ephemerals = self.pending.ephemerals(session, &replica.tree, paths);
        for path in &ephemerals {
            let parent = paths.parent_of_znode(*path);
            // The record of the parent is renewed for its digest (`zookeeper.digest.enabled`).
            if let Ok(unchanged) = self.pending.look_up(parent, &replica.tree) {
                self.pending.add(zxid, parent, Some(unchanged));
            }
            self.pending.add(zxid, *path, None);
        }
        let bytes = ephemerals.iter().map(|path| LENGTH_BYTES + paths.text(*path).len()).sum::<usize>();
        Body::Close { ephemerals, bytes: CLOSE_BYTES + bytes }
    }

    /// Handles `deleteContainer`: deletes a znode that still has no children.
    pub(crate) fn reap(&mut self, replica: &Replica, zxid: i64, path: PathId, paths: &Paths) -> Body {
        let reaped = || {
            let node = self.pending.look_up(path, &replica.tree)?;
            if node.children > 0 {
                return Err(Code::NotEmpty);
            }
            if node.is_ephemeral() {
                return Err(Code::BadVersion);
            }
            let parent = paths.parent_of_znode(path);
            Ok((parent, self.pending.look_up(parent, &replica.tree)?))
        };
        match reaped() {
            Ok((at, mut parent)) => {
                parent.children -= 1;
                self.pending.add(zxid, at, Some(parent));
                self.pending.add(zxid, path, None);
                Body::One(Change::Delete { path })
            }
            Err(code) => Body::Refused(code.into()),
        }
    }

    /// Removes the pending changes of a transaction that the leader has applied.
    pub(crate) fn applied(&mut self, zxid: i64) {
        self.pending.applied(zxid);
    }
}

/// Returns the refusal of a write whose session has ended or moved: `code`, unless an earlier check fails. An empty
/// multi is not refused, because each operation of a multi checks the session.
pub(crate) fn refused_for_session(ask: &Ask, code: Code, settings: &Settings) -> Option<Refusal> {
    let of_creation = |form, creation| mode_of(form, creation, settings).err().unwrap_or(code);
    match ask {
        Ask::Create(creation) => Some(of_creation(creation.form, creation).into()),
        Ask::Reconfig => Some(Code::ReconfigDisabled.into()),
        Ask::Multi(ops) if ops.iter().any(|op| matches!(op, AskOp::Other(_))) => {
            Some(Code::MarshallingError.into())
        }
        Ask::Multi(ops) => {
            let code = match ops.first()? {
                AskOp::Create(creation) => match form_in_multi(creation) {
                    Some(form) => of_creation(form, creation),
                    None => return Some(Code::MarshallingError.into()),
                },
                _ => code,
            };
            Some(Refusal::Multi { index: 0, of: ops.len() as u16, code })
        }
        _ => Some(code.into()),
    }
}

/// A valid create mode.
#[derive(Clone, Copy)]
struct Mode {
    sequential: bool,
    /// The lifetime in the pending record.
    life: Life,
}

/// The longest TTL: forty bits of milliseconds.
const MAX_TTL_MS: i64 = (1 << 40) - 1;

/// Validates the mode of a create, before the session check (`CreateMode.fromFlag`, `validateCreateRequest`). The
/// owner of an ephemeral is set later.
fn mode_of(form: CreateForm, creation: &Creation, settings: &Settings) -> Result<Mode, Code> {
    let ttl = if form == CreateForm::Ttl { creation.ttl } else { -1 };
    let (sequential, life) = match creation.flags {
        0 => (false, Life::Persistent),
        1 => (false, Life::Ephemeral(SessionId(0))),
        2 => (true, Life::Persistent),
        3 => (true, Life::Ephemeral(SessionId(0))),
        4 => (false, Life::Container),
        5 => (false, Life::Ttl(ttl)),
        6 => (true, Life::Ttl(ttl)),
        _ => return Err(Code::BadArguments),
    };
    match life {
        Life::Ttl(_) if !settings.extended_types => Err(Code::Unimplemented),
        Life::Ttl(ttl) if !(1..=MAX_TTL_MS).contains(&ttl) => Err(Code::BadArguments),
        // (On a real server, createTTL with a mode without a TTL and a negative time causes a crash.)
        Life::Persistent | Life::Ephemeral(_) | Life::Container if form == CreateForm::Ttl => {
            Err(Code::BadArguments)
        }
        _ => Ok(Mode { sequential, life }),
    }
}

/// Returns the operation of a create in a multi, where the mode decides and not the operation code (`Op.Create`);
/// `None` for a TTL mode in a record without a TTL, which is an internal error.
fn form_in_multi(creation: &Creation) -> Option<CreateForm> {
    match creation.flags {
        4 => Some(CreateForm::Container),
        5 | 6 if creation.form == CreateForm::Ttl => Some(CreateForm::Ttl),
        5 | 6 => None,
        _ => Some(CreateForm::Create),
    }
}

/// The check of one request.
struct Check<'a> {
    pending: &'a mut Pending,
    recount: Option<&'a mut BTreeMap<PathId, i32>>,
    tree: &'a Tree,
    paths: &'a mut Paths,
    settings: &'a Settings,
    zxid: i64,
    session: SessionId,
    ids: &'a [Identity],
}

/// Returns the version after a change, if the expected version matches; -1 matches any.
fn next_version(current: i32, expected: i32) -> Result<i32, Code> {
    if expected == -1 || expected == current { Ok(current.wrapping_add(1)) } else { Err(Code::BadVersion) }
}

impl Check<'_> {
    /// Checks a multi. `refused`: the operation at which a fault refuses it, unless an earlier operation fails by
    /// itself.
    fn multi(&mut self, ops: &[AskOp], refused: Option<(u16, Code)>) -> Body {
        if ops.iter().any(|op| matches!(op, AskOp::Other(_))) {
            return Body::Refused(Code::MarshallingError.into());
        }
        let counted = self.counted(ops);
        let mut changes = Vec::with_capacity(ops.len());
        for (index, op) in ops.iter().enumerate() {
            let refused = refused.filter(|(at, _)| usize::from(*at) == index);
            let checked = match (refused, op) {
                (Some((_, code)), _) => Err(code),
                (None, AskOp::Create(creation)) => match form_in_multi(creation) {
                    Some(form) => self.create(form, creation),
                    // An internal error: the pending changes of this multi stay until it is applied.
                    None => return Body::Refused(Code::MarshallingError.into()),
                },
                (None, AskOp::Delete { path, version }) => self.delete(*path, *version),
                (None, AskOp::Set { path, data, version }) => self.set(*path, data, *version),
                (None, AskOp::Check { path, version }) => self.check(*path, *version),
                (None, AskOp::Other(_)) => unreachable!("it was looked for"),
            };
            match checked {
                Ok(change) => changes.push(change),
                Err(code) => {
                    self.pending.roll_back(self.zxid, &counted);
                    let (index, of) = (index as u16, ops.len() as u16);
                    return Body::Refused(Refusal::Multi { index, of, code });
                }
            }
        }
        Body::Many(changes)
    }

    /// Returns the current records of the paths that a multi names, and of their parents.
    fn counted(&mut self, ops: &[AskOp]) -> Vec<(PathId, u64)> {
        if self.pending.is_empty() {
            return Vec::new();
        }
        let mut counted = Vec::new();
        for path in ops.iter().filter_map(AskOp::path) {
            let parent = self.paths.is_plausible(path).then(|| self.paths.parent(path));
            for path in [Some(path), parent].into_iter().flatten() {
                counted.extend(self.pending.counting(path).map(|number| (path, number)));
            }
        }
        counted
    }

    fn look_up(&self, path: PathId) -> Result<Node, Code> {
        self.pending.look_up(path, self.tree)
    }

    fn may(&self, node: &Node, wanted: i32) -> Result<(), Code> {
        if node.acl.allows(wanted, self.ids) { Ok(()) } else { Err(Code::NoAuth) }
    }

    fn create(&mut self, form: CreateForm, creation: &Creation) -> Result<Change, Code> {
        let mode = mode_of(form, creation, self.settings)?;
        if !self.paths.is_plausible(creation.path) {
            return Err(Code::BadArguments);
        }
        let acl = creation.acl.fixed_up(self.ids)?;
        let at = self.paths.parent(creation.path);
        let mut parent = self.look_up(at)?;
        self.may(&parent, perms::CREATE)?;
        let path = if mode.sequential {
            let off = self
                .recount
                .as_mut()
                .map_or(0, |off| *off.entry(at).or_insert((parent.creations - parent.children).max(0)));
            let name = format!("{}{:010}", self.paths.text(creation.path), parent.creations - off);
            self.paths.intern(&name)
        } else {
            creation.path
        };
        if !self.paths.is_valid(path) {
            return Err(Code::BadArguments);
        }
        if self.look_up(path).is_ok() {
            return Err(Code::NodeExists);
        }
        if parent.is_ephemeral() {
            return Err(Code::NoChildrenForEphemerals);
        }
        let pending_life = match mode.life {
            Life::Ephemeral(_) => Life::Ephemeral(self.session),
            life => life,
        };
        let life = match (form, pending_life) {
            (CreateForm::Container, _) => Life::Container,
            // A container sent as a plain create is an ordinary znode, and never reaped.
            (_, Life::Container) => Life::Persistent,
            (_, life) => life,
        };
        parent.creations = parent.creations.wrapping_add(1);
        parent.children += 1;
        let creations = parent.creations;
        self.pending.add(self.zxid, at, Some(parent));
        let (version, aversion, children) = (0, 0, 0);
        let node = Node {
            version,
            aversion,
            creations: self.settings.first_number,
            children,
            life: pending_life,
            acl: acl.clone(),
        };
        self.pending.add(self.zxid, path, Some(node));
        Ok(Change::Create { form, path, data: creation.data.clone(), acl, life, creations })
    }

    fn delete(&mut self, path: PathId, version: i32) -> Result<Change, Code> {
        if path.is_reserved() || !self.paths.is_plausible(path) {
            return Err(Code::BadArguments);
        }
        let at = self.paths.parent(path);
        let mut parent = self.look_up(at)?;
        self.may(&parent, perms::DELETE)?;
        let node = self.look_up(path)?;
        next_version(node.version, version)?;
        if node.children > 0 {
            return Err(Code::NotEmpty);
        }
        parent.children -= 1;
        self.pending.add(self.zxid, at, Some(parent));
        self.pending.add(self.zxid, path, None);
        Ok(Change::Delete { path })
    }

    /// Returns the znode at a path that satisfies the full path rule.
    fn at_valid(&self, path: PathId) -> Result<Node, Code> {
        if self.paths.is_valid(path) { self.look_up(path) } else { Err(Code::BadArguments) }
    }

    fn set(&mut self, path: PathId, data: &Content, version: i32) -> Result<Change, Code> {
        let mut node = self.at_valid(path)?;
        self.may(&node, perms::WRITE)?;
        node.version = next_version(node.version, version)?;
        let version = node.version;
        self.pending.add(self.zxid, path, Some(node));
        Ok(Change::Set { path, data: data.clone(), version })
    }

    /// The pending record keeps the old list, so requests are checked against it until this is applied.
    fn set_acl(&mut self, path: PathId, acl: &Acl, version: i32) -> Result<Change, Code> {
        if !self.paths.is_valid(path) {
            return Err(Code::BadArguments);
        }
        let acl = acl.fixed_up(self.ids)?;
        let mut node = self.look_up(path)?;
        self.may(&node, perms::ADMIN)?;
        node.aversion = next_version(node.aversion, version)?;
        let version = node.aversion;
        self.pending.add(self.zxid, path, Some(node));
        Ok(Change::SetAcl { path, acl, version })
    }

    fn check(&mut self, path: PathId, version: i32) -> Result<Change, Code> {
        let node = self.at_valid(path)?;
        self.may(&node, perms::READ)?;
        next_version(node.version, version)?;
        Ok(Change::Check)
    }
}
