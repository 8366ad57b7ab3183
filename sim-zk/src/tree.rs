//! The data tree of a server, and the effect of transactions on it.
//!
//! Versions, counters and zxids follow `DataTree` and `DataNode`; the visible `cversion` is twice the number of
//! creations minus the number of children.

pub(crate) mod java_set;
mod quota;
pub(crate) mod work;

use crate::acl::{Acl, AclEntry, perms};
use crate::message::Content;
use crate::paths::{PathId, Paths};
use crate::txn::Life;
use java_set::JavaSet;
use std::collections::{BTreeMap, BTreeSet};
use zk_recipes::zk::{SessionId, Stat};

/// A znode.
#[derive(Clone, Debug)]
pub(crate) struct Znode {
    /// Its data.
    pub data: Content,
    /// The access control list.
    pub acl: Acl,
    /// The lifetime.
    pub life: Life,
    czxid: i64,
    /// The transaction that last changed the data.
    pub mzxid: i64,
    /// The transaction that last created or deleted a child.
    pub pzxid: i64,
    ctime: i64,
    mtime: i64,
    /// Number of changes of the data.
    pub version: i32,
    /// Number of changes of the access list.
    pub aversion: i32,
    /// Number of creations of children: the next sequence number.
    pub creations: i32,
    children: JavaSet,
    /// The position among its siblings.
    among_siblings: u32,
    /// The position among the ephemerals of its session.
    among_ephemerals: u32,
}

impl Znode {
    fn new(data: Content, acl: Acl, life: Life, zxid: i64, time: i64) -> Self {
        Znode {
            data,
            acl,
            life,
            czxid: zxid,
            mzxid: zxid,
            pzxid: zxid,
            ctime: time,
            mtime: time,
            version: 0,
            aversion: 0,
            creations: 0,
            children: JavaSet::new(8),
            among_siblings: 0,
            among_ephemerals: 0,
        }
    }

    /// Returns the number of children.
    pub(crate) fn num_children(&self) -> usize {
        self.children.len()
    }

    /// Returns the children, by age.
    pub(crate) fn children(&self) -> impl Iterator<Item = PathId> {
        self.children.by_age()
    }

    /// Returns the owning session, or 0.
    pub(crate) fn owner(&self) -> SessionId {
        match self.life {
            Life::Ephemeral(session) => session,
            _ => SessionId(0),
        }
    }

    /// Returns the visible stat.
    pub(crate) fn stat(&self) -> Stat {
        let children = self.children.len() as i32;
        Stat {
            czxid: self.czxid,
            mzxid: self.mzxid,
            pzxid: self.pzxid,
            ctime: self.ctime,
            mtime: self.mtime,
            version: self.version,
            cversion: self.creations.wrapping_mul(2).wrapping_sub(children),
            aversion: self.aversion,
            ephemeral_owner: self.owner(),
            data_length: self.data.as_ref().map_or(0, |data| data.len() as i32),
            num_children: children,
        }
    }
}

/// The tree.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    /// By path number. Boxed, because in a long run most numbers have no znode.
    nodes: Vec<Option<Box<Znode>>>,
    /// The number of znodes.
    count: usize,
    /// The ephemerals by session. An entry stays until the session ends, because the Java table does not shrink.
    ephemerals: BTreeMap<SessionId, JavaSet>,
    /// Containers and TTL znodes.
    mortal: BTreeSet<PathId>,
    limited: quota::Limited,
}

impl Tree {
    /// Creates a pristine tree: `/`, `/zookeeper`, `/zookeeper/config` and `/zookeeper/quota`.
    pub(crate) fn pristine() -> Self {
        let mut tree = Tree {
            nodes: Vec::new(),
            count: 0,
            ephemerals: BTreeMap::new(),
            mortal: BTreeSet::new(),
            limited: BTreeSet::new(),
        };
        let node = || Znode::new(Some([].into()), Acl::Open, Life::Persistent, 0, 0);
        for path in [PathId::ROOT, PathId::ZOOKEEPER, PathId::CONFIG, PathId::QUOTA] {
            tree.put(path, node());
        }
        // They do not count as creations, so the visible `cversion` of a fresh root is -1.
        let children = [
            (PathId::ROOT, PathId::ZOOKEEPER),
            (PathId::ZOOKEEPER, PathId::CONFIG),
            (PathId::ZOOKEEPER, PathId::QUOTA),
        ];
        for (parent, child) in children {
            let place = tree.node_mut(parent).children.push(child);
            tree.node_mut(child).among_siblings = place;
        }
        let anyone = AclEntry { perms: perms::READ, scheme: "world".into(), id: "anyone".into() };
        let config = tree.node_mut(PathId::CONFIG);
        config.acl = Acl::List([anyone].into());
        config.aversion = -1;
        tree
    }

    /// Sets the data of `/zookeeper/config` without a transaction, as a server does when it begins to serve
    /// (`ZKDatabase.initConfigInZKDatabase`): at its own time, with a version of -1 and a zxid of 0.
    pub(crate) fn configure(&mut self, members: &str, time: i64) {
        let config = self.node_mut(PathId::CONFIG);
        config.data = Some(members.as_bytes().into());
        (config.version, config.mzxid, config.mtime) = (-1, 0, time);
    }

