//! Classification of requests: kind, path, and how the servers treat them.

use crate::message::{Ask, AskOp, Code, ReadOp, Refusal, Watching};
use crate::observer::{Kind, Outcome};
use crate::paths::{PathId, UsedPaths};

/// Returns the kind of a request.
pub(crate) fn kind_of(ask: &Ask) -> Kind {
    match ask {
        Ask::Create(_) => Kind::Create,
        Ask::Delete { .. } => Kind::Delete,
        Ask::Set { .. } => Kind::Set,
        Ask::SetAcl { .. } => Kind::SetAcl,
        Ask::Multi(_) => Kind::Multi,
        Ask::Exists { .. } => Kind::Exists,
        Ask::Get { .. } => Kind::Get,
        Ask::Children { .. } => Kind::Children,
        Ask::GetAcl { .. } => Kind::GetAcl,
        Ask::MultiRead(_) => Kind::MultiRead,
        Ask::Sync { .. } => Kind::Sync,
        Ask::AddWatch { .. } => Kind::AddWatch,
        Ask::RemoveWatches { .. } => Kind::RemoveWatches,
        Ask::SetWatches { .. } => Kind::SetWatches,
        Ask::Ping => Kind::Ping,
        Ask::CloseSession => Kind::CloseSession,
        Ask::Refused(ask, ..) => kind_of(ask),
        Ask::Check { .. }
        | Ask::Reconfig
        | Ask::CountDescendants { .. }
        | Ask::Ephemerals { .. }
        | Ask::CheckWatches { .. }
        | Ask::Auth { .. }
        | Ask::Sasl { .. }
        | Ask::WhoAmI
        | Ask::Unknown(_)
        | Ask::Malformed(_) => Kind::Other,
    }
}

/// Returns the code of a refusal.
pub(crate) fn outcome_of(refusal: Refusal) -> Outcome {
    Some(refusal.code())
}

impl Ask {
    /// Returns the kind of the request.
    pub fn kind(&self) -> Kind {
        kind_of(self)
    }

    /// Returns the version that a single conditional write expects.
    pub fn expected_version(&self) -> Option<i32> {
        match self {
            Ask::Delete { version, .. } | Ask::Set { version, .. } => {
                Some(*version).filter(|version| *version != -1)
            }
            _ => None,
        }
    }

    /// Returns the path of a request, or the root if it has none.
    pub fn path(&self) -> PathId {
        match self {
            Ask::Create(creation) => creation.path,
            Ask::Delete { path, .. }
            | Ask::Set { path, .. }
            | Ask::SetAcl { path, .. }
            | Ask::Check { path, .. }
            | Ask::Exists { path, .. }
            | Ask::Get { path, .. }
            | Ask::Children { path, .. }
            | Ask::GetAcl { path }
            | Ask::CountDescendants { path }
            | Ask::Sync { path }
            | Ask::AddWatch { path, .. }
            | Ask::RemoveWatches { path, .. }
            | Ask::CheckWatches { path, .. } => *path,
            Ask::Refused(ask, ..) => ask.path(),
            Ask::Multi(ops) => ops.first().and_then(AskOp::path).unwrap_or(PathId::ROOT),
            Ask::MultiRead(ops) => match ops.first() {
                Some(ReadOp::Get(path) | ReadOp::Children(path)) => *path,
                Some(ReadOp::Other(_)) | None => PathId::ROOT,
            },
            Ask::Reconfig
            | Ask::Ephemerals { .. }
            | Ask::SetWatches(_)
            | Ask::Auth { .. }
            | Ask::Sasl { .. }
            | Ask::WhoAmI
            | Ask::Ping
            | Ask::CloseSession
            | Ask::Unknown(_)
            | Ask::Malformed(_) => PathId::ROOT,
        }
    }

