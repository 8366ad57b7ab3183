//! What the traffic of foreign clients shows: programs whose operations, objects and beliefs are not in the history.
//!
//! The rules of [`judge`](crate::judge) need operations and beliefs, which only a workload of this project records. The wire of any
//! other program still shows which znodes its clients create and delete, what they read, which watches wait, and whom a deletion
//! notifies. [`report`] collects that from one pass over the events; [`Wire`] does the same while a run goes on.
//!
//! | module | content |
//! |---|---|
//! | `naming` | which library and which recipe gave a znode its name |
//! | `paths` | paths by number |
//! | `requests` | clients, their requests and what becomes of them |
//! | `znodes` | ephemeral and sequential znodes, by directory |
//! | `watches` | watches that are armed |
//! | `herd` | deletions, and the sessions that each notifies |
//! | `attempts` | znodes of one attempt to join |
//! | `items` | items of queues |
//! | `findings`, `report`, `text` | what comes out |
//!
//! # Findings
//!
//! Requests carry no operation, so each finding is an inference from names, sessions and order. A finding must therefore not depend
//! on what a client may still be about to do:
//!
//! - **`WIRE-1`, second znode of one attempt.** Two ephemeral znodes of one session live in one directory, and one attempt created both:
//!   their names are the same up to the number and contain the same guid; or, without a guid, the reply to the first create was
//!   lost, the session created again under the same path and got that reply, and it did not read the first znode
//!   in between, nor later without a watch (a client that finds its znode by its owner has to read it). That alone is no finding:
//!   a create that was lost may be applied late, and a correct client cannot know before it looks. It is one when the session
//!   *knows both*, by the reply to a list of that directory that was served at or after the second create, and *has gone on*: with both alive
//!   and no delete of either in flight or lost, it sent a read with a watch on another znode of the directory, or on the
//!   directory, after that reply, and got its answer, so that it waits; or a session timeout has passed since that reply, or the
//!   history says that nothing is in flight (`quiesce`).
//!   A session that waits for a znode older than both uses the older one, and the newer is surplus; otherwise the older is. There is
//!   no finding once the session has deleted the surplus znode itself, however late: Curator's protected names, Kazoo's and ours are
//!   cleaned up this way. A znode that ended with its session, or that another client removed, was not cleaned up.
//! - **`WIRE-2`, herd.** In a directory of a lock, a shared lock, a semaphore or an election, one deletion notified three or more sessions, the
//!   deleter's own not counted. Two are no herd: one session may wait, and one observe. A session counts if it has a znode in the
//!   directory (in a semaphore without one, too, as waiters of Kazoo's have none), unless it has a persistent watch
//!   there, which is a cache, or is a reader with no writer between the deleted znode and its own: the deletion lets all of these in.
//! - **`WIRE-3`, orphan.** The reply to the delete of an ephemeral znode was lost, the znode still exists, its session is open and has
//!   had a reply to a later request, and for a session timeout (or until `quiesce`) it has not sent another delete. Libraries
//!   that repeat a lost delete after a pause have done so by then.
//! - **`WIRE-4`, possible loss of an item.** A single delete of a queue's item was applied and its reply was lost. It is not told if the
//!   session had read the item before and then repeated the delete and was answered that there is no such znode: that
//!   client knows the item to be taken, and has it. Whether a client without that answer drops the item is not on the wire, so this is
//!   not a breach. A delete within a transaction is not judged: it may leave a receipt.
//!
//! Watches, sessions and what servers apply are only in the history of a simulated ensemble. A capture has none of them, and the
//! report of one has requests alone.

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

/// Reports what the traffic in a history shows.
pub fn report(history: &History) -> WireReport {
    let mut wire = Wire::default();
    history.events.iter().for_each(|event| wire.push(history.tables(), event));
    wire.report(history.tables())
}

/// What the traffic of a run that is still going on has shown.
///
/// The cost of an event does not depend on the length of the history. What is kept grows with the number of paths, of
/// deletions and of sessions.
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
    /// The read whose results follow.
    served: Option<ReqId>,
    /// The number of requests that a session has sent about a directory.
    costs: BTreeMap<(Session, paths::TextId), u32>,
    /// The transaction whose effects follow.
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
                let place = self.paths.place(tables, path);
                self.send(client, req, kind, path, place, watch);
            }
            What::Reply { req, code, zxid, conn } => self.reply(tables, client, req, code, zxid, conn),
            What::Made { path, .. } => {
                let place = self.paths.place(tables, path);
                self.made(path, place);
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
                let directory = self.paths.place(tables, path).directory;
                self.znodes.written(directory);
            }
            What::Served { req, zxid, .. } => self.serve(req, zxid),
            What::Found { read, code, path, .. } => self.found(read, code, path),
            What::Arm { session, table, path, conn, mode } => {
                let path = self.paths.place(tables, path).path;
                self.watches.arm(session, table, path, watches::Armed { server, conn, mode });
            }
            What::Fire { session, kind, path, zxid, conn } => {
                let place = self.paths.place(tables, path);
                self.fire(session, kind, path, place, zxid, conn);
            }
            What::Disarm { session, table, path, conn } => {
                let path = self.paths.place(tables, path).path;
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

    /// Whether a client has had its time since a moment: its session's timeout, or until nothing was in flight.
    fn is_settled(&self, session: Session, since: Moment) -> bool {
        let timeout = self.session(session).timeout;
        let timeout = if timeout == 0 { self.timeout } else { timeout };
        self.now.at.saturating_sub(since.at) >= timeout
            || self.quiet.is_some_and(|quiet| quiet.index > since.index)
    }
}
