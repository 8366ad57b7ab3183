//! Messages between clients and servers: every operation of ZooKeeper 3.8, and the replies.
//!
//! A path is any text that a client sent; the server validates it.

use crate::acl::Acl;
use crate::paths::PathId;
use std::sync::Arc;
pub use zk_protocol::session::{Password, Table};
pub use zk_protocol::wire::number::flags_of;
pub use zk_recipes::zk::Code;
use zk_recipes::zk::{CreateMode, Error, EventKind, SessionId, Stat};

/// Bytes, shared between messages, the tree and readers.
pub type Bytes = Arc<[u8]>;

/// The data of a znode. No data and empty data differ.
pub type Content = Option<Bytes>;

/// The operation of a create: the four differ in their replies and in the modes they allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CreateForm {
    /// `create` (1), whose reply is the path.
    Create,
    /// `create2` (15), whose reply is the path and the stat.
    Create2,
    /// `createContainer` (19).
    Container,
    /// `createTTL` (21).
    Ttl,
}

/// The body of a create request.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Creation {
    /// The operation.
    pub form: CreateForm,
    /// The path, or the prefix of a sequential one.
    pub path: PathId,
    /// The data.
    pub data: Content,
    /// The access control list; empty if absent.
    pub acl: Acl,
    /// The mode as it is sent: see [`flags_of`].
    pub flags: i32,
    /// The TTL in milliseconds, for [`CreateForm::Ttl`].
    pub ttl: i64,
}

impl Creation {
    /// Creates the request that the `create` of the trait sends.
    pub fn new(path: PathId, data: Content, mode: CreateMode) -> Self {
        let form = if mode == CreateMode::Container { CreateForm::Container } else { CreateForm::Create2 };
        Creation { form, path, data, acl: Acl::Open, flags: flags_of(mode), ttl: 0 }
    }
}

/// A request's body. Versions are as on the wire: -1 is any.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the fields are those of ZooKeeper's operation of that name")]
pub enum Ask {
    /// `create`, `create2`, `createContainer`, `createTTL`.
    Create(Box<Creation>),
    /// `delete`.
    Delete { path: PathId, version: i32 },
    /// `setData`.
    Set { path: PathId, data: Content, version: i32 },
    /// `setACL`.
    SetAcl { path: PathId, acl: Acl, version: i32 },
    /// `check` outside of a multi.
    Check { path: PathId, version: i32 },
    /// `multi`.
    Multi(Vec<AskOp>),
    /// `reconfig`.
    Reconfig,
    /// `exists`.
    Exists { path: PathId, watch: bool },
    /// `getData`.
    Get { path: PathId, watch: bool },
    /// `getChildren`, or `getChildren2` with the stat.
    Children { path: PathId, watch: bool, stat: bool },
    /// `getACL`.
    GetAcl { path: PathId },
    /// `getAllChildrenNumber`.
    CountDescendants { path: PathId },
    /// `getEphemerals`: the ephemerals of the session whose paths start with the prefix.
    Ephemerals { prefix: Arc<str> },
    /// `multiRead`; an operation that is not a read makes the whole request malformed.
    MultiRead(Vec<ReadOp>),
    /// `sync`.
    Sync { path: PathId },
    /// `addWatch` with its mode as it is sent: 0 persistent, 1 persistent and recursive.
    AddWatch { path: PathId, mode: i32 },
    /// `removeWatches` with its type as it is sent: 1 children, 2 data, 3 any.
    RemoveWatches { path: PathId, kind: i32 },
    /// `checkWatches`, likewise.
    CheckWatches { path: PathId, kind: i32 },
    /// `setWatches`, `setWatches2`: the watches that the client considers armed.
    SetWatches(Box<Watching>),
    /// `addauth`.
    Auth { scheme: Arc<str>, auth: Bytes },
    /// `sasl`: a step of a SASL authentication. The servers have no SASL configured.
    Sasl { token: Bytes },
    /// `whoAmI`.
    WhoAmI,
    /// `ping`.
    Ping,
    /// `closeSession`.
    CloseSession,
    /// An unknown operation.
    Unknown(i32),
    /// A request of that operation whose body is malformed.
    Malformed(i32),
    /// A request that the server refuses with that code because of a fault; a multi at that operation. No client sends
    /// it.
    Refused(Box<Ask>, Code, u16),
}

/// The watches that a client considers armed, and the zxid of the last reply it has seen.
pub type Watching = zk_protocol::session::Watching<PathId>;

