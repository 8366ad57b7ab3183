//! What happened, as typed, time-ordered events.
//!
//! A [`History`] is a [`Header`], the [`Object`]s that were declared, a table of [`Names`], and [`Event`]s in one total
//! order that respects causality. An event is at most 32 bytes: paths and other texts are interned.
//!
//! In a simulation the order is the order of the world's steps. In a capture from a real ensemble all clients share one
//! process and one monotonic clock.

mod declared;
mod kinds;
mod names;

pub use declared::*;
pub use kinds::*;
pub use names::Names;

pub use crate::ids::{Conn, ObjectId, OpId, ReqId, Session, Sym};

use crate::digest::Digest;
use serde::{Deserialize, Serialize};

/// Who did it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Who {
    /// The client process of that number (its name: [`Header::clients`]).
    Client(u16),
    /// The server of that number.
    Server(u8),
    /// The world: faults, and what the harness itself does.
    World,
}

/// One thing that happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Event {
    /// Microseconds since the start.
    pub at: u64,
    /// The operation it belongs to, if any.
    pub op: OpId,
    /// Who did it.
    pub who: Who,
    /// What happened.
    pub what: What,
}

/// The kinds of happening.
///
/// *Clients'* events come from the workload and the recording wrapper, *servers'* and *world's* only from a simulation
/// or from what the harness did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum What {
    // ── clients: operations ──
    /// A client begins an operation on an object.
    Call {
        /// On what.
        object: ObjectId,
        /// Which operation.
        verb: Verb,
        /// The caller's own time limit in microseconds, or zero.
        limit: u32,
    },
    /// The operation of this event's `op` is over.
    Return {
        /// How it ended.
        outcome: Outcome,
    },
    /// From here on the client acts as holder. `op` is the acquire that was granted.
    Believe {
        /// Of what.
        object: ObjectId,
        /// In which session.
        session: Session,
        /// The fencing token.
        token: u64,
    },
    /// From here on it no longer does. `op` is the acquire.
    Unbelieve {
        /// Why.
        why: Why,
    },
    /// A fenced resource was asked to do something in the name of the hold of `op`.
    Resource {
        /// The object that guards the resource.
        object: ObjectId,
        /// The token shown.
        token: u64,
        /// Whether the resource did it.
        accepted: bool,
    },
    /// What the caller gave to the operation: the item to put, the vote to cast, the value to write. Follows its `Call`.
    Given {
        /// The value, or several in order with commas between.
        text: Sym,
        /// What goes with it: a priority, an expected version, or zero.
        number: u64,
    },
    /// What the operation handed to its caller: before its `Return`, or any number of times for one that follows
    /// something.
    Observed {
        /// Of what.
        object: ObjectId,
        /// What kind of thing.
        seen: Seen,
        /// The thing.
        text: Sym,
        /// What goes with it: see [`Seen`].
        number: u64,
    },
    /// The operation sleeps.
    Sleep {
        /// Until when, in microseconds.
        until: u64,
        /// Whether that is the operation's own time limit (no poll).
        deadline: bool,
    },
    // ── clients: the wire ──
    /// A request leaves.
    Send {
        /// Its number.
        req: ReqId,
        /// What it asks for.
        kind: Request,
        /// Whether it arms a watch.
        watch: bool,
        /// Whether it was sent by a clean-up duty, or by the client library itself: no cost of the operation.
        cleanup: bool,
        /// On which path.
        path: Sym,
    },
    /// The answer reaches the client.
    Reply {
        /// Of which request.
        req: ReqId,
        /// How it went.
        code: Code,
        /// The header's zxid; where the capture does not see the wire, the largest zxid in the returned stats, or zero.
        zxid: u64,
        /// On which connection.
        #[serde(default, skip_serializing_if = "Conn::is_none")]
        conn: Conn,
    },
    /// A create's answer named the new znode: follows the `Reply` to that create at once.
    Made {
        /// The new znode.
        path: Sym,
        /// Its czxid.
        czxid: u64,
    },
    /// The client is told that the connection was lost before the answer came.
    Lost {
        /// Of which request.
        req: ReqId,
    },
    /// A notification reaches the client.
    Notice {
        /// In which session.
        session: Session,
        /// What it says.
        kind: Notify,
        /// About which path.
        path: Sym,
        /// On which connection.
        #[serde(default, skip_serializing_if = "Conn::is_none")]
        conn: Conn,
    },
    /// The client learns, or the recipe acts on, a state of its session.
    State {
        /// Which session.
        session: Session,
        /// Which state.
        state: SessionState,
        /// On which connection.
        #[serde(default, skip_serializing_if = "Conn::is_none")]
        conn: Conn,
        /// Of which server that connection is.
        #[serde(default, skip_serializing_if = "is_zero")]
        server: u8,
    },
    // ── servers ──
    /// A transaction was applied, by the first server to do so (failed writes take a zxid too). Its effects follow, with
    /// the same zxid. What other servers apply is told as [`What::Applied`].
    Txn {
        /// Its number.
        zxid: u64,
        /// Whose.
        session: Session,
        /// What was asked.
        kind: Request,
        /// Whether it was refused: then nothing was applied.
        code: Code,
    },
    /// Effect: a znode was created.
    Created {
        /// By which transaction; its czxid.
        zxid: u64,
        /// Where.
        path: Sym,
        /// The owner of an ephemeral, or zero.
        owner: Session,
    },
    /// Effect: a znode was deleted.
    Deleted {
        /// By which transaction.
        zxid: u64,
        /// Where.
        path: Sym,
        /// The session that asked, or whose end it was.
        by: Session,
    },
    /// Effect: a znode's data were written.
    Written {
        /// By which transaction.
        zxid: u64,
        /// Where.
        path: Sym,
    },
    /// What the `Send` just before asks for is to happen only if the znode has this version.
    Expects {
        /// Which.
        version: i32,
    },
    /// Effect: an access list was changed.
    Restricted {
        /// By which transaction.
        zxid: u64,
        /// Whose.
        path: Sym,
    },
    /// What the znode of the `Created` or `Written` just before holds now.
    Data {
        /// How many bytes.
        length: u32,
        /// [`digest::data`](crate::digest::data) of them.
        digest: u64,
    },
    /// A transaction was applied by another server than the first.
    Applied {
        /// Which.
        zxid: u64,
    },
    /// A server answers a read. What it found follows, as [`What::Found`].
    Served {
        /// Which request.
        req: ReqId,
        /// On which connection.
        conn: Conn,
        /// In the state of which transaction.
        zxid: u64,
    },
    /// What the read of the `Served` just before found; one for each part of a `multiRead`.
    Found {
        /// Which kind of read: exists, get, children or getAcl.
        read: Request,
        /// How it went.
        code: Code,
        /// Of which znode.
        path: Sym,
        /// What was found.
        digest: Digest,
    },
    /// The leader has taken a sync in: when it is answered, everything up to there will have been applied.
    Barrier {
        /// Whose sync.
        session: Session,
        /// Which request.
        req: ReqId,
        /// Up to where.
        zxid: u64,
    },
    /// A watch was armed at a server.
    Arm {
        /// For which session.
        session: Session,
        /// In which table.
        table: Table,
        /// On which path.
        path: Sym,
        /// On which connection.
        #[serde(default, skip_serializing_if = "Conn::is_none")]
        conn: Conn,
        /// How it goes on after it fired.
        #[serde(default, skip_serializing_if = "WatchMode::is_one_shot")]
        mode: WatchMode,
    },
    /// An armed watch fired: one notification was queued.
    Fire {
        /// For which session.
        session: Session,
        /// What it says.
        kind: Notify,
        /// About which path.
        path: Sym,
        /// Low half of the transaction's zxid (epoch changes do not lie within a step); zero for what registering again
        /// told of what had been missed.
        zxid: u32,
        /// On which connection.
        #[serde(default, skip_serializing_if = "Conn::is_none")]
        conn: Conn,
    },
    /// An armed watch went away without firing.
    Disarm {
        /// For which session.
        session: Session,
        /// From which table.
        table: Table,
        /// On which path.
        path: Sym,
        /// On which connection.
        #[serde(default, skip_serializing_if = "Conn::is_none")]
        conn: Conn,
    },
    /// A session was opened.
    Opened {
        /// Which.
        session: Session,
        /// Negotiated timeout in milliseconds.
        timeout: u32,
        /// The transaction.
        zxid: u64,
    },
    /// The leader decided that a session has expired. Its end follows.
    Marked {
        /// Which.
        session: Session,
        /// When the last touch came that the leader had processed, in microseconds.
        heard: u64,
    },
    /// A session's end was applied.
    Ended {
        /// Which.
        session: Session,
        /// The transaction.
        zxid: u64,
    },
    /// A session lives on at this server, on that connection.
    Attached {
        /// Which.
        session: Session,
        /// Its connection.
        conn: Conn,
    },
    /// A server turns a client away that has seen more than itself.
    TurnedAway {
        /// Its session, or zero.
        session: Session,
        /// What the client has seen.
        seen: u64,
    },
    /// A request came by a server that the session has left: it is refused without a word.
    Moved {
        /// Which session.
        session: Session,
        /// The transaction that refuses it.
        zxid: u64,
    },
    /// This server leads.
    Elected {
        /// In which epoch.
        epoch: u32,
    },
    /// This server begins to serve clients.
    Serving,
    /// This server stops serving clients: it has died, or lost the leader, or the quorum.
    Ceased,
    // ── world ──
    /// A fault strikes.
    Fault {
        /// Which.
        kind: FaultKind,
        /// Whom.
        #[serde(flatten)]
        victim: Victim,
        /// How long it lasts, in microseconds, or zero for an instant.
        lasts: u64,
    },
    /// The fault is over (only those that last).
    Mended {
        /// Which.
        kind: FaultKind,
        /// Whom.
        #[serde(flatten)]
        victim: Victim,
    },
    /// A client process died.
    Crash {
        /// Which.
        client: u16,
    },
    /// A client process began, or began again.
    Start {
        /// Which.
        client: u16,
    },
    /// No fault strikes from here on.
    Heal,
    /// Nothing is open, nothing is on its way. In a capture: a last listing of every object's directory has been made, and
    /// what it found was told as [`What::Left`].
    Quiesce,
    /// The harness stopped the run at its limit of time, with whatever was open: time has passed until here.
    Stopped,
    /// What a last listing found below an object's directory.
    Left {
        /// Which object.
        object: ObjectId,
        /// The znode.
        path: Sym,
        /// Its owner, if it is an ephemeral of a known session.
        owner: Session,
    },
}

