//! Transactions: what the leader logs, and every server applies.

use crate::acl::Acl;
use crate::message::{Content, CreateForm, Refusal};
use crate::observer::Kind;
use crate::paths::PathId;
use zk_recipes::zk::SessionId;

/// What a znode's life hangs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Life {
    /// Nothing: it stays until it is deleted.
    Persistent,
    /// A session.
    Ephemeral(SessionId),
    /// Its children: it may go after the last one.
    Container,
    /// Its children and a time in milliseconds.
    Ttl(i64),
}

/// One change of the tree.
#[derive(Clone, Debug)]
pub(crate) enum Change {
    /// `check`.
    Check,
    /// A creation. `creations`: the parent's count of creations of children after it.
    Create { form: CreateForm, path: PathId, data: Content, acl: Acl, life: Life, creations: i32 },
    /// A deletion.
    Delete { path: PathId },
    /// A write; `version` is the one after it.
    Set { path: PathId, data: Content, version: i32 },
    /// A change of the access list; `version` is the one after it.
    SetAcl { path: PathId, acl: Acl, version: i32 },
}

/// What a transaction is about.
#[derive(Clone, Debug)]
pub(crate) enum Body {
    /// A request that failed takes a zxid all the same.
    Refused(Refusal),
    /// Refused, and some of it done all the same: that is wrong, and only one of the quirks does it.
    Half(Vec<Change>, Refusal),
    /// One change.
    One(Change),
    /// A multi.
    Many(Vec<Change>),
    /// A session begins, with that timeout in microseconds.
    Open { timeout: u64 },
    /// A session ends, and with it these znodes, in this order.
    Close { ephemerals: Vec<PathId> },
}

/// The request that a transaction comes from: the server that took it in, and that server's number for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Origin {
    pub member: u8,
    /// Unique in the world; 0 for what no client has asked for.
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
    /// The operation of the client's user that it belongs to, or 0.
    pub op: u32,
    pub kind: Kind,
    pub body: Body,
}
