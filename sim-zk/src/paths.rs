//! Paths as small numbers, so that the tree is a vector and a message carries four bytes.

use std::collections::BTreeMap;
use std::sync::Arc;

/// A path that was spoken of at least once. `PathId::ROOT` is `/`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PathId(pub u32);

impl PathId {
    /// The root.
    pub const ROOT: PathId = PathId(0);
}

/// Every path of a world, with its parent and the hash by which Java orders its name.
#[derive(Clone, Debug)]
pub struct Paths {
    known: Vec<Known>,
    index: BTreeMap<Arc<str>, PathId>,
}

#[derive(Clone, Debug)]
struct Known {
    text: Arc<str>,
    parent: PathId,
    /// `String.hashCode` of the last component, spread as `java.util.HashMap` does.
    hash: u32,
}

impl Default for Paths {
    fn default() -> Self {
        let root: Arc<str> = "/".into();
        let known = Known { text: root.clone(), parent: PathId::ROOT, hash: 0 };
        Paths { known: vec![known], index: BTreeMap::from([(root, PathId::ROOT)]) }
    }
}

impl Paths {
    /// The number of a path; its ancestors get theirs too.
    pub fn intern(&mut self, text: &str) -> PathId {
        if let Some(id) = self.index.get(text) {
            return *id;
        }
        let (parent, name) = zk_recipes::zk::path::split(text);
        let hash = java_hash(name);
        let parent = if parent == text { PathId::ROOT } else { self.intern(parent) };
        let id = PathId(u32::try_from(self.known.len()).expect("a run speaks of fewer than 2^32 paths"));
        let text: Arc<str> = text.into();
        self.known.push(Known { text: text.clone(), parent, hash });
        self.index.insert(text, id);
        id
    }

    /// The path of a number.
    pub fn text(&self, id: PathId) -> &str {
        &self.known[id.0 as usize].text
    }

    /// The last component.
    pub fn name(&self, id: PathId) -> &str {
        zk_recipes::zk::path::split(self.text(id)).1
    }

    /// The parent; the root's is the root.
    pub fn parent(&self, id: PathId) -> PathId {
        self.known[id.0 as usize].parent
    }

    /// In which bucket of a Java hash table of `buckets` the last component lies.
    pub(crate) fn bucket(&self, id: PathId, buckets: u32) -> u32 {
        self.known[id.0 as usize].hash & (buckets - 1)
    }

    /// How many paths there are: every [`PathId`] is smaller.
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// Never: the root is always there.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }
}

fn java_hash(name: &str) -> u32 {
    let hash =
        name.encode_utf16().fold(0u32, |hash, unit| hash.wrapping_mul(31).wrapping_add(u32::from(unit)));
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
        assert_eq!(paths.text(paths.parent(b)), "/a");
        assert_eq!(paths.parent(paths.parent(b)), PathId::ROOT);
        assert_eq!(paths.name(b), "b");
    }

    #[test]
    fn hashes_are_javas() {
        assert_eq!(java_hash(""), 0);
        // "hello".hashCode() is 99162322 in every Java.
        assert_eq!(java_hash("hello"), 99_162_322 ^ (99_162_322 >> 16));
    }
}
