//! From one vocabulary into the other: checks before anything is sent, and what comes back.

use zookeeper_client as lib;

use crate::zk::{CreateMode, Error, Op, OpResult, Over, Stat, path};

/// What an operation of a transaction costs beside its path and data: a header, lengths, an access list, flags.
const OP_OVERHEAD_BYTES: usize = 64;

/// Refuses a create that the server would refuse, or that it would end the connection for.
pub(super) fn check_create(path: &str, data: &[u8], mode: CreateMode) -> Result<(), Error> {
    if mode.is_sequential() {
        // What must be a path is the name with its number: `/queue/` is a good beginning.
        path::validate(&format!("{path}0"))?;
    } else {
        path::validate(path)?;
    }
    path::validate_size(path, data)
}

/// Refuses a transaction with an operation that is no good, or that is too large as a whole.
pub(super) fn check_multi(ops: &[Op]) -> Result<(), Error> {
    let mut bytes = 0;
    for op in ops {
        bytes += OP_OVERHEAD_BYTES;
        match op {
            Op::Check { path, .. } | Op::Delete { path, .. } => {
                path::validate(path)?;
                bytes += path.len();
            }
            Op::Create { path, data, mode } => {
                check_create(path, data, *mode)?;
                bytes += path.len() + data.len();
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
pub(super) fn add(writer: &mut lib::MultiWriter<'_>, op: &Op) -> Result<(), lib::Error> {
    match op {
        Op::Check { path, version } => writer.add_check_version(path, version.unwrap_or(ANY_VERSION)),
        Op::Create { path, data, mode } => writer.add_create(path, data, &create_options(*mode)),
        Op::Delete { path, version } => writer.add_delete(path, *version),
        Op::Set { path, data, version } => writer.add_set_data(path, data, *version),
    }
}

const ANY_VERSION: i32 = -1;

/// Znodes are open to everybody.
pub(super) fn create_options(mode: CreateMode) -> lib::CreateOptions<'static> {
    let mode = match mode {
        CreateMode::Persistent => lib::CreateMode::Persistent,
        CreateMode::PersistentSequential => lib::CreateMode::PersistentSequential,
        CreateMode::Ephemeral => lib::CreateMode::Ephemeral,
        CreateMode::EphemeralSequential => lib::CreateMode::EphemeralSequential,
        CreateMode::Container => lib::CreateMode::Container,
    };
    mode.with_acls(lib::Acls::anyone_all())
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
