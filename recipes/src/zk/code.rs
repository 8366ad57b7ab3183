//! ZooKeeper's error codes, and their meaning for the request.
//!
//! The table is `KeeperException.Code` of ZooKeeper 3.9. A later version may send a code that is not in it: see
//! [`Error::from_code_number`].

use super::{Error, ErrorKind, Over};

macro_rules! codes {
    ($($(#[$doc:meta])+ $code:ident = $number:literal, $name:literal;)+) => {
        /// An error code of ZooKeeper's. Zero, which means success, is none.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Code { $($(#[$doc])+ $code),+ }

        impl Code {
            /// Every code, in the order of ZooKeeper's list.
            pub const ALL: &[Code] = &[$(Code::$code),+];

            /// The number on the wire.
            #[must_use]
            pub fn number(self) -> i32 {
                match self { $(Code::$code => $number),+ }
            }

            /// The name of the Java exception, without "Exception".
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Code::$code => $name),+ }
            }

            /// The code of that number, if this version of the table has it.
            #[must_use]
            pub fn from_number(number: i32) -> Option<Code> {
                match number { $($number => Some(Code::$code),)+ _ => None }
            }
        }
    };
}

codes! {
    /// A failure inside the server.
    SystemError = -1, "SystemError";
    /// The server found its state inconsistent. Also what a transaction tells of the operations behind the refused one.
    RuntimeInconsistency = -2, "RuntimeInconsistency";
    /// The server found its data inconsistent.
    DataInconsistency = -3, "DataInconsistency";
    /// The connection was lost before the answer came. Clients tell it themselves.
    ConnectionLoss = -4, "ConnectionLoss";
    /// The server failed to read the request or to write the answer.
    MarshallingError = -5, "MarshallingError";
    /// The server has no such operation.
    Unimplemented = -6, "Unimplemented";
    /// An operation took too long. Clients tell it themselves.
    OperationTimeout = -7, "OperationTimeout";
    /// The arguments are not valid: a path, a mode, a lifetime.
    BadArguments = -8, "BadArguments";
    /// A reconfiguration whose new servers have no quorum that is up to date.
    NewConfigNoQuorum = -13, "NewConfigNoQuorum";
    /// Another reconfiguration is going on.
    ReconfigInProgress = -14, "ReconfigInProgress";
    /// The server does not know the session. Servers tell [`SessionExpired`](Self::SessionExpired) instead.
    UnknownSession = -12, "UnknownSession";
    /// The first number of the errors that a caller causes. No server sends it.
    ApiError = -100, "APIError";
    /// The znode, or its parent, does not exist.
    NoNode = -101, "NoNode";
    /// An access list forbids the operation.
    NoAuth = -102, "NoAuth";
    /// The data have another version.
    BadVersion = -103, "BadVersion";
    /// Ephemerals cannot have children.
    NoChildrenForEphemerals = -108, "NoChildrenForEphemerals";
    /// A znode of that name exists.
    NodeExists = -110, "NodeExists";
    /// The znode has children.
    NotEmpty = -111, "NotEmpty";
    /// The ensemble has ended the session.
    SessionExpired = -112, "SessionExpired";
    /// A callback is not valid. Clients tell it themselves.
    InvalidCallback = -113, "InvalidCallback";
    /// The access list is not valid.
    InvalidAcl = -114, "InvalidACL";
    /// The ensemble does not accept the client's credentials.
    AuthFailed = -115, "AuthFailed";
    /// The session goes on at another server. The server that tells it hangs up.
    SessionMoved = -118, "SessionMoved";
    /// A read-only server, which has lost its quorum, does not accept writes.
    NotReadOnly = -119, "NotReadOnly";
    /// A session that only its server knows cannot own ephemerals.
    EphemeralOnLocalSession = -120, "EphemeralOnLocalSession";
    /// There is no such watch to remove.
    NoWatcher = -121, "NoWatcher";
    /// No answer came in time. Clients tell it themselves.
    RequestTimeout = -122, "RequestTimeout";
    /// Reconfiguration is switched off.
    ReconfigDisabled = -123, "ReconfigDisabled";
    /// The server accepts only sessions that authenticate by SASL, and closes this one.
    SessionClosedRequireSaslAuth = -124, "SessionClosedRequireSaslAuth";
    /// A quota that is enforced forbids the write (ZOOKEEPER-3301).
    QuotaExceeded = -125, "QuotaExceeded";
    /// The request waited too long in an overloaded server, which did not process it (ZOOKEEPER-3683).
    ThrottledOp = -127, "ThrottledOp";
}

impl Code {
    /// Whether a retry may soon be accepted without intervention: the server's load falls, or the server has a quorum
    /// again.
    ///
    /// [`QuotaExceeded`](Self::QuotaExceeded) and [`NoAuth`](Self::NoAuth) last until someone changes the quota, the
    /// data or the access list.
    #[must_use]
    pub fn is_passing(self) -> bool {
        matches!(self, Code::ThrottledOp | Code::NotReadOnly | Code::ReconfigInProgress)
    }
}

