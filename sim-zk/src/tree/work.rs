//! The workload of the tree benchmark.

use super::Tree;
use crate::acl::Acl;
use crate::paths::{PathId, Paths};
use crate::txn::Life;

/// A tree, and paths to work on.
pub struct Work {
    tree: Tree,
    paths: Paths,
    children: Vec<PathId>,
    zxid: i64,
}

impl Work {
    /// Creates a directory with that many paths below it, none of which exists yet.
    pub fn new(paths_below: usize) -> Self {
        let mut paths = Paths::default();
        let directory = paths.intern("/directory");
        let children = (0..paths_below).map(|n| paths.intern(&format!("/directory/{n:010}"))).collect();
        let mut tree = Tree::pristine();
        tree.create(directory, None, Acl::Open, Life::Persistent, -1, 1, 0, &paths);
        Work { tree, paths, children, zxid: 1 }
    }

    /// Performs create, get, set, get and delete on each path, and returns the number of operations.
    pub fn round(&mut self) -> usize {
        let mut seen = 0;
        for child in &self.children {
            let (zxid, paths) = (self.zxid, &self.paths);
            self.tree.create(*child, None, Acl::Open, Life::Persistent, -1, zxid + 1, 0, paths);
            seen += usize::from(self.tree.get(*child).is_some_and(|node| node.version == 0));
            self.tree.set(*child, None, 1, zxid + 2, 0, paths);
            seen += usize::from(self.tree.get(*child).is_some_and(|node| node.version == 1));
            self.tree.delete(*child, zxid + 3, paths);
            self.zxid += 3;
        }
        assert_eq!(seen, 2 * self.children.len(), "reads see what was written");
        5 * self.children.len()
    }
}
