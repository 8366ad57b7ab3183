//! From one vocabulary into the other: checks before anything is sent, and what comes back.

use zookeeper_client as lib;

use super::acl::Acl;
use crate::zk::{CreateMode, Error, Op, OpResult, Over, Stat, path};

/// What an operation of a transaction costs beside its path and data: a header, lengths, an access list, flags.
const OP_OVERHEAD_BYTES: usize = 64;

/// Refuses a create that the server would refuse, or that it would end the connection for.
pub(super) fn check_create(path: &str, data: &[u8], mode: CreateMode, acl: &Acl) -> Result<(), Error> {
    if mode.is_sequential() {
        // What must be a path is the name with its number: `/queue/` is a good beginning.
        path::validate(&format!("{path}0"))?;
    } else {
        path::validate(path)?;
    }
    path::validate_size_with(path, data, acl.extra_bytes())
}

/// Refuses a transaction with an operation that is no good, or that is too large as a whole.
pub(super) fn check_multi(ops: &[Op], acl: &Acl) -> Result<(), Error> {
    let mut bytes = 0;
    for op in ops {
        bytes += OP_OVERHEAD_BYTES;
        match op {
            Op::Check { path, .. } | Op::Delete { path, .. } => {
                path::validate(path)?;
                bytes += path.len();
            }
            Op::Create { path, data, mode } => {
                check_create(path, data, *mode, acl)?;
                bytes += path.len() + data.len() + acl.extra_bytes();
            }
            Op::Set { path, data, .. } => {
                path::validate(path)?;
                bytes += path.len() + data.len();
            }
        }
    }
    if bytes > path::MAX_REQUEST_BYTES {
        return Err(Error::BadInput(format!(
            "{} operations make a request of {bytes} bytes; a server takes {}",
            ops.len(),
            path::MAX_REQUEST_BYTES
        )));
    }
    Ok(())
}

/// Adds one operation to a transaction.
pub(super) fn add(writer: &mut lib::MultiWriter<'_>, op: &Op, acl: &Acl) -> Result<(), lib::Error> {
    match op {
        Op::Check { path, version } => writer.add_check_version(path, version.unwrap_or(ANY_VERSION)),
        Op::Create { path, data, mode } => writer.add_create(path, data, &create_options(*mode, acl)),
        Op::Delete { path, version } => writer.add_delete(path, *version),
        Op::Set { path, data, version } => writer.add_set_data(path, data, *version),
    }
}

const ANY_VERSION: i32 = -1;

pub(super) fn create_options(mode: CreateMode, acl: &Acl) -> lib::CreateOptions<'_> {
    let mode = match mode {
        CreateMode::Persistent => lib::CreateMode::Persistent,
        CreateMode::PersistentSequential => lib::CreateMode::PersistentSequential,
        CreateMode::Ephemeral => lib::CreateMode::Ephemeral,
        CreateMode::EphemeralSequential => lib::CreateMode::EphemeralSequential,
        CreateMode::Container => lib::CreateMode::Container,
    };
    mode.with_acls(acl.entries())
}

pub(super) fn op_result(result: lib::MultiWriteResult) -> Result<OpResult, Error> {
    match result {
        lib::MultiWriteResult::Check => Ok(OpResult::Checked),
        lib::MultiWriteResult::Delete => Ok(OpResult::Deleted),
        lib::MultiWriteResult::Create { path, .. } => Ok(OpResult::Created(path)),
        lib::MultiWriteResult::SetData { stat } => Ok(OpResult::Set(self::stat(stat))),
        other => Err(Error::Unexpected(format!("{other:?}"))),
    }
}

pub(super) fn stat(stat: lib::Stat) -> Stat {
    Stat {
        czxid: stat.czxid,
        mzxid: stat.mzxid,
        pzxid: stat.pzxid,
        ctime: stat.ctime,
        mtime: stat.mtime,
        version: stat.version,
        cversion: stat.cversion,
        aversion: stat.aversion,
        ephemeral_owner: crate::zk::SessionId(stat.ephemeral_owner),
        data_length: stat.data_length,
        num_children: stat.num_children,
    }
}