impl std::fmt::Display for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// The error of a request that a server answered with this code.
impl From<Code> for Error {
    fn from(code: Code) -> Self {
        match code {
            Code::NoNode => ErrorKind::NoNode.into(),
            Code::NodeExists => ErrorKind::NodeExists.into(),
            Code::BadVersion => ErrorKind::BadVersion.into(),
            Code::NotEmpty => ErrorKind::NotEmpty.into(),
            Code::NoChildrenForEphemerals => ErrorKind::NoChildrenForEphemerals.into(),
            Code::NoAuth => ErrorKind::NoAuth.into(),
            Code::InvalidAcl => ErrorKind::InvalidAcl.into(),
            Code::BadArguments => ErrorKind::BadInput("refused by the server".to_owned()).into(),
            Code::Unimplemented | Code::ReconfigDisabled => ErrorKind::Unimplemented.into(),
            Code::SessionExpired => ErrorKind::SessionOver(Over::Expired).into(),
            Code::AuthFailed | Code::SessionClosedRequireSaslAuth => {
                ErrorKind::SessionOver(Over::AuthFailed).into()
            }
            // The session machine leaves the server, so later replies are lost, too: see `SessionError::NotHere`. A server
            // hangs up instead of answering with the former (`FinalRequestProcessor`, ZOOKEEPER-710), except in the results
            // of a transaction that a follower has passed on.
            Code::SessionMoved | Code::UnknownSession => ErrorKind::ConnectionLoss.into(),
            Code::NewConfigNoQuorum
            | Code::ReconfigInProgress
            | Code::NotReadOnly
            | Code::EphemeralOnLocalSession
            | Code::NoWatcher
            | Code::QuotaExceeded
            | Code::ThrottledOp => ErrorKind::Refused(code).into(),
            // A server can fail between applying a write and writing the reply. `ConnectionLoss` and the time-outs are
            // clients' own codes: from a server they say nothing.
            Code::SystemError
            | Code::RuntimeInconsistency
            | Code::DataInconsistency
            | Code::ConnectionLoss
            | Code::MarshallingError
            | Code::OperationTimeout
            | Code::ApiError
            | Code::InvalidCallback
            | Code::RequestTimeout => ErrorKind::Unexpected(format!("the server answers {code}")).into(),
        }
    }
}

impl Error {
    /// The error of a request that a server answered with this number. An unknown number comes from a later version, and
    /// leaves the outcome unknown.
    #[must_use]
    pub fn from_code_number(number: i32) -> Error {
        match Code::from_number(number) {
            Some(code) => code.into(),
            None => ErrorKind::Unexpected(format!("the server answers error {number}")).into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_found_by_its_number() {
        for code in Code::ALL {
            assert_eq!(Code::from_number(code.number()), Some(*code), "{code}");
        }
        assert_eq!(Code::from_number(0), None);
        assert_eq!(Code::from_number(-126), None);
    }

    #[test]
    fn what_each_code_says_of_the_request() {
        let applied = |code: Code| match Error::from(code) {
            error if error.is_retryable_refusal() => "no, try again",
            error if error.is_outcome_unknown() => "unknown",
            _ => "no",
        };
        let of = |answer| -> Vec<&str> {
            Code::ALL.iter().filter(|code| applied(**code) == answer).map(|code| code.name()).collect()
        };
        assert_eq!(of("no, try again"), ["ReconfigInProgress", "NotReadOnly", "ThrottledOp"]);
        assert_eq!(
            of("no"),
            [
                "Unimplemented",
                "BadArguments",
                "NewConfigNoQuorum",
                "NoNode",
                "NoAuth",
                "BadVersion",
                "NoChildrenForEphemerals",
                "NodeExists",
                "NotEmpty",
                "InvalidACL",
                "EphemeralOnLocalSession",
                "NoWatcher",
                "ReconfigDisabled",
                "QuotaExceeded",
            ]
        );
        assert_eq!(
            of("unknown"),
            [
                "SystemError",
                "RuntimeInconsistency",
                "DataInconsistency",
                "ConnectionLoss",
                "MarshallingError",
                "OperationTimeout",
                "UnknownSession",
                "APIError",
                "SessionExpired",
                "InvalidCallback",
                "AuthFailed",
                "SessionMoved",
                "RequestTimeout",
                "SessionClosedRequireSaslAuth",
            ]
        );
    }

    #[test]
    fn a_code_of_a_later_version_leaves_the_outcome_unknown() {
        let error = Error::from_code_number(-200);
        assert!(error.is_outcome_unknown() && !error.is_retryable_refusal(), "{error}");
        assert_eq!(error.to_string(), "unexpected answer: the server answers error -200");
        assert_eq!(Error::from_code_number(-127).to_string(), "the server refused: ThrottledOp");
    }
}
