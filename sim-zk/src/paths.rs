//! Interned paths: small numbers, so that the tree is a vector and a message carries four bytes per path.
//!
//! A client may send any text as a path, valid or not; each gets a number. `""` and `"/"` are two texts of one znode.

use std::collections::BTreeMap;
use std::sync::Arc;

/// The number of a path. `PathId::ROOT` is `/`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PathId(pub u32);

impl PathId {
    /// The root.
    pub const ROOT: PathId = PathId(0);
    /// `/zookeeper`.
    pub(crate) const ZOOKEEPER: PathId = PathId(1);
    /// `/zookeeper/config`.
    pub(crate) const CONFIG: PathId = PathId(2);
    /// `/zookeeper/quota`.
    pub(crate) const QUOTA: PathId = PathId(3);
    /// The empty text, the second name of the root (`DataTree` keeps the root under both).
    pub(crate) const EMPTY: PathId = PathId(4);
    /// No path: an unknown parent, or an empty slot.
    pub(crate) const NONE: PathId = PathId(u32::MAX);

    /// Returns whether it is one of the four znodes that cannot be deleted (`DataTree.isSpecialPath`).
    pub(crate) fn is_reserved(self) -> bool {
        self <= PathId::QUOTA
    }
}

/// The minimum number of paths to keep: fewer are not worth a search for unused ones.
const KEPT: usize = 8192;

/// The text for a null path in requests about watches. It names no znode.
pub(crate) const NULL: &str = "\0null";

/// The paths of a world, with their parents and the hashes by which Java orders names and paths.
#[derive(Clone, Debug)]
pub struct Paths {
    known: Vec<Known>,
    /// By the hash of the text; paths of equal hash are chained.
    index: BTreeMap<u64, PathId>,
    /// The numbers of forgotten paths, for reuse.
    free: Vec<PathId>,
    /// The number of paths after the last `forget_all_but`.
    kept: usize,
}

#[derive(Clone, Debug)]
struct Known {
    text: Arc<str>,
    /// [`PathId::NONE`] until needed, so that a megabyte of slashes does not fill the memory.
    parent: PathId,
    /// The next path whose text has the same hash.
    next: PathId,
    /// `String.hashCode` of the last component, spread as `java.util.HashMap` does.
    name_hash: u32,
    /// The same of the whole path.
    path_hash: u32,
    valid: bool,
    plausible: bool,
}

/// Paths in use, which are kept when others are forgotten.
#[derive(Clone, Debug, Default)]
pub struct UsedPaths(Vec<bool>);

impl UsedPaths {
    /// Adds a path.
    pub fn add(&mut self, path: PathId) {
        let at = path.0 as usize;
        if self.0.len() <= at {
            self.0.resize(at + 1, false);
        }
        self.0[at] = true;
    }

    fn iter(&self) -> impl Iterator<Item = PathId> {
        (0..).map(PathId).zip(&self.0).filter(|(_, is_used)| **is_used).map(|(path, _)| path)
    }
}

impl Extend<PathId> for UsedPaths {
    fn extend<I: IntoIterator<Item = PathId>>(&mut self, paths: I) {
        paths.into_iter().for_each(|path| self.add(path));
    }
}

impl Default for Paths {
    fn default() -> Self {
        let mut paths = Paths { known: Vec::new(), index: BTreeMap::new(), free: Vec::new(), kept: 0 };
        for text in ["/", "/zookeeper", "/zookeeper/config", "/zookeeper/quota", ""] {
            paths.intern(text);
        }
        paths
    }
}

impl Paths {
    /// Returns the number of a path, for any text.
    pub fn intern(&mut self, text: &str) -> PathId {
        let hash = hash_of(text);
        if let Some(id) = self.find(hash, text) {
            return id;
        }
        let next_number = || u32::try_from(self.known.len()).expect("a run speaks of fewer than 2^32 paths");
        let id = self.free.pop().unwrap_or_else(|| PathId(next_number()));
        let (parent, name) = zk_recipes::zk::path::split(text);
        let next = self.index.insert(hash, id).unwrap_or(PathId::NONE);
        let known = Known {
            text: text.into(),
            parent: PathId::NONE,
            next,
            name_hash: spread(java_hash(name)),
            path_hash: spread(java_hash(text)),
            valid: zk_recipes::zk::path::validate(text).is_ok(),
            plausible: text.contains('/') && !text.contains('\0'),
        };
        match self.known.get_mut(id.0 as usize) {
            Some(forgotten) => *forgotten = known,
            None => self.known.push(known),
        }
        let parent = if text.len() < 2 { Some(PathId::ROOT) } else { self.find(hash_of(parent), parent) };
        self.known[id.0 as usize].parent = parent.unwrap_or(PathId::NONE);
        id
    }

