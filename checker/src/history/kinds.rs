//! The small sets of words that events are made of.

use serde::{Deserialize, Serialize};

/// The operations of recipes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verb {
    /// Wait for the hold.
    Acquire,
    /// Take the hold if it is free.
    TryAcquire,
    /// Give the hold back. Its `Call` carries its own op.
    Release,
}

/// How an operation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// As asked.
    Done,
    /// Certainly not done: refused, not free, time limit, session over before anything was held.
    Refused,
    /// It may or may not be done.
    Unknown,
    /// The future was dropped.
    Cancelled,
}

/// Why a belief ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// The holder released.
    Released,
    /// The holder was told that the hold may be lost (disconnected, or past its deadline).
    Suspect,
    /// The holder was told that the hold is lost.
    Lost,
    /// The guard was dropped.
    Dropped,
    /// The process died.
    Crashed,
}

/// What a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Request {
    /// Create a znode.
    Create,
    /// Delete a znode.
    Delete,
    /// Read a stat.
    Exists,
    /// Read data.
    Get,
    /// Write data.
    Set,
    /// List children.
    Children,
    /// A transaction.
    Multi,
    /// Several reads.
    MultiRead,
    /// A barrier.
    Sync,
    /// Take a watch away.
    RemoveWatches,
    /// Arm watches again after a reconnect.
    SetWatches,
    /// Open a session.
    Connect,
    /// End a session.
    CloseSession,
    /// Read an access list.
    GetAcl,
    /// Write an access list.
    SetAcl,
    /// Arm a persistent watch.
    AddWatch,
    /// The leader takes an empty container away, or a znode whose time is over.
    Reap,
    /// Anything else.
    Other,
}

/// How a request went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// As asked.
    Ok,
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
    SessionExpired,
    /// ZooKeeper's error of that name.
    SessionMoved,
    /// ZooKeeper's error of that name.
    NoAuth,
    /// ZooKeeper's error of that name.
    BadArguments,
    /// Any other error.
    Other,
}

/// What a notification says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Notify {
    /// NodeCreated.
    Created,
    /// NodeDeleted.
    Deleted,
    /// NodeDataChanged.
    DataChanged,
    /// NodeChildrenChanged.
    ChildrenChanged,
}

/// A server's tables of watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Table {
    /// Armed by reading data or a stat.
    Data,
    /// Armed by listing children.
    Child,
}

/// A session's state as a client knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionState {
    /// Connected.
    Connected,
    /// Not connected; the session may live on.
    Suspended,
    /// Over by expiry.
    Expired,
    /// Closed by the client.
    Closed,
}

/// The kinds of fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultKind {
    /// The connection breaks before a request reaches the server.
    RequestLost,
    /// The connection breaks after the server applied a request and before its answer reached the client.
    ReplyLost,
    /// An answer is slow.
    ReplyLate,
    /// The connection breaks with nothing on its way lost that mattered.
    Disconnect,
    /// The client is cut off until the ensemble has ended its session.
    SessionExpiry,
    /// The client process dies.
    ClientCrash,
    /// The client process stands still.
    ClientPause,
    /// A future is dropped.
    Cancel,
    /// A third party deletes a znode.
    ForeignDelete,
    /// What a client sends does not arrive for a while, although it hears its server.
    ClientMuted,
    /// What a server sends does not reach a client for a while, although the server hears it.
    ClientDeafened,
    /// A client and its server do not hear each other for a while.
    ClientPartition,
    /// The connection breaks just as a notification is about to arrive.
    WatchLost,
    /// A client's clock runs fast or slow by up to a tenth.
    ClockDrift,
    /// A server dies, and comes back later.
    ServerCrash,
    /// A server stands still.
    ServerPause,
    /// What one server sends to another is held up for a while.
    LinkHeld,
    /// What one server sends to another is lost for a while.
    LinkCut,
    /// A server is cut off from all others for a while, and not from its clients.
    ServerPartition,
    /// A server does not get to write its log for a while.
    DiskStall,
    /// A server does not get to apply what is committed for a while, nor to answer reads.
    ApplyStall,
    /// The leader does not get to apply what it has just declared committed.
    CommitStall,
    /// The leader dies.
    LeaderCrash,
    /// The wall clock of the leader jumps.
    ClockJump,
}

/// Whom a fault strikes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Victim {
    /// A client process.
    Process {
        /// Its number.
        client: u8,
    },
    /// A server.
    Server {
        /// Its number.
        server: u8,
    },
    /// What one server sends to another.
    Link {
        /// Who sends.
        from: u8,
        /// Who would receive.
        to: u8,
    },
}

/// How a watch goes on after it fired.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WatchMode {
    /// It is gone.
    #[default]
    OneShot,
    /// It stays.
    Persistent,
    /// It stays, and is about everything below, too.
    Recursive,
}

impl WatchMode {
    /// Whether it fires once only.
    pub fn is_one_shot(&self) -> bool {
        *self == WatchMode::OneShot
    }
}
