//! What a request asks for, read from its own bytes when it failed: a request that succeeds keeps nothing for it.

use std::sync::Arc;

use super::request::{Request, Root};
use zk_protocol::wire::jute::In;
use zk_protocol::wire::number;
use zk_recipes::zk::Error;

impl Request {
    /// Adds the operation and the path of this request to its error. Of several operations the path is the first one's.
    pub(super) fn explain(&self, root: &Root, error: Error) -> Error {
        match self.subject(root, 0) {
            Some((_, path)) => error.at(number::name_of(self.op), path),
            None => error.during(number::name_of(self.op)),
        }
    }

    /// Adds the operation and the path of one of several operations to the error of that one.
    pub(super) fn explain_operation(&self, root: &Root, index: usize, error: Error) -> Error {
        match self.subject(root, index) {
            Some((op, path)) => error.at(number::name_of(op), path),
            None => error,
        }
    }

    /// The operation of that index, and its path.
    fn subject(&self, root: &Root, index: usize) -> Option<(i32, String)> {
        let mut from = In::new(&self.body);
        if !matches!(self.op, number::MULTI | number::MULTI_READ) {
            return Some((self.op, root.strip(&from.text()??).to_owned()));
        }
        for _ in 0..index {
            let (op, _) = operation(&mut from)?;
            skip(op, &mut from)?;
        }
        operation(&mut from).map(|(op, path)| (op, root.strip(&path).to_owned()))
    }
}

/// Reads the beginning of one of several operations: its number and its path; none at their end.
fn operation(from: &mut In<'_>) -> Option<(i32, Arc<str>)> {
    let (op, is_end, _) = (from.int()?, from.bool()?, from.int()?);
    if is_end { None } else { Some((op, from.text()??.into())) }
}

/// Skips what an operation has behind its path.
fn skip(op: i32, from: &mut In<'_>) -> Option<()> {
    match op {
        number::CREATE | number::CREATE_CONTAINER => {
            from.buffer()?;
            from.list(|from| Some((from.int()?, from.buffer()?, from.buffer()?).0))?;
            from.int().map(drop)
        }
        number::SET_DATA => {
            from.buffer()?;
            from.int().map(drop)
        }
        number::GET_DATA => from.bool().map(drop),
        _ => from.int().map(drop),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::acl::Acl;
    use zk_recipes::zk::{CreateMode, ErrorKind, Op};

    fn shown(error: &Error) -> String {
        error.to_string()
    }

    #[test]
    fn an_error_names_the_request_and_the_callers_path() {
        for chroot in ["", "/app"] {
            let root = Root::new(chroot);
            let of = |request: Request, kind: ErrorKind| shown(&request.explain(&root, kind.into()));
            let get = root.get("/a/b", true).expect("a request");
            assert_eq!(of(get, ErrorKind::NoNode), "no such znode: getData /a/b");
            let children = root.children("/", false).expect("a request");
            assert_eq!(of(children, ErrorKind::NoAuth), "access denied: getChildren /");
        }
    }

    #[test]
    fn a_refused_transaction_names_the_refused_operation() {
        let root = Root::new("/app");
        let path = |name: &str| format!("/{name}");
        let ops = [
            Op::Create { path: path("new"), data: b"data".to_vec(), mode: CreateMode::Ephemeral },
            Op::Set { path: path("set"), data: b"data".to_vec(), version: Some(3) },
            Op::Check { path: path("checked"), version: None },
            Op::Create { path: path("room"), data: Vec::new(), mode: CreateMode::Container },
            Op::Delete { path: path("old"), version: Some(1) },
        ];
        let request = root.multi(&ops, &Acl::default()).expect("a request");
        let of = |index| shown(&request.explain_operation(&root, index, ErrorKind::NoNode.into()));
        assert_eq!(
            [0, 1, 2, 3, 4, 5].map(of),
            [
                "no such znode: create /new",
                "no such znode: setData /set",
                "no such znode: check /checked",
                "no such znode: createContainer /room",
                "no such znode: delete /old",
                "no such znode",
            ]
        );
        let lost = request.explain(&root, ErrorKind::ConnectionLoss.into());
        assert_eq!((lost.operation(), lost.path()), (Some("multi"), Some("/new")));
    }

    #[test]
    fn an_empty_transaction_has_no_path() {
        let root = Root::default();
        let request = root.multi(&[], &Acl::default()).expect("a request");
        let lost = request.explain(&root, ErrorKind::ConnectionLoss.into());
        assert_eq!((lost.operation(), lost.path()), (Some("multi"), None));
    }
}
