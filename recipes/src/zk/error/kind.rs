//! The kinds of errors, each with its sentence.

use super::Error;
use crate::zk::Code;

/// What went wrong, without the request that it happened to.
///
/// An [`Error`] is made of it with `into()`, and answers the questions that a caller has. To match on a kind is for code
/// that hands on every one of them; later versions add some.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The znode, or its parent, does not exist.
    #[error("no such znode")]
    NoNode,
    /// A znode of that name exists.
    #[error("the znode exists already")]
    NodeExists,
    /// The data have another version.
    #[error("the znode has another version")]
    BadVersion,
    /// The znode has children.
    #[error("the znode has children")]
    NotEmpty,
    /// Ephemerals cannot have children.
    #[error("an ephemeral znode cannot have children")]
    NoChildrenForEphemerals,
    /// The access list forbids it.
    #[error("access denied")]
    NoAuth,
    /// The access list itself is not valid.
    #[error("invalid access list")]
    InvalidAcl,
    /// The server has no such operation, or it is switched off.
    #[error("the server does not offer this operation")]
    Unimplemented,
    /// The server refused it for a reason of its own (its load, a quota, read-only mode): certainly not applied.
    #[error("the server refused: {0}")]
    Refused(Code),
    /// The session's ephemerals would take more bytes than its client allows, in the transaction with which the ensemble ends
    /// the session: see `Options::max_ephemeral_bytes` of the client. Nothing was sent.
    #[error(
        "the session is full: its ephemerals would take {bytes} bytes in the transaction that ends it, and {limit} are allowed, \
         since a server cannot read again what is longer"
    )]
    SessionFull {
        /// The bytes that they would take.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// No server accepted a session in time; [`Error::connect_failures`] has the causes.
    #[error("no server could be reached")]
    Unreachable,
    /// The connection was lost before the answer came.
    #[error("connection lost before the answer came: whether the request was applied is unknown")]
    ConnectionLoss,
    /// The session has ended.
    #[error("the session is over ({0})")]
    SessionOver(Over),
    /// Refused before anything was sent.
    #[error("bad input: {0}")]
    BadInput(String),
    /// A transaction was refused for what one of its operations asks: nothing of it was applied.
    #[error("operation {index} of the transaction was refused: {cause}")]
    Multi {
        /// The first operation that failed, counted from 0.
        index: usize,
        /// Why it failed.
        cause: Box<Error>,
    },
    /// The caller's time limit is over.
    #[error("the time limit is over")]
    TimedOut,
    /// Another client deleted the znode that stood for this operation.
    #[error("own znode {0} was deleted by somebody else")]
    Removed(String),
    /// The server answered with something the client does not understand.
    #[error("unexpected answer: {0}")]
    Unexpected(String),
    /// The znodes are configured for something else: another size, another mode, another recipe.
    #[error("it is set up otherwise: {0}")]
    Mismatch(String),
    /// Another client owns the name.
    #[error("{0} belongs to somebody else")]
    Taken(String),
    /// Another client has written in between.
    #[error("somebody else has written in between")]
    Conflict,
    /// The owner was asked to release, and has released.
    #[error("asked to give up")]
    Revoked,
    /// The claim is lost: the item was delivered to another client.
    #[error("the claim is lost")]
    ClaimLost,
    /// A sequence counter of ZooKeeper has run out.
    #[error("{0} has run out of numbers")]
    Exhausted(String),
    /// The barrier has opened without this participant.
    #[error("too late: it has begun without this participant")]
    Late,
    /// There is no such transaction.
    #[error("there is no transaction {0}")]
    NoTransaction(String),
    /// The transaction does not name this site.
    #[error("{0} does not take part")]
    NotAParticipant(String),
    /// The other vote was cast before.
    #[error("the other vote was cast before")]
    AlreadyVoted,
    /// This handle has joined under that name already.
    #[error("{0} has joined already")]
    AlreadyJoined(String),
}

/// The reason why a session is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Over {
    /// The ensemble expired it: it had not heard from the client for the session timeout.
    Expired,
    /// This client closed it.
    Closed,
    /// The ensemble refused the client's credentials, or wants some and got none.
    AuthFailed,
}

impl std::fmt::Display for Over {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Over::Expired => "expired",
            Over::Closed => "closed",
            Over::AuthFailed => "authentication failed",
        })
    }
}
