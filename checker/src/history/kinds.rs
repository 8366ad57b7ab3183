//! The named enums that events are made of.

use crate::named::named;
use serde::{Deserialize, Serialize};

/// The second argument of an operation that may not create the parents of its znode.
pub const PARENTS_MUST_EXIST: &str = "the parents must exist";

named! {
    /// The operations of recipes.
    pub enum Verb = "a verb" {
        /// Waits for the hold.
        Acquire = "acquire",
        /// Takes the hold if it is free.
        TryAcquire = "try_acquire",
        /// Gives the hold back. Its `Call` carries its own op.
        Release = "release",
        /// Shared locks: waits for a reader's hold.
        Read = "read",
        /// Shared locks: takes a reader's hold if no writer is ahead.
        TryRead = "try_read",
        /// Shared locks: waits for a writer's hold.
        Write = "write",
        /// Shared locks: takes a writer's hold if no contender is ahead.
        TryWrite = "try_write",
        /// Shared locks: turns a writer's hold into a reader's. The reader's belief carries this op.
        Downgrade = "downgrade",
        /// Revocable locks: asks a contender to release.
        Ask = "ask",
        /// Revocable locks: asks a contender to release, and deletes it by force after the grace period.
        Force = "force",
        /// Elections: runs for leader and waits for the term.
        Stand = "stand",
        /// Elections: records that the leader has begun.
        Acknowledge = "acknowledge",
        /// Elections: follows the leader on record.
        Observe = "observe",
        /// Barriers: raises the barrier.
        Raise = "raise",
        /// Barriers: lowers the barrier.
        Lower = "lower",
        /// Barriers: waits until this barrier is deleted (edge-triggered).
        Wait = "wait",
        /// Barriers: waits until there is no barrier (level-triggered).
        WaitDown = "wait_down",
        /// Double barriers: enters, together with the others.
        Enter = "enter",
        /// Double barriers: leaves, together with the others.
        Leave = "leave",
        /// Queues: puts an item, or several.
        Put = "put",
        /// Queues: takes an item, and deletes it.
        Take = "take",
        /// Queues: claims an item, which a confirmation deletes.
        Claim = "claim",
        /// Queues: confirms claimed items. Its arguments are the items, and the paths of the znodes that it creates or writes
        /// in the same transaction, which begin with a slash.
        Confirm = "confirm",
        /// Queues: gives a claimed item back.
        GiveBack = "give_back",
        /// Queues: settles takes in doubt, and returns the number of items in hand.
        Settle = "settle",
        /// Two-phase commit: sets a transaction up.
        Begin = "begin",
        /// Two-phase commit: casts a site's vote.
        Vote = "vote",
        /// Two-phase commit: learns the decision, and makes it where that is allowed.
        Decide = "decide",
        /// Two-phase commit: confirms that the site has acted on the decision.
        Finish = "finish",
        /// Names: registers a name.
        Register = "register",
        /// Names: gives a name up.
        Unregister = "unregister",
        /// Names: looks a name up.
        Resolve = "resolve",
        /// Names: gets a unique name.
        Unique = "unique",
        /// Configuration: follows a value.
        Follow = "follow",
        /// Configuration, counters: reads the value. A counter's argument is how fresh: `local`, `synced` or `latest`.
        Get = "get",
        /// Configuration: writes a value if it has the expected version. Counters: sets the count if it is the expected one,
        /// the number of the argument.
        CompareAndSet = "compare_and_set",
        /// Configuration, counters: writes a value. Its arguments are the value and, where no parent may be created,
        /// [`PARENTS_MUST_EXIST`].
        Overwrite = "overwrite",
        /// Configuration: writes a set of values as one.
        Publish = "publish",
        /// Configuration: reads a set of values as one.
        Snapshot = "snapshot",
        /// Groups: becomes a member.
        Join = "join",
        /// Groups: follows the members.
        Watch = "watch",
        /// Holds: applies writes while the hold goes on. The path of the hold's znode is [given](super::What::Given).
        Transact = "transact",
        /// Holds: the same, exactly once.
        TransactOnce = "transact_once",
        /// Locks, elections: lists the contenders.
        Contenders = "contenders",
        /// Locks, elections: deletes the znode of a contender, whose path is [given](super::What::Given).
        Evict = "evict",
        /// Names and groups: replaces the data of a registration or a membership. Its arguments are the data, as stored in
        /// the znode, and the path of the znode.
        Replace = "replace",
        /// Names: finds a permanent registration again by its guid.
        Recall = "recall",
        /// Two-phase commit: opens a transaction as a site, whose name is the argument.
        Open = "open",
        /// Holds: works under a hold, from the call to the return.
        Work = "work",
        /// Holds: holds the object over many holds, until its work is done, from the call to the return. Persistent nodes: keeps
        /// the znode there; the argument is the first data, as stored, with the number 1 if the znode outlives its session.
        Keep = "keep",
        /// Permits: changes their number, which is the argument.
        Resize = "resize",
        /// Semaphores: waits for a lease.
        Lease = "lease",
        /// Semaphores, partitions, groups: releases the lease, part or membership. The argument names it if there are
        /// several.
        Yield = "yield",
        /// Counters: adds a number, which is the argument.
        Add = "add",
        /// Partitions: takes a part, which is the argument.
        Own = "own",
        /// Partitions: lists all parts, with commas between.
        Whole = "whole",
        /// Reports what the client sees at the end.
        Audit = "audit",
    }

    /// Whether a hold excludes all others.
    pub enum Share = "a share" {
        /// It excludes all other holds.
        Exclusive = "exclusive",
        /// It excludes exclusive holds only.
        Shared = "shared",
    }

    /// The kinds of value that a recipe hands to its caller.
    pub enum Seen = "something that is seen" {
        /// A value (number: the mzxid of its znode).
        Value = "value",
        /// The absence of a value.
        Missing = "missing",
        /// The members (text: the sorted ids with commas between; number: the zxid of the view).
        View = "view",
        /// An item (number: the czxid of its znode, or zero).
        Item = "item",
        /// The request to release, as the owner of the contender sees it.
        Word = "word",
        /// The outcome of a request to release: `asked`, `yielded`, `forced` or `gone`.
        Fate = "fate",
        /// A site's vote: `commit` or `abort`.
        Vote = "vote",
        /// A transaction's decision: `commit` or `abort`.
        Decision = "decision",
        /// The leader on record (text: its own data; number: its epoch).
        Leader = "leader",
        /// The absence of a leader on record.
        Vacant = "vacant",
        /// A generation of a double barrier (number) and its roster (text: the ids with commas between; a comma alone
        /// for an empty roster; nothing if the recipe has no rosters).
        Opening = "opening",
        /// A name (number: the czxid of its znode).
        Name = "name",
        /// The state of a hold, a registration, a membership or a place inside a double barrier, as its handle reports
        /// it, or as the end of its `run` or `resumed` shows: `held`; `suspect` (number: the time until which it is not
        /// lost, by the client's clock in microseconds; zero if not recorded); `lost`, or with the reason
        /// `lost_session_over`, `lost_deadline_passed` or `lost_removed`; `watched` if the caller begins to wait for a
        /// loss. Its op is the call that returned the handle.
        State = "state",
        /// How a hold, a registration or a membership ended, as its release reports: `clean`, or the reason of its
        /// loss, `session_over`, `deadline_passed` or `removed`.
        Ending = "ending",
        /// The number of items that a consumer has taken and not handed out.
        InHand = "in_hand",
        /// The contenders in order: their paths, with commas between.
        Line = "line",
        /// The delivery count of an item, this delivery included (text: the item; number: the count).
        Attempts = "attempts",
        /// The results of a transaction (text: their kinds in order, with commas between).
        Results = "results",
        /// The data of a member in a view (text: the id and the data, with an equals sign between).
        MemberData = "member_data",
        /// A znode of a cache (text: its path; number: the digest of its data, by [`digest::data`](crate::digest::data)).
        Znode = "znode",
    }

    /// The outcome of an operation.
    pub enum Outcome = "an outcome" {
        /// It succeeded.
        Done = "done",
        /// It certainly had no effect: refused, not free, time limit, or session over before the grant.
        Refused = "refused",
        /// It may or may not have had an effect.
        Unknown = "unknown",
        /// The future was dropped.
        Cancelled = "cancelled",
    }

    /// The reported reason of an operation that was not done.
    #[derive(Default)]
    pub enum Failure = "a failure" {
        /// None: it was done, or was dropped, or its reason was not recorded.
        #[default]
        None = "none",
        /// The hold was not free, the queue was empty, or the name was unused.
        Nothing = "nothing",
        /// The caller's time limit is over.
        TimedOut = "timed_out",
        /// The session is over.
        SessionOver = "session_over",
        /// The connection was lost before the answer came.
        ConnectionLoss = "connection_loss",
        /// No server accepted a session in time.
        Unreachable = "unreachable",
        /// The server answered with something that the client does not understand.
        Unexpected = "unexpected",
        /// The server refused it for a reason of its own: overload, a quota, a failure.
        ServerRefused = "server_refused",
        /// An access list forbids it.
        Denied = "denied",
        /// The client refused it before sending anything.
        BadInput = "bad_input",
        /// The znode, or its parent, does not exist.
        NoNode = "no_node",
        /// A znode of that name exists.
        NodeExists = "node_exists",
        /// The znode has another version.
        BadVersion = "bad_version",
        /// The znode has children.
        NotEmpty = "not_empty",
        /// An ephemeral cannot have children.
        NoChildrenForEphemerals = "no_children_for_ephemerals",
        /// Another client has written in between.
        Conflict = "conflict",
        /// Another client has the name.
        Taken = "taken",
        /// Another client deleted the operation's znode.
        Removed = "removed",
        /// The owner was asked to release, and has released.
        Revoked = "revoked",
        /// The item was delivered to another client.
        ClaimLost = "claim_lost",
        /// The znodes have another configuration.
        Mismatch = "mismatch",
        /// A sequence counter has run out.
        Exhausted = "exhausted",
        /// A barrier opened without this participant.
        Late = "late",
        /// There is no such transaction.
        NoTransaction = "no_transaction",
        /// The transaction does not name this site.
        NotAParticipant = "not_a_participant",
        /// The site has already cast the other vote.
        AlreadyVoted = "already_voted",
        /// The client has joined under that name already.
        AlreadyJoined = "already_joined",
        /// Another error.
        Other = "other",
    }

    /// The reason why a belief ended.
    pub enum Why = "why" {
        /// The holder released it.
        Released = "released",
        /// The holder learned that the hold may be lost (disconnected, or past its deadline).
        Suspect = "suspect",
        /// The holder learned that the hold is lost.
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
        /// The connection breaks after the server applied a request and before the reply reached the client.
        ReplyLost = "reply_lost",
        /// A reply is slow.
        ReplyLate = "reply_late",
        /// The connection breaks with no important request in flight.
        Disconnect = "disconnect",
        /// The client is cut off until the ensemble has ended its session.
        SessionExpiry = "session_expiry",
        /// The client process dies.
        ClientCrash = "client_crash",
        /// The client process is paused.
        ClientPause = "client_pause",
        /// A future is dropped.
        Cancel = "cancel",
        /// A foreign client deletes a znode.
        ForeignDelete = "foreign_delete",
        /// A foreign client writes into a znode.
        ForeignWrite = "foreign_write",
        /// A foreign client creates a znode.
        ForeignCreate = "foreign_create",
        /// For a while, packets from a client do not reach its server; the other direction works.
        ClientMuted = "client_muted",
        /// For a while, packets from a server do not reach a client; the other direction works.
        ClientDeafened = "client_deafened",
        /// For a while, no packet passes between a client and its server.
        ClientPartition = "client_partition",
        /// The connection breaks just as a notification is about to arrive.
        WatchLost = "watch_lost",
        /// A client's clock runs fast or slow by up to a tenth.
        ClockDrift = "clock_drift",
        /// A server dies, and comes back later.
        ServerCrash = "server_crash",
        /// A server is paused.
        ServerPause = "server_pause",
        /// For a while, packets from one server to another are delayed.
        LinkHeld = "link_held",
        /// For a while, packets from one server to another are lost.
        LinkCut = "link_cut",
        /// For a while, a server is cut off from all others, but not from its clients.
        ServerPartition = "server_partition",
        /// For a while, a server cannot write its log.
        DiskStall = "disk_stall",
        /// For a while, a server cannot apply commits or answer reads.
        ApplyStall = "apply_stall",
        /// The leader cannot apply what it has just declared committed.
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
        /// In a capture: a server did not answer for a while, without an injected fault.
        SlowServer = "slow_server",
        /// In a capture: a client process was paused, without an injected fault: it was stopped, or got no processor.
        SlowProcess = "slow_process",
        /// For a while, packets from one server to another are lost; they are sent again afterwards.
        PacketsLost = "packets_lost",
    }

    /// The behaviour of a watch when it fires.
    #[derive(Default)]
    pub enum WatchMode = "a mode of watches" {
        /// It is one-shot.
        #[default]
        OneShot = "one_shot",
        /// It stays armed.
        Persistent = "persistent",
        /// It stays armed, and covers everything below its path.
        Recursive = "recursive",
    }
}

