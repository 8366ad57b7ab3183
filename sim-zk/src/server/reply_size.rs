//! The size of the answer to a read before it is built, so that a program with real clients can check its memory
//! budget.

use super::Replica;
use crate::acl::Acl;
use crate::message::{Ask, ConnId, ReadOp};
use crate::paths::{PathId, Paths};

/// An upper bound of the size of an answer, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReplySize {
    /// Bytes built for this answer: lists, headers, stats.
    pub made: usize,
    /// Bytes of znode data, which the answer shares with the tree.
    pub shared: usize,
}

/// The fixed part of every answer: its header, and a stat or a path of its request.
const HEAD: usize = 128;

impl ReplySize {
    /// An answer without lists and data.
    pub const SMALL: ReplySize = ReplySize { made: HEAD, shared: 0 };

    /// Returns the sum of both parts.
    pub fn total(self) -> usize {
        self.made.saturating_add(self.shared)
    }

    fn and(self, other: ReplySize) -> Self {
        let made = self.made.saturating_add(other.made);
        ReplySize { made, shared: self.shared.saturating_add(other.shared) }
    }
}

impl Replica {
    /// Returns the size of the answer to a read. Counting stops once the size exceeds `limit`.
    pub(crate) fn reply_size(&self, conn: ConnId, ask: &Ask, limit: usize, paths: &Paths) -> ReplySize {
        match ask {
            Ask::Get { path, .. } => self.data_size(*path),
            Ask::Children { path, .. } => self.list_size(*path, limit, paths),
            Ask::GetAcl { path } => self.acl_size(*path),
            Ask::Ephemerals { .. } => {
                let owned = self.session_of(conn).into_iter().flat_map(|session| self.tree.owned(session));
                sum(owned.map(|path| 4 + paths.text(path).len()), limit)
            }
            Ask::MultiRead(ops) => {
                let mut size = ReplySize::SMALL;
                for op in ops {
                    if size.total() > limit {
                        break;
                    }
                    size = size.and(match op {
                        ReadOp::Get(path) => self.data_size(*path),
                        ReadOp::Children(path) => self.list_size(*path, limit, paths),
                        ReadOp::Other(_) => ReplySize::SMALL,
                    });
                }
                size
            }
            Ask::WhoAmI => {
                let known = self.conns.get(&conn).map_or(&[][..], |conn| &*conn.identities);
                sum(known.iter().map(|id| 8 + id.scheme.len() + id.user().len()), limit)
            }
            _ => ReplySize::SMALL,
        }
    }

    fn data_size(&self, path: PathId) -> ReplySize {
        let data = self.tree.get(path).and_then(|node| node.data.as_ref());
        ReplySize { made: HEAD, shared: data.map_or(0, |data| data.len()) }
    }

    fn list_size(&self, path: PathId, limit: usize, paths: &Paths) -> ReplySize {
        let children = self.tree.get(path).into_iter().flat_map(|node| node.children());
        // The names are listed as numbers before they are written.
        sum(children.map(|child| 8 + paths.name(child).len()), limit)
    }

    fn acl_size(&self, path: PathId) -> ReplySize {
        match self.tree.get(path).map(|node| &node.acl) {
            Some(Acl::List(entries)) => {
                sum(entries.iter().map(|entry| 12 + entry.scheme.len() + entry.id.len()), usize::MAX)
            }
            _ => ReplySize::SMALL,
        }
    }
}

fn sum(sizes: impl Iterator<Item = usize>, limit: usize) -> ReplySize {
    let mut made = HEAD;
    for size in sizes {
        made += size;
        if made > limit {
            break;
        }
    }
    ReplySize { made, shared: 0 }
}
