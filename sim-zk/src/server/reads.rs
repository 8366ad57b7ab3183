//! Reads, answered from the server's own state, and the watches that they arm.

use super::{ConnId, Scene, Server};
use crate::message::{Answer, Ask, Down, Refusal, Table};
use crate::paths::PathId;
use crate::witness::Happening;
use std::collections::BTreeSet;
use zk_recipes::zk::{EventKind, SessionId};

impl Server {
    pub(super) fn read(
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

    pub(super) fn watches_mut(&mut self, table: Table) -> &mut BTreeSet<(PathId, ConnId)> {
        match table {
            Table::Data => &mut self.data_watches,
            Table::Child => &mut self.child_watches,
        }
    }

    pub(super) fn arm(
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
    pub(super) fn set_watches(
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
}
