//! What a world tells of itself while it runs.

use crate::fault::{Fault, Victim};
use crate::message::{Answer, Ask, Code, Content, Refusal, Table, WatchMode};
use crate::paths::{PathId, Paths};
use zk_recipes::zk::{EventKind, SessionId};

/// Sees everything that happens, at the moment when it happens.
pub trait Observer: Send {
    /// Something happened, `at` microseconds after the start. `paths` names every path of the run.
    fn on_event(&mut self, at: u64, event: &SimEvent<'_>, paths: &Paths);

    /// What it has seen that must be told apart, although the world does not show it any more: part of the state that the
    /// untimed order asks [`Chooser::goes_on`](crate::choose::Chooser::goes_on) about. Times are best told by how long ago
    /// they are: `now` is in microseconds after the start.
    fn remembered(&self, now: u64) -> u128 {
        let _ = now;
        0
    }
}

/// Sees nothing.
impl Observer for () {
    fn on_event(&mut self, _: u64, _: &SimEvent<'_>, _: &Paths) {}
}

/// What a request asks for.
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
    /// An empty container, or a znode whose time is over, is taken away by the leader.
    Reap,
    /// Everything else.
    Other,
}

/// How a request went: the error, if there was one; a multi's is that of the operation that failed.
pub type Outcome = Option<Code>;

/// What a client library knows of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the words are those of the trait")]
pub enum SessionNews {
    Connected,
    Suspended,
    Expired,
    Closed,
}

/// One thing that happened. Pings are not told. Processes, servers and connections are told by their numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs, reason = "fields are named as everywhere in the crate")]
pub enum SimEvent<'a> {
    // ── a client's library ──
    /// A request leaves.
    Sent { process: u8, req: u32, op: u32, kind: Kind, path: PathId, watch: bool, cleanup: bool },
    /// What the request that has just left asks for is to happen only if the znode has that version.
    Expected { process: u8, op: u32, version: i32 },
    /// An answer arrives by a connection, or the library answers by itself. `made`: what a create made, and its czxid.
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
    /// The user is told that the connection was lost first.
    Lost { process: u8, req: u32, op: u32 },
    /// A notification arrives.
    Noticed { process: u8, session: SessionId, conn: u32, kind: EventKind, path: PathId },
    /// After a reconnect: since it was connected before, the last who waited for such a watch has given it up, so that it
    /// is not registered again.
    Forgot { process: u8, session: SessionId, table: Table, path: PathId },
    /// The library learns something of its session; `conn` is the connection, if there is one, and `server` whose.
    News { process: u8, session: SessionId, news: SessionNews, conn: u32, server: u8 },
    // ── a server ──
    /// A transaction was applied by the first server to do so. Its effects follow.
    Txn { server: u8, zxid: i64, session: SessionId, op: u32, kind: Kind, outcome: Outcome },
    /// Its effect: a znode created.
    Created { server: u8, zxid: i64, op: u32, path: PathId, owner: SessionId, data: &'a Content },
    /// Its effect: a znode deleted.
    Deleted { server: u8, zxid: i64, op: u32, path: PathId, by: SessionId },
    /// Its effect: data written.
    Written { server: u8, zxid: i64, op: u32, path: PathId, data: &'a Content },
    /// Its effect: an access list changed.
    Restricted { server: u8, zxid: i64, op: u32, path: PathId },
    /// A transaction was applied by another server.
    Applied { server: u8, zxid: i64 },
    /// A server answers a read in the state of that zxid; what is about watches alone is none.
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
    /// The leader has taken a sync in: when it is answered, everything up to that zxid will have been applied there. A
    /// sync that the leader's own client asks for is no such barrier and is not told.
    Barrier { server: u8, session: SessionId, req: u32, zxid: i64 },
    /// A watch was armed.
    Armed { server: u8, session: SessionId, conn: u32, op: u32, table: Table, path: PathId, mode: WatchMode },
    /// A watch fired: a notification was queued. Zxid 0: told on registering again, for what was missed.
    Fired { server: u8, session: SessionId, conn: u32, op: u32, kind: EventKind, path: PathId, zxid: i64 },
    /// A watch went away unfired.
    Disarmed { server: u8, session: SessionId, conn: u32, table: Table, path: PathId },
    /// A session began.
    Opened { server: u8, session: SessionId, timeout: u64, zxid: i64 },
    /// The leader marked a session as expired; `heard`: the last touch it had processed.
    Marked { server: u8, session: SessionId, heard: u64 },
    /// A session's end was applied by the first server to do so.
    Ended { server: u8, session: SessionId, zxid: i64 },
    /// A session lives on at another server, or on another connection of this one.
    Attached { server: u8, session: SessionId, conn: u32 },
    /// A server turns a client away that has seen more than itself.
    TurnedAway { server: u8, session: SessionId, seen: i64, applied: i64 },
    /// A write came by a server that the session has left (or an answer came too late): it is refused without a word.
    Moved { server: u8, session: SessionId, zxid: i64 },
    // ── the ensemble ──
    /// A server leads, in a new epoch.
    Elected { server: u8, epoch: u32 },
    /// A server begins to serve clients.
    Serving { server: u8 },
    /// A server stops serving clients: it has died, or lost the leader, or the quorum.
    Ceased { server: u8 },
    // ── the world ──
    /// A fault strikes, for `lasts` microseconds.
    Injected { fault: Fault, victim: Victim, lasts: u64 },
    /// A fault that lasted is over.
    Mended { fault: Fault, victim: Victim },
    /// A process died.
    Crashed { process: u8 },
    /// A process began.
    Began { process: u8 },
    /// A client's clock runs at so many thousandths of the right rate from here on.
    Clock { process: u8, rate: u32 },
    /// From here on no fault strikes.
    Healed,
}

impl SimEvent<'_> {
    /// The same without data, questions and answers, so that it can be kept.
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
