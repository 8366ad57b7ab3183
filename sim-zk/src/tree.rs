//! One server's copy of the data tree: what it holds, and how a transaction changes it.
//!
//! Versions, counters and zxids as `DataTree` and `DataNode` keep them; the visible `cversion` is twice the number of
//! creations less the number of living children.

use crate::message::Bytes;
use crate::paths::{PathId, Paths};
use std::collections::BTreeMap;
use zk_recipes::zk::{SessionId, Stat};

/// A znode.
#[derive(Clone, Debug)]
pub struct Znode {
    /// Its data.
    pub data: Bytes,
    /// The session that owns it, if it is an ephemeral.
    pub owner: SessionId,
    czxid: i64,
    mzxid: i64,
    pzxid: i64,
    ctime: i64,
    mtime: i64,
    /// Number of changes of the data.
    pub version: i32,
    /// Number of creations of children: the next sequence number.
    pub creations: i32,
    /// In the order of their creation.
    children: Vec<PathId>,
    /// The size of the hash table that Java keeps the children in; it never shrinks.
    buckets: u32,
}

impl Znode {
    fn new(data: Bytes, owner: SessionId, zxid: i64, time: i64) -> Self {
        Znode {
            data,
            owner,
            czxid: zxid,
            mzxid: zxid,
            pzxid: zxid,
            ctime: time,
            mtime: time,
            version: 0,
            creations: 0,
            children: Vec::new(),
            buckets: 8,
        }
    }

    /// How many children live.
    pub fn num_children(&self) -> usize {
        self.children.len()
    }

    /// The transaction that last changed the data.
    pub fn mzxid(&self) -> i64 {
        self.mzxid
    }

    /// The transaction that last created or deleted a child.
    pub fn pzxid(&self) -> i64 {
        self.pzxid
    }

    /// The visible stat.
    pub fn stat(&self) -> Stat {
        let children = self.children.len() as i32;
        Stat {
            czxid: self.czxid,
            mzxid: self.mzxid,
            pzxid: self.pzxid,
            ctime: self.ctime,
            mtime: self.mtime,
            version: self.version,
            cversion: self.creations.wrapping_mul(2).wrapping_sub(children),
            aversion: 0,
            ephemeral_owner: self.owner,
            data_length: self.data.len() as i32,
            num_children: children,
        }
    }
}

/// The tree.
#[derive(Clone, Debug)]
pub struct Tree {
    nodes: Vec<Option<Znode>>,
    ephemerals: BTreeMap<SessionId, Vec<PathId>>,
}

impl Tree {
    /// A pristine tree: `/`, `/zookeeper`, `/zookeeper/config` and `/zookeeper/quota`.
    pub fn pristine(paths: &mut Paths, nothing: &Bytes) -> Self {
        let mut tree = Tree { nodes: Vec::new(), ephemerals: BTreeMap::new() };
        let node = || Znode::new(nothing.clone(), SessionId(0), 0, 0);
        tree.put(PathId::ROOT, node());
        for path in ["/zookeeper", "/zookeeper/config", "/zookeeper/quota"] {
            let id = paths.intern(path);
            tree.put(id, node());
            tree.node_mut(paths.parent(id)).children.push(id);
        }
        tree
    }

    /// The znode at a path.
    pub fn get(&self, path: PathId) -> Option<&Znode> {
        self.nodes.get(path.0 as usize)?.as_ref()
    }

    fn node_mut(&mut self, path: PathId) -> &mut Znode {
        self.nodes[path.0 as usize].as_mut().expect("a transaction speaks of znodes that its preparation saw")
    }

    fn put(&mut self, path: PathId, node: Znode) {
        let at = path.0 as usize;
        if self.nodes.len() <= at {
            self.nodes.resize_with(at + 1, || None);
        }
        self.nodes[at] = Some(node);
    }

    /// A znode's children in the order in which a Java server lists them: by bucket of its hash table, within a bucket
    /// by age.
    pub fn children(&self, path: PathId, paths: &Paths) -> Option<Vec<PathId>> {
        let node = self.get(path)?;
        let mut names = node.children.clone();
        names.sort_by_key(|child| paths.bucket(*child, node.buckets));
        Some(names)
    }

    /// The ephemerals of a session, in the order of their creation.
    pub fn ephemerals(&self, session: SessionId) -> &[PathId] {
        self.ephemerals.get(&session).map_or(&[], Vec::as_slice)
    }

    /// Applies a creation.
    pub fn create(
        &mut self,
        path: PathId,
        data: Bytes,
        owner: SessionId,
        zxid: i64,
        time: i64,
        paths: &Paths,
    ) {
        self.put(path, Znode::new(data, owner, zxid, time));
        let parent = self.node_mut(paths.parent(path));
        parent.children.push(path);
        // At the end of the numbers the count stays where it is, and with it the mark of the last change
        // (`DataTree.createNode` only ever raises them).
        if let Some(creations) = parent.creations.checked_add(1) {
            parent.creations = creations;
            parent.pzxid = zxid;
        }
        if parent.children.len() > parent.buckets as usize / 4 * 3 {
            parent.buckets *= 2;
        }
        if owner != SessionId(0) {
            self.ephemerals.entry(owner).or_default().push(path);
        }
    }

    /// Applies a deletion.
    pub fn delete(&mut self, path: PathId, zxid: i64, paths: &Paths) {
        let node = self.nodes[path.0 as usize]
            .take()
            .expect("a deletion speaks of a znode that its preparation saw");
        if node.owner != SessionId(0)
            && let Some(owned) = self.ephemerals.get_mut(&node.owner)
        {
            owned.retain(|owned| *owned != path);
            if owned.is_empty() {
                self.ephemerals.remove(&node.owner);
            }
        }
        let parent = self.node_mut(paths.parent(path));
        parent.children.retain(|child| *child != path);
        parent.pzxid = parent.pzxid.max(zxid);
    }

    /// Applies a write of data.
    pub fn set(&mut self, path: PathId, data: Bytes, zxid: i64, time: i64) -> Stat {
        let node = self.node_mut(path);
        node.data = data;
        node.version = node.version.wrapping_add(1);
        node.mzxid = zxid;
        node.mtime = time;
        node.stat()
    }

    /// Every znode there is, in the order of the path numbers.
    pub fn iter(&self) -> impl Iterator<Item = (PathId, &Znode)> {
        self.nodes.iter().enumerate().filter_map(|(id, node)| Some((PathId(id as u32), node.as_ref()?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_the_end_of_the_numbers_the_count_stays_and_changes_are_not_marked() {
        let mut paths = Paths::default();
        let mut tree = Tree::pristine(&mut paths, &[].into());
        let (last, next) = (paths.intern("/last"), paths.intern("/next"));
        tree.node_mut(PathId::ROOT).creations = i32::MAX - 1;
        tree.create(last, [].into(), SessionId(0), 1, 0, &paths);
        let root = tree.get(PathId::ROOT).expect("there is a root");
        assert_eq!((root.creations, root.pzxid()), (i32::MAX, 1));
        tree.create(next, [].into(), SessionId(0), 2, 0, &paths);
        let root = tree.get(PathId::ROOT).expect("there is a root");
        assert_eq!((root.creations, root.pzxid()), (i32::MAX, 1));
    }
}
