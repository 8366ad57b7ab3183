//! The small sets of words that events are made of.

use crate::named::named;
use serde::{Deserialize, Serialize};

named! {
    /// The operations of recipes.
    pub enum Verb = "a verb" {
        /// Wait for the hold.
        Acquire = "acquire",
        /// Take the hold if it is free.
        TryAcquire = "try_acquire",
        /// Give the hold back. Its `Call` carries its own op.
        Release = "release",
        /// Shared locks: wait for a reader's hold.
        Read = "read",
        /// Shared locks: take a reader's hold if no writer is ahead.
        TryRead = "try_read",
        /// Shared locks: wait for a writer's hold.
        Write = "write",
        /// Shared locks: take a writer's hold if nobody is ahead.
        TryWrite = "try_write",
        /// Shared locks: make a writer's hold a reader's. The reader's belief carries this op.
        Downgrade = "downgrade",
        /// Revocable locks: ask a contender to go.
        Ask = "ask",
        /// Revocable locks: ask a contender to go, and make it go after the grace.
        Force = "force",
        /// Elections: stand for office and wait for it.
        Stand = "stand",
        /// Elections: put on record that the leader has begun.
        Acknowledge = "acknowledge",
        /// Elections: follow who leads.
        Observe = "observe",
        /// Barriers: put it up.
        Raise = "raise",
        /// Barriers: take it down.
        Lower = "lower",
        /// Barriers: wait until this one has gone.
        Wait = "wait",
        /// Barriers: wait until there is none.
        WaitDown = "wait_down",
        /// Double barriers: enter, together with the others.
        Enter = "enter",
        /// Double barriers: leave, together with the others.
        Leave = "leave",
        /// Queues: put an item, or several.
        Put = "put",
        /// Queues: take an item, for good.
        Take = "take",
        /// Queues: take an item into one's hands.
        Claim = "claim",
        /// Queues: say that a claimed item is done with.
        Confirm = "confirm",
        /// Queues: give a claimed item back.
        GiveBack = "give_back",
        /// Two-phase commit: set a transaction up.
        Begin = "begin",
        /// Two-phase commit: cast a site's vote.
        Vote = "vote",
        /// Two-phase commit: learn the decision, and further it where that is allowed.
        Decide = "decide",
        /// Two-phase commit: the site has acted on the decision.
        Finish = "finish",
        /// Names: take a name.
        Register = "register",
        /// Names: give a name back.
        Unregister = "unregister",
        /// Names: look a name up.
        Resolve = "resolve",
        /// Names: get a name that nobody else has.
        Unique = "unique",
        /// Configuration: follow a value.
        Follow = "follow",
        /// Configuration: write a value if nobody else has written in between.
        CompareAndSet = "compare_and_set",
        /// Configuration: write a value.
        Overwrite = "overwrite",
        /// Configuration: write a set of values as one.
        Publish = "publish",
        /// Configuration: read a set of values as one.
        Snapshot = "snapshot",
        /// Groups: become a member.
        Join = "join",
        /// Groups: follow who is a member.
        Watch = "watch",
    }

    /// How a hold gets on with others.
    pub enum Share = "a share" {
        /// It excludes all others.
        Exclusive = "exclusive",
        /// It excludes exclusive ones.
        Shared = "shared",
    }

    /// What a recipe hands to its caller.
    pub enum Seen = "something that is seen" {
        /// A value (number: the mzxid of its znode).
        Value = "value",
        /// That there is no value.
        Missing = "missing",
        /// Who is a member (text: the sorted ids with commas between; number: the zxid of the view).
        View = "view",
        /// An item (number: the czxid of its znode, or zero).
        Item = "item",
        /// The request to go, written into one's own znode.
        Word = "word",
        /// What has become of somebody who was asked to go: `asked`, `yielded`, `forced` or `gone`.
        Fate = "fate",
        /// A site's vote: `commit` or `abort`.
        Vote = "vote",
        /// A transaction's decision: `commit` or `abort`.
        Decision = "decision",
        /// The leader on record (text: what it says of itself; number: its epoch).
        Leader = "leader",
        /// That no leader is on record.
        Vacant = "vacant",
        /// A generation of a double barrier (number) and its roster (text).
        Opening = "opening",
        /// A name that was given (number: the czxid of its znode).
        Name = "name",
    }

    /// How an operation ended.
    pub enum Outcome = "an outcome" {
        /// As asked.
        Done = "done",
        /// Certainly not done: refused, not free, time limit, session over before anything was held.
        Refused = "refused",
        /// It may or may not be done.
        Unknown = "unknown",
        /// The future was dropped.
        Cancelled = "cancelled",
    }

    /// Why a belief ended.
    pub enum Why = "why" {
        /// The holder released.
        Released = "released",
        /// The holder was told that the hold may be lost (disconnected, or past its deadline).
        Suspect = "suspect",
        /// The holder was told that the hold is lost.
        Lost = "lost",
        /// The guard was dropped.
        Dropped = "dropped",
        /// The process died.
        Crashed = "crashed",
    }

    /// The type of a request.
    #[allow(missing_docs, reason = "they are ZooKeeper's names")]
    pub enum Request = "a request" {
        Create = "create",
        Delete = "delete",
        Exists = "exists",
        Get = "get",
        Set = "set",
        Children = "children",
        Multi = "multi",
        MultiRead = "multi_read",
        Sync = "sync",
        RemoveWatches = "remove_watches",
        /// Registers watches again after a reconnect.
        SetWatches = "set_watches",
        Connect = "connect",
        CloseSession = "close_session",
        GetAcl = "get_acl",
        SetAcl = "set_acl",
        /// Arms a persistent watch.
        AddWatch = "add_watch",
        /// The leader deletes an empty container, or a znode whose TTL is over.
        Reap = "reap",
        Other = "other",
    }

    /// The outcome of a request: success, or ZooKeeper's error of that name.
    #[allow(missing_docs, reason = "they are ZooKeeper's names")]
    pub enum Code = "a code" {
        Ok = "ok",
        NoNode = "no_node",
        NodeExists = "node_exists",
        BadVersion = "bad_version",
        NotEmpty = "not_empty",
        NoChildrenForEphemerals = "no_children_for_ephemerals",
        SessionExpired = "session_expired",
        SessionMoved = "session_moved",
        NoAuth = "no_auth",
        BadArguments = "bad_arguments",
        /// Any other error.
        Other = "other",
        /// The server was overloaded, and did not process the request.
        Throttled = "throttled",
    }

    /// The type of a notification.
    #[allow(missing_docs, reason = "they are ZooKeeper's names")]
    pub enum Notify = "a notification" {
        Created = "created",
        Deleted = "deleted",
        DataChanged = "data_changed",
        ChildrenChanged = "children_changed",
    }

    /// A server's tables of watches.
    pub enum Table = "a table" {
        /// Armed by reading data or a stat.
        Data = "data",
        /// Armed by listing children.
        Child = "child",
    }

    /// A session's state as a client knows it.
    pub enum SessionState = "a state" {
        /// Connected.
        Connected = "connected",
        /// Not connected; the session may live on.
        Suspended = "suspended",
        /// Over by expiry.
        Expired = "expired",
        /// Closed by the client.
        Closed = "closed",
    }

    /// The kinds of fault.
    pub enum FaultKind = "a fault" {
        /// The connection breaks before a request reaches the server.
        RequestLost = "request_lost",
        /// The connection breaks after the server applied a request and before its answer reached the client.
        ReplyLost = "reply_lost",
        /// An answer is slow.
        ReplyLate = "reply_late",
        /// The connection breaks with nothing on its way lost that mattered.
        Disconnect = "disconnect",
        /// The client is cut off until the ensemble has ended its session.
        SessionExpiry = "session_expiry",
        /// The client process dies.
        ClientCrash = "client_crash",
        /// The client process stands still.
        ClientPause = "client_pause",
        /// A future is dropped.
        Cancel = "cancel",
        /// A third party deletes a znode.
        ForeignDelete = "foreign_delete",
        /// A third party writes into a znode.
        ForeignWrite = "foreign_write",
        /// A third party makes a znode.
        ForeignCreate = "foreign_create",
        /// What a client sends does not arrive for a while, although it hears its server.
        ClientMuted = "client_muted",
        /// What a server sends does not reach a client for a while, although the server hears it.
        ClientDeafened = "client_deafened",
        /// A client and its server do not hear each other for a while.
        ClientPartition = "client_partition",
        /// The connection breaks just as a notification is about to arrive.
        WatchLost = "watch_lost",
        /// A client's clock runs fast or slow by up to a tenth.
        ClockDrift = "clock_drift",
        /// A server dies, and comes back later.
        ServerCrash = "server_crash",
        /// A server stands still.
        ServerPause = "server_pause",
        /// What one server sends to another is held up for a while.
        LinkHeld = "link_held",
        /// What one server sends to another is lost for a while.
        LinkCut = "link_cut",
        /// A server is cut off from all others for a while, and not from its clients.
        ServerPartition = "server_partition",
        /// A server does not get to write its log for a while.
        DiskStall = "disk_stall",
        /// A server does not get to apply what is committed for a while, nor to answer reads.
        ApplyStall = "apply_stall",
        /// The leader does not get to apply what it has just declared committed.
        CommitStall = "commit_stall",
        /// The leader dies.
        LeaderCrash = "leader_crash",
        /// The wall clock of the leader jumps.
        ClockJump = "clock_jump",
        /// An overloaded server refuses a request of a client.
        Throttled = "throttled",
        /// A quota forbids a write of a client.
        QuotaExceeded = "quota_exceeded",
        /// An access list forbids a request of a client.
        AccessDenied = "access_denied",
        /// A server fails to process a request of a client.
        ServerError = "server_error",
        /// In a capture: a server did not answer for a while, and no fault was injected for that.
        SlowServer = "slow_server",
        /// In a capture: a client process stood still, and no fault was injected for that: it was stopped, or got no processor.
        SlowProcess = "slow_process",
    }

    /// How a watch goes on after it fired.
    #[derive(Default)]
    pub enum WatchMode = "a mode of watches" {
        /// It is gone.
        #[default]
        OneShot = "one_shot",
        /// It stays.
        Persistent = "persistent",
        /// It stays, and is about everything below, too.
        Recursive = "recursive",
    }
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

impl Code {
    /// Whether it tells nothing of the tree: the server did not get as far as looking, or says nothing of what it saw.
    pub(crate) fn tells_nothing(self) -> bool {
        matches!(self, Code::NoAuth | Code::BadArguments | Code::Other | Code::Throttled)
    }
}

impl WatchMode {
    /// Whether it fires once only.
    pub fn is_one_shot(&self) -> bool {
        *self == WatchMode::OneShot
    }
}
