//! What travels between a client and a server.

use crate::paths::PathId;
use std::sync::Arc;
use zk_recipes::zk::{CreateMode, Error, EventKind, SessionId, Stat};

/// Data, shared between a message, the tree and a reader.
pub type Bytes = Arc<[u8]>;

/// A request's body.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Ask {
    /// `create2`, `createContainer`.
    Create { path: PathId, data: Bytes, mode: CreateMode },
    /// `delete`.
    Delete { path: PathId, version: Option<i32> },
    /// `setData`.
    Set { path: PathId, data: Bytes, version: Option<i32> },
    /// `exists`.
    Exists { path: PathId, watch: bool },
    /// `getData`.
    Get { path: PathId, watch: bool },
    /// `getChildren2`.
    Children { path: PathId, watch: bool },
    /// `multiRead` of `getData`.
    GetMany(Vec<PathId>),
    /// `multi`.
    Multi(Vec<AskOp>),
    /// `sync`.
    Sync { path: PathId },
    /// `removeWatches`.
    RemoveWatches { path: PathId, table: Table },
    /// `setWatches`: what the client believes to be armed, and the zxid of the last reply it has seen.
    SetWatches { relative: i64, data: Vec<PathId>, exist: Vec<PathId>, child: Vec<PathId> },
    /// `ping`.
    Ping,
    /// `closeSession`.
    CloseSession,
}

/// One operation of a [`Ask::Multi`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum AskOp {
    /// `check`.
    Check { path: PathId, version: Option<i32> },
    /// `create2`.
    Create { path: PathId, data: Bytes, mode: CreateMode },
    /// `delete`.
    Delete { path: PathId, version: Option<i32> },
    /// `setData`.
    Set { path: PathId, data: Bytes, version: Option<i32> },
}

/// A reply's body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// To a create.
    Created { path: PathId, stat: Stat },
    /// To a set.
    Stat(Stat),
    /// To an exists.
    MaybeStat(Option<Stat>),
    /// To a get.
    Data(Bytes, Stat),
    /// To a listing, in the server's order.
    Children(Vec<PathId>, Stat),
    /// To a multiRead.
    Many(Vec<Option<(Bytes, Stat)>>),
    /// To a multi.
    Multi(Vec<OpAnswer>),
    /// To everything else.
    Nothing,
}

/// What one operation of a multi gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OpAnswer {
    /// To a check.
    Checked,
    /// To a create.
    Created(PathId),
    /// To a delete.
    Deleted,
    /// To a set.
    Set(Stat),
}

/// Why a request was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Refusal {
    /// ZooKeeper's error of that name.
    NoNode,
    /// ZooKeeper's error of that name.
    NodeExists,
    /// ZooKeeper's error of that name.
    BadVersion,
    /// ZooKeeper's error of that name.
    NotEmpty,
    /// ZooKeeper's error of that name.
    NoChildrenForEphemerals,
    /// ZooKeeper's error of that name.
    BadArguments,
    /// ZooKeeper's error of that name.
    SessionExpired,
    /// ZooKeeper's error of that name.
    NoWatcher,
    /// A multi's first operation that failed, and why (never itself a multi).
    Multi(u16, Code),
}

/// A [`Refusal`] of a single operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Code {
    /// ZooKeeper's error of that name.
    NoNode,
    /// ZooKeeper's error of that name.
    NodeExists,
    /// ZooKeeper's error of that name.
    BadVersion,
    /// ZooKeeper's error of that name.
    NotEmpty,
    /// ZooKeeper's error of that name.
    NoChildrenForEphemerals,
    /// ZooKeeper's error of that name.
    BadArguments,
}

impl From<Code> for Refusal {
    fn from(code: Code) -> Self {
        match code {
            Code::NoNode => Refusal::NoNode,
            Code::NodeExists => Refusal::NodeExists,
            Code::BadVersion => Refusal::BadVersion,
            Code::NotEmpty => Refusal::NotEmpty,
            Code::NoChildrenForEphemerals => Refusal::NoChildrenForEphemerals,
            Code::BadArguments => Refusal::BadArguments,
        }
    }
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::NoNode => Error::NoNode,
            Refusal::NodeExists => Error::NodeExists,
            Refusal::BadVersion => Error::BadVersion,
            Refusal::NotEmpty => Error::NotEmpty,
            Refusal::NoChildrenForEphemerals => Error::NoChildrenForEphemerals,
            Refusal::BadArguments => Error::BadInput("refused by the server".into()),
            Refusal::SessionExpired => Error::SessionOver(zk_recipes::zk::Over::Expired),
            Refusal::NoWatcher => Error::Unexpected("no such watch".into()),
            Refusal::Multi(index, code) => {
                Error::Multi { index: usize::from(index), cause: Box::new(Refusal::from(code).into()) }
            }
        }
    }
}

/// A server's tables of watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Table {
    /// Armed by `getData` and `exists`.
    Data,
    /// Armed by `getChildren`.
    Child,
}

/// For whom a request was sent: stamped by the client, carried to everything that the request causes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Tag {
    /// The number of the request, unique in the run; zero for pings and the like.
    pub req: u32,
    /// The operation of the client's user that was going on, as the user numbers them; zero for none.
    pub op: u32,
    /// Sent by a clean-up duty or by the client library itself.
    pub cleanup: bool,
}

/// From client to server.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Up {
    /// The first packet of a connection. Session 0 asks for a new one.
    Connect { session: SessionId, last_zxid: i64, timeout: u64 },
    /// A request.
    Request { xid: i32, ask: Ask, tag: Tag },
    /// The end of the stream.
    Fin,
}

/// From server to client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Down {
    /// The answer to `Connect`. Timeout 0: the session is not, or no longer, known.
    Connected { session: SessionId, timeout: u64 },
    /// The answer to a request.
    Reply { xid: i32, zxid: i64, result: Result<Answer, Refusal> },
    /// A notification.
    Notify { kind: EventKind, path: PathId },
    /// The end of the stream.
    Fin,
}
