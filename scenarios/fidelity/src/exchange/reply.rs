//! ZooKeeper's wire protocol, as a client reads it: each reply in the form of an expectation.

use super::form::{Expect, NameOrNumber, Notice, OpResult, Owner, Stat, Zxid};
use super::names;
use super::wire::Welcome;
use std::collections::BTreeMap;
use zk_protocol::wire::jute;

/// A frame cannot be decoded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the server sent a truncated or malformed frame while {0} was read")]
pub struct Garbled(&'static str);

/// The header of all frames that a server sends after its welcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The request's xid, or that of a notification.
    pub xid: i32,
    /// The last zxid of the server.
    pub zxid: i64,
    /// An error's number, or 0.
    pub err: i32,
}

/// The base values that make the numbers of different runs comparable.
#[derive(Clone, Debug, Default)]
pub struct Terms {
    /// The last zxid before the case.
    pub z0: i64,
    /// The labels of sessions.
    pub labels: BTreeMap<i64, String>,
}

impl Terms {
    /// A header's zxid, relative to the case; 0 and -1 mean none.
    pub fn zxid(&self, zxid: i64) -> i64 {
        if zxid > 0 { zxid - self.z0 } else { zxid }
    }

    fn stat_zxid(&self, zxid: i64) -> Zxid {
        match zxid {
            0 => Zxid::Word("zero".to_owned()),
            zxid if zxid > self.z0 => Zxid::Relative(zxid - self.z0),
            _ => Zxid::Word("pre".to_owned()),
        }
    }

    fn owner(&self, session: i64) -> Owner {
        match self.labels.get(&session) {
            _ if session == 0 => Owner::Number(0),
            Some(label) => Owner::Label(label.clone()),
            None => Owner::Label(format!("0x{session:x}")),
        }
    }
}

/// Reads jute, and names the part that could not be read.
pub(super) struct In<'a>(jute::In<'a>);

type Read<T> = Result<T, Garbled>;

impl<'a> In<'a> {
    pub(super) fn new(frame: &'a [u8]) -> Self {
        In(jute::In::new(frame))
    }

    fn int(&mut self) -> Read<i32> {
        self.0.int().ok_or(Garbled("a number"))
    }

    fn long(&mut self) -> Read<i64> {
        self.0.long().ok_or(Garbled("a long number"))
    }

    fn bool(&mut self) -> Read<bool> {
        self.0.bool().ok_or(Garbled("a truth value"))
    }

    fn bytes(&mut self) -> Read<Option<&'a [u8]>> {
        self.0.buffer().ok_or(Garbled("a text"))
    }

    /// Data, which may be null.
    fn data(&mut self) -> Read<Option<String>> {
        Ok(self.bytes()?.map(|bytes| String::from_utf8_lossy(bytes).into_owned()))
    }

    fn text(&mut self) -> Read<String> {
        self.data().map(Option::unwrap_or_default)
    }

    fn list<T>(&mut self, item: impl Fn(&mut Self) -> Read<T>) -> Read<Vec<T>> {
        let length = self.int()?.max(0);
        (0..length).map(|_| item(self)).collect()
    }

    fn texts(&mut self) -> Read<Vec<String>> {
        self.list(Self::text)
    }

    fn stat(&mut self, terms: &Terms) -> Read<Stat> {
        let stat = self.0.stat().ok_or(Garbled("a stat"))?;
        Ok(Stat {
            version: stat.version,
            cversion: stat.cversion,
            aversion: stat.aversion,
            data_length: stat.data_length,
            num_children: stat.num_children,
            czxid: terms.stat_zxid(stat.czxid),
            mzxid: terms.stat_zxid(stat.mzxid),
            pzxid: terms.stat_zxid(stat.pzxid),
            ephemeral_owner: terms.owner(stat.ephemeral_owner.0),
        })
    }

    fn acl(&mut self) -> Read<(NameOrNumber, String, String)> {
        let bits = self.int()?;
        let letters = names::PERMISSIONS.iter().filter(|(_, bit)| bits & bit != 0).map(|(letter, _)| letter);
        Ok((NameOrNumber::Name(letters.collect()), self.text()?, self.text()?))
    }
}