/// Why there is no session. Whatever a socket has to tell, the library tells as its limit being over, so what it says of
/// its own is about what it was given.
pub(super) fn not_opened(why: lib::Error) -> Error {
    match why {
        lib::Error::Custom(why) => Error::BadInput(why.to_string()),
        why => error(why, Over::Closed),
    }
}

/// Whether this is the server's own word, which proves that it has received the request.
pub(super) fn is_servers_word(error: &lib::Error) -> bool {
    use lib::Error as E;
    matches!(
        error,
        E::NoNode | E::NodeExists | E::BadVersion | E::NotEmpty | E::NoChildrenForEphemerals | E::NoAuth
    )
}

/// What became of a request. `closed` is why a session that the library calls closed is over: it closes one for other
/// reasons than that it was asked to.
pub(super) fn error(error: lib::Error, closed: Over) -> Error {
    use lib::Error as E;
    match error {
        E::NoNode => Error::NoNode,
        E::NodeExists => Error::NodeExists,
        E::BadVersion => Error::BadVersion,
        E::NotEmpty => Error::NotEmpty,
        E::NoChildrenForEphemerals => Error::NoChildrenForEphemerals,
        E::NoAuth => Error::NoAuth,
        E::InvalidAcl => Error::InvalidAcl,
        E::Unimplemented | E::ReconfigDisabled => Error::Unimplemented,
        // A failure of the socket, or silence: the connection is gone, and with it every answer that was due on it. A
        // server from which the session has moved away hangs up as well.
        E::ConnectionLoss | E::Custom(_) | E::SessionMoved => Error::ConnectionLoss,
        E::SessionExpired => Error::SessionOver(Over::Expired),
        E::AuthFailed => Error::SessionOver(Over::AuthFailed),
        E::ClientClosed => Error::SessionOver(closed),
        E::BadArguments(why) => Error::BadInput((*why).to_owned()),
        E::Timeout | E::NoHosts => Error::Unreachable,
        refused @ (E::QuotaExceeded | E::Throttled | E::NotReadOnly) => Error::Refused(refused.to_string()),
        other => Error::Unexpected(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_is_not_called_known() {
        use lib::Error as E;
        let unknown = [
            E::ConnectionLoss,
            E::SessionMoved,
            E::SessionExpired,
            E::ClientClosed,
            E::AuthFailed,
            E::UnexpectedError("another answer is due".to_owned()),
            E::UnmarshalError { entity: "answer", reason: &"too short" },
            E::UnexpectedErrorCode(-1),
            E::MarshallingError,
            E::RuntimeInconsistent,
        ];
        for why in unknown {
            assert!(error(why.clone(), Over::Closed).is_outcome_unknown(), "{why}");
        }
        let refused = [
            E::NoNode,
            E::NodeExists,
            E::BadVersion,
            E::NotEmpty,
            E::NoChildrenForEphemerals,
            E::NoAuth,
            E::InvalidAcl,
            E::Unimplemented,
            E::ReconfigDisabled,
            E::QuotaExceeded,
            E::Throttled,
            E::NotReadOnly,
            E::BadArguments(&"a path"),
        ];
        for why in refused {
            assert!(!error(why.clone(), Over::Closed).is_outcome_unknown(), "{why}");
        }
        assert!(error(E::AuthFailed, Over::Closed).is_auth_failed());
        assert_eq!(error(E::ClientClosed, Over::Expired), Error::SessionOver(Over::Expired));
    }

    #[test]
    fn an_access_list_takes_room_in_a_request() {
        let id = "x".repeat(1000);
        let long = Acl::of(&[("digest", &id, "cdrwa")]).expect("it is a list");
        let data = vec![0; path::MAX_REQUEST_BYTES - 500];
        let (at, mode) = ("/a", CreateMode::Persistent);
        assert!(check_create(at, &data, mode, &Acl::anyone()).is_ok());
        assert!(check_create(at, &data, mode, &long).is_err_and(|e| e.is_bad_input()));
        let create = Op::Create { path: at.to_owned(), data, mode };
        assert!(check_multi(&[create], &long).is_err_and(|e| e.is_bad_input()));
    }
}