    /// Returns the znode at a path. The root has two paths.
    pub(crate) fn get(&self, path: PathId) -> Option<&Znode> {
        let path = if path == PathId::EMPTY { PathId::ROOT } else { path };
        self.nodes.get(path.0 as usize)?.as_deref()
    }

    fn node_mut(&mut self, path: PathId) -> &mut Znode {
        self.nodes[path.0 as usize]
            .as_deref_mut()
            .expect("a transaction speaks of znodes that its preparation saw")
    }

    fn put(&mut self, path: PathId, node: Znode) {
        let at = path.0 as usize;
        if self.nodes.len() <= at {
            self.nodes.resize_with(at + 1, || None);
        }
        assert!(self.nodes[at].is_none(), "a create speaks of a path that its preparation saw free");
        self.nodes[at] = Some(Box::new(node));
        self.count += 1;
    }

    /// Returns the number of znodes, including the root and the znodes of ZooKeeper itself.
    pub(crate) fn len(&self) -> usize {
        self.count
    }

    /// Returns the children of a znode in the order in which a Java server lists them.
    pub(crate) fn children(&self, path: PathId, paths: &Paths) -> Option<Vec<PathId>> {
        Some(self.get(path)?.children.in_order(|child, buckets| paths.name_bucket(child, buckets)))
    }

    /// Returns the number of descendants.
    pub(crate) fn descendants(&self, path: PathId) -> usize {
        let mut count = 0;
        let mut todo = vec![path];
        while let Some(node) = todo.pop().and_then(|path| self.get(path)) {
            count += node.num_children();
            todo.extend(node.children.by_age());
        }
        count
    }

    /// Returns the ephemerals of a session, in the iteration order of a Java copy of its set, whose table may be
    /// smaller (`DataTree.getEphemerals`).
    pub(crate) fn ephemerals(&self, session: SessionId, paths: &Paths) -> Vec<PathId> {
        let mut listed = self.ephemerals_for_copy(session, paths);
        let buckets = java_set::buckets_of_clone(listed.len());
        listed.sort_by_cached_key(|path| paths.path_bucket(*path, buckets));
        listed
    }

    /// Returns the ephemerals of a session, in the order of their insertion into a copy of the set.
    pub(crate) fn ephemerals_for_copy(&self, session: SessionId, paths: &Paths) -> Vec<PathId> {
        let in_order = |set: &JavaSet| set.in_order(|path, buckets| paths.path_bucket(path, buckets));
        self.ephemerals.get(&session).map_or_else(Vec::new, in_order)
    }

    /// Returns the ephemerals of a session, by age.
    pub(crate) fn owned(&self, session: SessionId) -> impl Iterator<Item = PathId> {
        self.ephemerals.get(&session).into_iter().flat_map(JavaSet::by_age)
    }

    /// Removes an ended session, and returns the ephemerals that it still owned.
    pub(crate) fn orphans(&mut self, session: SessionId) -> Vec<PathId> {
        self.ephemerals.remove(&session).map_or_else(Vec::new, |set| set.by_age().collect())
    }

    /// Returns empty containers that once had a child, and expired TTL znodes without children
    /// (`ContainerManager.getCandidates`).
    pub(crate) fn reapable(&self, wall_clock_ms: i64) -> Vec<PathId> {
        let is_due = |path: &PathId| {
            let Some(node) = self.get(*path) else { return false };
            node.num_children() == 0
                && match node.life {
                    Life::Container => node.creations > 0,
                    Life::Ttl(ttl) => wall_clock_ms.saturating_sub(node.mtime) > ttl,
                    Life::Persistent | Life::Ephemeral(_) => false,
                }
        };
        self.mortal.iter().copied().filter(is_due).collect()
    }

    /// Applies a creation. `creations` is the new count of the parent.
    #[allow(clippy::too_many_arguments, reason = "a transaction's fields")]
    pub(crate) fn create(
        &mut self,
        path: PathId,
        data: Content,
        acl: Acl,
        life: Life,
        creations: i32,
        zxid: i64,
        time: i64,
        paths: &Paths,
    ) -> Stat {
        let parent = self.node_mut(paths.parent_of_znode(path));
        // The count and the pzxid only ever rise (`DataTree.createNode`), so both stay after an overflow; -1 means
        // the count of the parent plus one.
        let creations = if creations == -1 { parent.creations.wrapping_add(1) } else { creations };
        if creations > parent.creations {
            parent.creations = creations;
            parent.pzxid = zxid;
        }
        let mut node = Znode::new(data, acl, life, zxid, time);
        node.among_siblings = parent.children.push(path);
        match life {
            Life::Persistent => {}
            Life::Ephemeral(session) => {
                node.among_ephemerals =
                    self.ephemerals.entry(session).or_insert_with(|| JavaSet::new(16)).push(path);
            }
            Life::Container | Life::Ttl(_) => {
                self.mortal.insert(path);
            }
        }
        let stat = node.stat();
        self.put(path, node);
        self.count_created(path, i64::from(stat.data_length), paths);
        stat
    }