/// The target of a fault.
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
    /// A link, in one direction between two servers.
    Link {
        /// The sender.
        from: u8,
        /// The receiver.
        to: u8,
    },
}

impl Verb {
    /// The kind of hold that it asks for as a contender, if it does.
    pub fn asks_for(self) -> Option<Share> {
        match self {
            Verb::Acquire | Verb::TryAcquire | Verb::Write | Verb::TryWrite | Verb::Stand => {
                Some(Share::Exclusive)
            }
            Verb::Read | Verb::TryRead => Some(Share::Shared),
            _ => None,
        }
    }

    /// Whether a foreign program reports its argument, right after the call.
    pub fn is_reported_with_argument(self) -> bool {
        matches!(self, Verb::Put | Verb::Add | Verb::Whole | Verb::Own | Verb::Join | Verb::Yield)
    }

    /// Whether it applies writes under a hold.
    pub fn is_fenced(self) -> bool {
        matches!(self, Verb::Transact | Verb::TransactOnce)
    }

    /// Whether it gives up if others wait.
    pub fn is_try(self) -> bool {
        matches!(self, Verb::TryAcquire | Verb::TryRead | Verb::TryWrite)
    }
}

impl Code {
    /// Whether it reveals nothing about the tree: the server did not look, or does not report the result.
    pub(crate) fn tells_nothing(self) -> bool {
        matches!(self, Code::NoAuth | Code::BadArguments | Code::Other | Code::Throttled)
    }
}

