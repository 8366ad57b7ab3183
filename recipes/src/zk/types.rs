//! Znodes, stats, events, session states and time.

use std::fmt;
use std::time::Duration;

/// Lifetime and naming of a znode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CreateMode {
    /// Lives until it is deleted.
    Persistent,
    /// As `Persistent`, with the parent's counter appended to its name.
    PersistentSequential,
    /// Is deleted when its session ends. Cannot have children.
    Ephemeral,
    /// As `Ephemeral`, with the parent's counter appended to its name.
    EphemeralSequential,
    /// Is removed by the server some time after its last child went (3.5).
    Container,
}

impl CreateMode {
    /// Whether the server appends a number to the name.
    pub fn is_sequential(self) -> bool {
        matches!(self, Self::PersistentSequential | Self::EphemeralSequential)
    }

    /// Whether the znode is deleted with its session.
    pub fn is_ephemeral(self) -> bool {
        matches!(self, Self::Ephemeral | Self::EphemeralSequential)
    }
}

/// A znode's stat structure. Zxids are ensemble-wide transaction numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Stat {
    /// The transaction that created this incarnation of the znode. Grows with every create of the ensemble: a fencing
    /// token.
    pub czxid: i64,
    /// The transaction that last changed the data.
    pub mzxid: i64,
    /// The transaction that last created or deleted a child.
    pub pzxid: i64,
    /// Wall-clock milliseconds of the creation, as the leader had them.
    pub ctime: i64,
    /// Wall-clock milliseconds of the last change of data.
    pub mtime: i64,
    /// Number of changes of the data.
    pub version: i32,
    /// Number of creations and deletions of children.
    pub cversion: i32,
    /// Number of changes of the access list.
    pub aversion: i32,
    /// The session an ephemeral belongs to, else zero.
    pub ephemeral_owner: SessionId,
    /// Length of the data in bytes.
    pub data_length: i32,
    /// Number of living children.
    pub num_children: i32,
}

/// A session id. Zero means none.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionId(pub i64);

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

impl fmt::Debug for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SessionId({:#x})", self.0)
    }
}

/// The result of a create: the full path, with the number if the mode is sequential, and its first stat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Created {
    /// The path of the new znode.
    pub path: String,
    /// Its stat; `stat.czxid` is the zxid of the create.
    pub stat: Stat,
}

/// A znode's data and stat, read together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Data {
    /// The data.
    pub data: Vec<u8>,
    /// The stat that belongs to them.
    pub stat: Stat,
}

/// A znode's children and stat, read together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing {
    /// The children's names (not paths), in no particular order.
    pub names: Vec<String>,
    /// The parent's stat.
    pub stat: Stat,
}

/// One operation of a [`multi`](super::ZooKeeper::multi).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// Fails unless the znode exists, and has that version if one is given.
    Check {
        /// The znode.
        path: String,
        /// Its data version, or any.
        version: Option<i32>,
    },
    /// As [`create`](super::ZooKeeper::create).
    Create {
        /// The path, or its beginning if the mode is sequential.
        path: String,
        /// The data.
        data: Vec<u8>,
        /// The mode.
        mode: CreateMode,
    },
    /// As [`delete`](super::ZooKeeper::delete).
    Delete {
        /// The znode.
        path: String,
        /// Its data version, or any.
        version: Option<i32>,
    },
    /// As [`set`](super::ZooKeeper::set).
    Set {
        /// The znode.
        path: String,
        /// The new data.
        data: Vec<u8>,
        /// The old data's version, or any.
        version: Option<i32>,
    },
}

impl Op {
    /// The name of ZooKeeper's request.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Op::Check { .. } => "check",
            Op::Create { mode: CreateMode::Container, .. } => "createContainer",
            Op::Create { .. } => "create",
            Op::Delete { .. } => "delete",
            Op::Set { .. } => "setData",
        }
    }

    /// The path of the operation.
    #[must_use]
    pub fn path(&self) -> &str {
        match self {
            Op::Check { path, .. }
            | Op::Create { path, .. }
            | Op::Delete { path, .. }
            | Op::Set { path, .. } => path,
        }
    }
}

/// The result of one applied operation of a [`multi`](super::ZooKeeper::multi).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OpResult {
    /// The check held.
    Checked,
    /// The path of the new znode.
    Created(String),
    /// The znode was deleted.
    Deleted,
    /// The new stat.
    Set(Stat),
}

/// A notification of a watch.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Event {
    /// What happened.
    pub kind: EventKind,
    /// The znode.
    pub path: String,
}

/// The kinds of change that a watch reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventKind {
    /// A znode whose absence was watched was created.
    NodeCreated,
    /// The watched znode was deleted.
    NodeDeleted,
    /// The watched znode's data were written, or it was deleted and recreated during a disconnect.
    NodeDataChanged,
    /// A child of the watched znode was created or deleted.
    NodeChildrenChanged,
}

/// An item of a [`watch_tree`](super::ZooKeeper::watch_tree).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TreeEvent {
    /// A znode of the tree was created, or deleted, or its data were written; never `NodeChildrenChanged`.
    Changed(Event),
    /// The client has reconnected. Changes during the disconnect are not reported: read again.
    Gap,
}

/// The client's view of its session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum State {
    /// Connected to a server that takes part in a quorum, or did a moment ago.
    Connected,
    /// Not connected. The session may or may not live on.
    Suspended,
    /// The session has ended, and this handle with it.
    Over(super::Over),
}

/// [`State`] with its history: two equal values mean that nothing happened in between.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Status {
    /// What the client knows of its session.
    pub state: State,
    /// How many-th connection this is, or was; 1 is the first.
    pub connection: u32,
    /// How many changes of state there have been.
    pub changes: u32,
}

impl Status {
    /// Whether requests can leave now.
    pub fn is_connected(self) -> bool {
        self.state == State::Connected
    }

    /// The error with which everything of a session that is over ends.
    pub fn over(self) -> Option<super::Error> {
        match self.state {
            State::Over(why) => Some(super::ErrorKind::SessionOver(why).into()),
            _ => None,
        }
    }
}

/// An instant of a handle's own monotonic clock: microseconds since a start that has no meaning beyond it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Time(u64);

impl Time {
    /// Later than any other instant.
    pub const NEVER: Time = Time(u64::MAX);

    /// That many microseconds after the clock's start.
    pub const fn from_micros(micros: u64) -> Self {
        Time(micros)
    }

    /// Microseconds since the clock's start.
    pub const fn as_micros(self) -> u64 {
        self.0
    }

    /// The instant that long before this one, or the start.
    #[must_use]
    pub fn before(self, by: Duration) -> Self {
        Time(self.0.saturating_sub(by.as_micros().try_into().unwrap_or(u64::MAX)))
    }

    /// How long after `earlier` this is, or zero.
    pub fn since(self, earlier: Time) -> Duration {
        Duration::from_micros(self.0.saturating_sub(earlier.0))
    }
}

impl std::ops::Add<Duration> for Time {
    type Output = Time;
    fn add(self, by: Duration) -> Time {
        Time(self.0.saturating_add(by.as_micros().try_into().unwrap_or(u64::MAX)))
    }
}

/// 128 bits that name one attempt, written as 32 lower-case hex digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Guid(pub u128);

impl fmt::Display for Guid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl fmt::Debug for Guid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Guid({self})")
    }
}
