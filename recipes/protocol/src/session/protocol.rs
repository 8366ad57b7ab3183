//! The interface between a session machine and its driver.

use super::lists::{List, Table, Watching};
use std::fmt::Debug;
use zk_recipes::zk::{Code, EventKind, Over, SessionId, Status};

/// The types of a session machine, and the requests that it makes itself.
pub trait Protocol: Clone + Debug {
    /// The path of a znode.
    type Path: Clone + Ord + Debug;
    /// A unique connection number.
    type Conn: Copy + PartialEq + Debug;
    /// A request without its xid.
    type Ask: Clone + Debug;
    /// A mark that a request carries; the machine's own requests carry [`own_tag`](Self::own_tag). Later requests of a
    /// user have greater marks.
    type Tag: Copy + Default + PartialOrd + Debug;
    /// The body of a reply.
    type Answer: Clone + Debug;
    /// Why a server refused a request.
    type Refusal: Clone + Debug;
    /// The injected bugs: `()` for none.
    type Flaws: Flaws;

    /// Whether [`Out::Forgot`] is wanted: each dropped watch costs memory for it until the next connection.
    const TELLS_FORGOTTEN: bool;

    /// Which watch a request arms if it succeeds.
    fn arms(ask: &Self::Ask) -> Option<(List, Self::Path)>;
    /// Whether a request changes znodes.
    fn is_write(ask: &Self::Ask) -> bool;
    /// Whether a request ends the session.
    fn is_close(ask: &Self::Ask) -> bool;
    /// Whether the refusal of `exists` says that the znode is absent: then the watch is armed all the same.
    fn is_absent(ask: &Self::Ask, refusal: &Self::Refusal) -> bool;
    /// What an answer says about the session instead of the request; `ask` is the request, if it is the one that is answered
    /// next. An answer to several operations says it in one of their results.
    fn session_error(
        ask: Option<&Self::Ask>,
        result: &Result<Self::Answer, Self::Refusal>,
    ) -> Option<SessionError>;
    /// Whether the server was too busy, so that a retry may succeed.
    fn is_busy(refusal: &Self::Refusal) -> bool;
    /// A ping.
    fn ping() -> Self::Ask;
    /// Registers watches again after a reconnect.
    fn set_watches(watching: Watching<Self::Path>) -> Self::Ask;
    /// Removes the watches of a `WatcherType` (1 children, 2 data, 3 any) on a path.
    fn remove_watches(path: Self::Path, kind: i32) -> Self::Ask;
    /// The mark of requests that the machine makes by itself.
    fn own_tag() -> Self::Tag;
}

/// The set of injected [`Flaw`]s of a machine, with which a simulator shows that its checks detect them.
pub trait Flaws: Copy + Default + Debug {
    /// Whether it has that one.
    fn has(self, flaw: Flaw) -> bool;
}

/// A machine without flaws. The compiler removes their code.
impl Flaws for () {
    fn has(self, _: Flaw) -> bool {
        false
    }
}

/// An injected bug.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the simulator describes each")]
pub enum Flaw {
    ForgetsWatches,
    ForgetsAbsent,
    ForgetsTrees,
    RegistersAsOfNow,
    KeepsFired,
    ForgetsZxid,
    ReplyFirst,
    RepeatsLost,
    SwapsAnswers,
    HidesLoss,
    ExpiresAtLoss,
}

/// An answer about the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionError {
    /// The session is over.
    Over(Over),
    /// This server does not serve the session: the next connect tells whether it lives.
    NotHere,
}

impl SessionError {
    /// What a code says about the session; none for a code about a request.
    pub fn of(code: Code) -> Option<SessionError> {
        match code {
            Code::SessionExpired => Some(SessionError::Over(Over::Expired)),
            Code::AuthFailed | Code::SessionClosedRequireSaslAuth => {
                Some(SessionError::Over(Over::AuthFailed))
            }
            Code::SessionMoved | Code::UnknownSession => Some(SessionError::NotHere),
            _ => None,
        }
    }
}

