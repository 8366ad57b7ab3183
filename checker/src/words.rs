//! The words that the written forms of a history share: one for each variant.

use crate::history::{
    Code, FaultKind, Kind, Mode, Notify, OnSuspect, Outcome, Request, Seen, SessionState, Table, Verb,
    WatchMode, Why,
};

/// A small enum with a word for each variant.
pub(crate) trait Word: Copy + 'static {
    /// The word.
    fn word(self) -> &'static str;
    /// The variant of a word.
    fn of(word: &str) -> Option<Self>;
}

macro_rules! words {
    ($($of:ident { $($variant:ident = $word:literal),+ $(,)? })+) => {
        $(impl Word for $of {
            fn word(self) -> &'static str {
                match self { $($of::$variant => $word),+ }
            }
            fn of(word: &str) -> Option<Self> {
                match word { $($word => Some($of::$variant),)+ _ => None }
            }
        })+
    };
}

words! {
    Mode { Sim = "sim", Client = "client" }
    Kind {
        Lock = "lock", SharedLock = "shared_lock", RevocableLock = "revocable_lock", PriorityLock = "priority_lock",
        Election = "election", Barrier = "barrier", DoubleBarrier = "double_barrier", Queue = "queue",
        PriorityQueue = "priority_queue", TwoPhaseCommit = "two_phase_commit", Names = "name_service",
        Config = "config", Group = "group",
    }
    OnSuspect { Stop = "stop", UntilDeadline = "until_deadline" }
    Verb {
        Acquire = "acquire", TryAcquire = "try_acquire", Release = "release", Read = "read", TryRead = "try_read",
        Write = "write", TryWrite = "try_write", Downgrade = "downgrade", Ask = "ask", Force = "force",
        Stand = "stand", Acknowledge = "acknowledge", Observe = "observe", Raise = "raise", Lower = "lower",
        Wait = "wait", WaitDown = "wait_down", Enter = "enter", Leave = "leave", Put = "put", Take = "take",
        Claim = "claim", Confirm = "confirm", GiveBack = "give_back", Begin = "begin", Vote = "vote",
        Decide = "decide", Finish = "finish", Register = "register", Unregister = "unregister",
        Resolve = "resolve", Unique = "unique", Follow = "follow", CompareAndSet = "compare_and_set",
        Overwrite = "overwrite", Publish = "publish", Snapshot = "snapshot", Join = "join", Watch = "watch",
    }
    Seen {
        Value = "value", Missing = "missing", View = "view", Item = "item", Word = "word", Fate = "fate",
        Vote = "vote", Decision = "decision", Leader = "leader", Vacant = "vacant", Opening = "opening",
        Name = "name",
    }
    Outcome { Done = "done", Refused = "refused", Unknown = "unknown", Cancelled = "cancelled" }
    Why { Released = "released", Suspect = "suspect", Lost = "lost", Dropped = "dropped", Crashed = "crashed" }
    Request {
        Create = "create", Delete = "delete", Exists = "exists", Get = "get", Set = "set", Children = "children",
        Multi = "multi", MultiRead = "multi_read", Sync = "sync", RemoveWatches = "remove_watches",
        SetWatches = "set_watches", Connect = "connect", CloseSession = "close_session",
        GetAcl = "get_acl", SetAcl = "set_acl", AddWatch = "add_watch", Reap = "reap", Other = "other",
    }
    Code {
        Ok = "ok", NoNode = "no_node", NodeExists = "node_exists", BadVersion = "bad_version",
        NotEmpty = "not_empty", NoChildrenForEphemerals = "no_children_for_ephemerals",
        SessionExpired = "session_expired", SessionMoved = "session_moved", NoAuth = "no_auth",
        BadArguments = "bad_arguments", Other = "other", Throttled = "throttled",
    }
    Notify {
        Created = "created", Deleted = "deleted", DataChanged = "data_changed", ChildrenChanged = "children_changed",
    }
    Table { Data = "data", Child = "child" }
    WatchMode { OneShot = "one_shot", Persistent = "persistent", Recursive = "recursive" }
    SessionState { Connected = "connected", Suspended = "suspended", Expired = "expired", Closed = "closed" }
    FaultKind {
        RequestLost = "request_lost", ReplyLost = "reply_lost", ReplyLate = "reply_late", Disconnect = "disconnect",
        SessionExpiry = "session_expiry", ClientCrash = "client_crash", ClientPause = "client_pause",
        Cancel = "cancel", ForeignDelete = "foreign_delete",
        ForeignWrite = "foreign_write", ForeignCreate = "foreign_create",
        ClientMuted = "client_muted",
        ClientDeafened = "client_deafened",
        ClientPartition = "client_partition",
        WatchLost = "watch_lost",
        ClockDrift = "clock_drift",
        ServerCrash = "server_crash",
        ServerPause = "server_pause",
        LinkHeld = "link_held",
        LinkCut = "link_cut",
        ServerPartition = "server_partition",
        DiskStall = "disk_stall",
        ApplyStall = "apply_stall",
        CommitStall = "commit_stall",
        LeaderCrash = "leader_crash",
        ClockJump = "clock_jump",
        Throttled = "throttled",
        QuotaExceeded = "quota_exceeded",
        AccessDenied = "access_denied",
        ServerError = "server_error",
        SlowServer = "slow_server", SlowProcess = "slow_process",
    }
}