    /// Returns whether enough paths were added since the last `forget_all_but` to make another one worthwhile.
    pub(crate) fn are_many(&self) -> bool {
        self.known.len() - self.free.len() > 2 * self.kept.max(KEPT)
    }

    /// Forgets unused paths, except the parents of used ones. Returns the forgotten numbers, for reuse.
    pub(crate) fn forget_all_but(&mut self, used: &UsedPaths) -> Vec<PathId> {
        let mut is_used = vec![false; self.known.len()];
        is_used[..=PathId::EMPTY.0 as usize].fill(true);
        self.free.iter().for_each(|free| is_used[free.0 as usize] = true);
        for path in used.iter() {
            let mut at = path;
            while at != PathId::NONE && !std::mem::replace(&mut is_used[at.0 as usize], true) {
                at = self.known[at.0 as usize].parent;
            }
        }
        let unused = (0..).map(PathId).zip(is_used).filter(|(_, is_used)| !is_used);
        let forgotten: Vec<PathId> = unused.map(|(path, _)| path).collect();
        for path in &forgotten {
            self.forget(*path);
        }
        self.free.extend(&forgotten);
        self.kept = self.known.len() - self.free.len();
        forgotten
    }

    fn forget(&mut self, path: PathId) {
        let known = &mut self.known[path.0 as usize];
        let (text, next) = (std::mem::take(&mut known.text), known.next);
        known.parent = PathId::NONE;
        let hash = hash_of(&text);
        let first = self.index[&hash];
        if first != path {
            let mut before = first;
            while self.known[before.0 as usize].next != path {
                before = self.known[before.0 as usize].next;
            }
            self.known[before.0 as usize].next = next;
        } else if next == PathId::NONE {
            self.index.remove(&hash);
        } else {
            self.index.insert(hash, next);
        }
    }

    fn find(&self, hash: u64, text: &str) -> Option<PathId> {
        let mut at = *self.index.get(&hash)?;
        while at != PathId::NONE {
            let known = &self.known[at.0 as usize];
            if *known.text == *text {
                return Some(at);
            }
            at = known.next;
        }
        None
    }

    /// Returns the number of a path, if it has one.
    pub(crate) fn known(&self, text: &str) -> Option<PathId> {
        self.find(hash_of(text), text)
    }

    /// Returns the text of a path.
    pub fn text(&self, id: PathId) -> &str {
        &self.known[id.0 as usize].text
    }

    /// Returns the last component.
    pub fn name(&self, id: PathId) -> &str {
        zk_recipes::zk::path::split(self.text(id)).1
    }

    /// Returns the text before the last `/`; `/` for the root and its children.
    pub fn parent(&mut self, id: PathId) -> PathId {
        let known = &self.known[id.0 as usize];
        if known.parent != PathId::NONE {
            return known.parent;
        }
        let text = known.text.clone();
        let parent = self.intern(zk_recipes::zk::path::split(&text).0);
        self.known[id.0 as usize].parent = parent;
        parent
    }

    /// Returns the parent of a path at which a znode exists or existed, so that the parent has a number.
    pub(crate) fn parent_of_znode(&self, id: PathId) -> PathId {
        let parent = self.known[id.0 as usize].parent;
        assert_ne!(parent, PathId::NONE, "a znode was created below a parent");
        parent
    }

    /// Returns the parent of a path, if it has a number; otherwise there never was a znode.
    pub(crate) fn known_parent(&self, id: PathId) -> Option<PathId> {
        Some(self.known[id.0 as usize].parent).filter(|parent| *parent != PathId::NONE)
    }

    /// Returns whether the path satisfies the full rule (`PathUtils.validatePath`).
    pub(crate) fn is_valid(&self, id: PathId) -> bool {
        self.known[id.0 as usize].valid
    }