/// Reads the server's reply to the first frame of a connection.
///
/// # Errors
///
/// It is no such reply.
pub fn welcome(frame: &[u8]) -> Result<Welcome, Garbled> {
    let mut from = In::new(frame);
    let _protocol = from.int()?;
    let (timeout, session) = (from.int()?, from.long()?);
    let password = from.bytes()?.unwrap_or_default().to_owned();
    // Older servers omit it.
    let readonly = !from.0.rest().is_empty() && from.bool()?;
    Ok(Welcome { timeout, session, password, readonly })
}

/// Splits a frame into its header and the rest.
///
/// # Errors
///
/// It is too short.
pub fn header(frame: &[u8]) -> Result<(Header, &[u8]), Garbled> {
    let mut from = In::new(frame);
    let header = Header { xid: from.int()?, zxid: from.long()?, err: from.int()? };
    Ok((header, from.0.rest()))
}

/// Reads the body of a notification.
///
/// # Errors
///
/// It is no notification.
pub fn notice(body: &[u8]) -> Result<Notice, Garbled> {
    let mut from = In::new(body);
    let (event, state, path) = (from.int()?, from.int()?, from.text()?);
    let mut notice = vec![names::event(event), path];
    if state != names::SYNC_CONNECTED {
        notice.push(names::state(state));
    }
    Ok(notice)
}

/// Reads a reply to an operation of that name.
///
/// # Errors
///
/// It is no such reply.
pub fn reply(op: &str, header: Header, body: &[u8], terms: &Terms) -> Result<Expect, Garbled> {
    let mut told = Expect {
        err: Some(names::error(header.err)),
        zxid: Some(terms.zxid(header.zxid)),
        ..Expect::default()
    };
    if header.err != 0 {
        return Ok(told);
    }
    let from = &mut In::new(body);
    match op {
        "create" | "sync" => told.path = Some(from.text()?),
        "create2" | "createContainer" | "createTTL" => {
            told.path = Some(from.text()?);
            told.stat = Some(from.stat(terms)?);
        }
        "exists" | "setData" | "setACL" => told.stat = Some(from.stat(terms)?),
        "getData" => {
            told.data = Some(from.data()?);
            told.stat = Some(from.stat(terms)?);
        }
        "getChildren" => (told.children, told.order) = sorted(from.texts()?),
        "getChildren2" => {
            (told.children, told.order) = sorted(from.texts()?);
            told.stat = Some(from.stat(terms)?);
        }
        "getEphemerals" => (told.ephemerals, told.order) = sorted(from.texts()?),
        "getAllChildrenNumber" => told.number = Some(from.int()?),
        "getACL" => {
            told.acl = Some(from.list(In::acl)?);
            told.stat = Some(from.stat(terms)?);
        }
        "whoAmI" => told.clients = Some(from.list(|from| Ok((from.text()?, from.text()?)))?),
        "multi" | "multiRead" => told.results = Some(results(from, terms)?),
        _ => {}
    }
    Ok(told)
}

/// The sorted names, and the server's order if there are several.
fn sorted(names: Vec<String>) -> (Option<Vec<String>>, Option<Vec<String>>) {
    let mut sorted = names.clone();
    sorted.sort();
    (Some(sorted), (names.len() > 1).then_some(names))
}

fn results(from: &mut In<'_>, terms: &Terms) -> Read<Vec<OpResult>> {
    let mut results = Vec::new();
    loop {
        let (number, done, _err) = (from.int()?, from.bool()?, from.int()?);
        if done {
            return Ok(results);
        }
        let mut told = OpResult::default();
        match number {
            -1 => told.error = Some(names::error(from.int()?)),
            1 => told.create = Some(from.text()?),
            15 | 19 | 21 => {
                told.create2 = Some(from.text()?);
                told.stat = Some(from.stat(terms)?);
            }
            2 => told.delete = true,
            5 => told.set_data = Some(from.stat(terms)?),
            13 => told.check = true,
            4 => {
                told.get_data = Some(from.data()?);
                told.stat = Some(from.stat(terms)?);
            }
            8 => (told.get_children, told.order) = sorted(from.texts()?),
            _ => return Err(Garbled("a result of a multi")),
        }
        results.push(told);
    }
}
