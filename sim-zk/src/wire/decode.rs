//! Decoding of client frames: connect requests and requests.
//!
//! A body that is truncated, or has a null value on which ZooKeeper fails, becomes [`Ask::Malformed`].

use super::{MAX_FRAME_BYTES, password};
use crate::acl::{Acl, AclEntry, perms};
use crate::message::{Ask, AskOp, Content, CreateForm, Creation, Password, ReadOp, Tag, Up, Watching};
use crate::paths::{NULL, PathId, Paths};
use std::sync::Arc;
use zk_protocol::wire::jute::In;
use zk_protocol::wire::number;
use zk_recipes::zk::SessionId;

/// Decodes the first frame of a connection (`ConnectRequest`), and whether the client accepts read-only servers.
/// `None` if it is malformed.
pub(super) fn hello(frame: &[u8]) -> Option<(Up, bool)> {
    if frame.len() > MAX_FRAME_BYTES {
        return None;
    }
    let mut from = In::new(frame);
    let _protocol = from.int()?;
    let (last_zxid, timeout, session) = (from.long()?, from.int()?, SessionId(from.long()?));
    let said = from.buffer()?.unwrap_or_default();
    let password = Password::try_from(said).unwrap_or_else(|_| wrong_password(session));
    let timeout = u64::try_from(timeout).unwrap_or(0) * 1000;
    Some((Up::Connect { session, last_zxid, timeout, password }, from.bool().is_some()))
}

/// The stand-in for a password that is too short.
fn wrong_password(session: SessionId) -> Password {
    password(session).map(|byte| !byte)
}

/// Decodes a frame that is not the first of its connection.
pub(super) fn request(frame: &[u8], paths: &mut Paths) -> Up {
    let mut from = In::new(frame);
    let (Some(xid), Some(op)) = (from.int(), from.int()) else { return Up::Unreadable };
    if frame.len() > MAX_FRAME_BYTES {
        return Up::Unreadable;
    }
    match (op, Body { from, paths }.ask(op)) {
        // Authentication is decoded first, outside of the pipeline (`ZooKeeperServer.processPacket`).
        (number::AUTH | number::SASL, None) => Up::Unreadable,
        (number::PING, _) => Up::Request { xid: number::PING_XID, ask: Ask::Ping, tag: Tag::default() },
        (_, ask) => Up::Request { xid, ask: ask.unwrap_or(Ask::Malformed(op)), tag: Tag::default() },
    }
}

/// The body of a request, during decoding.
struct Body<'a, 'p> {
    from: In<'a>,
    paths: &'p mut Paths,
}

impl Body<'_, '_> {
    fn ask(mut self, op: i32) -> Option<Ask> {
        Some(match op {
            number::CREATE | number::CREATE_2 | number::CREATE_CONTAINER | number::CREATE_TTL => {
                Ask::Create(Box::new(self.creation(op)?))
            }
            number::DELETE => Ask::Delete { path: self.path()?, version: self.from.int()? },
            number::SET_DATA => {
                Ask::Set { path: self.path_or_empty()?, data: self.data()?, version: self.from.int()? }
            }
            number::SET_ACL => {
                Ask::SetAcl { path: self.path_or_empty()?, acl: self.acl()?, version: self.from.int()? }
            }
            number::CHECK => Ask::Check { path: self.path_or_empty()?, version: self.from.int()? },
            number::MULTI => Ask::Multi(self.multi()?),
            number::RECONFIG => {
                let _servers = (self.from.buffer()?, self.from.buffer()?, self.from.buffer()?);
                let _version = self.from.long()?;
                Ask::Reconfig
            }
            number::CREATE_SESSION => return None,
            number::DELETE_CONTAINER => Ask::Delete { path: self.paths.intern("\0"), version: -1 },
            number::PING => Ask::Ping,
            number::CLOSE_SESSION => Ask::CloseSession,
            number::AUTH => self.auth()?,
            // ZooKeeper fails on a null token.
            number::SASL => Ask::Sasl { token: self.from.buffer()??.into() },
            _ => return self.read(op),
        })
    }

    /// Decodes requests that change no znode.
    fn read(&mut self, op: i32) -> Option<Ask> {
        Some(match op {
            number::EXISTS => Ask::Exists { path: self.path()?, watch: self.from.bool()? },
            number::GET_DATA => Ask::Get { path: self.path()?, watch: self.from.bool()? },
            number::GET_CHILDREN | number::GET_CHILDREN_2 => {
                let stat = op == number::GET_CHILDREN_2;
                Ask::Children { path: self.path()?, watch: self.from.bool()?, stat }
            }
            number::GET_ACL => Ask::GetAcl { path: self.path()? },
            number::GET_ALL_CHILDREN_NUMBER => Ask::CountDescendants { path: self.path()? },
            number::GET_EPHEMERALS => Ask::Ephemerals { prefix: self.text()? },
            number::MULTI_READ => Ask::MultiRead(self.multi_read()?),
            number::SYNC => Ask::Sync { path: self.path_or_empty()? },
            number::ADD_WATCH => Ask::AddWatch { path: self.path_or_null()?, mode: self.from.int()? },
            number::REMOVE_WATCHES => {
                Ask::RemoveWatches { path: self.path_or_null()?, kind: self.from.int()? }
            }
            number::CHECK_WATCHES => Ask::CheckWatches { path: self.path()?, kind: self.from.int()? },
            number::SET_WATCHES | number::SET_WATCHES_2 => Ask::SetWatches(Box::new(self.watching(op)?)),
            number::WHO_AM_I => Ask::WhoAmI,
            _ => Ask::Unknown(op),
        })
    }

