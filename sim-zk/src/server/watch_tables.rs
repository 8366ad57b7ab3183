//! The watch tables of a server: which connections an event at a path notifies.
//!
//! As in `WatchManager` of 3.8, a connection has at most one watch per path and table, with one mode, and the mode
//! armed last wins (ZOOKEEPER-4466 changed that later). Tables are indexed by path and by connection, so neither an
//! event nor the end of a connection scans the watches of others.

use crate::message::{ConnId, Table, WatchMode};
use crate::paths::{PathId, Paths};

use std::collections::{BTreeMap, BTreeSet};
use zk_recipes::zk::EventKind;

/// The two tables.
#[derive(Clone, Debug, Default)]
pub(super) struct WatchTables {
    data: WatchTable,
    child: WatchTable,
}

impl WatchTables {
    /// Returns a table.
    pub(super) fn of(&self, table: Table) -> &WatchTable {
        match table {
            Table::Data => &self.data,
            Table::Child => &self.child,
        }
    }

    /// Returns a table for modification.
    pub(super) fn of_mut(&mut self, table: Table) -> &mut WatchTable {
        match table {
            Table::Data => &mut self.data,
            Table::Child => &mut self.child,
        }
    }

    /// Returns all watches.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Table, PathId, ConnId, WatchMode)> {
        let entries =
            |table| self.of(table).modes.iter().map(move |((path, conn), mode)| (table, *path, *conn, *mode));
        entries(Table::Data).chain(entries(Table::Child))
    }
}

/// A connection that an event concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hit {
    /// The connection.
    pub conn: ConnId,
    /// Whether a one-shot watch of exactly that path was used up.
    pub spent: bool,
}

/// One table.
#[derive(Clone, Debug, Default)]
pub(super) struct WatchTable {
    modes: BTreeMap<(PathId, ConnId), WatchMode>,
    paths_of: BTreeSet<(ConnId, PathId)>,
    /// The connections that have ever armed a watch here: a server lists them until they end (`WatchManager.watch2Paths`).
    watchers: BTreeSet<ConnId>,
    /// The number of recursive watches: without any, parents need not be searched.
    recursive: usize,
}

/// The error of a path without a `/`: `PathParentIterator` throws, and the request fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NoSlash;

impl WatchTable {
    /// Arms a watch; returns whether that changed anything.
    pub(super) fn arm(&mut self, path: PathId, conn: ConnId, mode: WatchMode) -> bool {
        let before = self.modes.insert((path, conn), mode);
        self.recursive += usize::from(mode == WatchMode::Recursive);
        self.recursive -= usize::from(before == Some(WatchMode::Recursive));
        self.paths_of.insert((conn, path));
        self.watchers.insert(conn);
        before != Some(mode)
    }

    /// Disarms a watch; returns whether it was armed.
    pub(super) fn disarm(&mut self, path: PathId, conn: ConnId) -> bool {
        let Some(mode) = self.modes.remove(&(path, conn)) else { return false };
        self.recursive -= usize::from(mode == WatchMode::Recursive);
        self.paths_of.remove(&(conn, path));
        true
    }

    /// Removes all watches of a connection, and returns their paths.
    pub(super) fn forget(&mut self, conn: ConnId) -> Vec<PathId> {
        let all = (conn, PathId::ROOT)..=(conn, PathId::NONE);
        let paths: Vec<PathId> = self.paths_of.range(all).map(|(_, path)| *path).collect();
        for path in &paths {
            self.disarm(*path, conn);
        }
        self.watchers.remove(&conn);
        paths
    }

    /// Returns the connections that have ever armed a watch, each with the paths that it watches.
    pub(super) fn by_watcher(&self) -> impl Iterator<Item = (ConnId, impl Iterator<Item = PathId>)> {
        self.watchers.iter().map(move |conn| {
            let all = (*conn, PathId::ROOT)..=(*conn, PathId::NONE);
            (*conn, self.paths_of.range(all).map(|(_, path)| *path))
        })
    }

    fn at(&self, path: PathId) -> impl Iterator<Item = (ConnId, WatchMode)> {
        let all = (path, ConnId(0))..=(path, ConnId(u32::MAX));
        self.modes.range(all).map(|((_, conn), mode)| (*conn, *mode))
    }

