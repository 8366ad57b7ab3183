//! Fuzzes one frame.

use sim_zk::acl::{Acl, AclEntry, perms};
use sim_zk::message::{Ask, AskOp, CreateForm, Creation, ReadOp, Up};
use sim_zk::paths::{PathId, Paths};
use sim_zk::wire::Codec;
use zk_protocol::wire::jute::Out;
use zk_protocol::wire::number;

/// Decodes a frame as the first and as a later one of a connection. A valid request is encoded and decoded again: both
/// decoded forms are equal, and both encodings.
pub fn wire(frame: &[u8]) {
    let mut paths = Paths::default();
    let mut codec = Codec::default();
    let hello = codec.hello(frame);
    if let Up::Connect { session, last_zxid, timeout, password } = &hello {
        let mut out = Out::default();
        let timeout = i32::try_from(timeout / 1000).expect("it was one");
        out.int(0).long(*last_zxid).int(timeout).long(session.0).buffer(Some(password));
        assert_eq!(Codec::default().hello(out.as_bytes()), hello);
    }
    let read = codec.request(frame, &mut paths);
    let Up::Request { xid, ask, .. } = &read else { return };
    let Some(written) = request(*xid, ask, &paths) else { return };
    let again = codec.request(&written, &mut paths);
    assert_eq!(again, read, "a request is read as it was written");
    let Up::Request { xid, ask, .. } = &again else { unreachable!("it is equal to a request") };
    assert_eq!(request(*xid, ask, &paths).as_ref(), Some(&written), "it is written as it was read");
}

/// Texts as written by a client that does not encode characters above U+FFFF as Java does; no server can read them.
trait Utf8 {
    fn utf8(&mut self, text: &str) -> &mut Self;
}

impl Utf8 for Out {
    fn utf8(&mut self, text: &str) -> &mut Self {
        self.buffer(Some(text.as_bytes()))
    }
}

/// Encodes a request as a client does; `None` for a request that no client can write.
fn request(xid: i32, ask: &Ask, paths: &Paths) -> Option<Vec<u8>> {
    let mut out = Out::default();
    let text = |path: &PathId| paths.text(*path);
    let op = match ask {
        Ask::Create(creation) => {
            create(&mut out, creation, paths);
            op_of(creation.form)
        }
        Ask::Delete { path, version } => {
            out.utf8(text(path)).int(*version);
            number::DELETE
        }
        Ask::Set { path, data, version } => {
            out.utf8(text(path)).buffer(data.as_deref()).int(*version);
            number::SET_DATA
        }
        Ask::SetAcl { path, acl: list, version } => {
            out.utf8(text(path));
            acl(&mut out, list).int(*version);
            number::SET_ACL
        }
        Ask::Check { path, version } => {
            out.utf8(text(path)).int(*version);
            number::CHECK
        }
        Ask::Multi(ops) => {
            multi(&mut out, ops, paths)?;
            number::MULTI
        }
        Ask::Exists { path, watch } => {
            out.utf8(text(path)).bool(*watch);
            number::EXISTS
        }
        Ask::Get { path, watch } => {
            out.utf8(text(path)).bool(*watch);
            number::GET_DATA
        }
        Ask::Children { path, watch, stat } => {
            out.utf8(text(path)).bool(*watch);
            if *stat { number::GET_CHILDREN_2 } else { number::GET_CHILDREN }
        }
        Ask::GetAcl { path } => {
            out.utf8(text(path));
            number::GET_ACL
        }
        Ask::CountDescendants { path } => {
            out.utf8(text(path));
            number::GET_ALL_CHILDREN_NUMBER
        }
        Ask::Ephemerals { prefix } => {
            out.utf8(prefix);
            number::GET_EPHEMERALS
        }
        Ask::MultiRead(ops) => {
            for op in ops {
                let (kind, path) = match op {
                    ReadOp::Get(path) => (number::GET_DATA, path),
                    ReadOp::Children(path) => (number::GET_CHILDREN, path),
                    ReadOp::Other(_) => return None,
                };
                out.int(kind).bool(false).int(-1).utf8(text(path)).bool(false);
            }
            out.int(-1).bool(true).int(-1);
            number::MULTI_READ
        }
        Ask::Sync { path } => {
            out.utf8(text(path));
            number::SYNC
        }
        Ask::AddWatch { path, mode } => {
            out.utf8(text(path)).int(*mode);
            number::ADD_WATCH
        }
        Ask::RemoveWatches { path, kind } => {
            out.utf8(text(path)).int(*kind);
            number::REMOVE_WATCHES
        }
        Ask::CheckWatches { path, kind } => {
            out.utf8(text(path)).int(*kind);
            number::CHECK_WATCHES
        }
        Ask::SetWatches(watching) => {
            out.long(watching.relative);
            let lists =
                [&watching.data, &watching.exist, &watching.child, &watching.persistent, &watching.recursive];
            for list in lists {
                out.list(list, |out, path| _ = out.utf8(text(path)));
            }
            number::SET_WATCHES_2
        }
        Ask::Auth { scheme, auth } => {
            out.int(0).utf8(scheme).buffer(Some(auth));
            number::AUTH
        }
        Ask::Sasl { token } => {
            out.buffer(Some(token));
            number::SASL
        }
        Ask::WhoAmI => number::WHO_AM_I,
        Ask::Ping => number::PING,
        Ask::CloseSession => number::CLOSE_SESSION,
        Ask::Unknown(op) => *op,
        _ => return None,
    };
    Some([Out::default().int(xid).int(op).as_bytes(), out.as_bytes()].concat())
}

fn op_of(form: CreateForm) -> i32 {
    match form {
        CreateForm::Create => number::CREATE,
        CreateForm::Create2 => number::CREATE_2,
        CreateForm::Container => number::CREATE_CONTAINER,
        CreateForm::Ttl => number::CREATE_TTL,
    }
}

fn create(out: &mut Out, creation: &Creation, paths: &Paths) {
    out.utf8(paths.text(creation.path)).buffer(creation.data.as_deref());
    acl(out, &creation.acl).int(creation.flags);
    if creation.form == CreateForm::Ttl {
        out.long(creation.ttl);
    }
}

fn acl<'a>(out: &'a mut Out, acl: &Acl) -> &'a mut Out {
    let entry =
        |out: &mut Out, entry: &AclEntry| _ = out.int(entry.perms).utf8(&entry.scheme).utf8(&entry.id);
    match acl {
        Acl::Open => out.int(1).int(perms::ALL).utf8("world").utf8("anyone"),
        Acl::List(entries) => out.list(entries, entry),
    }
}

fn multi(out: &mut Out, ops: &[AskOp], paths: &Paths) -> Option<()> {
    for op in ops {
        let head = |out: &mut Out, op: i32| _ = out.int(op).bool(false).int(-1);
        match op {
            AskOp::Create(creation) => {
                head(out, op_of(creation.form));
                create(out, creation, paths);
            }
            AskOp::Delete { path, version } => {
                head(out, number::DELETE);
                out.utf8(paths.text(*path)).int(*version);
            }
            AskOp::Set { path, data, version } => {
                head(out, number::SET_DATA);
                out.utf8(paths.text(*path)).buffer(data.as_deref()).int(*version);
            }
            AskOp::Check { path, version } => {
                head(out, number::CHECK);
                out.utf8(paths.text(*path)).int(*version);
            }
            AskOp::Other(op) => {
                head(out, *op);
                out.utf8("/").bool(false);
            }
        }
    }
    out.int(-1).bool(true).int(-1);
    Some(())
}
