//! Arming, removing and asking for watches, and arming them again after a reconnect.

use super::watch_tables::NoSlash;
use super::{Replica, Scene};
use crate::message::{Answer, Code, ConnId, Down, Table, WatchMode, Watching};
use crate::paths::PathId;
use crate::quirk::Quirk;

use crate::witness::Happening;
use zk_recipes::zk::{EventKind, SessionId};

/// The tables that a `WatcherType` names, in the order in which a server looks at them.
fn tables_of(kind: i32) -> Result<&'static [Table], Code> {
    match kind {
        1 => Ok(&[Table::Child]),
        2 => Ok(&[Table::Data]),
        3 => Ok(&[Table::Child, Table::Data]),
        _ => Err(Code::MarshallingError),
    }
}

impl Replica {
    pub(super) fn arm_if(
        &mut self,
        wanted: bool,
        table: Table,
        path: PathId,
        conn: ConnId,
        op: u32,
        scene: &mut Scene<'_>,
    ) {
        if wanted {
            self.arm(table, path, conn, WatchMode::OneShot, op, scene);
        }
    }

    /// Arms a watch, unless the connection is gone already.
    pub(super) fn arm(
        &mut self,
        table: Table,
        path: PathId,
        conn: ConnId,
        mode: WatchMode,
        op: u32,
        scene: &mut Scene<'_>,
    ) {
        let Some(session) = self.session_of(conn) else { return };
        if self.watches.of_mut(table).arm(path, conn, mode) {
            let server = scene.server;
            scene.tell(Happening::Armed { server, session, conn: conn.0, op, table, path, mode });
        }
    }

    pub(super) fn remove_watches(
        &mut self,
        conn: ConnId,
        session: SessionId,
        path: PathId,
        kind: i32,
        scene: &mut Scene<'_>,
    ) -> Result<Answer, Code> {
        let mut found = false;
        for table in tables_of(kind)? {
            if self.watches.of_mut(*table).disarm(path, conn) {
                found = true;
                let server = scene.server;
                scene.tell(Happening::Disarmed { server, session, conn: conn.0, table: *table, path });
            }
        }
        if found { Ok(Answer::Nothing) } else { Err(Code::NoWatcher) }
    }

    pub(super) fn check_watches(&self, path: PathId, kind: i32, scene: &Scene<'_>) -> Result<Answer, Code> {
        let mut found = false;
        for table in tables_of(kind)? {
            match self.watches.of(*table).is_watched(path, scene.paths) {
                Ok(watched) => found |= watched,
                Err(NoSlash) => return Err(Code::MarshallingError),
            }
        }
        if found { Ok(Answer::Nothing) } else { Err(Code::NoWatcher) }
    }

    /// What a client that comes back believes to be armed: what changed since is told at once, to whoever asks, and the
    /// rest is armed again (`DataTree.setWatches`). A znode created and deleted meanwhile is never told, nor anything
    /// that a persistent watch has missed.
    pub(super) fn set_watches(&mut self, conn: ConnId, believed: &Watching, op: u32, scene: &mut Scene<'_>) {
        let relative = if scene.quirk == Some(Quirk::ArmsBlindly) { i64::MAX } else { believed.relative };
        if scene.quirk == Some(Quirk::TellsAll) {
            return self.tell_all(conn, believed, op, scene);
        }
        for path in &believed.data {
            match self.tree.get(*path).map(|node| node.mzxid) {
                None => self.make_up(conn, EventKind::NodeDeleted, *path, op, scene),
                Some(mzxid) if mzxid > relative => {
                    self.make_up(conn, EventKind::NodeDataChanged, *path, op, scene);
                }
                Some(_) => self.arm(Table::Data, *path, conn, WatchMode::OneShot, op, scene),
            }
        }
        for path in &believed.exist {
            match self.tree.get(*path) {
                Some(_) => self.make_up(conn, EventKind::NodeCreated, *path, op, scene),
                None => self.arm(Table::Data, *path, conn, WatchMode::OneShot, op, scene),
            }
        }
        for path in &believed.child {
            match self.tree.get(*path).map(|node| node.pzxid) {
                None => self.make_up(conn, EventKind::NodeDeleted, *path, op, scene),
                Some(pzxid) if pzxid > relative => {
                    self.make_up(conn, EventKind::NodeChildrenChanged, *path, op, scene);
                }
                Some(_) => self.arm(Table::Child, *path, conn, WatchMode::OneShot, op, scene),
            }
        }
        let lists =
            [(&believed.persistent, WatchMode::Persistent), (&believed.recursive, WatchMode::Recursive)];
        for (list, mode) in lists {
            for path in list {
                for table in [Table::Child, Table::Data] {
                    self.arm(table, *path, conn, mode, op, scene);
                }
            }
        }
    }

    /// As `set_watches`, but whatever happened meanwhile is told, also what nobody can see any more: a server that keeps
    /// no history tells it of everything about which it cannot be sure.
    fn tell_all(&mut self, conn: ConnId, believed: &Watching, op: u32, scene: &mut Scene<'_>) {
        let relative = believed.relative;
        for path in believed.data.iter().chain(&believed.exist) {
            // Below a parent that nobody has asked for there was nothing to tell of.
            let above = scene
                .paths
                .known_parent(*path)
                .map_or(i64::MIN, |parent| self.tree.get(parent).map_or(i64::MAX, |node| node.pzxid));
            let exists = believed.exist.contains(path);
            match self.tree.get(*path).map(|node| (node.stat().czxid, node.mzxid)) {
                None if !exists || above > relative => {
                    self.make_up(conn, EventKind::NodeDeleted, *path, op, scene);
                }
                Some((czxid, _)) if exists || czxid > relative => {
                    self.make_up(conn, EventKind::NodeCreated, *path, op, scene);
                }
                Some((_, mzxid)) if mzxid > relative => {
                    self.make_up(conn, EventKind::NodeDataChanged, *path, op, scene);
                }
                _ => self.arm(Table::Data, *path, conn, WatchMode::OneShot, op, scene),
            }
        }
        let rest = Watching { data: Vec::new(), exist: Vec::new(), ..believed.clone() };
        let quirk = scene.quirk.take();
        self.set_watches(conn, &rest, op, scene);
        scene.quirk = quirk;
    }

    /// Tells what a watch would have told.
    fn make_up(&self, conn: ConnId, kind: EventKind, path: PathId, op: u32, scene: &mut Scene<'_>) {
        let session = self.session_of(conn).unwrap_or_default();
        let server = scene.server;
        scene.tell(Happening::Fired { server, session, conn: conn.0, op, kind, path, zxid: 0 });
        scene.outbox.push((conn, Down::Notify { kind, path }));
    }
}
