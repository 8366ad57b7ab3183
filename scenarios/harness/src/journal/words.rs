//! Translates the simulator's types into the checker's.

use sim_zk::fault::{self, Fault};
use sim_zk::message;
use sim_zk::observer;
use zk_checker::history::{Code, Failure, FaultKind, Notify, Request, Table, Victim, WatchMode};
use zk_recipes::zk::{Error, ErrorKind, EventKind};

/// The checker's word for a kind of request.
pub fn request(kind: observer::Kind) -> Request {
    match kind {
        observer::Kind::Create => Request::Create,
        observer::Kind::Delete => Request::Delete,
        observer::Kind::Exists => Request::Exists,
        observer::Kind::Get => Request::Get,
        observer::Kind::Set => Request::Set,
        observer::Kind::Children => Request::Children,
        observer::Kind::Multi => Request::Multi,
        observer::Kind::MultiRead => Request::MultiRead,
        observer::Kind::Sync => Request::Sync,
        observer::Kind::RemoveWatches => Request::RemoveWatches,
        observer::Kind::SetWatches => Request::SetWatches,
        observer::Kind::Connect => Request::Connect,
        observer::Kind::CloseSession => Request::CloseSession,
        observer::Kind::GetAcl => Request::GetAcl,
        observer::Kind::SetAcl => Request::SetAcl,
        observer::Kind::AddWatch => Request::AddWatch,
        observer::Kind::Reap => Request::Reap,
        observer::Kind::Ping | observer::Kind::Check | observer::Kind::Other => Request::Other,
    }
}

/// The checker's word for the reason of an error. For a transaction this is the reason of the refused operation.
pub fn failure(error: &Error) -> Failure {
    match error.kind() {
        ErrorKind::NoNode => Failure::NoNode,
        ErrorKind::NodeExists => Failure::NodeExists,
        ErrorKind::BadVersion => Failure::BadVersion,
        ErrorKind::NotEmpty => Failure::NotEmpty,
        ErrorKind::NoChildrenForEphemerals => Failure::NoChildrenForEphemerals,
        ErrorKind::NoAuth => Failure::Denied,
        ErrorKind::Refused(_) => Failure::ServerRefused,
        ErrorKind::Unreachable => Failure::Unreachable,
        ErrorKind::ConnectionLoss => Failure::ConnectionLoss,
        ErrorKind::SessionOver(_) => Failure::SessionOver,
        ErrorKind::BadInput(_) => Failure::BadInput,
        ErrorKind::Multi { cause, .. } => failure(cause),
        ErrorKind::TimedOut => Failure::TimedOut,
        ErrorKind::Removed(_) => Failure::Removed,
        ErrorKind::Unexpected(_) => Failure::Unexpected,
        ErrorKind::Mismatch(_) => Failure::Mismatch,
        ErrorKind::Taken(_) => Failure::Taken,
        ErrorKind::Conflict => Failure::Conflict,
        ErrorKind::Revoked => Failure::Revoked,
        ErrorKind::ClaimLost => Failure::ClaimLost,
        ErrorKind::Exhausted(_) => Failure::Exhausted,
        ErrorKind::Late => Failure::Late,
        ErrorKind::NoTransaction(_) => Failure::NoTransaction,
        ErrorKind::NotAParticipant(_) => Failure::NotAParticipant,
        ErrorKind::AlreadyVoted => Failure::AlreadyVoted,
        ErrorKind::AlreadyJoined(_) => Failure::AlreadyJoined,
        _ => Failure::Other,
    }
}

/// The checker's word for the outcome of a request.
pub fn code(outcome: observer::Outcome) -> Code {
    outcome.map_or(Code::Ok, refused)
}

pub(super) fn refused(code: message::Code) -> Code {
    match code {
        message::Code::NoNode => Code::NoNode,
        message::Code::NodeExists => Code::NodeExists,
        message::Code::BadVersion => Code::BadVersion,
        message::Code::NotEmpty => Code::NotEmpty,
        message::Code::NoChildrenForEphemerals => Code::NoChildrenForEphemerals,
        message::Code::SessionExpired => Code::SessionExpired,
        message::Code::SessionMoved => Code::SessionMoved,
        message::Code::NoAuth => Code::NoAuth,
        message::Code::BadArguments => Code::BadArguments,
        message::Code::ThrottledOp => Code::Throttled,
        _ => Code::Other,
    }
}

/// The checker's word for a kind of event.
pub fn notify(kind: EventKind) -> Notify {
    match kind {
        EventKind::NodeCreated => Notify::Created,
        EventKind::NodeDeleted => Notify::Deleted,
        EventKind::NodeDataChanged => Notify::DataChanged,
        EventKind::NodeChildrenChanged => Notify::ChildrenChanged,
    }
}

pub(super) fn table(table: message::Table) -> Table {
    match table {
        message::Table::Data => Table::Data,
        message::Table::Child => Table::Child,
    }
}

pub(super) fn watch_mode(mode: message::WatchMode) -> WatchMode {
    match mode {
        message::WatchMode::OneShot => WatchMode::OneShot,
        message::WatchMode::Persistent => WatchMode::Persistent,
        message::WatchMode::Recursive => WatchMode::Recursive,
    }
}

pub(super) fn victim(victim: fault::Victim) -> Victim {
    match victim {
        fault::Victim::Process(client) => Victim::Process { client: client.into() },
        fault::Victim::Server(server) => Victim::Server { server },
        fault::Victim::Link(from, to) => Victim::Link { from, to },
    }
}

/// The checker's word for a fault.
///
/// # Panics
///
/// If the checker has no fault of that name.
pub fn fault_kind(fault: Fault) -> FaultKind {
    let name = fault.name().replace('-', "_");
    FaultKind::from_name(&name).expect("a fault of the simulator is a fault of a history")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_of_the_simulator_is_a_fault_of_a_history() {
        for fault in Fault::ALL {
            assert_eq!(fault_kind(fault).name().replace('_', "-"), fault.name());
        }
    }
}
