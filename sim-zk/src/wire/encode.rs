//! Encoding of server packets into frames.

use super::Frame;
use crate::acl::{Acl, AclEntry, perms};
use crate::message::{Answer, Bytes, Code, Content, Found, OpAnswer, Password, Refusal};
use crate::paths::{PathId, Paths};
use zk_protocol::wire::jute::Out;
use zk_protocol::wire::number;
use zk_recipes::zk::{EventKind, SessionId};

/// Encodes the reply to a connect request (`ConnectResponse`).
pub(super) fn welcome(
    session: SessionId,
    timeout: u64,
    password: &Password,
    read_only: Option<bool>,
) -> Vec<u8> {
    let mut out = Out::default();
    let timeout = i32::try_from(timeout / 1000).unwrap_or(i32::MAX);
    out.int(0).int(timeout).long(session.0).buffer(Some(password));
    if let Some(read_only) = read_only {
        out.bool(read_only);
    }
    out.done()
}

/// Encodes a notification (`WatcherEvent`). Its header has no zxid before 3.9.
pub(super) fn notification(kind: EventKind, path: &str) -> Vec<u8> {
    let kind = match kind {
        EventKind::NodeCreated => 1,
        EventKind::NodeDeleted => 2,
        EventKind::NodeDataChanged => 3,
        EventKind::NodeChildrenChanged => 4,
    };
    let mut out = Out::default();
    out.int(number::NOTIFICATION_XID).long(-1).int(0);
    out.int(kind).int(number::SYNC_CONNECTED).text(path);
    out.done()
}

/// The length from which the data of a znode is shared with the tree, and not copied into the frame, in bytes.
const SHARED_FROM: usize = 16 << 10;

/// Encodes a reply: a header, and a body unless the whole request was refused.
pub(super) fn reply(xid: i32, zxid: i64, result: Result<&Answer, &Refusal>, paths: &Paths) -> Frame {
    let (mut out, mut shared) = (Out::default(), Vec::new());
    out.int(xid).long(zxid);
    match result {
        Ok(answer) => body(out.int(0), &mut shared, answer, paths),
        Err(Refusal::All(code)) => _ = out.int(code.number()),
        Err(Refusal::Multi { index, of, code }) => {
            out.int(0);
            for at in 0..*of {
                error(
                    &mut out,
                    match at.cmp(index) {
                        std::cmp::Ordering::Less => 0,
                        std::cmp::Ordering::Equal => code.number(),
                        std::cmp::Ordering::Greater => Code::RuntimeInconsistency.number(),
                    },
                );
            }
            end(&mut out);
        }
    }
    Frame { bytes: out.done(), shared }
}

/// Encodes data; leaves long data out, and records its position.
fn data(out: &mut Out, shared: &mut Shared, content: &Content) {
    match content {
        Some(bytes) if bytes.len() >= SHARED_FROM => {
            out.int(i32::try_from(bytes.len()).unwrap_or(i32::MAX));
            shared.push((out.as_bytes().len(), bytes.clone()));
        }
        _ => _ = out.buffer(content.as_deref()),
    }
}

/// Data that is left out, each with its position.
type Shared = Vec<(usize, Bytes)>;

fn body(out: &mut Out, shared: &mut Shared, answer: &Answer, paths: &Paths) {
    match answer {
        Answer::Path(path) => _ = out.text(paths.text(*path)),
        Answer::Created { path, stat } => _ = out.text(paths.text(*path)).stat(stat),
        Answer::Stat(stat) => _ = out.stat(stat),
        Answer::Data(content, stat) => {
            data(out, shared, content);
            out.stat(stat);
        }
        Answer::Children(children, stat) => {
            names(out, children, paths);
            if let Some(stat) = stat {
                out.stat(stat);
            }
        }
        Answer::Acl(list, stat) => {
            acl(out, list);
            out.stat(stat);
        }
        Answer::Number(value) => _ = out.int(*value),
        Answer::Ephemerals(ephemerals) => {
            out.list(ephemerals, |out, path| _ = out.text(paths.text(*path)));
        }
        Answer::Many(results) => {
            for result in results {
                found(out, shared, result, paths);
            }
            end(out);
        }
        Answer::Multi(results) => {
            for result in results {
                done(out, result, paths);
            }
            end(out);
        }
        Answer::Clients(clients) => {
            out.list(clients, |out, (scheme, user)| _ = out.text(scheme).text(user));
        }
        Answer::NoToken => _ = out.buffer(None),
        Answer::Nothing => {}
    }
}

fn names(out: &mut Out, children: &[PathId], paths: &Paths) {
    out.list(children, |out, child| _ = out.text(paths.name(*child)));
}

fn acl(out: &mut Out, acl: &Acl) {
    let entry =
        |out: &mut Out, entry: &AclEntry| _ = out.int(entry.perms).text(&entry.scheme).text(&entry.id);
    match acl {
        Acl::Open => _ = out.int(1).int(perms::ALL).text("world").text("anyone"),
        Acl::List(entries) => _ = out.list(entries, entry),
    }
}

/// Encodes the header of the result of an operation (`MultiHeader`).
fn header(out: &mut Out, op: i32) {
    out.int(op).bool(false).int(0);
}

/// Encodes the end of the results of a multi.
fn end(out: &mut Out) {
    out.int(number::ERROR).bool(true).int(-1);
}

/// Encodes the error of an operation, which is in its header and again in its body.
fn error(out: &mut Out, code: i32) {
    out.int(number::ERROR).bool(false).int(code).int(code);
}

fn found(out: &mut Out, shared: &mut Shared, result: &Result<Found, Code>, paths: &Paths) {
    match result {
        Ok(Found::Data(content, stat)) => {
            header(out, number::GET_DATA);
            data(out, shared, content);
            out.stat(stat);
        }
        Ok(Found::Children(children)) => {
            header(out, number::GET_CHILDREN);
            names(out, children, paths);
        }
        Err(code) => error(out, code.number()),
    }
}

fn done(out: &mut Out, result: &OpAnswer, paths: &Paths) {
    match result {
        OpAnswer::Checked => header(out, number::CHECK),
        OpAnswer::Created(path) => {
            header(out, number::CREATE);
            out.text(paths.text(*path));
        }
        // `OpResult.CreateResult` with a stat is a `create2`, for every operation.
        OpAnswer::CreatedWith(_, path, stat) => {
            header(out, number::CREATE_2);
            out.text(paths.text(*path)).stat(stat);
        }
        OpAnswer::Deleted => header(out, number::DELETE),
        OpAnswer::Set(stat) => {
            header(out, number::SET_DATA);
            out.stat(stat);
        }
    }
}
