//! The world's words in those of the checker.

use sim_zk::fault::{self, Fault};
use sim_zk::message;
use sim_zk::witness;
use zk_checker::history::{Code, FaultKind, Notify, Request, Table, Victim, WatchMode};
use zk_recipes::zk::EventKind;

/// The checker's word for a kind of request.
pub(super) fn request(kind: witness::Kind) -> Request {
    match kind {
        witness::Kind::Create => Request::Create,
        witness::Kind::Delete => Request::Delete,
        witness::Kind::Exists => Request::Exists,
        witness::Kind::Get => Request::Get,
        witness::Kind::Set => Request::Set,
        witness::Kind::Children => Request::Children,
        witness::Kind::Multi => Request::Multi,
        witness::Kind::MultiRead => Request::MultiRead,
        witness::Kind::Sync => Request::Sync,
        witness::Kind::RemoveWatches => Request::RemoveWatches,
        witness::Kind::SetWatches => Request::SetWatches,
        witness::Kind::Connect => Request::Connect,
        witness::Kind::CloseSession => Request::CloseSession,
        witness::Kind::GetAcl => Request::GetAcl,
        witness::Kind::SetAcl => Request::SetAcl,
        witness::Kind::AddWatch => Request::AddWatch,
        witness::Kind::Reap => Request::Reap,
        witness::Kind::Ping | witness::Kind::Check | witness::Kind::Other => Request::Other,
    }
}

pub(super) fn code(outcome: witness::Outcome) -> Code {
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
