//! The interface of recipes to ZooKeeper: the trait [`ZooKeeper`], the trait [`Runtime`] below it, their types and their error.
//!
//! One value of the trait is one session. After its expiry the handle and everything made from it stay unusable: open a new
//! session and start over.
//!
//! | module | what it holds |
//! |---|---|
//! | [`types`] | znodes, stats, events, session states, time |
//! | [`error`] | the one error type, which answers questions |
//! | [`code`] | ZooKeeper's error codes, and what each says about its request |
//! | [`duty`] | promises to clean up that outlive a dropped future |
//! | [`path`] | ZooKeeper's rule for paths, checked before anything is sent |
//! | [`mod@unreachable`] | why no server could be used, by server |
//! | [`waiters`] | futures that wait for one change together, for implementations |

pub(crate) mod backoff;
pub mod code;
pub mod duty;
pub mod error;
pub mod path;
mod runtime;
pub(crate) mod select;
pub mod types;
pub mod unreachable;
pub mod waiters;

use std::future::Future;
use std::sync::Weak;

use futures_util::Stream;

pub use code::Code;
pub use duty::{Armed, Discharge, Duty, DutyId, Reserved};
pub use error::{Error, ErrorKind, Over};
pub use runtime::Runtime;
pub use types::{
    CreateMode, Created, Data, Event, EventKind, Guid, Listing, Op, OpResult, SessionId, Stat, State, Status,
    Time, TreeEvent,
};
pub use unreachable::{ConnectFailure, ConnectFailureKind, Unreachable};

/// The number of pings that an idle client sends in a session timeout. A recipe's margin depends on it.
pub const PINGS_PER_TIMEOUT: u32 = 3;

/// Hears of the end of a session: see [`ZooKeeper::on_session_over`].
pub trait OnSessionOver: Send + Sync {
    /// The session is over. Must not wait, nor use the session's handle.
    fn session_over(&self);
}

/// A request in flight: resolves with the reply, or with what became of the request. Any future of that type is one.
pub trait InFlight<T>: Future<Output = Result<T, Error>> + Send {}

impl<T, F: Future<Output = Result<T, Error>> + Send> InFlight<T> for F {}

/// One ZooKeeper session, as the recipes need it.
///
/// # Promises
///
/// An implementation keeps what ZooKeeper and its client library promise together
/// ("Consistency Guarantees", ZooKeeper Programmer's Guide), and says so per method below:
///
/// * **Call order.** A request leaves when its method is *called*, not when the future is first polled, and requests of
///   one handle reach the server in call order. Several calls in a row without waiting are one *flight*: they cost one
///   round trip, and a read sees the writes before it in its flight.
/// * **Reply order.** Replies come in request order. A request caught by a disconnect fails with
///   [`Error::is_connection_loss`]: whether it was applied is unknown, and the client never sends it again.
/// * **Servers lag.** A write is answered when the server that this session is connected with has applied it. Another
///   session may be connected with another server: it certainly reads the write after a write of its own, or after a
///   [`sync`](Self::sync) unless its server is the leader.
/// * **Single system image.** What a session has been answered is never contradicted by a later, older answer, also over
///   reconnects. A *notification* is not an answer: after a reconnect a read may be older than an event already delivered.
///
/// # Cancellation
///
/// Dropping a future abandons the reply, not the request, which was sent at the call. A clean-up that is needed after a
/// drop is armed beforehand, see [`arm`](Runtime::arm).
///
/// An unpolled future blocks no other call, of this handle or another: every reply reaches its future, even if earlier
/// replies were not taken.
///
/// # When the connection is lost
///
/// Requests called while the session is [`State::Suspended`] are held back until the connection returns, or fail with
/// [`Error::is_connection_loss`] at the next attempt that fails. Recipes wait for [`changed`](Self::changed) instead.
///
/// # When a server refuses a request
///
/// A server may refuse a request without processing it: it is overloaded or without a quorum, or a quota or an access list
/// forbids the request. The error is that of the [`Code`]. Requests behind it are processed, so a refusal leaves a gap in a
/// flight; for this reason an implementation does not send a refused request again. Recipes do. An implementation that is
/// refused the registration of its watches after a reconnect gives up that connection: else the watches were lost.
///
/// # When the session is over
///
/// Every pending and later request fails with [`Error::is_session_over`], every [`Watch`](Self::Watch) resolves with it, and
/// every [`TreeWatch`](Self::TreeWatch) tells it last.
pub trait ZooKeeper: Runtime {
    /// A one-shot watch, armed by the read that returned it.
    ///
    /// # Promises
    ///
    /// It sees only changes after the state which that read returned, and at least the first of them. On one connection it
    /// resolves before any reply that shows the change. It survives reconnects: missed changes are reported then, except a
    /// znode that was created *and* deleted again during the disconnect.
    ///
    /// # Cancellation
    ///
    /// When the last watch of a handle on a (path, kind) is dropped unfired, the client removes it at the server, by one
    /// request that no call waits for.
    ///
    /// # Errors
    ///
    /// [`Error::is_session_over`] when the session ends first.
    type Watch: Future<Output = Result<Event, Error>> + Send + Unpin + 'static;

