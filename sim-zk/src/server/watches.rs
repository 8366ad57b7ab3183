//! Requests about watches: arming, removing, checking, and registering again after a reconnect.

use super::watch_tables::NoSlash;
use super::{Replica, ReplicaEnv};
use crate::injected_bug::InjectedBug;
use crate::message::{Answer, Code, ConnId, Down, Table, WatchMode, Watching};
use crate::paths::{NULL, PathId};

use crate::observer::SimEvent;
use zk_recipes::zk::{EventKind, SessionId};

/// Returns the tables of a `WatcherType`, in the order in which a server searches them.
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
        env: &mut ReplicaEnv<'_>,
    ) {
        if wanted {
            self.arm(table, path, conn, WatchMode::OneShot, op, env);
        }
    }

    /// Arms a watch, unless the connection is gone.
    pub(super) fn arm(
        &mut self,
        table: Table,
        path: PathId,
        conn: ConnId,
        mode: WatchMode,
        op: u32,
        env: &mut ReplicaEnv<'_>,
    ) {
        let Some(session) = self.session_of(conn) else { return };
        if self.watches.of_mut(table).arm(path, conn, mode) {
            let server = env.server;
            env.emit(SimEvent::Armed { server, session, conn: conn.0, op, table, path, mode });
        }
    }

    pub(super) fn remove_watches(
        &mut self,
        conn: ConnId,
        session: SessionId,
        path: PathId,
        kind: i32,
        env: &mut ReplicaEnv<'_>,
    ) -> Result<Answer, Code> {
        let mut found = false;
        let is_null = env.paths.text(path) == NULL;
        for table in tables_of(kind)? {
            if self.watches.of_mut(*table).disarm(path, conn) {
                if is_null {
                    // ZooKeeper fails once it has removed the watch.
                    return Err(Code::MarshallingError);
                }
                found = true;
                let server = env.server;
                env.emit(SimEvent::Disarmed { server, session, conn: conn.0, table: *table, path });
            }
        }
        if found { Ok(Answer::Nothing) } else { Err(Code::NoWatcher) }
    }

    pub(super) fn check_watches(
        &self,
        path: PathId,
        kind: i32,
        env: &ReplicaEnv<'_>,
    ) -> Result<Answer, Code> {
        let mut found = false;
        for table in tables_of(kind)? {
            match self.watches.of(*table).is_watched(path, env.paths) {
                Ok(watched) => found |= watched,
                Err(NoSlash) => return Err(Code::MarshallingError),
            }
        }
        if found { Ok(Answer::Nothing) } else { Err(Code::NoWatcher) }
    }

    /// Handles `setWatches` of a reconnected client (`DataTree.setWatches`): sends notifications for watched znodes
    /// that have changed, and arms the other watches again. A znode created and deleted meanwhile stays unnoticed,
    /// and so does anything that a persistent watch has missed.
    pub(super) fn set_watches(
        &mut self,
        conn: ConnId,
        believed: &Watching,
        op: u32,
        env: &mut ReplicaEnv<'_>,
    ) {
        let relative = if env.bug == Some(InjectedBug::ArmsBlindly) { i64::MAX } else { believed.relative };
        if env.bug == Some(InjectedBug::TellsAll) {
            return self.notify_all_missed(conn, believed, op, env);
        }
        for path in &believed.data {
            match self.tree.get(*path).map(|node| node.mzxid) {
                None => self.notify_missed(conn, EventKind::NodeDeleted, *path, op, env),
                Some(mzxid) if mzxid > relative => {
                    self.notify_missed(conn, EventKind::NodeDataChanged, *path, op, env);
                }
                Some(_) => self.arm(Table::Data, *path, conn, WatchMode::OneShot, op, env),
            }
        }
        for path in &believed.exist {
            match self.tree.get(*path) {
                Some(_) => self.notify_missed(conn, EventKind::NodeCreated, *path, op, env),
                None => self.arm(Table::Data, *path, conn, WatchMode::OneShot, op, env),
            }
        }
        for path in &believed.child {
            match self.tree.get(*path).map(|node| node.pzxid) {
                None => self.notify_missed(conn, EventKind::NodeDeleted, *path, op, env),
                Some(pzxid) if pzxid > relative => {
                    self.notify_missed(conn, EventKind::NodeChildrenChanged, *path, op, env);
                }
                Some(_) => self.arm(Table::Child, *path, conn, WatchMode::OneShot, op, env),
            }
        }
        let lists =
            [(&believed.persistent, WatchMode::Persistent), (&believed.recursive, WatchMode::Recursive)];
        for (list, mode) in lists {
            for path in list {
                for table in [Table::Child, Table::Data] {
                    self.arm(table, *path, conn, mode, op, env);
                }
            }
        }
    }

    /// Like `set_watches`, but notifies every possible change, even one that has left no trace: without a history the
    /// server notifies whenever a change cannot be excluded.
    fn notify_all_missed(&mut self, conn: ConnId, believed: &Watching, op: u32, env: &mut ReplicaEnv<'_>) {
        let relative = believed.relative;
        for path in believed.data.iter().chain(&believed.exist) {
            // A parent that no request has used had no children.
            let above = env
                .paths
                .known_parent(*path)
                .map_or(i64::MIN, |parent| self.tree.get(parent).map_or(i64::MAX, |node| node.pzxid));
            let exists = believed.exist.contains(path);
            match self.tree.get(*path).map(|node| (node.stat().czxid, node.mzxid)) {
                None if !exists || above > relative => {
                    self.notify_missed(conn, EventKind::NodeDeleted, *path, op, env);
                }
                Some((czxid, _)) if exists || czxid > relative => {
                    self.notify_missed(conn, EventKind::NodeCreated, *path, op, env);
                }
                Some((_, mzxid)) if mzxid > relative => {
                    self.notify_missed(conn, EventKind::NodeDataChanged, *path, op, env);
                }
                _ => self.arm(Table::Data, *path, conn, WatchMode::OneShot, op, env),
            }
        }
        let rest = Watching { data: Vec::new(), exist: Vec::new(), ..believed.clone() };
        let bug = env.bug.take();
        self.set_watches(conn, &rest, op, env);
        env.bug = bug;
    }

    /// Sends the notification that a watch would have sent.
    fn notify_missed(&self, conn: ConnId, kind: EventKind, path: PathId, op: u32, env: &mut ReplicaEnv<'_>) {
        let session = self.session_of(conn).unwrap_or_default();
        let server = env.server;
        env.emit(SimEvent::Fired { server, session, conn: conn.0, op, kind, path, zxid: 0 });
        env.outbox.push((conn, Down::Notify { kind, path }));
    }
}
