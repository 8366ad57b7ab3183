//! The evidence in the traffic of foreign clients: programs whose operations, objects and beliefs are not in the
//! history.
//!
//! The rules of [`judge`](crate::judge) need operations and beliefs, which only a workload of this project records. The
//! wire of any other program still shows which znodes its clients create and delete, what they read, which watches
//! wait, and which sessions a deletion notifies. [`report`] collects that in one pass over the events; [`Wire`] does
//! the same during a run.
//!
//! | module | content |
//! |---|---|
//! | `naming` | the library and the recipe that gave a znode its name |
//! | `paths` | paths by number |
//! | `requests` | clients, their requests and their replies |
//! | `znodes` | ephemeral and sequential znodes, by directory |
//! | `watches` | watches that are armed, and their notifications |
//! | `herd` | deletions, and the sessions that each notifies |
//! | `attempts` | znodes of one attempt to join |
//! | `items` | items of queues |
//! | `findings`, `summary`, `report`, `text` | the findings; the report, its values and its text |
//!
//! # Findings
//!
//! Requests carry no operation, so each finding is an inference from names, sessions and order. A correct client may be
//! about to repair its state after a reply; therefore a finding requires that the client has *gone on* instead. If only
//! time shows that, the limit is two session timeouts: the session of a client that dies, or is cut off, ends after
//! one.
//!
//! ## `WIRE-1`: second znode of one attempt
//!
//! Two ephemeral sequential znodes of one session are in one directory, and one attempt created both:
//!
//! - with a guid: their names are the same up to the number;
//! - without one: the create of the older lost its reply, the session then created again under the same path and got
//!   that reply. A client that finds its znode by its owner has to read it; the rule does not apply if the session has
//!   read the older znode without a watch.
//!
//! That alone is no finding: a lost create may be applied late, and a client cannot know before it looks. The finding
//! needs both of these:
//!
//! - The session *knows both*: it got the reply to a list of that directory, served in a state that has both (by the
//!   record of the server, or else by the zxid of the reply).
//! - It *has gone on*, with both alive and no delete of either in flight or lost. Either it waits: after that reply, it
//!   sent a read with a watch on the directory or on another znode of it than the newer one, and got the answer; it has
//!   no third znode there, for which another task of the client could wait. Or two session timeouts have passed since
//!   that reply, or the history says that nothing was in flight (`quiesce`).
//!
//! If a session waits for a znode older than both, it uses the older one, and the newer is surplus; otherwise the older
//! is surplus. A surplus znode that the session itself deletes, however late, is no finding: the protected names of
//! Curator, of Kazoo and of this project are cleaned up this way. The end of a session, and a delete by another
//! session, do not count as clean-up.
//!
//! ## `WIRE-2`: herd
//!
//! In a directory of a lock, a shared lock, a semaphore or an election, one deletion notified three or more sessions.
//! Two are no herd: one session may wait, and another one observe. These sessions do not count:
//!
//! - the deleter's own;
//! - one without a znode in the directory, except in a semaphore, where Kazoo's waiters have none;
//! - one with a persistent watch there, which is a cache;
//! - a reader with no writer between the deleted znode and its own: the deletion lets all of these in.
//!
//! ## `WIRE-3`: orphan
//!
//! The reply to the delete of an ephemeral znode was lost, and the znode still exists. Its session is open and has had
//! a reply to a later request, and for two session timeouts (or until `quiesce`) it has not sent another delete.
//! Libraries that repeat a lost delete after a pause have done so by then.
//!
//! ## `WIRE-4`: possible loss of an item
//!
//! A single delete of a queue's item was applied, and its reply was lost. There is no finding if the session had the
//! data before, repeated the delete, and got the answer that there is no such znode: that client knows that it took the
//! item. The wire does not show how any other client handles the loss, so the finding is *possible*, and not a breach.
//! A delete within a transaction is not judged: it may leave a receipt.
//!
//! # Evidence
//!
//! Watches, sessions and the servers' transactions are only in the history of a simulated ensemble. A capture has none of
//! them, and its report has requests alone.

mod attempts;
mod findings;
mod herd;
mod items;
mod naming;
mod paths;
mod report;
mod requests;
mod summary;
mod text;
mod watches;
mod znodes;

pub use findings::{WireFinding, WireRule};
pub use naming::{Naming, Suggests};
pub use report::{
    ClientReport, Cost, DirectoryReport, Herd, Largest, Left, LeftWatch, LeftZnode, QueueReport, Standing,
    WireReport,
};

use crate::history::{Event, History, ReqId, Request, Session, SessionState, Tables, What, Who};
use std::collections::BTreeMap;

/// Reports the findings in the traffic of a history.
pub fn report(history: &History) -> WireReport {
    let mut wire = Wire::default();
    history.events.iter().for_each(|event| wire.push(history.tables(), event));
    wire.report(history.tables())
}