impl What {
    /// The path it tells of, if any.
    pub fn path(&self) -> Option<Sym> {
        match *self {
            What::Send { path, .. }
            | What::Made { path, .. }
            | What::Notice { path, .. }
            | What::Created { path, .. }
            | What::Deleted { path, .. }
            | What::Written { path, .. }
            | What::Restricted { path, .. }
            | What::Found { path, .. }
            | What::Arm { path, .. }
            | What::Fire { path, .. }
            | What::Disarm { path, .. }
            | What::Left { path, .. } => Some(path),
            _ => None,
        }
    }

    /// The path or other text it tells of, if any.
    pub fn sym(&self) -> Option<Sym> {
        match *self {
            What::Given { text, .. } | What::Observed { text, .. } => Some(text),
            _ => self.path(),
        }
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_zero(number: &u8) -> bool {
    *number == 0
}

/// A run, told from its beginning to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct History {
    /// What is known of the whole.
    pub header: Header,
    /// What was declared.
    pub objects: Vec<Object>,
    /// Interned texts.
    pub names: Names,
    /// What happened.
    pub events: Vec<Event>,
}

/// What events refer to: everything of a history but the events. It may grow while a run goes on.
#[derive(Clone, Copy, Debug)]
pub struct Tables<'a> {
    /// What is known of the whole.
    pub header: &'a Header,
    /// What was declared.
    pub objects: &'a [Object],
    /// Interned texts.
    pub names: &'a Names,
}

impl History {
    /// What the events refer to.
    pub fn tables(&self) -> Tables<'_> {
        Tables { header: &self.header, objects: &self.objects, names: &self.names }
    }
}

const _: () = assert!(std::mem::size_of::<Event>() <= 32, "an event is at most 32 bytes");
