//! The error type. Callers use its methods instead of matching variants.

use super::Code;

/// The reason why a request or a recipe failed.
///
/// A write has three outcomes: applied, refused, or *unknown*. Unknown never means refused:
/// [`is_outcome_unknown`](Self::is_outcome_unknown) tells.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
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
    /// No server accepted a session in time.
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

impl Error {
    /// The error of a transaction whose operation `index` was refused, for implementations of
    /// [`ZooKeeper::multi`](super::ZooKeeper::multi).
    ///
    /// A server checks the session for every operation (`PrepRequestProcessor.pRequest2Txn`), and reports its expiry as the
    /// refusal of the first one. That is an error of the session, not of the operation.
    #[must_use]
    pub fn multi(index: usize, cause: Error) -> Error {
        match cause {
            Error::SessionOver(_) | Error::ConnectionLoss => cause,
            cause => Error::Multi { index, cause: Box::new(cause) },
        }
    }

    /// Whether the request may or may not have been applied.
    pub fn is_outcome_unknown(&self) -> bool {
        matches!(self, Error::ConnectionLoss | Error::SessionOver(_) | Error::Unexpected(_))
    }

    /// Whether the server refused the request for a transient reason, such as its load: the request was certainly not
    /// applied, and may be retried after a backoff.
    pub fn is_retryable_refusal(&self) -> bool {
        match self {
            Error::Refused(code) => code.is_passing(),
            Error::Multi { cause, .. } => cause.is_retryable_refusal(),
            _ => false,
        }
    }

    /// Whether the request may be retried while the session lives: the connection was lost, or the server refused it for a
    /// transient reason. [`is_outcome_unknown`](Self::is_outcome_unknown) tells whether it may have been applied.
    pub fn is_transient(&self) -> bool {
        matches!(self, Error::ConnectionLoss) || self.is_retryable_refusal()
    }

    /// Whether the request failed for a reason in the server, in a quota or in an access list, and not in the tree: a
    /// clean-up that only this client can do is retried then.
    pub(crate) fn says_nothing_of_the_tree(&self) -> bool {
        match self {
            Error::Refused(_) | Error::NoAuth | Error::Unexpected(_) | Error::SessionFull { .. } => true,
            Error::Multi { cause, .. } => cause.says_nothing_of_the_tree(),
            _ => false,
        }
    }

    /// Maps the error of a read that should settle a lost reply: the outcome of the write stays unknown, which a refusal
    /// would deny.
    pub(crate) fn while_in_doubt(self) -> Error {
        if self.says_nothing_of_the_tree() { Error::ConnectionLoss } else { self }
    }

    /// Whether the session owns as many ephemerals as its client allows: nothing was sent, and another session has room.
    pub fn is_session_full(&self) -> bool {
        matches!(self, Error::SessionFull { .. })
    }

    /// Whether the session has ended, so that the handle is unusable.
    pub fn is_session_over(&self) -> bool {
        matches!(self, Error::SessionOver(_))
    }

    /// Whether the ensemble refused this client's credentials. The session, if there was one, has ended by that.
    pub fn is_auth_failed(&self) -> bool {
        matches!(self, Error::SessionOver(Over::AuthFailed))
    }

    /// Whether the call was refused before anything was sent.
    pub fn is_bad_input(&self) -> bool {
        matches!(self, Error::BadInput(_))
    }

    /// Whether the caller's own limit ended the call.
    pub fn is_timed_out(&self) -> bool {
        matches!(self, Error::TimedOut)
    }

    /// Whether another client deleted the znode that stood for the operation.
    pub fn is_removed(&self) -> bool {
        matches!(self, Error::Removed(_))
    }

    /// Whether the znodes are configured for something else.
    pub fn is_mismatch(&self) -> bool {
        matches!(self, Error::Mismatch(_))
    }

    /// Whether another client has the name.
    pub fn is_taken(&self) -> bool {
        matches!(self, Error::Taken(_))
    }

    /// Whether another client has written in between.
    pub fn is_conflict(&self) -> bool {
        matches!(self, Error::Conflict)
    }

    /// Whether the owner was asked to release.
    pub fn is_revoked(&self) -> bool {
        matches!(self, Error::Revoked)
    }

    /// Whether an access list denied the request, or is invalid itself.
    pub fn is_denied(&self) -> bool {
        match self {
            Error::NoAuth | Error::InvalidAcl => true,
            Error::Multi { cause, .. } => cause.is_denied(),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_operation_is_refused_for_the_sessions_sake() {
        let expired = Error::multi(0, Error::SessionOver(Over::Expired));
        assert!(expired.is_session_over() && expired.is_outcome_unknown(), "{expired}");
        assert!(Error::multi(1, Error::ConnectionLoss).is_outcome_unknown());
        let refused = Error::multi(2, Error::BadVersion);
        assert_eq!(refused, Error::Multi { index: 2, cause: Box::new(Error::BadVersion) });
        assert!(!refused.is_outcome_unknown());
    }
}
