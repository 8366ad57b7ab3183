//! Transactions: the leader logs them, and every server applies them.

use crate::acl::Acl;
use crate::message::{Content, CreateForm, Refusal};
use crate::observer::Kind;
use crate::paths::{PathId, UsedPaths};
use zk_recipes::zk::SessionId;

/// The lifetime of a znode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Life {
    /// Until it is deleted.
    Persistent,
    /// Until its session ends.
    Ephemeral(SessionId),
    /// Until its last child is deleted.
    Container,
    /// Until it has no children and has not changed for a TTL in milliseconds.
    Ttl(i64),
}

/// One change of the tree.
#[derive(Clone, Debug)]
pub(crate) enum Change {
    /// `check`.
    Check,
    /// A creation. `creations`: the number of creations below the parent, including this one.
    Create { form: CreateForm, path: PathId, data: Content, acl: Acl, life: Life, creations: i32 },
    /// A deletion.
    Delete { path: PathId },
    /// A write of data; `version` is the new one.
    Set { path: PathId, data: Content, version: i32 },
    /// A change of the access control list; `version` is the new one.
    SetAcl { path: PathId, acl: Acl, version: i32 },
}

/// The effect of a transaction.
#[derive(Clone, Debug)]
pub(crate) enum Body {
    /// None: a refused request, which takes a zxid all the same.
    Refused(Refusal),
    /// A partial multi that is refused: only an injected bug produces it.
    Half(Vec<Change>, Refusal),
    /// One change.
    One(Change),
    /// A multi.
    Many(Vec<Change>),
    /// The creation of a session, with its timeout in microseconds.
    Open { timeout: u64 },
    /// The end of a session, with its ephemerals in order of deletion, and its length in a real server's log.
    Close { ephemerals: Vec<PathId>, bytes: usize },
}

/// The size of a session's end without its paths, in bytes: the header, the number of paths, the digest of the tree.
pub(crate) const CLOSE_BYTES: usize = 32 + 4 + 12;

/// The longest transaction that a real server with default settings can read: twice `jute.maxbuffer`
/// (`BinaryInputArchive.checkLength`).
const READABLE_BYTES: usize = 2 * 0xfffff;

impl Txn {
    /// Returns whether a real server can write it but not read it again (ZOOKEEPER-4306). Other transactions are as
    /// short as their requests.
    pub(crate) fn is_unreadable(&self) -> bool {
        matches!(self.body, Body::Close { bytes, .. } if bytes > READABLE_BYTES)
    }
}

/// The request behind a transaction: the server that accepted it, and the number that it gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Origin {
    pub member: u8,
    /// Unique in the world; 0 without a request of a client.
    pub number: u64,
}

/// A transaction.
#[derive(Clone, Debug)]
pub(crate) struct Txn {
    pub zxid: i64,
    /// The leader's wall clock, in milliseconds.
    pub time: i64,
    pub session: SessionId,
    pub origin: Origin,
    /// The operation of client code that caused it, or 0.
    pub op: u32,
    pub kind: Kind,
    pub body: Body,
}

impl Txn {
    fn changes(&self) -> &[Change] {
        match &self.body {
            Body::One(change) => std::slice::from_ref(change),
            Body::Many(changes) | Body::Half(changes, _) => changes,
            Body::Refused(_) | Body::Open { .. } | Body::Close { .. } => &[],
        }
    }

    /// Returns the length of its data, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let data = |change: &Change| match change {
            Change::Create { data: Some(data), .. } | Change::Set { data: Some(data), .. } => data.len(),
            _ => 0,
        };
        self.changes().iter().map(data).sum()
    }

    /// Adds the paths that it names.
    pub(crate) fn paths(&self, used: &mut UsedPaths) {
        if let Body::Close { ephemerals, .. } = &self.body {
            used.extend(ephemerals.iter().copied());
        }
        used.extend(self.changes().iter().filter_map(|change| match change {
            Change::Check => None,
            Change::Create { path, .. }
            | Change::Delete { path }
            | Change::Set { path, .. }
            | Change::SetAcl { path, .. } => Some(*path),
        }));
    }
}
