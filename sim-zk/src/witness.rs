//! What a world tells of itself while it runs.

use crate::Table;
use crate::fault::Fault;
use crate::paths::{PathId, Paths};
use zk_recipes::zk::{EventKind, SessionId};

/// Sees everything that happens, at the moment when it happens.
pub trait Witness: Send {
    /// Something happened, `at` microseconds after the start. `paths` names every path of the run.
    fn saw(&mut self, at: u64, happening: &Happening, paths: &Paths);
}

/// Sees nothing.
impl Witness for () {
    fn saw(&mut self, _: u64, _: &Happening, _: &Paths) {}
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
}

/// How a request went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "each is ZooKeeper's error of that name")]
pub enum Outcome {
    Ok,
    NoNode,
    NodeExists,
    BadVersion,
    NotEmpty,
    NoChildrenForEphemerals,
    SessionExpired,
    Other,
}

/// What a client library knows of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the words are those of the trait")]
pub enum SessionNews {
    Connected,
    Suspended,
    Expired,
    Closed,
}

/// One thing that happened. Pings are not told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "fields are named as everywhere in the crate")]
pub enum Happening {
    // ── a client's library ──
    /// A request leaves.
    Sent { process: u8, req: u32, op: u32, kind: Kind, path: PathId, watch: bool, cleanup: bool },
    /// An answer arrives. `made`: what a create made, and its czxid.
    Replied { process: u8, req: u32, op: u32, outcome: Outcome, zxid: i64, made: Option<(PathId, i64)> },
    /// The user is told that the connection was lost first.
    Lost { process: u8, req: u32, op: u32 },
    /// A notification arrives.
    Noticed { process: u8, session: SessionId, kind: EventKind, path: PathId },
    /// The library learns something of its session.
    News { process: u8, session: SessionId, news: SessionNews },
    // ── a server ──
    /// A transaction was applied.
    Txn { server: u8, zxid: i64, session: SessionId, op: u32, kind: Kind, outcome: Outcome },
    /// Its effect: a znode created.
    Created { server: u8, zxid: i64, op: u32, path: PathId, owner: SessionId },
    /// Its effect: a znode deleted.
    Deleted { server: u8, zxid: i64, op: u32, path: PathId, by: SessionId },
    /// Its effect: data written.
    Written { server: u8, zxid: i64, op: u32, path: PathId },
    /// A watch was armed.
    Armed { server: u8, session: SessionId, op: u32, table: Table, path: PathId },
    /// A watch fired: a notification was queued.
    Fired { server: u8, session: SessionId, op: u32, kind: EventKind, path: PathId, zxid: i64 },
    /// A watch went away unfired.
    Disarmed { server: u8, session: SessionId, table: Table, path: PathId },
    /// A session began.
    Opened { server: u8, session: SessionId, timeout: u64, zxid: i64 },
    /// The leader marked a session as expired; `heard`: the last touch it had processed.
    Marked { server: u8, session: SessionId, heard: u64 },
    /// A session's end was applied.
    Ended { server: u8, session: SessionId, zxid: i64 },
    // ── the world ──
    /// A fault strikes, for `lasts` microseconds.
    Struck { fault: Fault, process: u8, lasts: u64 },
    /// A fault that lasted is over.
    Mended { fault: Fault, process: u8 },
    /// A process died.
    Crashed { process: u8 },
    /// A process began.
    Began { process: u8 },
    /// From here on no fault strikes.
    Healed,
}
