//! The table of events: their names, their fields, and the text form of each field.
//!
//! A new kind of event is a new entry here. The view or a rule consumes it, and a recorder writes it.

use super::is_default;
use super::{
    Code, Conn, Failure, FaultKind, Notify, ObjectId, OpId, Outcome, ReqId, Request, Seen, Session,
    SessionState, Sym, Table, Verb, Victim, WatchMode, Who, Why,
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
    /// The kind of event, with its fields.
    pub what: What,
}

const _: () = assert!(std::mem::size_of::<Event>() <= 32, "an event is at most 32 bytes");

/// Calls a macro with the table of events.
///
/// An entry is the variant of [`What`], its name in the written forms, and its fields in the order of the text form. A
/// field is written in the form of its type, or in the form behind `=>` (see `text/event.rs`).
macro_rules! event_table {
    ($then:ident) => {
        $then! {
            // ── clients: operations ──
            /// A client calls an operation on an object. The limit is the caller's own, in microseconds, or zero.
            Call = "call" { object: ObjectId, verb: Verb => before, limit: u32 => optional key seconds },
            /// The operation of this event's `op` returns.
            Return = "return" {
                outcome: Outcome,
                /// The reported reason, if it was not done.
                #[serde(default, skip_serializing_if = "is_default")]
                failure: Failure => optional,
            },
            /// The client believes from here on that it holds the object under this fencing token. `op` is the granted
            /// acquire.
            Believe = "believe" { object: ObjectId, session: Session, token: u64 => key hex },
            /// The client's belief ends. `op` is the acquire.
            Unbelieve = "unbelieve" { why: Why },
            /// A resource that checks fencing tokens accepts or refuses a request of the hold of `op`.
            Resource = "resource" { object: ObjectId, token: u64 => key hex, accepted: bool => accepted },
            /// The argument of an operation: the item to put, the vote to cast, the value to write. Follows its `Call`.
            Given = "given" {
                /// The value, or several in order with commas between.
                text: Sym,
                /// A priority, an expected version, or zero.
                number: u64 => hex,
            },
            /// The caller expects a refusal: the input of its call is bad. Follows the `Call`. Any other input is good.
            Mistaken = "mistaken",
            /// A value that an operation hands to its caller: before its `Return`, or any number of times for a watch loop.
            Observed = "observed" {
                object: ObjectId,
                seen: Seen,
                text: Sym,
                /// Its meaning depends on [`Seen`].
                number: u64 => hex,
            },
            /// The operation sleeps.
            Sleep = "sleep" {
                /// The end of the sleep, in microseconds.
                until: u64 => key seconds,
                /// Whether that is the operation's own time limit, and so no poll.
                deadline: bool => flag,
            },
            // ── clients: the wire ──
            /// A request leaves the client.
            Send = "send" {
                req: ReqId,
                kind: Request,
                path: Sym,
                /// Whether it arms a watch.
                watch: bool => flag,
                /// Whether a clean-up duty or the client library sends it, so that it does not count for the operation.
                cleanup: bool => flag,
            },
            /// The reply reaches the client.
            Reply = "reply" {
                req: ReqId,
                code: Code,
                /// The zxid of the header; where a capture does not see the wire, the largest zxid in the returned stats, or zero.
                zxid: u64 => hex,
                #[serde(default, skip_serializing_if = "is_default")]
                conn: Conn,
            },
            /// The reply to a create names the new znode. Follows that `Reply` at once.
            Made = "made" { path: Sym, czxid: u64 => hex },
            /// The client library receives an answer other than a [`What::Reply`]: to a ping, a handshake, or a request
            /// of its own. Only if the header says that pings are recorded.
            Heard = "heard" {
                session: Session,
                /// The time at which that request was sent, in microseconds.
                sent: u64 => key seconds,
            },
            /// The client library reports a connection loss: the reply is lost.
            Lost = "lost" { req: ReqId },
            /// A notification of a watch reaches the client.
            Notice = "notice" {
                session: Session,
                kind: Notify,
                path: Sym,
                #[serde(default, skip_serializing_if = "is_default")]
                conn: Conn,
            },
            /// The client learns, or the recipe acts on, a state of its session.
            State = "state" {
                session: Session,
                state: SessionState,
                #[serde(default, skip_serializing_if = "is_default")]
                conn: Conn,
                /// The server at the other end of that connection.
                #[serde(default, skip_serializing_if = "is_default")]
                server: u8 => optional key decimal,
            },
            // ── servers ──
            /// A transaction is applied by the first server that does so, or refused (failed writes take a zxid too).
            /// Its effects follow, with the same zxid. The applications by other servers are [`What::Applied`].
            Txn = "txn" { zxid: u64 => hex, session: Session, kind: Request, code: Code },
            /// Effect: a znode was created.
            Created = "created" {
                /// The transaction, and the czxid of the znode.
                zxid: u64 => hex,
                path: Sym,
                /// The owner of an ephemeral, or zero.
                owner: Session,
            },
            /// Effect: a znode was deleted, by the session that asked for it or that ended.
            Deleted = "deleted" { zxid: u64 => hex, path: Sym, by: Session => key },
            /// Effect: a znode's data were written.
            Written = "written" { zxid: u64 => hex, path: Sym },
            /// The condition of the `Send` just before: the znode must have this version.
            Expects = "expects" { version: i32 => decimal },
            /// Effect: an access list was changed.
            Restricted = "restricted" { zxid: u64 => hex, path: Sym },
            /// The data of the znode of the `Created` or `Written` just before.
            Data = "data" {
                /// In bytes.
                length: u32 => decimal,
                /// By [`digest::data`](crate::digest::data).
                digest: u64 => hex,
            },
            /// Another server applies a transaction after the first one did.
            Applied = "applied" { zxid: u64 => hex },
            /// A server answers a read in the state of a transaction. The results follow, as [`What::Found`].
            Served = "served" { req: ReqId, zxid: u64 => hex, conn: Conn },
            /// A result of the read of the `Served` just before; one for each part of a `multiRead`.
            Found = "found" {
                /// The kind of read: exists, get, children or getAcl.
                read: Request,
                code: Code,
                path: Sym,
                digest: Digest,
            },
            /// The leader accepts a sync: its reply comes after everything up to this zxid has been applied.
            Barrier = "barrier" { session: Session, req: ReqId, zxid: u64 => hex },
            /// A server arms a watch.
            Arm = "arm" {
                session: Session,
                table: Table,
                path: Sym,
                #[serde(default, skip_serializing_if = "is_default")]
                conn: Conn,
                #[serde(default, skip_serializing_if = "is_default")]
                mode: WatchMode => optional,
            },
            /// An armed watch fires: the server queues one notification.
            Fire = "fire" {
                session: Session,
                kind: Notify,
                path: Sym,
                /// The low half of the transaction's zxid (epoch changes do not lie within a step); zero for a change that was
                /// missed while disconnected, and found when watches are registered again.
                zxid: u32 => hex,
                #[serde(default, skip_serializing_if = "is_default")]
                conn: Conn,
            },
            /// An armed watch is removed without firing.
            Disarm = "disarm" {
                session: Session,
                table: Table,
                path: Sym,
                #[serde(default, skip_serializing_if = "is_default")]
                conn: Conn,
            },
            /// A session was opened. The negotiated timeout is in milliseconds.
            Opened = "opened" { session: Session, timeout: u32 => key decimal, zxid: u64 => hex },
            /// The leader marks a session as expired. Its end follows.
            Marked = "marked" {
                session: Session,
                /// The time of the last touch that the leader had processed, in microseconds.
                heard: u64 => key seconds,
            },
            /// A session's end was applied.
            Ended = "ended" { session: Session, zxid: u64 => hex },
            /// A server takes a session over, on this connection.
            Attached = "attached" { session: Session, conn: Conn },
            /// A server refuses a client that has seen a larger zxid than the server's own.
            TurnedAway = "turned_away" {
                /// The client's session, or zero.
                session: Session,
                seen: u64 => hex,
            },
            /// A request arrives through a server that its session has left, and is refused without a reply.
            Moved = "moved" { session: Session, zxid: u64 => hex },
            /// This server leads.
            Elected = "elected" { epoch: u32 => decimal },
            /// This server begins to serve clients.
            Serving = "serving",
            /// This server stops serving clients: it has died, or lost the leader, or the quorum.
            Ceased = "ceased",
            // ── world ──
            /// A fault is injected.
            Fault = "fault" {
                kind: FaultKind,
                #[serde(flatten)]
                victim: Victim,
                /// In microseconds, or zero for an instant.
                lasts: u64 => lenient key seconds,
            },
            /// A fault that lasted is over.
            Mended = "mended" {
                kind: FaultKind,
                #[serde(flatten)]
                victim: Victim,
            },
            /// A client process died.
            Crash = "crash" { client: u16 => client },
            /// A client process began, or began again.
            Start = "start" { client: u16 => client },
            /// No fault is injected from here on.
            Heal = "heal",
            /// No operation is open and no request is in flight. In a capture: every object's directory has been listed
            /// one last time, with the results in [`What::Left`].
            Quiesce = "quiesce",
            /// The harness stopped the run at its time limit, with operations open: time has passed until here.
            Stopped = "stopped",
            /// Time has passed until here without any other event.
            Elapsed = "elapsed",
            /// A znode that a last listing found below an object's directory.
            Left = "left" {
                object: ObjectId,
                path: Sym,
                /// The owner, if it is an ephemeral of a known session.
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
            $($(#[$about:meta])* $field:ident: $type:ty $(=> $($form:ident)+)?),+ $(,)?
        })?,
    )+) => {
        /// The kinds of event.
        ///
        /// *Clients'* events come from the workload and the recording wrapper. *Servers'* and *world's* events come
        /// only from a simulation or from the harness.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(tag = "what")]
        #[allow(missing_docs, reason = "a field without a text of its own is what its name and its type say")]
        pub enum What {
            $($(#[$meta])* #[serde(rename = $name)] $kind $({ $($(#[$about])* $field: $type,)+ })?,)+
        }

        impl What {
            /// The name of the kind of event in the written forms.
            pub const fn name(&self) -> &'static str {
                match self { $(What::$kind { .. } => $name,)+ }
            }

            /// The path of the event, if any.
            #[allow(unused_variables, reason = "most fields are no path")]
            pub fn path(&self) -> Option<Sym> {
                match *self {
                    $(What::$kind { $($($field,)+)? } => { $($(return_field!(path is $field: $field);)+)? })+
                }
                None
            }

            /// The path or other text of the event, if any.
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
