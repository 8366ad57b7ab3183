//! The operation and the paths of a request, for its error. A successful request pays nothing for them: the paths are
//! interned, and the operations of a transaction are the caller's own values.

use crate::message::{Answer, Ask, CreateForm, ReadOp, Refusal};
use crate::paths::{PathId, Paths};
use zk_recipes::zk::{Error, Op};

/// The reply of a server.
pub(super) type Answered = Result<Answer, Refusal>;

pub(super) enum Subject {
    /// An operation on one path.
    One(&'static str, PathId),
    /// An operation on no path.
    Nothing(&'static str),
    /// A read of several znodes.
    Reads(Vec<PathId>),
    /// A transaction.
    Operations(Vec<Op>),
}

impl Subject {
    pub(super) fn of(ask: &Ask) -> Subject {
        let name = match ask {
            Ask::Create(creation) if creation.form == CreateForm::Container => "createContainer",
            Ask::Create(_) => "create",
            Ask::Delete { .. } => "delete",
            Ask::Set { .. } => "setData",
            Ask::Exists { .. } => "exists",
            Ask::Get { .. } => "getData",
            Ask::Children { .. } => "getChildren",
            Ask::Sync { .. } => "sync",
            Ask::AddWatch { .. } => "addWatch",
            Ask::CloseSession => return Subject::Nothing("closeSession"),
            Ask::Multi(_) => "multi",
            Ask::MultiRead(reads) => return Subject::Reads(reads.iter().map(path_of).collect()),
            other => unreachable!("no client of a workload sends {other:?} by itself"),
        };
        Subject::One(name, ask.path())
    }

    /// Adds the operation and the path to an error of the whole request.
    pub(super) fn explain(&self, paths: &Paths, error: Error) -> Error {
        match self {
            Subject::One(name, path) => error.at(name, paths.text(*path)),
            Subject::Nothing(name) => error.during(name),
            Subject::Reads(all) => match all.first() {
                Some(path) => error.at("multiRead", paths.text(*path)),
                None => error.during("multiRead"),
            },
            Subject::Operations(ops) => match ops.first() {
                Some(op) => error.at("multi", op.path()),
                None => error.during("multi"),
            },
        }
    }

    /// Adds the operation and the path of one of several operations to the error of that one.
    pub(super) fn explain_operation(&self, paths: &Paths, index: usize, error: Error) -> Error {
        match self {
            Subject::Reads(all) => error.at("getData", paths.text(all[index])),
            Subject::Operations(ops) => error.at(ops[index].name(), ops[index].path()),
            Subject::One(..) | Subject::Nothing(_) => error,
        }
    }
}

fn path_of(read: &ReadOp) -> PathId {
    match read {
        ReadOp::Get(path) | ReadOp::Children(path) => *path,
        ReadOp::Other(op) => unreachable!("no client reads by operation {op}"),
    }
}
