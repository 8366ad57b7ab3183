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
    /// Shared locks: wait for a reader's hold.
    Read,
    /// Shared locks: take a reader's hold if no writer is ahead.
    TryRead,
    /// Shared locks: wait for a writer's hold.
    Write,
    /// Shared locks: take a writer's hold if nobody is ahead.
    TryWrite,
    /// Shared locks: make a writer's hold a reader's. The reader's belief carries this op.
    Downgrade,
    /// Revocable locks: ask a contender to go.
    Ask,
    /// Revocable locks: ask a contender to go, and make it go after the grace.
    Force,
    /// Elections: stand for office and wait for it.
    Stand,
    /// Elections: put on record that the leader has begun.
    Acknowledge,
    /// Elections: follow who leads.
    Observe,
    /// Barriers: put it up.
    Raise,
    /// Barriers: take it down.
    Lower,
    /// Barriers: wait until this one has gone.
    Wait,
    /// Barriers: wait until there is none.
    WaitDown,
    /// Double barriers: enter, together with the others.
    Enter,
    /// Double barriers: leave, together with the others.
    Leave,
    /// Queues: put an item, or several.
    Put,
    /// Queues: take an item, for good.
    Take,
    /// Queues: take an item into one's hands.
    Claim,
    /// Queues: say that a claimed item is done with.
    Confirm,
    /// Queues: give a claimed item back.
    GiveBack,
    /// Two-phase commit: set a transaction up.
    Begin,
    /// Two-phase commit: cast a site's vote.
    Vote,
    /// Two-phase commit: learn the decision, and further it where that is allowed.
    Decide,
    /// Two-phase commit: the site has acted on the decision.
    Finish,
    /// Names: take a name.
    Register,
    /// Names: give a name back.
    Unregister,
    /// Names: look a name up.
    Resolve,
    /// Names: get a name that nobody else has.
    Unique,
    /// Configuration: follow a value.
    Follow,
    /// Configuration: write a value if nobody else has written in between.
    CompareAndSet,
    /// Configuration: write a value.
    Overwrite,
    /// Configuration: write a set of values as one.
    Publish,
    /// Configuration: read a set of values as one.
    Snapshot,
    /// Groups: become a member.
    Join,
    /// Groups: follow who is a member.
    Watch,
}

/// How a hold gets on with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Share {
    /// It excludes all others.
    Exclusive,
    /// It excludes exclusive ones.
    Shared,
}

impl Verb {
    /// What kind of hold it asks for, if it asks for one: by standing in line.
    pub fn asks_for(self) -> Option<Share> {
        match self {
            Verb::Acquire | Verb::TryAcquire | Verb::Write | Verb::TryWrite | Verb::Stand => {
                Some(Share::Exclusive)
            }
            Verb::Read | Verb::TryRead => Some(Share::Shared),
            _ => None,
        }
    }

    /// Whether it gives up where others wait.
    pub fn is_try(self) -> bool {
        matches!(self, Verb::TryAcquire | Verb::TryRead | Verb::TryWrite)
    }
}

/// What a recipe hands to its caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Seen {
    /// A value (number: the mzxid of its znode).
    Value,
    /// That there is no value.
    Missing,
    /// Who is a member (text: the sorted ids with commas between; number: the zxid of the view).
    View,
    /// An item (number: the czxid of its znode, or zero).
    Item,
    /// The request to go, written into one's own znode.
    Word,
    /// What has become of somebody who was asked to go: `asked`, `yielded`, `forced` or `gone`.
    Fate,
    /// A site's vote: `commit` or `abort`.
    Vote,
    /// A transaction's decision: `commit` or `abort`.
    Decision,
    /// The leader on record (text: what it says of itself; number: its epoch).
    Leader,
    /// That no leader is on record.
    Vacant,
    /// A generation of a double barrier (number) and its roster (text).
    Opening,
    /// A name that was given (number: the czxid of its znode).
    Name,
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
    /// The server was overloaded, and did not process the request.
    Throttled,
}

impl Code {
    /// Whether it tells nothing of the tree: the server did not get as far as looking, or says nothing of what it saw.
    pub(crate) fn tells_nothing(self) -> bool {
        matches!(self, Code::NoAuth | Code::BadArguments | Code::Other | Code::Throttled)
    }
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
    /// A third party writes into a znode.
    ForeignWrite,
    /// A third party makes a znode.
    ForeignCreate,
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
    /// An overloaded server refuses a request of a client.
    Throttled,
    /// A quota forbids a write of a client.
    QuotaExceeded,
    /// An access list forbids a request of a client.
    AccessDenied,
    /// A server fails to process a request of a client.
    ServerError,
    /// In a capture: a server did not answer for a while, and no fault was injected for that.
    SlowServer,
    /// In a capture: a client process stood still, and no fault was injected for that: it was stopped, or got no processor.
    SlowProcess,
}

/// Whom a fault strikes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Victim {
    /// A client process.
    Process {
        /// Its number.
        client: u16,
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