    /// Returns whether the path has a `/` and no NUL: the only check before the parent lookup.
    pub(crate) fn is_plausible(&self, id: PathId) -> bool {
        self.known[id.0 as usize].plausible
    }

    /// Returns the bucket of the last component in a Java hash table.
    pub(crate) fn name_bucket(&self, id: PathId, buckets: u32) -> u32 {
        self.known[id.0 as usize].name_hash & (buckets - 1)
    }

    /// Returns the bucket of the whole path in a Java hash table.
    pub(crate) fn path_bucket(&self, id: PathId, buckets: u32) -> u32 {
        self.known[id.0 as usize].path_hash & (buckets - 1)
    }

    /// Returns the number of paths, which exceeds every [`PathId`].
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// Returns false: the root is always there.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }
}

/// FNV-1a: the same in every process, unlike the standard library's hasher.
fn hash_of(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// `String.hashCode`: over UTF-16 code units.
pub(crate) fn java_hash(text: &str) -> u32 {
    text.encode_utf16().fold(0, |hash: u32, unit| hash.wrapping_mul(31).wrapping_add(u32::from(unit)))
}

/// Spreads a hash as `java.util.HashMap` does.
pub(crate) fn spread(hash: u32) -> u32 {
    hash ^ (hash >> 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_keeps_its_number_and_knows_its_parent() {
        let mut paths = Paths::default();
        let b = paths.intern("/a/b");
        assert_eq!(paths.intern("/a/b"), b);
        let a = paths.parent(b);
        assert_eq!((paths.parent(a), paths.text(a)), (PathId::ROOT, "/a"));
        assert_eq!((paths.name(b), paths.parent_of_znode(b)), ("b", a));
    }

    #[test]
    fn any_text_has_a_number_and_a_parent_before_its_last_slash() {
        let mut paths = Paths::default();
        for (text, parent) in
            [("", "/"), ("/", "/"), ("a", "/"), ("//", "/"), ("/p/", "/p"), ("a/b", "a"), ("/\0/é🔒", "/\0")]
        {
            let id = paths.intern(text);
            assert_eq!(paths.text(id), text);
            let found = paths.parent(id);
            assert_eq!(paths.text(found), parent, "of {text:?}");
        }
        assert_ne!(paths.intern(""), paths.intern("/"));
        assert_eq!((paths.intern(""), paths.intern("/zookeeper/quota")), (PathId::EMPTY, PathId::QUOTA));
    }

    #[test]
    fn forgotten_paths_give_their_numbers_to_others_and_parents_stay() {
        let mut paths = Paths::default();
        let (a, b) = (paths.intern("/a"), paths.intern("/a/b"));
        let gone: Vec<PathId> = (0..100).map(|n| paths.intern(&format!("/gone-{n}"))).collect();
        let count = paths.len();
        let mut used = UsedPaths::default();
        used.add(b);
        assert_eq!(paths.forget_all_but(&used), gone);
        assert_eq!(
            (paths.known("/a"), paths.known("/a/b"), paths.known("/gone-7")),
            (Some(a), Some(b), None)
        );
        assert_eq!(paths.forget_all_but(&used), [], "they are forgotten once");
        let again: Vec<PathId> = (0..100).map(|n| paths.intern(&format!("/again-{n}"))).collect();
        assert_eq!(paths.len(), count, "each has the number of another one");
        assert!(again.iter().enumerate().all(|(n, path)| paths.text(*path) == format!("/again-{n}")));
        assert_eq!(paths.intern("/again-42"), again[42]);
    }

    #[test]
    fn a_megabyte_of_slashes_is_one_path() {
        let mut paths = Paths::default();
        let before = paths.len();
        let id = paths.intern(&"/".repeat(1_000_000));
        assert!(!paths.is_valid(id));
        assert_eq!(paths.len(), before + 1);
    }

    #[test]
    fn hashes_are_javas() {
        assert_eq!(java_hash(""), 0);
        // "hello".hashCode() is 99162322 in every Java.
        assert_eq!(java_hash("hello"), 99_162_322);
        assert_eq!(spread(99_162_322), 99_162_322 ^ (99_162_322 >> 16));
    }
}
