//! The report on the traffic of foreign clients, as values.

use super::findings::{WireFinding, WireRule};
use super::naming::{Naming, Suggests};
use crate::history::{FaultKind, Request, Session, Table, WatchMode};
use serde::Serialize;
use std::collections::BTreeMap;

/// The report on the traffic in a history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WireReport {
    /// The number of events.
    pub events: u32,
    /// The findings, certain or possible; in the order of rules, and at most sixteen of each.
    pub findings: Vec<WireFinding>,
    /// The number of findings of each rule, including those that are not listed.
    pub found: BTreeMap<WireRule, u64>,
    /// Each directory in which ephemeral or sequential znodes were created, by path.
    pub directories: Vec<DirectoryReport>,
    /// Each directory with items of a queue, by path.
    pub queues: Vec<QueueReport>,
    /// The clients by number, including those that have sent nothing.
    pub clients: Vec<ClientReport>,
    /// The znodes and watches that exist at the end.
    pub left: Left,
    /// The number of faults of each kind.
    pub faults: BTreeMap<FaultKind, u64>,
}

/// A directory in which ephemeral or sequential znodes were created.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DirectoryReport {
    /// Its path.
    pub path: String,
    /// The recipe that the names suggest.
    pub kind: Suggests,
    /// The naming schemes in it.
    pub naming: Vec<Naming>,
    /// The number of znodes that were created.
    pub created: u64,
    /// Of these: deleted by the session that created it.
    pub deleted_by_owner: u64,
    /// Of these: an ephemeral that ended with its session.
    pub deleted_with_session: u64,
    /// Of these: deleted by another session, or by the ensemble.
    pub deleted_by_others: u64,
    /// The number of writes into znodes of the directory.
    pub written: u64,
    /// Of the created ones: still there.
    pub standing: u64,
    /// Those that still exist, in the order in which they were created; at most a hundred.
    pub contenders: Vec<Standing>,
    /// Deletions, and the sessions that they notified.
    pub herd: Herd,
    /// Requests for ephemeral znodes that are gone.
    pub cost: Cost,
}

/// A znode that still exists, and the znodes that its session waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Standing {
    /// Its name, without the directory.
    pub name: String,
    /// The session that created it.
    pub session: Session,
    /// The client of that session, if it is known.
    pub client: Option<String>,
    /// Whether that session has not ended.
    pub session_open: bool,
    /// The names of the znodes of the same directory that the session watches.
    pub waits_on: Vec<String>,
    /// Whether the session watches the directory, and so waits for all of them.
    pub waits_on_all: bool,
}

/// Deletions in a directory, and the sessions that they notified.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Herd {
    /// The number of deletions.
    pub deletions: u64,
    /// The number of notifications that they caused, except those of the deleters' own sessions.
    pub notifications: u64,
    /// The deletion that notified most sessions.
    pub largest: Option<Largest>,
}

/// The deletion that notified most sessions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Largest {
    /// The number of sessions, without the deleter's own.
    pub sessions: u64,
    /// The zxid of the deletion.
    pub zxid: u64,
    /// The path that was deleted.
    pub path: String,
}

/// Requests about a directory between the create of a contender and its delete, both included.
///
/// Requests carry no operation: if a session has several contenders in a directory at once, each counts all requests.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Cost {
    /// The number of contenders that are gone.
    pub contenders: u64,
    /// The number of requests for all of them.
    pub requests: u64,
    /// The largest number for one of them.
    pub most: u32,
    /// The contender with that number.
    pub most_path: Option<String>,
}

/// A queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct QueueReport {
    /// Its path.
    pub path: String,
    /// The number of items that were created.
    pub put: u64,
    /// The number of items that were deleted.
    pub taken: u64,
    /// The number of items that still exist.
    pub left: u64,
    /// The number of items whose data two or more sessions had read when one of them deleted it.
    pub claimed_twice: u64,
}

/// The requests of a client.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ClientReport {
    /// Its name.
    pub client: String,
    /// Its sessions.
    pub sessions: Vec<Session>,
    /// The number of requests of each kind.
    pub requests: BTreeMap<Request, u64>,
    /// The number of answered reads, including answers that there is no such znode.
    pub reads_answered: u64,
    /// The number of reads that repeat the answered read just before, without a notification, a reply to another
    /// request or a reconnect in between.
    pub polls: u64,
    /// The number of requests whose reply was lost.
    pub replies_lost: u64,
    /// The number of notifications that it received.
    pub notifications: u64,
}

/// The znodes and watches that exist at the end.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Left {
    /// The number of ephemeral or sequential znodes.
    pub znodes: u64,
    /// These znodes by path; at most a hundred.
    pub znode_list: Vec<LeftZnode>,
    /// The number of watches that are armed.
    pub watches: u64,
    /// These watches by session; at most a hundred.
    pub watch_list: Vec<LeftWatch>,
}

/// An ephemeral or sequential znode that still exists.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LeftZnode {
    /// Its path.
    pub path: String,
    /// The session that created it.
    pub session: Session,
    /// Whether that session has not ended.
    pub session_open: bool,
    /// Whether it is an ephemeral.
    pub ephemeral: bool,
    /// Whether the server appended a number.
    pub sequential: bool,
}

/// A watch that is still armed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LeftWatch {
    /// The path.
    pub path: String,
    /// The session.
    pub session: Session,
    /// Whether that session has not ended.
    pub session_open: bool,
    /// The table of the server.
    pub table: Table,
    /// The behaviour of the watch when it fires.
    pub mode: WatchMode,
}
