//! Events of a run, and the observers that see them.

use crate::fault::{Fault, Victim};
use crate::message::{Answer, Ask, Code, Content, Refusal, Table, WatchMode};
use crate::paths::{PathId, Paths};
use zk_recipes::zk::{EventKind, SessionId};

/// An observer: it sees every event at the moment at which it happens.
pub trait Observer: Send {
    /// Handles an event `at` microseconds after the start. `paths` resolves every path of the run.
    fn on_event(&mut self, at: u64, event: &SimEvent<'_>, paths: &Paths);

    /// Handles the removal of unused paths. Their numbers are reused.
    fn on_forgotten(&mut self, paths: &[PathId]) {
        let _ = paths;
    }

    /// Returns a fingerprint of past events that future verdicts depend on, and that the world does not contain.
    /// Interleaving mode adds it to the state given to [`Chooser::goes_on`](crate::choose::Chooser::goes_on). Times
    /// should be relative to `now`, which is in microseconds after the start.
    fn remembered(&self, now: u64) -> u128 {
        let _ = now;
        0
    }
}

/// An observer that ignores all events.
impl Observer for () {
    fn on_event(&mut self, _: u64, _: &SimEvent<'_>, _: &Paths) {}
}

/// The kind of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "each is ZooKeeper's operation of that name")]
pub enum Kind {
    Create,
    Delete,
    Exists,
    Get,
    Set,
    Children,
    Multi,
    MultiRead,
    Sync,
    RemoveWatches,
    SetWatches,
    Connect,
    CloseSession,
    Ping,
    GetAcl,
    SetAcl,
    AddWatch,
    Check,
    /// The deletion of an empty container or an expired TTL znode by the leader.
    Reap,
    /// Everything else.
    Other,
}

/// The outcome of a request: the error, if any; for a multi, that of the failed operation.
pub type Outcome = Option<Code>;

/// The state of a session as its client library knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the words are those of the trait")]
pub enum SessionNews {
    Connected,
    Suspended,
    Expired,
    Closed,
}

/// An event of the simulation. A ping causes only [`SimEvent::Heard`]. Processes, servers, connections appear by
/// number.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs, reason = "fields are named as everywhere in the crate")]
pub enum SimEvent<'a> {
    // ── a client's library ──
    /// A request leaves the client.
    Sent { process: u8, req: u32, op: u32, kind: Kind, path: PathId, watch: bool, cleanup: bool },
    /// The request that has just left is conditional on that version.
    Expected { process: u8, op: u32, version: i32 },
    /// A reply arrives on a connection, or the library replies itself. `made`: the path and czxid of a create.
    Replied {
        process: u8,
        session: SessionId,
        conn: Option<u32>,
        req: u32,
        op: u32,
        outcome: Outcome,
        zxid: i64,
        made: Option<(PathId, i64)>,
    },
    /// The library receives a reply that client code does not see: to a ping, to a handshake, or to a request of its
    /// own, sent at the time `sent`. The session lasts for its timeout from then on, whatever the ensemble does.
    Heard { process: u8, session: SessionId, sent: u64 },
    /// Client code learns of a connection loss instead of a reply.
    Lost { process: u8, req: u32, op: u32 },
    /// A notification reaches the client.
    Noticed { process: u8, session: SessionId, conn: u32, kind: EventKind, path: PathId },
    /// After a reconnect: a watch is not registered again, because client code has dropped it since the last
    /// connection.
    Forgot { process: u8, session: SessionId, table: Table, path: PathId },
    /// The library learns a new state of its session; `conn` and `server` are its connection, if any.
    News { process: u8, session: SessionId, news: SessionNews, conn: u32, server: u8 },
    // ── a server ──
    /// A transaction is applied by the first server to do so. Its effects follow.
    Txn { server: u8, zxid: i64, session: SessionId, op: u32, kind: Kind, outcome: Outcome },
    /// Effect of a transaction: a znode is created.
    Created { server: u8, zxid: i64, op: u32, path: PathId, owner: SessionId, data: &'a Content },
    /// Effect of a transaction: a znode is deleted.
    Deleted { server: u8, zxid: i64, op: u32, path: PathId, by: SessionId },
    /// Effect of a transaction: data is written.
    Written { server: u8, zxid: i64, op: u32, path: PathId, data: &'a Content },
    /// Effect of a transaction: an access control list is changed.
    Restricted { server: u8, zxid: i64, op: u32, path: PathId },
    /// A further server applies a transaction.
    Applied { server: u8, zxid: i64 },
    /// A server answers a read from the state of that zxid. Requests about watches alone have no such event.
    Served {
        server: u8,
        session: SessionId,
        conn: u32,
        req: u32,
        op: u32,
        zxid: i64,
        ask: &'a Ask,
        result: &'a Result<Answer, Refusal>,
    },
    /// The leader accepts a sync: before its reply, the follower applies everything up to that zxid. A sync at the
    /// leader itself is no such barrier, and has no event.
    Barrier { server: u8, session: SessionId, req: u32, zxid: i64 },
    /// A watch is armed.
    Armed { server: u8, session: SessionId, conn: u32, op: u32, table: Table, path: PathId, mode: WatchMode },
    /// A watch fires: a notification is queued. Zxid 0: for a missed change, when the watch is registered again.
    Fired { server: u8, session: SessionId, conn: u32, op: u32, kind: EventKind, path: PathId, zxid: i64 },
    /// A watch is removed without a notification.
    Disarmed { server: u8, session: SessionId, conn: u32, table: Table, path: PathId },
    /// A session is opened.
    Opened { server: u8, session: SessionId, timeout: u64, zxid: i64 },
    /// The leader expires a session; `heard`: the last touch it has processed.
    Marked { server: u8, session: SessionId, heard: u64 },
    /// The close of a session is applied by the first server to do so.
    Ended { server: u8, session: SessionId, zxid: i64 },
    /// A session is attached to a connection: after a reconnect, possibly at another server.
    Attached { server: u8, session: SessionId, conn: u32 },
    /// A server refuses a client that has seen a newer zxid.
    TurnedAway { server: u8, session: SessionId, seen: i64, applied: i64 },
    /// A write arrives through a server that the session has left, or its reply comes too late: it is refused
    /// silently.
    Moved { server: u8, session: SessionId, zxid: i64 },
    // ── the ensemble ──
    /// A server becomes leader of a new epoch.
    Elected { server: u8, epoch: u32 },
    /// A server starts to serve clients.
    Serving { server: u8 },
    /// A server stops serving clients: it crashed, or lost the leader or the quorum.
    Ceased { server: u8 },
    // ── the world ──
    /// A fault is injected, for `lasts` microseconds.
    Injected { fault: Fault, victim: Victim, lasts: u64 },
    /// A lasting fault ends.
    Mended { fault: Fault, victim: Victim },
    /// A client process crashes.
    Crashed { process: u8 },
    /// A client process starts.
    Began { process: u8 },
    /// The clock of a client runs at `rate` thousandths of the correct rate from now on.
    Clock { process: u8, rate: u32 },
    /// Fault injection ends.
    Healed,
}

impl SimEvent<'_> {
    /// Returns the event without data, requests and replies, so that it can be stored.
    pub fn without_content(self) -> SimEvent<'static> {
        static DATA: Content = None;
        static ASK: Ask = Ask::Ping;
        static RESULT: Result<Answer, Refusal> = Ok(Answer::Nothing);
        macro_rules! same {
            ($($kind:ident { $($field:ident),+ })+) => {
                match self {
                    SimEvent::Created { server, zxid, op, path, owner, data: _ } => {
                        SimEvent::Created { server, zxid, op, path, owner, data: &DATA }
                    }
                    SimEvent::Written { server, zxid, op, path, data: _ } => {
                        SimEvent::Written { server, zxid, op, path, data: &DATA }
                    }
                    SimEvent::Served { server, session, conn, req, op, zxid, ask: _, result: _ } => {
                        SimEvent::Served { server, session, conn, req, op, zxid, ask: &ASK, result: &RESULT }
                    }
                    $(SimEvent::$kind { $($field),+ } => SimEvent::$kind { $($field),+ },)+
                    SimEvent::Healed => SimEvent::Healed,
                }
            };
        }
        same! {
            Sent { process, req, op, kind, path, watch, cleanup }
            Replied { process, session, conn, req, op, outcome, zxid, made }
            Heard { process, session, sent }
            Lost { process, req, op }
            Noticed { process, session, conn, kind, path }
            Expected { process, op, version }
            Forgot { process, session, table, path }
            News { process, session, news, conn, server }
            Txn { server, zxid, session, op, kind, outcome }
            Deleted { server, zxid, op, path, by }
            Restricted { server, zxid, op, path }
            Applied { server, zxid }
            Barrier { server, session, req, zxid }
            Armed { server, session, conn, op, table, path, mode }
            Fired { server, session, conn, op, kind, path, zxid }
            Disarmed { server, session, conn, table, path }
            Opened { server, session, timeout, zxid }
            Marked { server, session, heard }
            Ended { server, session, zxid }
            Attached { server, session, conn }
            TurnedAway { server, session, seen, applied }
            Moved { server, session, zxid }
            Elected { server, epoch }
            Serving { server }
            Ceased { server }
            Injected { fault, victim, lasts }
            Mended { fault, victim }
            Crashed { process }
            Began { process }
            Clock { process, rate }
        }
    }
}
