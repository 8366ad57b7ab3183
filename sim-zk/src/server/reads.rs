//! Reads: the server of the client answers from its own state (`FinalRequestProcessor`).

use super::{Replica, ReplicaEnv};
use crate::acl::perms;
use crate::injected_bug::InjectedBug;
use crate::message::{Answer, Ask, Code, ConnId, Found, ReadOp, Refusal, Table, Tag, WatchMode};
use crate::observer::SimEvent;
use crate::paths::{NULL, PathId};
use crate::tree::Znode;
use zk_recipes::zk::SessionId;

impl Replica {
    /// Answers a read from the present state, and arms or removes watches.
    pub(crate) fn read(
        &mut self,
        conn: ConnId,
        ask: &Ask,
        tag: Tag,
        env: &mut ReplicaEnv<'_>,
    ) -> Result<Answer, Refusal> {
        if let Ask::Refused(_, code, _) = ask {
            return Err((*code).into());
        }
        let session = self.session_of(conn).unwrap_or_default();
        let mut result = self.answer(conn, session, ask, tag.op, env).map_err(Refusal::All);
        if let (Some(bug), Ok(answer)) = (env.bug, &mut result) {
            bend(answer, bug);
        }
        let (server, zxid, Tag { req, op, .. }) = (env.server, self.applied, tag);
        let conn = conn.0;
        // Requests about watches alone do not expose the tree.
        if !ask.is_about_watches() {
            env.emit(SimEvent::Served { server, session, conn, req, op, zxid, ask, result: &result });
        }
        result
    }

    fn answer(
        &mut self,
        conn: ConnId,
        session: SessionId,
        ask: &Ask,
        op: u32,
        env: &mut ReplicaEnv<'_>,
    ) -> Result<Answer, Code> {
        match ask {
            Ask::Exists { path, .. } if env.paths.text(*path).contains('\0') => Err(Code::BadArguments),
            Ask::Exists { path, watch } => {
                // The watch is armed even if the znode does not exist, and without a permission check
                // (ZOOKEEPER-2590).
                self.arm_if(*watch, Table::Data, *path, conn, op, env);
                let node = self.tree.get(*path).ok_or(Code::NoNode)?;
                Ok(Answer::Stat(node.stat()))
            }
            Ask::Get { path, watch } => {
                let node = self.open_to(conn, *path, perms::READ)?;
                let answer = Answer::Data(node.data.clone(), node.stat());
                self.arm_if(*watch, Table::Data, *path, conn, op, env);
                Ok(answer)
            }
            Ask::Children { path, watch, stat } => {
                let node = self.open_to(conn, *path, perms::READ)?;
                let answer = Answer::Children(self.list(*path, env), stat.then(|| node.stat()));
                self.arm_if(*watch, Table::Child, *path, conn, op, env);
                Ok(answer)
            }
            Ask::GetAcl { path } => self.get_acl(conn, *path),
            Ask::CountDescendants { path } => self.count(conn, *path),
            Ask::Ephemerals { prefix } => Ok(Answer::Ephemerals(self.ephemerals(session, prefix, env))),
            Ask::MultiRead(ops) => self.read_many(conn, ops, env),
            Ask::AddWatch { path, mode } => {
                let mode = match mode {
                    0 => WatchMode::Persistent,
                    1 if env.paths.text(*path) != NULL => WatchMode::Recursive,
                    _ => return Err(Code::MarshallingError),
                };
                for table in [Table::Data, Table::Child] {
                    self.arm(table, *path, conn, mode, op, env);
                }
                Ok(Answer::Nothing)
            }
            Ask::RemoveWatches { path, kind } => self.remove_watches(conn, session, *path, *kind, env),
            Ask::CheckWatches { path, kind } => self.check_watches(*path, *kind, env),
            Ask::SetWatches(believed) => {
                self.set_watches(conn, believed, op, env);
                Ok(Answer::Nothing)
            }
            Ask::WhoAmI => {
                let clients = self.identities(conn).iter().map(|id| (id.scheme.clone(), id.user())).collect();
                Ok(Answer::Clients(clients))
            }
            Ask::Malformed(_) => Err(Code::MarshallingError),
            other => unreachable!("{other:?} is no read"),
        }
    }

    /// Returns the znode at a path, if the connection has any of the permissions `wanted`.
    fn open_to(&self, conn: ConnId, path: PathId, wanted: i32) -> Result<&Znode, Code> {
        let node = self.tree.get(path).ok_or(Code::NoNode)?;
        let ids = self.conns.get(&conn).map_or(&[][..], |conn| &*conn.identities);
        if node.acl.allows(wanted, ids) { Ok(node) } else { Err(Code::NoAuth) }
    }

    fn list(&self, path: PathId, env: &ReplicaEnv<'_>) -> Vec<PathId> {
        self.tree.children(path, env.paths).unwrap_or_default()
    }

    fn get_acl(&self, conn: ConnId, path: PathId) -> Result<Answer, Code> {
        let node = self.open_to(conn, path, perms::READ | perms::ADMIN)?;
        let acl = match self.open_to(conn, path, perms::ADMIN) {
            Ok(_) => node.acl.clone(),
            Err(_) => node.acl.masked(),
        };
        Ok(Answer::Acl(acl, node.stat()))
    }

    fn count(&self, conn: ConnId, path: PathId) -> Result<Answer, Code> {
        self.open_to(conn, path, perms::READ)?;
        let below = match path {
            // All paths begin with "/", and the second name of the root counts too.
            PathId::EMPTY => self.tree.len(),
            PathId::ROOT => self.tree.len() - 1,
            _ => self.tree.descendants(path),
        };
        Ok(Answer::Number(below as i32))
    }

    /// Returns the ephemerals whose path begins with the prefix, which need not end at a `/`.
    fn ephemerals(&self, session: SessionId, prefix: &str, env: &ReplicaEnv<'_>) -> Vec<PathId> {
        let mut owned = self.tree.ephemerals(session, env.paths);
        // `String.trim` removes all characters up to the space.
        if !matches!(prefix.trim_matches(|c| c <= ' '), "" | "/") {
            owned.retain(|path| env.paths.text(*path).starts_with(prefix));
        }
        owned
    }

    fn read_many(&self, conn: ConnId, ops: &[ReadOp], env: &ReplicaEnv<'_>) -> Result<Answer, Code> {
        let read = |op: &ReadOp| match *op {
            ReadOp::Get(path) => Ok(self
                .open_to(conn, path, perms::READ)
                .map(|node| Found::Data(node.data.clone(), node.stat()))),
            ReadOp::Children(path) => {
                Ok(self.open_to(conn, path, perms::READ).map(|_| Found::Children(self.list(path, env))))
            }
            ReadOp::Other(_) => Err(Code::MarshallingError),
        };
        Ok(Answer::Many(ops.iter().map(read).collect::<Result<_, _>>()?))
    }
}

/// Falsifies an answer, if such a bug is injected.
fn bend(answer: &mut Answer, bug: InjectedBug) {
    match (bug, answer) {
        (
            InjectedBug::HidesOwner,
            Answer::Stat(stat)
            | Answer::Data(_, stat)
            | Answer::Children(_, Some(stat))
            | Answer::Acl(_, stat),
        ) => stat.ephemeral_owner = SessionId(0),
        (InjectedBug::HidesChild, Answer::Children(list, _)) if list.len() > 1 => _ = list.pop(),
        _ => {}
    }
}
