//! Soft quotas: below `/zookeeper/quota` a server counts the znodes and bytes of subtrees with a limit.
//!
//! The counts are the data of the znode `zookeeper_stats`, changed without a version, a zxid or an event
//! (`DataTree.updateQuotaStat`). Limits are only enforced with `enforceQuota`, which is off.

use super::Tree;
use crate::message::Bytes;
use crate::paths::{PathId, Paths};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

const QUOTA: &str = "/zookeeper/quota";
const LIMITS: &str = "zookeeper_limits";
const STATS: &str = "zookeeper_stats";

/// The subtrees with a limit, by path.
pub(super) type Limited = BTreeSet<Arc<str>>;

/// Returns the subtree that a znode below `/zookeeper/quota` describes, and the name of the znode.
fn about(path: PathId, paths: &Paths) -> Option<(&str, &str)> {
    let (tree, name) = paths.text(path).strip_prefix(QUOTA)?.rsplit_once('/')?;
    tree.starts_with('/').then_some((tree, name))
}

impl Tree {
    /// Counts a created znode.
    pub(super) fn count_created(&mut self, path: PathId, bytes: i64, paths: &Paths) {
        match about(path, paths) {
            Some((tree, LIMITS)) => {
                self.limited.insert(tree.into());
            }
            Some((tree, STATS)) => {
                let (mut count, mut bytes) = (0, 0);
                let mut todo: Vec<PathId> = paths.known(tree).into_iter().collect();
                while let Some(node) = todo.pop().and_then(|path| self.get(path)) {
                    count += 1;
                    bytes += node.data.as_ref().map_or(0, |data| data.len() as i64);
                    todo.extend(node.children.by_age());
                }
                self.node_mut(path).data = Some(written(count, bytes, &BTreeMap::new()));
            }
            _ => {}
        }
        self.count(path, bytes, 1, paths);
    }

    /// Counts a deleted znode.
    pub(super) fn count_deleted(&mut self, path: PathId, bytes: i64, paths: &Paths) {
        if let Some((tree, LIMITS)) = about(path, paths) {
            self.limited.remove(tree);
        }
        self.count(path, -bytes, -1, paths);
    }

    /// Adds to the count of the innermost subtree with a limit that contains a znode.
    pub(super) fn count(&mut self, path: PathId, bytes: i64, znodes: i64, paths: &Paths) {
        if self.limited.is_empty() {
            return;
        }
        let mut at = path;
        while !self.limited.contains(paths.text(at)) {
            if at == PathId::ROOT {
                return;
            }
            at = paths.parent_of_znode(at);
        }
        let stats = format!("{QUOTA}{}/{STATS}", paths.text(at));
        let Some(stats) = paths.known(&stats).filter(|stats| self.get(*stats).is_some()) else { return };
        let data = &mut self.node_mut(stats).data;
        if let Some(mut counts) = data.as_deref().and_then(read) {
            let mut take = |name| counts.remove(name).unwrap_or(-1);
            let (count, old) = (take("count"), take("bytes"));
            *data = Some(written(count + znodes, old + bytes, &counts));
        }
    }
}

/// Parses counts as `StatsTrack` does: pairs of a name and a number.
fn read(data: &[u8]) -> Option<BTreeMap<String, i64>> {
    let text = str::from_utf8(data).ok()?;
    let pair = |pair: &str| {
        let mut parts = pair.split('=');
        let (name, number) = (parts.next()?, parts.next()?);
        Some((name.to_owned(), if number.is_empty() { -1 } else { number.parse().ok()? }))
    };
    text.split([',', ';']).filter(|pair| !pair.is_empty()).map(pair).collect()
}

/// Formats counts as `StatsTrack` does: fields known to old servers first, the others where old servers do not look.
fn written(count: i64, bytes: i64, others: &BTreeMap<String, i64>) -> Bytes {
    let mut text = format!("count={count},bytes={bytes}");
    if !others.is_empty() {
        text.push('=');
    }
    for (name, number) in others {
        text.push_str(&format!(";{name}={number}"));
    }
    text.into_bytes().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_read_and_written_as_zookeeper_does() {
        for text in ["count=3,bytes=-1", "count=0,bytes=7=;byteHardLimit=5;countHardLimit=4"] {
            let mut counts = read(text.as_bytes()).expect("it is well-formed");
            let (count, bytes) = (counts.remove("count"), counts.remove("bytes"));
            let again = written(count.unwrap_or(-1), bytes.unwrap_or(-1), &counts);
            assert_eq!(str::from_utf8(&again), Ok(text));
        }
        assert_eq!(read(b"count"), None);
    }
}
