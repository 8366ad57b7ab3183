//! The questions that an error answers.

use super::{Error, ErrorKind, Over};

/// Each question is about the error itself. Those whose docs say so look into a refused transaction, too; for the others see
/// [`refused_operation`](Self::refused_operation).
impl Error {
    /// The operation of a transaction that was refused, counted from 0, and why: nothing of the transaction was applied.
    #[must_use]
    pub fn refused_operation(&self) -> Option<(usize, &Error)> {
        match &self.kind {
            ErrorKind::Multi { index, cause } => Some((*index, cause)),
            _ => None,
        }
    }

    /// Whether the request may or may not have been applied.
    pub fn is_outcome_unknown(&self) -> bool {
        matches!(self.kind, ErrorKind::ConnectionLoss | ErrorKind::SessionOver(_) | ErrorKind::Unexpected(_))
    }

    /// Whether the server refused the request for a transient reason, such as its load: the request was certainly not
    /// applied, and may be retried after a backoff.
    pub fn is_retryable_refusal(&self) -> bool {
        match &self.kind {
            ErrorKind::Refused(code) => code.is_passing(),
            ErrorKind::Multi { cause, .. } => cause.is_retryable_refusal(),
            _ => false,
        }
    }

    /// Whether the request may be retried while the session lives: the connection was lost, or the server refused it for a
    /// transient reason. [`is_outcome_unknown`](Self::is_outcome_unknown) tells whether it may have been applied.
    pub fn is_transient(&self) -> bool {
        matches!(self.kind, ErrorKind::ConnectionLoss) || self.is_retryable_refusal()
    }

    /// Whether the request failed for a reason in the server, in a quota or in an access list, and not in the tree: a
    /// clean-up that only this client can do is retried then.
    pub(crate) fn says_nothing_of_the_tree(&self) -> bool {
        match &self.kind {
            ErrorKind::Refused(_)
            | ErrorKind::NoAuth
            | ErrorKind::Unexpected(_)
            | ErrorKind::SessionFull { .. } => true,
            ErrorKind::Multi { cause, .. } => cause.says_nothing_of_the_tree(),
            _ => false,
        }
    }

    /// Maps the error of a read that should settle a lost reply: the outcome of the write stays unknown, which a refusal
    /// would deny.
    pub(crate) fn while_in_doubt(self) -> Error {
        if self.says_nothing_of_the_tree() { ErrorKind::ConnectionLoss.into() } else { self }
    }

    /// Whether the session owns as many ephemerals as its client allows: nothing was sent, and another session has room.
    pub fn is_session_full(&self) -> bool {
        matches!(self.kind, ErrorKind::SessionFull { .. })
    }

    /// Whether the session has ended, so that the handle is unusable.
    pub fn is_session_over(&self) -> bool {
        matches!(self.kind, ErrorKind::SessionOver(_))
    }

    /// Whether the ensemble refused this client's credentials. The session, if there was one, has ended by that.
    pub fn is_auth_failed(&self) -> bool {
        matches!(self.kind, ErrorKind::SessionOver(Over::AuthFailed))
    }

    /// Whether the call was refused before anything was sent.
    pub fn is_bad_input(&self) -> bool {
        matches!(self.kind, ErrorKind::BadInput(_))
    }

    /// Whether the caller's own limit ended the call.
    pub fn is_timed_out(&self) -> bool {
        matches!(self.kind, ErrorKind::TimedOut)
    }

    /// Whether another client deleted the znode that stood for the operation.
    pub fn is_removed(&self) -> bool {
        matches!(self.kind, ErrorKind::Removed(_))
    }

    /// Whether the znodes are configured for something else.
    pub fn is_mismatch(&self) -> bool {
        matches!(self.kind, ErrorKind::Mismatch(_))
    }

    /// Whether another client has the name.
    pub fn is_taken(&self) -> bool {
        matches!(self.kind, ErrorKind::Taken(_))
    }

