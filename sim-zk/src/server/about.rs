//! What a message is about.

use crate::message::{Ask, AskOp, Code, Refusal, Table};
use crate::paths::PathId;
use crate::witness::{Kind, Outcome};

/// What kind of request it is.
pub(crate) fn kind_of(ask: &Ask) -> Kind {
    match ask {
        Ask::Create { .. } => Kind::Create,
        Ask::Delete { .. } => Kind::Delete,
        Ask::Set { .. } => Kind::Set,
        Ask::Exists { .. } => Kind::Exists,
        Ask::Get { .. } => Kind::Get,
        Ask::Children { .. } => Kind::Children,
        Ask::GetMany(_) => Kind::MultiRead,
        Ask::Multi(_) => Kind::Multi,
        Ask::Sync { .. } => Kind::Sync,
        Ask::RemoveWatches { .. } => Kind::RemoveWatches,
        Ask::SetWatches { .. } => Kind::SetWatches,
        Ask::Ping => Kind::Ping,
        Ask::CloseSession => Kind::CloseSession,
    }
}

/// How a refusal is told.
pub(crate) fn outcome_of(refusal: Refusal) -> Outcome {
    match refusal {
        Refusal::NoNode | Refusal::Multi(_, Code::NoNode) => Outcome::NoNode,
        Refusal::NodeExists | Refusal::Multi(_, Code::NodeExists) => Outcome::NodeExists,
        Refusal::BadVersion | Refusal::Multi(_, Code::BadVersion) => Outcome::BadVersion,
        Refusal::NotEmpty | Refusal::Multi(_, Code::NotEmpty) => Outcome::NotEmpty,
        Refusal::NoChildrenForEphemerals | Refusal::Multi(_, Code::NoChildrenForEphemerals) => {
            Outcome::NoChildrenForEphemerals
        }
        Refusal::SessionExpired => Outcome::SessionExpired,
        Refusal::BadArguments | Refusal::NoWatcher | Refusal::Multi(_, Code::BadArguments) => Outcome::Other,
    }
}

impl Ask {
    /// The path a request is about, as far as it is about one.
    pub(crate) fn path(&self) -> PathId {
        match self {
            Ask::Create { path, .. }
            | Ask::Delete { path, .. }
            | Ask::Set { path, .. }
            | Ask::Exists { path, .. }
            | Ask::Get { path, .. }
            | Ask::Children { path, .. }
            | Ask::Sync { path }
            | Ask::RemoveWatches { path, .. } => *path,
            Ask::Multi(ops) => match ops.first() {
                Some(
                    AskOp::Check { path, .. }
                    | AskOp::Create { path, .. }
                    | AskOp::Delete { path, .. }
                    | AskOp::Set { path, .. },
                ) => *path,
                None => PathId::ROOT,
            },
            Ask::GetMany(paths) => paths.first().copied().unwrap_or(PathId::ROOT),
            Ask::SetWatches { .. } | Ask::Ping | Ask::CloseSession => PathId::ROOT,
        }
    }

    /// Which watch the request arms, if it succeeds.
    pub(crate) fn arms(&self) -> Option<(Table, PathId)> {
        match self {
            Ask::Exists { path, watch: true } | Ask::Get { path, watch: true } => Some((Table::Data, *path)),
            Ask::Children { path, watch: true } => Some((Table::Child, *path)),
            _ => None,
        }
    }
}