    /// All changes in a tree, in order, armed by [`watch_tree`](Self::watch_tree). It ends with the session: the error is
    /// its last item.
    type TreeWatch: Stream<Item = Result<TreeEvent, Error>> + Send + Unpin + 'static;

    /// Creates a znode (`create2`: ZooKeeper 3.5 or later).
    ///
    /// A sequential mode appends the parent's count of creations as `%010d`. A write is linearizable: the znode's
    /// `czxid` places it in the one order of all writes.
    ///
    /// # Errors
    ///
    /// `NoNode` (no parent), `NodeExists`, `NoChildrenForEphemerals`, `ConnectionLoss` (it may or may not exist),
    /// `SessionOver`, `BadInput`.
    fn create(&self, path: &str, data: &[u8], mode: CreateMode) -> impl InFlight<Created> + use<Self>;

    /// Deletes a znode; with a version, only if its data still have that version.
    ///
    /// # Errors
    ///
    /// `NoNode`, `BadVersion`, `NotEmpty`, `ConnectionLoss` (it may be gone), `SessionOver`, `BadInput`.
    fn delete(&self, path: &str, version: Option<i32>) -> impl InFlight<()> + use<Self>;

    /// Replaces a znode's data; with a version, only if the data still have that version. Returns the new stat.
    ///
    /// # Errors
    ///
    /// `NoNode`, `BadVersion`, `ConnectionLoss` (it may be written), `SessionOver`, `BadInput`.
    fn set(&self, path: &str, data: &[u8], version: Option<i32>) -> impl InFlight<Stat> + use<Self>;

    /// The stat of a znode, or `None`. Answered by the connected server from its own state, which may lag behind
    /// others' writes, but never behind this session's own.
    ///
    /// # Errors
    ///
    /// `ConnectionLoss`, `SessionOver`, `BadInput`.
    fn exists(&self, path: &str) -> impl InFlight<Option<Stat>> + use<Self>;

    /// As [`exists`](Self::exists), and a watch in both cases: on data change and deletion of the znode that is there,
    /// or on the creation of the one that is not.
    fn exists_watch(&self, path: &str) -> impl InFlight<(Option<Stat>, Self::Watch)> + use<Self>;

    /// A znode's data and stat. As local as [`exists`](Self::exists).
    ///
    /// # Errors
    ///
    /// `NoNode`, `ConnectionLoss`, `SessionOver`, `BadInput`.
    fn get(&self, path: &str) -> impl InFlight<Data> + use<Self>;

    /// As [`get`](Self::get), and a watch on data change and deletion. On a missing node nothing is armed.
    fn get_watch(&self, path: &str) -> impl InFlight<(Data, Self::Watch)> + use<Self>;

    /// The names of a znode's children, in no particular order, and its stat. As local as [`exists`](Self::exists).
    ///
    /// # Errors
    ///
    /// `NoNode`, `ConnectionLoss`, `SessionOver`, `BadInput`.
    fn children(&self, path: &str) -> impl InFlight<Listing> + use<Self>;

    /// As [`children`](Self::children), and a watch on creation and deletion of children and deletion of the znode.
    /// On a missing node nothing is armed. An ephemeral has no children: there only its deletion fires.
    fn children_watch(&self, path: &str) -> impl InFlight<(Listing, Self::Watch)> + use<Self>;

    /// Data and stat of several znodes, pipelined, `None` where there is none. Each is read on its own: the answers need
    /// not be of one instant.
    ///
    /// # Errors
    ///
    /// `ConnectionLoss`, `SessionOver`, `BadInput`.
    fn get_many(&self, paths: &[String]) -> impl InFlight<Vec<Option<Data>>> + use<Self>;

    /// Several writes and checks as one transaction: all or nothing, visible at once, one zxid.
    ///
    /// # Errors
    ///
    /// [`Error::refused_operation`] names the first operation that was refused and why; then nothing was applied. What is wrong with the
    /// session is no operation's refusal: see [`Error::multi`].
    /// `ConnectionLoss` (all of it may be applied), `SessionOver`, `BadInput`.
    fn multi(&self, ops: Vec<Op>) -> impl InFlight<Vec<OpResult>> + use<Self>;