    /// Decodes a path; ZooKeeper fails on null.
    fn path(&mut self) -> Option<PathId> {
        let text = self.from.text()??;
        Some(self.paths.intern(&text))
    }

    /// Decodes a path where ZooKeeper treats null as empty.
    fn path_or_empty(&mut self) -> Option<PathId> {
        let text = self.from.text()?.unwrap_or_default();
        Some(self.paths.intern(&text))
    }

    /// Decodes a path where ZooKeeper looks null up like any text.
    fn path_or_null(&mut self) -> Option<PathId> {
        let text = self.from.text()?;
        Some(self.paths.intern(text.as_deref().unwrap_or(NULL)))
    }

    fn paths(&mut self) -> Option<Vec<PathId>> {
        let Body { from, paths } = self;
        from.list(|from| Some(paths.intern(&from.text()??)))?
    }

    /// Decodes a text; null is equivalent to empty.
    fn text(&mut self) -> Option<Arc<str>> {
        Some(self.from.text()?.unwrap_or_default().into())
    }

    fn data(&mut self) -> Option<Content> {
        Some(self.from.buffer()?.map(Arc::from))
    }

    fn acl(&mut self) -> Option<Acl> {
        let text = |from: &mut In<'_>| Some(Arc::from(from.text()?.unwrap_or_default()));
        let entry =
            |from: &mut In<'_>| Some(AclEntry { perms: from.int()?, scheme: text(from)?, id: text(from)? });
        let entries = self.from.list(entry)?.unwrap_or_default();
        Some(match entries.as_slice() {
            [only] if only.perms == perms::ALL && &*only.scheme == "world" && &*only.id == "anyone" => {
                Acl::Open
            }
            _ => Acl::List(entries.into()),
        })
    }

    fn creation(&mut self, op: i32) -> Option<Creation> {
        let form = match op {
            number::CREATE_2 => CreateForm::Create2,
            number::CREATE_CONTAINER => CreateForm::Container,
            number::CREATE_TTL => CreateForm::Ttl,
            _ => CreateForm::Create,
        };
        let (path, data) = (self.path()?, self.data()?);
        let (acl, flags) = (self.acl()?, self.from.int()?);
        let ttl = if form == CreateForm::Ttl { self.from.long()? } else { 0 };
        Some(Creation { form, path, data, acl, flags, ttl })
    }

    fn auth(&mut self) -> Option<Ask> {
        let _kind = self.from.int()?;
        let (scheme, auth) = (self.text()?, self.from.buffer()?);
        // `DigestAuthenticationProvider` fails on null, which is a failed authentication.
        let scheme = if auth.is_none() && &*scheme == "digest" { Arc::default() } else { scheme };
        Some(Ask::Auth { scheme, auth: auth.unwrap_or_default().into() })
    }

    fn watching(&mut self, op: i32) -> Option<Watching> {
        let relative = self.from.long()?;
        let (data, exist, child) = (self.paths()?, self.paths()?, self.paths()?);
        let both = op == number::SET_WATCHES_2;
        let (persistent, recursive) =
            if both { (self.paths()?, self.paths()?) } else { (Vec::new(), Vec::new()) };
        Some(Watching { relative, data, exist, child, persistent, recursive })
    }

    /// Decodes the operations of a multi. `op` decodes one by its number; `None` from it makes the whole request malformed.
    fn ops<T>(&mut self, op: impl Fn(&mut Self, i32) -> Option<T>) -> Option<Vec<T>> {
        let mut ops = Vec::new();
        loop {
            let (number, is_done, _error) = (self.from.int()?, self.from.bool()?, self.from.int()?);
            if is_done {
                return Some(ops);
            }
            ops.push(op(self, number)?);
        }
    }

    fn multi(&mut self) -> Option<Vec<AskOp>> {
        self.ops(|this, op| match op {
            number::CREATE | number::CREATE_2 | number::CREATE_CONTAINER | number::CREATE_TTL => {
                Some(AskOp::Create(as_in_a_multi(this.creation(op)?)?))
            }
            number::DELETE => Some(AskOp::Delete { path: this.path()?, version: this.from.int()? }),
            number::SET_DATA => {
                Some(AskOp::Set { path: this.path()?, data: this.data()?, version: this.from.int()? })
            }
            number::CHECK => Some(AskOp::Check { path: this.path()?, version: this.from.int()? }),
            number::GET_DATA | number::GET_CHILDREN => {
                let _read = (this.from.text()?, this.from.bool()?);
                Some(AskOp::Other(op))
            }
            // The end of an unknown operation cannot be found.
            _ => None,
        })
    }

    fn multi_read(&mut self) -> Option<Vec<ReadOp>> {
        self.ops(|this, op| {
            let read = match op {
                number::GET_DATA => ReadOp::Get,
                number::GET_CHILDREN => ReadOp::Children,
                _ => return None,
            };
            let read = read(this.path()?);
            let _watch = this.from.bool()?;
            Some(read)
        })
    }
}

/// Returns the operation of a create in a multi, where the flags decide and not the operation code (`Op.Create`).
/// `None` for a TTL flag in an operation without a TTL, on which ZooKeeper fails.
fn as_in_a_multi(creation: Creation) -> Option<Creation> {
    let is_ttl = number::TTL_FLAGS.contains(&creation.flags);
    let form = match creation.form {
        CreateForm::Ttl if is_ttl => return Some(creation),
        _ if is_ttl => return None,
        _ if creation.flags == number::CONTAINER_FLAG => CreateForm::Container,
        _ => CreateForm::Create,
    };
    Some(Creation { form, ttl: 0, ..creation })
}