    /// Whether another client has written in between.
    pub fn is_conflict(&self) -> bool {
        matches!(self.kind, ErrorKind::Conflict)
    }

    /// Whether the owner was asked to release.
    pub fn is_revoked(&self) -> bool {
        matches!(self.kind, ErrorKind::Revoked)
    }

    /// Whether an access list denied the request, or is invalid itself.
    pub fn is_denied(&self) -> bool {
        match &self.kind {
            ErrorKind::NoAuth | ErrorKind::InvalidAcl => true,
            ErrorKind::Multi { cause, .. } => cause.is_denied(),
            _ => false,
        }
    }

    /// Whether the znode, or the parent of the one to create, does not exist.
    pub fn is_no_node(&self) -> bool {
        matches!(self.kind, ErrorKind::NoNode)
    }

    /// Whether a znode of that name exists.
    pub fn is_node_exists(&self) -> bool {
        matches!(self.kind, ErrorKind::NodeExists)
    }

    /// Whether the znode has another version than the caller expected.
    pub fn is_bad_version(&self) -> bool {
        matches!(self.kind, ErrorKind::BadVersion)
    }

    /// Whether the znode could not be deleted for its children.
    pub fn is_not_empty(&self) -> bool {
        matches!(self.kind, ErrorKind::NotEmpty)
    }

    /// Whether the znode could not be created because its parent is an ephemeral.
    pub fn is_no_children_for_ephemerals(&self) -> bool {
        matches!(self.kind, ErrorKind::NoChildrenForEphemerals)
    }

    /// Whether the server does not offer the operation: it is too old, or the operation is switched off.
    pub fn is_unimplemented(&self) -> bool {
        matches!(self.kind, ErrorKind::Unimplemented)
    }

    /// Whether the server refused for a reason of its own, such as its load, a quota or read-only mode: the request was certainly not
    /// applied. [`is_retryable_refusal`](Self::is_retryable_refusal) tells whether it will pass.
    pub fn is_refused(&self) -> bool {
        matches!(self.kind, ErrorKind::Refused(_))
    }

    /// Whether no server accepted a session in time.
    pub fn is_unreachable(&self) -> bool {
        matches!(self.kind, ErrorKind::Unreachable)
    }

    /// Whether the connection was lost before the answer came: whether the request was applied is unknown.
    pub fn is_connection_loss(&self) -> bool {
        matches!(self.kind, ErrorKind::ConnectionLoss)
    }

    /// Whether the server answered with something that the client does not understand: whether the request was applied is unknown.
    pub fn is_unexpected(&self) -> bool {
        matches!(self.kind, ErrorKind::Unexpected(_))
    }

    /// Whether the claim of an item was lost: the item was delivered to another client.
    pub fn is_claim_lost(&self) -> bool {
        matches!(self.kind, ErrorKind::ClaimLost)
    }

    /// Whether a sequence counter of ZooKeeper has run out.
    pub fn is_exhausted(&self) -> bool {
        matches!(self.kind, ErrorKind::Exhausted(_))
    }

    /// Whether the barrier has opened without this participant.
    pub fn is_late(&self) -> bool {
        matches!(self.kind, ErrorKind::Late)
    }

    /// Whether there is no such transaction.
    pub fn is_no_transaction(&self) -> bool {
        matches!(self.kind, ErrorKind::NoTransaction(_))
    }

    /// Whether the transaction does not name this site.
    pub fn is_not_a_participant(&self) -> bool {
        matches!(self.kind, ErrorKind::NotAParticipant(_))
    }

    /// Whether the site's other vote was cast before.
    pub fn is_already_voted(&self) -> bool {
        matches!(self.kind, ErrorKind::AlreadyVoted)
    }

    /// Whether this handle has joined under that name already.
    pub fn is_already_joined(&self) -> bool {
        matches!(self.kind, ErrorKind::AlreadyJoined(_))
    }
}
