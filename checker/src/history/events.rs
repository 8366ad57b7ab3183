//! The table of events: their names, their fields, and how each field stands in the text form.
//!
//! A new kind of event is a new entry here. The view or a rule makes something of it, and a recorder writes it.

use super::is_default;
use super::{
    Code, Conn, FaultKind, Notify, ObjectId, OpId, Outcome, ReqId, Request, Seen, Session, SessionState, Sym,
    Table, Verb, Victim, WatchMode, Who, Why,
};
use crate::digest::Digest;
use serde::{Deserialize, Serialize};

/// One event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Event {
    /// Microseconds since the start.
    pub at: u64,
    /// The operation it belongs to, if any.
    pub op: OpId,
    /// The client or server that acted, or the world.
    pub who: Who,
    /// What happened.
    pub what: What,
}

const _: () = assert!(std::mem::size_of::<Event>() <= 32, "an event is at most 32 bytes");

/// Calls a macro with the table of events.
///
/// An entry is the variant of [`What`], its name in the written forms, and its fields in the order of the text form. A
/// field stands there as its type does, or in the form behind `=>` (see `text/event.rs`).
macro_rules! event_table {
    ($then:ident) => {
        $then! {
            // ── clients: operations ──
            /// A client begins an operation on an object.
            Call = "call" {
                /// On what.
                object: ObjectId,
                /// Which operation.
                verb: Verb => before,
                /// The caller's own time limit in microseconds, or zero.
                limit: u32 => optional key seconds,
            },
            /// The operation of this event's `op` is over.
            Return = "return" {
                /// How it ended.
                outcome: Outcome,
            },
            /// From here on the client acts as holder. `op` is the acquire that was granted.
            Believe = "believe" {
                /// Of what.
                object: ObjectId,
                /// In which session.
                session: Session,
                /// The fencing token.
                token: u64 => key hex,
            },
            /// From here on it no longer does. `op` is the acquire.
            Unbelieve = "unbelieve" {
                /// Why.
                why: Why,
            },
            /// A fenced resource was asked to do something in the name of the hold of `op`.
            Resource = "resource" {
                /// The object that guards the resource.
                object: ObjectId,
                /// The token shown.
                token: u64 => key hex,
                /// Whether the resource did it.
                accepted: bool => accepted,
            },
            /// What the caller gave to the operation: the item to put, the vote to cast, the value to write. Follows its `Call`.
            Given = "given" {
                /// The value, or several in order with commas between.
                text: Sym,
                /// What goes with it: a priority, an expected version, or zero.
                number: u64 => hex,
            },
            /// What the operation handed to its caller: before its `Return`, or any number of times for one that follows
            /// something.
            Observed = "observed" {
                /// Of what.
                object: ObjectId,
                /// What kind of thing.
                seen: Seen,
                /// The thing.
                text: Sym,
                /// What goes with it: see [`Seen`].
                number: u64 => hex,
            },
            /// The operation sleeps.
            Sleep = "sleep" {
                /// Until when, in microseconds.
                until: u64 => key seconds,
                /// Whether that is the operation's own time limit (no poll).
                deadline: bool => flag,
            },
            // ── clients: the wire ──
            /// A request leaves.
            Send = "send" {
                /// Its number.
                req: ReqId,
                /// What it asks for.
                kind: Request,
                /// On which path.
                path: Sym,
                /// Whether it arms a watch.
                watch: bool => flag,
                /// Whether it was sent by a clean-up duty, or by the client library itself: no cost of the operation.
                cleanup: bool => flag,
            },
            /// The answer reaches the client.
            Reply = "reply" {
                /// Of which request.
                req: ReqId,
                /// How it went.
                code: Code,
                /// The header's zxid; where the capture does not see the wire, the largest zxid in the returned stats, or zero.
                zxid: u64 => hex,
                /// On which connection.
                #[serde(default, skip_serializing_if = "is_default")]
                conn: Conn,
            },
            /// A create's answer named the new znode: follows the `Reply` to that create at once.
            Made = "made" {
                /// The new znode.
                path: Sym,
                /// Its czxid.
                czxid: u64 => hex,
            },
            /// The client is told that the connection was lost before the answer came.
            Lost = "lost" {
                /// Of which request.
                req: ReqId,
            },
            /// A notification reaches the client.
            Notice = "notice" {
                /// In which session.
                session: Session,
                /// What it says.
                kind: Notify,
                /// About which path.
                path: Sym,
                /// On which connection.
                #[serde(default, skip_serializing_if = "is_default")]
                conn: Conn,
            },
            /// The client learns, or the recipe acts on, a state of its session.
            State = "state" {
                /// Which session.
                session: Session,
                /// Which state.
                state: SessionState,
                /// On which connection.
                #[serde(default, skip_serializing_if = "is_default")]
                conn: Conn,
                /// Of which server that connection is.
                #[serde(default, skip_serializing_if = "is_default")]
                server: u8 => optional key decimal,
            },
            // ── servers ──
            /// A transaction was applied, by the first server to do so (failed writes take a zxid too). Its effects follow, with
            /// the same zxid. What other servers apply is told as [`What::Applied`].
            Txn = "txn" {
                /// Its number.
                zxid: u64 => hex,
                /// Whose.
                session: Session,
                /// What was asked.
                kind: Request,
                /// Whether it was refused: then nothing was applied.
                code: Code,
            },
            /// Effect: a znode was created.
            Created = "created" {
                /// By which transaction; its czxid.
                zxid: u64 => hex,
                /// Where.
                path: Sym,
                /// The owner of an ephemeral, or zero.
                owner: Session,
            },
            /// Effect: a znode was deleted.
            Deleted = "deleted" {
                /// By which transaction.
                zxid: u64 => hex,
                /// Where.
                path: Sym,
                /// The session that asked, or whose end it was.
                by: Session => key,
            },
            /// Effect: a znode's data were written.
            Written = "written" {
                /// By which transaction.
                zxid: u64 => hex,
                /// Where.
                path: Sym,
            },
            /// What the `Send` just before asks for is to happen only if the znode has this version.
            Expects = "expects" {
                /// Which.
                version: i32 => decimal,
            },
            /// Effect: an access list was changed.
            Restricted = "restricted" {
                /// By which transaction.
                zxid: u64 => hex,
                /// Whose.
                path: Sym,
            },
            /// What the znode of the `Created` or `Written` just before holds now.
            Data = "data" {
                /// How many bytes.
                length: u32 => decimal,
                /// [`digest::data`](crate::digest::data) of them.
                digest: u64 => hex,
            },
            /// A transaction was applied by another server than the first.
            Applied = "applied" {
                /// Which.
                zxid: u64 => hex,
            },
            /// A server answers a read. What it found follows, as [`What::Found`].
            Served = "served" {
                /// Which request.
                req: ReqId,
                /// In the state of which transaction.
                zxid: u64 => hex,
                /// On which connection.
                conn: Conn,
            },
            /// What the read of the `Served` just before found; one for each part of a `multiRead`.
            Found = "found" {
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
            Barrier = "barrier" {
                /// Whose sync.
                session: Session,
                /// Which request.
                req: ReqId,
                /// Up to where.
                zxid: u64 => hex,
            },
            /// A watch was armed at a server.
            Arm = "arm" {
                /// For which session.
                session: Session,
                /// In which table.
                table: Table,
                /// On which path.
                path: Sym,
                /// On which connection.
                #[serde(default, skip_serializing_if = "is_default")]
                conn: Conn,
                /// How it goes on after it fired.
                #[serde(default, skip_serializing_if = "is_default")]
                mode: WatchMode => optional,
            },
            /// An armed watch fired: one notification was queued.
            Fire = "fire" {
                /// For which session.
                session: Session,
                /// What it says.
                kind: Notify,
                /// About which path.
                path: Sym,
                /// Low half of the transaction's zxid (epoch changes do not lie within a step); zero for what registering again
                /// told of what had been missed.
                zxid: u32 => hex,
                /// On which connection.
                #[serde(default, skip_serializing_if = "is_default")]
                conn: Conn,
            },
            /// An armed watch went away without firing.
            Disarm = "disarm" {
                /// For which session.
                session: Session,
                /// From which table.
                table: Table,
                /// On which path.
                path: Sym,
                /// On which connection.
                #[serde(default, skip_serializing_if = "is_default")]
                conn: Conn,
            },
            /// A session was opened.
            Opened = "opened" {
                /// Which.
                session: Session,
                /// Negotiated timeout in milliseconds.
                timeout: u32 => key decimal,
                /// The transaction.
                zxid: u64 => hex,
            },
            /// The leader decided that a session has expired. Its end follows.
            Marked = "marked" {
                /// Which.
                session: Session,
                /// When the last touch came that the leader had processed, in microseconds.
                heard: u64 => key seconds,
            },
            /// A session's end was applied.
            Ended = "ended" {
                /// Which.
                session: Session,
                /// The transaction.
                zxid: u64 => hex,
            },
            /// A session lives on at this server, on that connection.
            Attached = "attached" {
                /// Which.
                session: Session,
                /// Its connection.
                conn: Conn,
            },
            /// A server turns a client away that has seen more than itself.
            TurnedAway = "turned_away" {
                /// Its session, or zero.
                session: Session,
                /// What the client has seen.
                seen: u64 => hex,
            },
            /// A request came by a server that the session has left: it is refused without a word.
            Moved = "moved" {
                /// Which session.
                session: Session,
                /// The transaction that refuses it.
                zxid: u64 => hex,
            },
            /// This server leads.
            Elected = "elected" {
                /// In which epoch.
                epoch: u32 => decimal,
            },
            /// This server begins to serve clients.
            Serving = "serving",
            /// This server stops serving clients: it has died, or lost the leader, or the quorum.
            Ceased = "ceased",
            // ── world ──
            /// A fault strikes.
            Fault = "fault" {
                /// Which.
                kind: FaultKind,
                /// Whom.
                #[serde(flatten)]
                victim: Victim,
                /// How long it lasts, in microseconds, or zero for an instant.
                lasts: u64 => lenient key seconds,
            },
            /// The fault is over (only those that last).
            Mended = "mended" {
                /// Which.
                kind: FaultKind,
                /// Whom.
                #[serde(flatten)]
                victim: Victim,
            },
            /// A client process died.
            Crash = "crash" {
                /// Which.
                client: u16 => client,
            },
            /// A client process began, or began again.
            Start = "start" {
                /// Which.
                client: u16 => client,
            },
            /// No fault strikes from here on.
            Heal = "heal",
            /// Nothing is open, nothing is on its way. In a capture: a last listing of every object's directory has been made, and
            /// what it found was told as [`What::Left`].
            Quiesce = "quiesce",
            /// The harness stopped the run at its limit of time, with whatever was open: time has passed until here.
            Stopped = "stopped",
            /// What a last listing found below an object's directory.
            Left = "left" {
                /// Which object.
                object: ObjectId,
                /// The znode.
                path: Sym,
                /// Its owner, if it is an ephemeral of a known session.
                owner: Session,
            },
        }
    };
}

pub(crate) use event_table;

/// Returns the value of a field that has the wanted name.
macro_rules! return_field {
    (path is path: $value:ident) => {
        return Some($value)
    };
    (text is text: $value:ident) => {
        return Some($value)
    };
    ($wanted:ident is $field:ident: $value:ident) => {};
}

macro_rules! define {
    ($(
        $(#[$meta:meta])*
        $kind:ident = $name:literal $({
            $($(#[$about:meta])* $field:ident: $type:ty $(=> $($form:ident)+)?,)+
        })?,
    )+) => {
        /// The kinds of event.
        ///
        /// *Clients'* events come from the workload and the recording wrapper, *servers'* and *world's* only from a
        /// simulation or from what the harness did.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(tag = "what")]
        pub enum What {
            $($(#[$meta])* #[serde(rename = $name)] $kind $({ $($(#[$about])* $field: $type,)+ })?,)+
        }

        impl What {
            /// The name of the kind of event in the written forms.
            pub const fn name(&self) -> &'static str {
                match self { $(What::$kind { .. } => $name,)+ }
            }

            /// The path it tells of, if any.
            #[allow(unused_variables, reason = "most fields are no path")]
            pub fn path(&self) -> Option<Sym> {
                match *self {
                    $(What::$kind { $($($field,)+)? } => { $($(return_field!(path is $field: $field);)+)? })+
                }
                None
            }

            /// The path or other text it tells of, if any.
            #[allow(unused_variables, reason = "most fields are no text")]
            pub fn sym(&self) -> Option<Sym> {
                match *self {
                    $(What::$kind { $($($field,)+)? } => { $($(return_field!(text is $field: $field);)+)? })+
                }
                self.path()
            }
        }
    };
}

event_table!(define);