    /// Returns the connections that an event at a znode concerns, each once, in order; one-shot watches are used up.
    pub(super) fn trigger(&mut self, path: PathId, kind: EventKind, paths: &Paths) -> Vec<Hit> {
        if self.modes.is_empty() {
            return Vec::new();
        }
        let spares_recursive = kind == EventKind::NodeChildrenChanged;
        let mut hits: Vec<Hit> = self
            .at(path)
            .filter(|(_, mode)| !(spares_recursive && *mode == WatchMode::Recursive))
            .map(|(conn, mode)| Hit { conn, spent: mode == WatchMode::OneShot })
            .collect();
        for hit in hits.iter().filter(|hit| hit.spent) {
            self.disarm(path, hit.conn);
        }
        if self.recursive > 0 && !spares_recursive {
            let mut at = path;
            while at != PathId::ROOT {
                at = paths.parent_of_znode(at);
                let from_above = self.at(at).filter(|(_, mode)| *mode == WatchMode::Recursive);
                hits.extend(from_above.map(|(conn, _)| Hit { conn, spent: false }));
            }
            // The watch of the path itself comes first, and survives.
            hits.sort_by_key(|hit| hit.conn);
            hits.dedup_by_key(|hit| hit.conn);
        }
        hits
    }

    /// Returns whether any connection watches that path (`WatchManager.containsWatcher` takes a connection and
    /// ignores it).
    pub(super) fn is_watched(&self, path: PathId, paths: &Paths) -> Result<bool, NoSlash> {
        let text = paths.text(path);
        if text.is_empty() {
            return Ok(false);
        }
        if !text.contains('/') {
            return Err(NoSlash);
        }
        if self.at(path).next().is_some() {
            return Ok(true);
        }
        // With recursive watches the search continues through the parents, and fails at a relative path.
        if self.recursive > 0 && !text.starts_with('/') { Err(NoSlash) } else { Ok(false) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: ConnId = ConnId(1);
    const B: ConnId = ConnId(2);

    fn conns(hits: &[Hit]) -> Vec<ConnId> {
        hits.iter().map(|hit| hit.conn).collect()
    }

    #[test]
    fn several_watches_of_one_connection_are_one_hit() {
        let mut paths = Paths::default();
        let (p, c) = (paths.intern("/p"), paths.intern("/p/c"));
        let mut table = WatchTable::default();
        table.arm(PathId::ROOT, B, WatchMode::Recursive);
        table.arm(p, A, WatchMode::Recursive);
        table.arm(PathId::ROOT, A, WatchMode::Recursive);
        table.arm(c, A, WatchMode::OneShot);
        let hits = table.trigger(c, EventKind::NodeDataChanged, &paths);
        assert_eq!(hits, [Hit { conn: A, spent: true }, Hit { conn: B, spent: false }]);
        assert_eq!(conns(&table.trigger(c, EventKind::NodeDataChanged, &paths)), [A, B]);
        assert_eq!(conns(&table.trigger(c, EventKind::NodeChildrenChanged, &paths)), []);
    }

    #[test]
    fn a_connection_that_goes_takes_its_watches_and_no_others() {
        let mut paths = Paths::default();
        let p = paths.intern("/p");
        let mut table = WatchTable::default();
        table.arm(p, A, WatchMode::OneShot);
        table.arm(p, B, WatchMode::OneShot);
        table.arm(PathId::ROOT, A, WatchMode::Recursive);
        assert_eq!(table.forget(A), [PathId::ROOT, p]);
        assert_eq!(table.recursive, 0);
        assert_eq!(conns(&table.trigger(p, EventKind::NodeDeleted, &paths)), [B]);
    }

    #[test]
    fn the_mode_that_is_armed_last_wins() {
        let mut table = WatchTable::default();
        assert!(table.arm(PathId::ROOT, A, WatchMode::Recursive));
        assert!(!table.arm(PathId::ROOT, A, WatchMode::Recursive));
        assert!(table.arm(PathId::ROOT, A, WatchMode::OneShot));
        assert_eq!((table.recursive, table.modes.len()), (0, 1));
    }
}