    /// Adds all its paths.
    pub fn paths(&self, used: &mut UsedPaths) {
        used.add(self.path());
        match self {
            Ask::Multi(ops) => used.extend(ops.iter().filter_map(AskOp::path)),
            Ask::MultiRead(ops) => used.extend(ops.iter().filter_map(|op| match op {
                ReadOp::Get(path) | ReadOp::Children(path) => Some(*path),
                ReadOp::Other(_) => None,
            })),
            Ask::SetWatches(watching) => {
                let Watching { data, exist, child, persistent, recursive, .. } = &**watching;
                for list in [data, exist, child, persistent, recursive] {
                    used.extend(list.iter().copied());
                }
            }
            Ask::Refused(ask, ..) => ask.paths(used),
            _ => {}
        }
    }

    /// Returns whether the leader prepares it and assigns a zxid. `closeSession` goes to the leader too, and is
    /// prepared differently.
    pub(crate) fn is_write(&self) -> bool {
        match self {
            Ask::Create(_)
            | Ask::Delete { .. }
            | Ask::Set { .. }
            | Ask::SetAcl { .. }
            | Ask::Check { .. }
            | Ask::Multi(_)
            | Ask::Reconfig => true,
            // create, delete, setData, setACL, check, multi, create2, reconfig, createContainer, deleteContainer,
            // createTTL.
            Ask::Malformed(operation) => matches!(operation, 1 | 2 | 5 | 7 | 13..=16 | 19..=21),
            // The leader never sees a throttled request (`CommitProcessor.needCommit`, `PrepRequestProcessor`).
            Ask::Refused(ask, code, _) => *code != Code::ThrottledOp && ask.is_write(),
            _ => false,
        }
    }

    /// Returns the operations at which a fault can refuse a multi with that code; empty if the server refuses it
    /// unread.
    pub fn refusable_with(&self, code: Code) -> Vec<u16> {
        let Ask::Multi(ops) = self else { return Vec::new() };
        let can_be = |op: &AskOp| match code {
            Code::NoAuth => true,
            Code::QuotaExceeded => matches!(op, AskOp::Create(_) | AskOp::Set { .. }),
            _ => false,
        };
        (0..).zip(ops).filter(|(_, op)| can_be(op)).map(|(at, _)| at).collect()
    }

    /// Returns whether a fault can refuse it with that code: its kind can be refused, and a multi has an operation that
    /// can be.
    pub fn may_be_refused_with(&self, code: Code) -> bool {
        match self {
            Ask::Multi(_) if code == Code::QuotaExceeded => !self.refusable_with(code).is_empty(),
            Ask::Multi(ops) => !ops.is_empty(),
            ask => ask.kind().may_be_refused_with(code),
        }
    }

    /// Returns whether it only arms or removes watches.
    pub(crate) fn is_about_watches(&self) -> bool {
        matches!(
            self,
            Ask::SetWatches(_) | Ask::AddWatch { .. } | Ask::RemoveWatches { .. } | Ask::CheckWatches { .. }
        )
    }

    /// Returns whether success has no reply: a server fails to serialize the reply to a `check` outside of a multi.
    pub fn is_mute(&self) -> bool {
        matches!(self, Ask::Check { .. })
    }
}

impl Kind {
    /// Returns whether a fault can refuse a request of this kind with that code. Requests of the client library itself
    /// are exempt: client code would not learn of the refusal, so a watch that is not registered again would be lost
    /// silently.
    pub fn may_be_refused_with(self, code: Code) -> bool {
        match self {
            Kind::Ping | Kind::CloseSession | Kind::SetWatches | Kind::RemoveWatches => false,
            kind if code == Code::QuotaExceeded => matches!(kind, Kind::Create | Kind::Set | Kind::Multi),
            // `exists` needs no READ permission (ZOOKEEPER-2590).
            Kind::Exists | Kind::Sync => code != Code::NoAuth,
            _ => true,
        }
    }
}

impl AskOp {
    /// Returns the path of an operation.
    pub fn path(&self) -> Option<PathId> {
        match self {
            AskOp::Check { path, .. } | AskOp::Delete { path, .. } | AskOp::Set { path, .. } => Some(*path),
            AskOp::Create(creation) => Some(creation.path),
            AskOp::Other(_) => None,
        }
    }
}