/// The proof that a client owns a session.
pub type Password = [u8; 16];

/// From client to server.
#[derive(Clone, Debug)]
pub enum Outgoing<P: Protocol> {
    /// The first packet of a connection.
    Connect {
        /// The session; 0 asks for a new one.
        session: SessionId,
        /// The zxid of the last reply.
        last_zxid: i64,
        /// The session timeout to ask for, in microseconds.
        timeout: u64,
        /// The session's password.
        password: Password,
    },
    /// A request.
    Request {
        /// Its number on the connection; -2 for a ping.
        xid: i32,
        /// What it asks for.
        ask: P::Ask,
        /// Its mark.
        tag: P::Tag,
    },
}

/// From server to client.
#[derive(Clone, Debug)]
pub enum Incoming<P: Protocol> {
    /// The answer to a connect.
    Connected {
        /// The session.
        session: SessionId,
        /// The timeout that the server grants, in microseconds; 0 when it does not know the session (any more).
        timeout: u64,
        /// The session's password.
        password: Password,
    },
    /// The answer to a request.
    Reply {
        /// The request's number.
        xid: i32,
        /// The zxid in the reply's header.
        zxid: i64,
        /// The body, or the refusal.
        result: Result<P::Answer, P::Refusal>,
    },
    /// A notification.
    Notify {
        /// What happened.
        kind: EventKind,
        /// The znode.
        path: P::Path,
    },
    /// The end of the stream. Before the answer to a connect it means that the server has turned the client away.
    Fin,
    /// No stream came about.
    Unreachable,
}

/// An action for the driver.
#[derive(Clone, Debug)]
pub enum Out<P: Protocol> {
    /// Send a packet on a connection.
    Send(P::Conn, Outgoing<P>),
    /// A request is answered.
    Answered(Answered<P>),
    /// A watch is notified.
    Fired(u32, WatchItem<P::Path>),
    /// A notification arrived: [`dispatch`](super::ClientSession::dispatch) it.
    Noticed(P::Conn, EventKind, P::Path),
    /// A watch on that path is not registered again, since no future waits for it.
    Forgot(Table, P::Path),
    /// The status changed.
    Changed(Status),
    /// Give the connection up.
    Close(P::Conn),
    /// Open a connection with that server, and then call [`attempt`](super::ClientSession::attempt).
    Attempt {
        /// The server, counted from 0.
        server: u8,
    },
    /// Schedule the next attempt by [`retry_at`](super::ClientSession::retry_at): after the usual wait and a pause.
    Retry {
        /// The pause, in microseconds.
        pause: u64,
        /// Whether there was a connection until now.
        lost: bool,
    },
}

/// An item of a watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchItem<Path> {
    /// It fired.
    Event(EventKind, Path),
    /// It stays, and may have missed something.
    Gap,
    /// It ends with the session.
    Over(Over),
}

/// The result of a request.
#[derive(Clone, Debug)]
pub struct Answered<P: Protocol> {
    /// The number under which the user waits for the answer.
    pub ticket: u32,
    /// The answer.
    pub result: Result<P::Answer, Failure<P::Refusal>>,
    /// The request's mark.
    pub tag: P::Tag,
    /// The zxid of the reply's header, if there was a reply.
    pub zxid: Option<i64>,
    /// The connection on which the reply came, if there was one.
    pub conn: Option<P::Conn>,
}

impl<P: Protocol> Out<P> {
    /// A failed request.
    pub(super) fn failed(ticket: u32, why: Failure<P::Refusal>, tag: P::Tag) -> Self {
        Out::Answered(Answered { ticket, result: Err(why), tag, zxid: None, conn: None })
    }
}

/// The reason why a request failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure<Refusal> {
    /// The server refused it.
    Refused(Refusal),
    /// The connection was lost before the answer came.
    ConnectionLoss,
    /// The session is over.
    Over(Over),
}