impl Failure {
    /// The text of the reason, in the words of the errors of `zk-recipes`.
    pub fn text(self) -> &'static str {
        match self {
            Failure::None | Failure::Other => "no reason is known",
            Failure::Nothing => "there was nothing to get",
            Failure::TimedOut => "the time limit is over",
            Failure::SessionOver => "the session is over",
            Failure::ConnectionLoss => "the connection was lost before the answer came",
            Failure::Unreachable => "no server could be reached",
            Failure::Unexpected => "the answer was not understood",
            Failure::ServerRefused => "the server refused",
            Failure::Denied => "access denied",
            Failure::BadInput => "bad input",
            Failure::NoNode => "no such znode",
            Failure::NodeExists => "the znode exists already",
            Failure::BadVersion => "the znode has another version",
            Failure::NotEmpty => "the znode has children",
            Failure::NoChildrenForEphemerals => "an ephemeral znode cannot have children",
            Failure::Conflict => "another client has written in between",
            Failure::Taken => "it belongs to another client",
            Failure::Removed => "another client deleted its znode",
            Failure::Revoked => "it was asked to release",
            Failure::ClaimLost => "the claim is lost",
            Failure::Mismatch => "it is set up otherwise",
            Failure::Exhausted => "the numbers have run out",
            Failure::Late => "it has begun without this participant",
            Failure::NoTransaction => "there is no such transaction",
            Failure::NotAParticipant => "it does not take part",
            Failure::AlreadyVoted => "the other vote was cast before",
            Failure::AlreadyJoined => "it has joined already",
        }
    }
}

impl WatchMode {
    /// Whether it is one-shot.
    pub fn is_one_shot(&self) -> bool {
        *self == WatchMode::OneShot
    }
}
