//! What travels between a client and a server: every operation of ZooKeeper 3.8, and what is answered.
//!
//! Paths are whatever a client sent, good or bad: it is the server that looks at them.

use crate::acl::Acl;
use crate::paths::PathId;
use std::sync::Arc;
pub use zk_recipes::session::{Password, Table};
pub use zk_recipes::wire::number::flags_of;
pub use zk_recipes::zk::Code;
use zk_recipes::zk::{CreateMode, Error, EventKind, SessionId, Stat};

/// Data, shared between a message, the tree and a reader.
pub type Bytes = Arc<[u8]>;

/// What a znode holds: no data at all is not the same as empty data.
pub type Content = Option<Bytes>;

/// Which of the four create operations it is: they differ in what they answer, and in what they are allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CreateForm {
    /// `create` (1), answered by the path alone.
    Create,
    /// `create2` (15), answered by the path and the stat.
    Create2,
    /// `createContainer` (19).
    Container,
    /// `createTTL` (21).
    Ttl,
}

/// A creation as it is asked for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Creation {
    /// Which operation.
    pub form: CreateForm,
    /// The path, or its beginning if the name is to be numbered.
    pub path: PathId,
    /// The data.
    pub data: Content,
    /// The access list; an empty one stands for one that was not sent at all, too.
    pub acl: Acl,
    /// The mode as it is sent: see [`flags_of`].
    pub flags: i32,
    /// Milliseconds without a change and without children after which the znode may go; for [`CreateForm::Ttl`].
    pub ttl: i64,
}

impl Creation {
    /// What the trait's `create` asks for.
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
    /// `getEphemerals`: those of the session whose paths begin with that text.
    Ephemerals { prefix: Arc<str> },
    /// `multiRead`; an operation that is no read is told by its number, and makes the whole request malformed.
    MultiRead(Vec<ReadOp>),
    /// `sync`.
    Sync { path: PathId },
    /// `addWatch` with its mode as it is sent: 0 persistent, 1 persistent and recursive.
    AddWatch { path: PathId, mode: i32 },
    /// `removeWatches` with its type as it is sent: 1 children, 2 data, 3 any.
    RemoveWatches { path: PathId, kind: i32 },
    /// `checkWatches`, likewise.
    CheckWatches { path: PathId, kind: i32 },
    /// `setWatches`, `setWatches2`: what the client believes to be armed.
    SetWatches(Box<Watching>),
    /// `addauth`.
    Auth { scheme: Arc<str>, auth: Bytes },
    /// `whoAmI`.
    WhoAmI,
    /// `ping`.
    Ping,
    /// `closeSession`.
    CloseSession,
    /// An operation that there is none of.
    Unknown(i32),
    /// The body of that operation says nonsense.
    Malformed(i32),
    /// A request that its server refuses with that code instead of processing it, by a fault. No client sends it.
    Refused(Box<Ask>, Code),
}

/// What a client believes to be armed, and the zxid of the last reply it has seen.
pub type Watching = zk_recipes::session::Watching<PathId>;

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
    /// An operation that a multi does not take, by its number.
    Other(i32),
}

/// One operation of a [`Ask::MultiRead`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "each is ZooKeeper's operation of that name")]
pub enum ReadOp {
    Get(PathId),
    Children(PathId),
    /// An operation that a multiRead does not take, by its number.
    Other(i32),
}

/// A reply's body.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields are those of ZooKeeper's records")]
pub enum Answer {
    /// To `create` and `sync`.
    Path(PathId),
    /// To the other creates.
    Created { path: PathId, stat: Stat },
    /// To `setData`, `setACL`, `exists`.
    Stat(Stat),
    /// To `getData`.
    Data(Content, Stat),
    /// To a listing, in the server's order.
    Children(Vec<PathId>, Option<Stat>),
    /// To `getACL`.
    Acl(Acl, Stat),
    /// To `getAllChildrenNumber`.
    Number(i32),
    /// To `getEphemerals`, in the server's order.
    Ephemerals(Vec<PathId>),
    /// To `multiRead`.
    Many(Vec<Result<Found, Code>>),
    /// To `multi`.
    Multi(Vec<OpAnswer>),
    /// To `whoAmI`: schemes and users.
    Clients(Vec<(Arc<str>, Arc<str>)>),
    /// To everything else.
    Nothing,
}

/// What one operation of a multiRead gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// To a get.
    Data(Content, Stat),
    /// To a listing.
    Children(Vec<PathId>),
}

/// What one operation of a multi gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OpAnswer {
    /// To a check.
    Checked,
    /// To `create` and `create2`, which are answered alike here.
    Created(PathId),
    /// To `createContainer` and `createTTL`.
    CreatedWith(CreateForm, PathId, Stat),
    /// To a delete.
    Deleted,
    /// To a set.
    Set(Stat),
}

/// Why a request was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "what they mean is said with each case")]
pub enum Refusal {
    /// As a whole.
    All(Code),
    /// A multi of so many operations: the first that failed, and why. On the wire it is answered "OK", with a code for
    /// each operation.
    Multi { index: u16, of: u16, code: Code },
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
            Refusal::Multi { index, code, .. } => Error::multi(usize::from(index), code.into()),
        }
    }
}

/// The number of a connection, which is never used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConnId(pub u32);

/// How a watch goes on after it fired.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum WatchMode {
    /// It is gone.
    OneShot,
    /// It stays.
    Persistent,
    /// It stays, and is about everything below, too.
    Recursive,
}

/// For whom a request was sent: stamped by the client, carried to everything that the request causes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
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
#[allow(missing_docs, reason = "the fields are those of ZooKeeper's records")]
pub enum Up {
    /// The first packet of a connection. Session 0 asks for a new one; the timeout is in microseconds.
    Connect { session: SessionId, last_zxid: i64, timeout: u64, password: Password },
    /// A request.
    Request { xid: i32, ask: Ask, tag: Tag },
    /// Something that makes the server hang up at once: a frame that is too long, or that has no header.
    Unreadable,
    /// The end of the stream.
    Fin,
}

/// From server to client.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields are those of ZooKeeper's records")]
pub enum Down {
    /// The answer to `Connect`. Timeout 0: the session is not, or no longer, known.
    Connected { session: SessionId, timeout: u64, password: Password },
    /// The answer to a request.
    Reply { xid: i32, zxid: i64, result: Result<Answer, Refusal> },
    /// A notification.
    Notify { kind: EventKind, path: PathId },
    /// The end of the stream.
    Fin,
}
