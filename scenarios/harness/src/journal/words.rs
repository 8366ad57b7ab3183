//! The world's words in those of the checker.

use sim_zk::fault::{self, Fault};
use sim_zk::message;
use sim_zk::observer;
use zk_checker::history::{Code, FaultKind, Notify, Request, Table, Victim, WatchMode};
use zk_recipes::zk::EventKind;

/// The checker's word for a kind of request.
pub(super) fn request(kind: observer::Kind) -> Request {
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

pub(super) fn code(outcome: observer::Outcome) -> Code {
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
pub fn fault_kind(fault: Fault) -> FaultKind {
    match fault {
        Fault::RequestLost => FaultKind::RequestLost,
        Fault::ReplyLost => FaultKind::ReplyLost,
        Fault::ReplyLate => FaultKind::ReplyLate,
        Fault::Disconnect => FaultKind::Disconnect,
        Fault::SessionExpiry => FaultKind::SessionExpiry,
        Fault::ClientCrash => FaultKind::ClientCrash,
        Fault::ClientPause => FaultKind::ClientPause,
        Fault::Cancel => FaultKind::Cancel,
        Fault::ClientMuted => FaultKind::ClientMuted,
        Fault::ClientDeafened => FaultKind::ClientDeafened,
        Fault::ClientPartition => FaultKind::ClientPartition,
        Fault::WatchLost => FaultKind::WatchLost,
        Fault::ClockDrift => FaultKind::ClockDrift,
        Fault::ServerCrash => FaultKind::ServerCrash,
        Fault::ServerPause => FaultKind::ServerPause,
        Fault::LinkHeld => FaultKind::LinkHeld,
        Fault::LinkCut => FaultKind::LinkCut,
        Fault::ServerPartition => FaultKind::ServerPartition,
        Fault::DiskStall => FaultKind::DiskStall,
        Fault::ApplyStall => FaultKind::ApplyStall,
        Fault::CommitStall => FaultKind::CommitStall,
        Fault::LeaderCrash => FaultKind::LeaderCrash,
        Fault::ClockJump => FaultKind::ClockJump,
        Fault::Throttled => FaultKind::Throttled,
        Fault::QuotaExceeded => FaultKind::QuotaExceeded,
        Fault::AccessDenied => FaultKind::AccessDenied,
        Fault::ServerError => FaultKind::ServerError,
    }
}