/// One operation of a [`Ask::Multi`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the fields are those of ZooKeeper's operation of that name")]
pub enum AskOp {
    Check {
        path: PathId,
        version: i32,
    },
    Create(Creation),
    Delete {
        path: PathId,
        version: i32,
    },
    Set {
        path: PathId,
        data: Content,
        version: i32,
    },
    /// An operation that a multi does not allow, by its number.
    Other(i32),
}

/// One operation of a [`Ask::MultiRead`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "each is ZooKeeper's operation of that name")]
pub enum ReadOp {
    Get(PathId),
    Children(PathId),
    /// An operation that a multiRead does not allow, by its number.
    Other(i32),
}

/// A reply's body.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields are those of ZooKeeper's records")]
pub enum Answer {
    /// The reply to `create` and `sync`.
    Path(PathId),
    /// The reply to the other creates.
    Created { path: PathId, stat: Stat },
    /// The reply to `setData`, `setACL`, `exists`.
    Stat(Stat),
    /// The reply to `getData`.
    Data(Content, Stat),
    /// The reply to `getChildren`, in the order of the server.
    Children(Vec<PathId>, Option<Stat>),
    /// The reply to `getACL`.
    Acl(Acl, Stat),
    /// The reply to `getAllChildrenNumber`.
    Number(i32),
    /// The reply to `getEphemerals`, in the order of the server.
    Ephemerals(Vec<PathId>),
    /// The reply to `multiRead`.
    Many(Vec<Result<Found, Code>>),
    /// The reply to `multi`.
    Multi(Vec<OpAnswer>),
    /// The reply to `whoAmI`: schemes and users.
    Clients(Vec<(Arc<str>, Arc<str>)>),
    /// The reply to `sasl`: no token.
    NoToken,
    /// The reply to every other operation.
    Nothing,
}

/// The result of an operation of a multiRead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// The result of a get.
    Data(Content, Stat),
    /// The result of a `getChildren`.
    Children(Vec<PathId>),
}

/// The result of an operation of a multi.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OpAnswer {
    /// The result of a check.
    Checked,
    /// The result of `create` and `create2`, which are encoded alike.
    Created(PathId),
    /// The result of `createContainer` and `createTTL`.
    CreatedWith(CreateForm, PathId, Stat),
    /// The result of a delete.
    Deleted,
    /// The result of a set.
    Set(Stat),
}

/// The refusal of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "what they mean is said with each case")]
pub enum Refusal {
    /// A refusal of the whole request.
    All(Code),
    /// A refusal of a multi of `of` operations at the first one that failed. On the wire the reply is "OK", with a
    /// code for each operation.
    Multi { index: u16, of: u16, code: Code },
}

impl Refusal {
    /// Returns the code of the refusal; for a multi, that of the operation that failed.
    pub fn code(self) -> Code {
        match self {
            Refusal::All(code) | Refusal::Multi { code, .. } => code,
        }
    }
}

impl From<Code> for Refusal {
    fn from(code: Code) -> Self {
        Refusal::All(code)
    }
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::All(code) => code.into(),
            Refusal::Multi { index, code, .. } => Error::multi(usize::from(index), code),
        }
    }
}

/// The number of a connection, which is never used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConnId(pub u32);

/// The lifetime and scope of a watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum WatchMode {
    /// A one-shot watch: it is gone after one notification.
    OneShot,
    /// A persistent watch.
    Persistent,
    /// A persistent watch on the whole subtree.
    Recursive,
}

/// The origin of a request: set by the client, and copied to everything that the request causes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Tag {
    /// The number of the request, unique in the run; zero for pings and other requests of the library.
    pub req: u32,
    /// The operation of client code, as it numbers them; zero for none.
    pub op: u32,
    /// Whether a clean-up duty or the client library sent it.
    pub cleanup: bool,
}

/// A packet from client to server.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the fields are those of ZooKeeper's records")]
pub enum Up {
    /// The first packet of a connection. Session 0 requests a new session; the timeout is in microseconds.
    Connect { session: SessionId, last_zxid: i64, timeout: u64, password: Password },
    /// A request.
    Request { xid: i32, ask: Ask, tag: Tag },
    /// A frame that makes the server hang up at once: too long, or without a header.
    Unreadable,
    /// The end of the stream.
    Fin,
}

/// A packet from server to client.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields are those of ZooKeeper's records")]
pub enum Down {
    /// The reply to `Connect`. Timeout 0: the session does not exist, or has expired.
    Connected { session: SessionId, timeout: u64, password: Password },
    /// The reply to a request.
    Reply { xid: i32, zxid: i64, result: Result<Answer, Refusal> },
    /// A notification.
    Notify { kind: EventKind, path: PathId },
    /// The end of the stream.
    Fin,
}