/// The traffic of a run in progress.
///
/// The cost of an event does not depend on the length of the history. Memory grows with the number of paths, deletions
/// and sessions.
#[derive(Debug, Default)]
pub struct Wire {
    now: Moment,
    /// The number of events so far.
    events: u32,
    /// The largest session timeout of the run in microseconds.
    timeout: u64,
    /// The last moment at which nothing was in flight.
    quiet: Option<Moment>,
    paths: paths::Paths,
    sessions: Vec<requests::SessionView>,
    /// The session of each connection.
    conns: Vec<Session>,
    clients: Vec<requests::Client>,
    in_flight: BTreeMap<ReqId, requests::Sent>,
    /// The read whose results are the next events.
    served: Option<ReqId>,
    /// The number of requests that a session has sent about a directory.
    costs: BTreeMap<(Session, paths::TextId), u32>,
    /// The transaction whose effects are the next events.
    txn: Option<Txn>,
    znodes: znodes::Znodes,
    watches: watches::Watches,
    herd: herd::Deletions,
    attempts: attempts::Attempts,
    items: items::Items,
    faults: BTreeMap<crate::history::FaultKind, u64>,
}

/// An event by its index, and its time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Moment {
    index: u32,
    at: u64,
}

/// A request whose reply was lost.
#[derive(Clone, Copy, Debug)]
struct Loss {
    sent: u32,
    lost: Moment,
    /// The fault of its client before the loss.
    fault: Option<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Txn {
    zxid: u64,
    session: Session,
    kind: Request,
}

impl Wire {
    /// Takes in the next event.
    pub fn push(&mut self, tables: Tables<'_>, event: &Event) {
        self.now = Moment { index: self.events, at: event.at };
        self.events += 1;
        self.timeout = tables.header.timeout;
        match event.who {
            Who::Client(client) => self.of_client(tables, client, event.what),
            Who::Server(server) => self.of_server(tables, server, event.what),
            Who::World => self.of_world(event.what),
        }
    }

    fn of_client(&mut self, tables: Tables<'_>, client: u16, what: What) {
        match what {
            What::Send { req, kind, path, watch, .. } => {
                let parsed = self.paths.parsed(tables, path);
                self.send(client, req, kind, path, parsed, watch);
            }
            What::Reply { req, code, zxid, conn } => self.reply(tables, client, req, code, zxid, conn),
            What::Made { path, .. } => {
                let parsed = self.paths.parsed(tables, path);
                self.made(path, parsed);
            }
            What::Lost { req } => self.lost(tables, client, req),
            What::Notice { session, .. } => self.notice(client, session),
            What::State { session, state: SessionState::Connected, conn, .. } => {
                self.connects(client, session, conn);
            }
            _ => {}
        }
    }

    fn of_server(&mut self, tables: Tables<'_>, server: u8, what: What) {
        match what {
            What::Txn { zxid, session, kind, .. } => self.txn = Some(Txn { zxid, session, kind }),
            What::Created { zxid, path, owner } => self.created(tables, zxid, path, owner),
            What::Deleted { zxid, path, by } => self.deleted(tables, zxid, path, by),
            What::Written { path, .. } => {
                let directory = self.paths.parsed(tables, path).directory;
                self.znodes.written(directory);
            }
            What::Served { req, zxid, .. } => self.serve(req, zxid),
            What::Found { read, code, path, .. } => self.found(read, code, path),
            What::Arm { session, table, path, conn, mode } => {
                let path = self.paths.parsed(tables, path).path;
                self.watches.arm(session, table, path, watches::Armed { server, conn, mode });
            }
            What::Fire { session, kind, path, zxid, conn } => {
                let parsed = self.paths.parsed(tables, path);
                self.fire(session, kind, path, parsed, zxid, conn);
            }
            What::Disarm { session, table, path, conn } => {
                let path = self.paths.parsed(tables, path).path;
                self.watches.disarm(session, table, path, conn);
            }
            What::Opened { session, timeout, .. } => self.opens(session, timeout),
            What::Ended { session, .. } => self.ends(session),
            What::Attached { session, conn } => self.attach(session, conn),
            What::Ceased => self.watches.lose_server(server),
            _ => {}
        }
    }

    fn of_world(&mut self, what: What) {
        match what {
            What::Fault { kind, victim, .. } => self.fault(kind, victim),
            What::Crash { client } => self.crash(client),
            What::Quiesce => self.quiet = Some(self.now),
            _ => {}
        }
    }

    /// Whether a client has had enough time since a moment: nothing was in flight since, or two timeouts of its session
    /// have passed, so that it was alive for one of them.
    fn is_settled(&self, session: Session, since: Moment) -> bool {
        let timeout = self.session(session).timeout;
        let timeout = if timeout == 0 { self.timeout } else { timeout };
        self.now.at.saturating_sub(since.at) >= 2 * timeout
            || self.quiet.is_some_and(|quiet| quiet.index > since.index)
    }
}