    /// Waits until the connected server has applied all that its leader had proposed when the request reached it.
    ///
    /// No quorum operation (ZOOKEEPER-1675), and no barrier at all when the connected server *is* the leader: to settle
    /// what became of a lost write, use a write.
    ///
    /// # Errors
    ///
    /// `ConnectionLoss`, `SessionOver`, `BadInput`.
    fn sync(&self, path: &str) -> impl InFlight<()> + use<Self>;

    /// Watches a znode, there or not, and everything below it, until what it returns is dropped (a persistent recursive
    /// watch: ZooKeeper 3.6 or later).
    ///
    /// # Promises
    ///
    /// * Every creation, deletion and change of data at or below `path` that the connected server applies after the reply
    ///   is reported once, in the order of the writes; those of a transaction one by one, even of a znode that it created
    ///   and deleted. Changes of children are reported by the children's own events only.
    /// * On one connection a change is reported before any reply that shows it.
    /// * After a reconnect the watch is armed again, but the server does not report missed changes (ZOOKEEPER-4698). So the
    ///   watch reports [`TreeEvent::Gap`], once for each reconnect (several in a row may be merged), before any newer
    ///   event: a read called after the gap comes behind the arming, and changes that it does not show are reported.
    ///   Buffered events from before the loss come before the gap; a stale server may report them again behind it.
    ///
    /// Unread events are buffered: the owner of such a watch must keep polling it.
    ///
    /// # Other watches on the same path
    ///
    /// Below `path` other watches do no harm. At exactly `path`, until ZooKeeper 3.9.0 a server has one mode for a
    /// connection and a path (ZOOKEEPER-4466): there a [`get_watch`](Self::get_watch), [`exists_watch`](Self::exists_watch)
    /// or [`children_watch`](Self::children_watch) through the same session turns this watch, or half of it, into a
    /// one-shot one, silently. Use another session for that, or do without. Several tree watches on one path go together.
    ///
    /// # Cancellation
    ///
    /// Dropping the watch removes it at the server, unless another watch of this session on the same path is left.
    /// Dropping the future does the same as soon as it is armed.
    ///
    /// # Errors
    ///
    /// `ConnectionLoss` (nothing is armed), `SessionOver`, `BadInput`, `Unimplemented` before 3.6.
    fn watch_tree(&self, path: &str) -> impl InFlight<Self::TreeWatch> + use<Self>;

    /// The session's id: the `ephemeralOwner` of its ephemerals.
    fn session(&self) -> SessionId;

    /// The client's view of its session, and the number of its connections. Local, cheap.
    ///
    /// The state may lag behind the truth: a session can be over at the server long before its client learns it, and a
    /// paused process learns nothing at all.
    fn status(&self) -> Status;

    /// Resolves as soon as the status differs from `seen`, at once if it does already. No change is lost between two
    /// calls, though several may be seen as one.
    fn changed(&self, seen: Status) -> impl Future<Output = Status> + Send + use<Self>;

    /// The lease of the session: the instant until which it cannot have ended at the server, as far as this client knows.
    /// That is the *send* time of the last answered request or ping, plus [`timeout`](Self::timeout).
    ///
    /// Sound as long as client and leader agree on the length of a session timeout, and the answering server is in touch
    /// with the leader; see [`OnSuspect`](crate::OnSuspect).
    fn safe_until(&self) -> Time;

    /// The effective session timeout: the smaller of the first and the last negotiated one, since a change of leader
    /// forgets the latter.
    fn timeout(&self) -> std::time::Duration;

    /// The most bytes by which an operation in a request is longer than [`path`] counts: what stands in front
    /// of the path of a handle with a chroot, and an access list of more than one entry.
    fn added_bytes(&self) -> usize {
        0
    }

    /// Tells a listener, while it lives, as soon as this client learns that its session is over; at once, if it is. Whoever
    /// drives the session calls it, with no lock held, and once.
    ///
    /// So the loss of a hold is known that nobody polls. An implementation that has no such place may do nothing: then who
    /// polls is told, and nobody else.
    fn on_session_over(&self, listener: Weak<dyn OnSessionOver>) {
        drop(listener);
    }

    /// The longest request that the servers take (`jute.maxbuffer`), in bytes: a longer one is refused before it is sent.
    fn max_request_bytes(&self) -> usize {
        path::MAX_REQUEST_BYTES
    }

    /// Waits for outstanding clean-up duties, within `limit`, then ends the session: its ephemerals are deleted in one
    /// transaction. Unlike the other methods it begins at the first poll. Duties that are still armed are not waited for.
    /// Earlier requests are applied, though their replies may be lost. Closing an ended session is no error.
    ///
    /// # Errors
    ///
    /// `ConnectionLoss` if it could not be sent or its reply was lost: the session then ends by expiry at the latest.
    fn close(&self, limit: std::time::Duration) -> impl InFlight<()> + use<Self>;
}