    /// Presets the creation count of a new znode.
    pub(crate) fn preset_creations(&mut self, path: PathId, children: i32) {
        self.node_mut(path).creations = children;
    }

    /// Applies a deletion, and returns the deleted znode.
    pub(crate) fn delete(&mut self, path: PathId, zxid: i64, paths: &Paths) -> Znode {
        let node = self.nodes[path.0 as usize]
            .take()
            .expect("a deletion speaks of a znode that its preparation saw");
        self.count -= 1;
        match node.life {
            Life::Persistent => {}
            Life::Ephemeral(session) => self.disown(session, node.among_ephemerals),
            Life::Container | Life::Ttl(_) => {
                self.mortal.remove(&path);
            }
        }
        let above = paths.parent_of_znode(path);
        let parent = self.node_mut(above);
        parent.pzxid = parent.pzxid.max(zxid);
        parent.children.remove(node.among_siblings);
        if parent.children.is_sparse() {
            parent.children.compact();
            let kept: Vec<PathId> = parent.children.by_age().collect();
            for (place, child) in (0..).zip(kept) {
                self.node_mut(child).among_siblings = place;
            }
        }
        self.count_deleted(path, i64::from(node.stat().data_length), paths);
        *node
    }

    /// Restores the pzxid of a parent after a deletion, for an injected bug.
    pub(crate) fn unmark(&mut self, parent: PathId, pzxid: i64) {
        self.node_mut(parent).pzxid = pzxid;
    }

    fn disown(&mut self, session: SessionId, place: u32) {
        let Some(owned) = self.ephemerals.get_mut(&session) else { return };
        owned.remove(place);
        if owned.is_sparse() {
            owned.compact();
            let kept: Vec<PathId> = owned.by_age().collect();
            for (place, path) in (0..).zip(kept) {
                self.node_mut(path).among_ephemerals = place;
            }
        }
    }

    /// Applies a write of data; `version` is the new one.
    pub(crate) fn set(
        &mut self,
        path: PathId,
        data: Content,
        version: i32,
        zxid: i64,
        time: i64,
        paths: &Paths,
    ) -> Stat {
        let node = self.node_mut(path);
        let before = node.stat().data_length;
        node.data = data;
        node.version = version;
        node.mzxid = zxid;
        node.mtime = time;
        let stat = node.stat();
        self.count(path, i64::from(stat.data_length) - i64::from(before), 0, paths);
        stat
    }

    /// Applies a change of the access control list; `version` is the new one.
    pub(crate) fn set_acl(&mut self, path: PathId, acl: Acl, version: i32) -> Stat {
        let node = self.node_mut(path);
        node.acl = acl;
        node.aversion = version;
        node.stat()
    }

    /// Returns whether containers or TTL znodes exist.
    pub(crate) fn has_mortals(&self) -> bool {
        !self.mortal.is_empty()
    }

    /// Returns all znodes, in the order of path numbers.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (PathId, &Znode)> {
        self.nodes.iter().enumerate().filter_map(|(id, node)| Some((PathId(id as u32), node.as_deref()?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_the_end_of_the_numbers_the_count_stays_and_changes_are_not_marked() {
        let mut paths = Paths::default();
        let mut tree = Tree::pristine();
        let (last, next) = (paths.intern("/last"), paths.intern("/next"));
        let mut create = |path, creations, zxid, paths: &Paths| {
            tree.create(path, None, Acl::Open, Life::Persistent, creations, zxid, 0, paths);
            let root = tree.get(PathId::ROOT).expect("there is a root");
            (root.creations, root.pzxid)
        };
        assert_eq!(create(last, i32::MAX, 1, &paths), (i32::MAX, 1));
        assert_eq!(create(next, i32::MIN, 2, &paths), (i32::MAX, 1));
    }

    #[test]
    fn children_and_ephemerals_keep_their_places_while_many_come_and_go() {
        let mut paths = Paths::default();
        let mut tree = Tree::pristine();
        let session = SessionId(1);
        let all: Vec<PathId> = (0..500).map(|n| paths.intern(&format!("/n{n}"))).collect();
        for (zxid, path) in (1..).zip(&all) {
            tree.create(*path, None, Acl::Open, Life::Ephemeral(session), zxid, i64::from(zxid), 0, &paths);
        }
        for path in all.iter().filter(|path| path.0 % 5 != 0) {
            tree.delete(*path, 501, &paths);
        }
        let left: Vec<PathId> = all.iter().copied().filter(|path| path.0 % 5 == 0).collect();
        let mut owned = tree.ephemerals(session, &paths);
        owned.sort();
        assert_eq!(owned, left);
        for path in left {
            tree.delete(path, 502, &paths);
        }
        assert_eq!(tree.children(PathId::ROOT, &paths), Some(vec![PathId::ZOOKEEPER]));
        assert_eq!(tree.len(), 4);
    }
}
