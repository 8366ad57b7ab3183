//! ZooKeeper's wire protocol, as a client writes it: the header of a request, one body per operation.
//!
//! Frames here do not include the four bytes of their length.

use super::form::{Data, NameOrNumber, Request};
use super::names;
use std::collections::BTreeMap;
use zk_protocol::wire::jute::Out;

/// The xid of a notification.
pub const NOTICE: i32 = -1;
/// The xid of a ping.
pub const PING: i32 = -2;
/// The xid of an authentication.
pub const AUTH: i32 = -4;

/// The most data that a case may send, in bytes: far above a server's limit.
const LARGEST_DATA: usize = 16 << 20;

/// A client's first message on a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hello {
    /// The last zxid that it has seen.
    pub last_zxid: i64,
    /// The session timeout that it asks for, in ms.
    pub timeout: i32,
    /// Its session, or 0 for a new one.
    pub session: i64,
    /// The password of that session.
    pub password: Vec<u8>,
    /// Whether a read-only server would do.
    pub readonly: bool,
}

/// A server's reply to a [`Hello`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Welcome {
    /// The session timeout that is granted, in ms; 0 if there is no such session.
    pub timeout: i32,
    /// The session.
    pub session: i64,
    /// Its password.
    pub password: Vec<u8>,
    /// Whether this server is read-only.
    pub readonly: bool,
}

/// The first frame of a connection.
pub fn hello(hello: &Hello) -> Vec<u8> {
    let mut out = Out::default();
    out.int(0).long(hello.last_zxid).int(hello.timeout).long(hello.session);
    out.buffer(Some(&hello.password)).bool(hello.readonly);
    out.done()
}

/// A ping.
pub fn ping() -> Vec<u8> {
    let mut out = Out::default();
    out.int(PING).int(11);
    out.done()
}

/// The xid of a request: its own, unless the operation has a fixed one.
pub fn xid(step: &Request, own: i32) -> i32 {
    match step.op.as_str() {
        "ping" => PING,
        "auth" => AUTH,
        _ => own,
    }
}

/// The frame of an operation. The zxids in it count from `z0`.
///
/// # Errors
///
/// There is no such operation, or an argument is missing or invalid.
pub fn request(step: &Request, own_xid: i32, z0: i64) -> Result<Vec<u8>, String> {
    let number = match step.number {
        Some(number) if step.op == "unknown" => number,
        _ => numbers()
            .get(step.op.as_str())
            .copied()
            .ok_or_else(|| format!("there is no operation {:?}", step.op))?,
    };
    let mut out = Out::default();
    out.int(xid(step, own_xid)).int(number);
    body(&mut out, step, z0)?;
    Ok(out.done())
}

/// ZooKeeper's operations and their numbers.
fn numbers() -> BTreeMap<&'static str, i32> {
    BTreeMap::from([
        ("create", 1),
        ("delete", 2),
        ("exists", 3),
        ("getData", 4),
        ("setData", 5),
        ("getACL", 6),
        ("setACL", 7),
        ("getChildren", 8),
        ("sync", 9),
        ("ping", 11),
        ("getChildren2", 12),
        ("check", 13),
        ("multi", 14),
        ("create2", 15),
        ("reconfig", 16),
        ("checkWatches", 17),
        ("removeWatches", 18),
        ("createContainer", 19),
        ("createTTL", 21),
        ("multiRead", 22),
        ("close", -11),
        ("closeSession", -11),
        ("auth", 100),
        ("setWatches", 101),
        ("getEphemerals", 103),
        ("getAllChildrenNumber", 104),
        ("setWatches2", 105),
        ("addWatch", 106),
        ("whoAmI", 107),
    ])
}

fn body(out: &mut Out, step: &Request, z0: i64) -> Result<(), String> {
    match step.op.as_str() {
        "create" | "create2" | "createContainer" | "createTTL" => create(out, step)?,
        "delete" | "check" => _ = out.text(path(step)?).int(version(step)),
        "exists" | "getData" | "getChildren" | "getChildren2" => _ = out.text(path(step)?).bool(step.watch),
        "setData" => _ = out.text(path(step)?).buffer(data(step)?.as_deref()).int(version(step)),
        "getACL" | "sync" | "getAllChildrenNumber" => _ = out.text(path(step)?),
        "setACL" => {
            out.text(path(step)?);
            acl(out, step)?;
            out.int(version(step));
        }
        "multi" | "multiRead" => multi(out, step)?,
        "reconfig" => {
            for servers in [&step.joining, &step.leaving, &step.members] {
                out.buffer(servers.as_ref().map(String::as_bytes));
            }
            out.long(step.config_id.unwrap_or(-1));
        }
        "checkWatches" | "removeWatches" => {
            out.text(path(step)?).int(number(step.wtype.as_ref(), "wtype", names::watch_type)?);
        }
        "addWatch" => {
            out.text(path(step)?);
            out.int(match step.flags {
                Some(flags) => flags,
                None => number(step.mode.as_ref(), "mode", names::watch_mode)?,
            });
        }
        "auth" => {
            let scheme = step.scheme.as_deref().ok_or("`scheme` is missing")?;
            out.int(0).text(scheme).text(step.auth.as_deref().unwrap_or_default());
        }
        "setWatches" | "setWatches2" => watches(out, step, z0)?,
        "getEphemerals" => _ = out.text(step.prefix.as_deref().ok_or("`prefix` is missing")?),
        // Only the header: ping, whoAmI, closeSession, and unknown operations.
        _ => {}
    }
    Ok(())
}

fn create(out: &mut Out, step: &Request) -> Result<(), String> {
    out.text(path(step)?).buffer(data(step)?.as_deref());
    acl(out, step)?;
    let usual = match step.op.as_str() {
        "createContainer" => "container",
        "createTTL" => "ttl",
        _ => "persistent",
    };
    let usual = NameOrNumber::Name(usual.to_owned());
    let mode = number(Some(step.mode.as_ref().unwrap_or(&usual)), "mode", names::create_mode)?;
    out.int(step.flags.unwrap_or(mode));
    if step.op == "createTTL" {
        out.long(step.ttl.ok_or("`ttl` is missing")?);
    }
    Ok(())
}

fn watches(out: &mut Out, step: &Request, z0: i64) -> Result<(), String> {
    let data: &[String] = match &step.data {
        Some(Data::Paths(paths)) => paths,
        Some(Data::Text(_)) => return Err("`data` is a list of paths here".to_owned()),
        None => &[],
    };
    out.long(z0.saturating_add(step.relative.unwrap_or(0)));
    let lists = [data, &step.exist, &step.child, &step.persistent, &step.recursive];
    let count = if step.op == "setWatches2" { lists.len() } else { 3 };
    for list in &lists[..count] {
        out.list(list, |out, path| _ = out.text(path));
    }
    Ok(())
}

fn multi(out: &mut Out, step: &Request) -> Result<(), String> {
    let numbers = numbers();
    for op in &step.ops {
        let number =
            numbers.get(op.op.as_str()).ok_or_else(|| format!("there is no operation {:?}", op.op))?;
        out.int(*number).bool(false).int(-1);
        body(out, op, 0)?;
    }
    out.int(-1).bool(true).int(-1);
    Ok(())
}

fn path(step: &Request) -> Result<&str, String> {
    step.path.as_deref().ok_or_else(|| "`path` is missing".to_owned())
}

/// Any version unless the step names one.
fn version(step: &Request) -> i32 {
    step.version.unwrap_or(-1)
}

fn data(step: &Request) -> Result<Option<Vec<u8>>, String> {
    match (&step.data, step.size) {
        _ if step.nulldata => Ok(None),
        (Some(Data::Text(text)), _) => Ok(Some(text.clone().into_bytes())),
        (Some(Data::Paths(_)), _) => Err("`data` is a text here".to_owned()),
        (None, Some(size)) if size > LARGEST_DATA => Err(format!("`size` is more than {LARGEST_DATA}")),
        (None, Some(size)) => Ok(Some(vec![b'x'; size])),
        (None, None) => Ok(Some(Vec::new())),
    }
}

/// All permissions for everyone unless the step has an ACL.
fn acl(out: &mut Out, step: &Request) -> Result<(), String> {
    if step.nullacl {
        out.int(-1);
        return Ok(());
    }
    let Some(list) = &step.acl else {
        out.int(1).int(31).text("world").text("anyone");
        return Ok(());
    };
    let bits = list.iter().map(|(permissions, ..)| bits(permissions)).collect::<Result<Vec<_>, _>>()?;
    let entries: Vec<_> = bits.into_iter().zip(list).collect();
    out.list(&entries, |out, (bits, (_, scheme, id))| _ = out.int(*bits).text(scheme).text(id));
    Ok(())
}

fn bits(permissions: &NameOrNumber) -> Result<i32, String> {
    let letters = match permissions {
        NameOrNumber::Number(number) => return Ok(*number),
        NameOrNumber::Name(letters) => letters,
    };
    let bit = |letter| names::PERMISSIONS.iter().find(|(known, _)| *known == letter).map(|(_, bit)| bit);
    letters.chars().try_fold(0, |bits, letter| {
        bit(letter).map(|bit| bits | bit).ok_or_else(|| format!("there is no permission {letter:?}"))
    })
}

fn number(value: Option<&NameOrNumber>, what: &str, of: fn(&str) -> Option<i32>) -> Result<i32, String> {
    match value {
        None => Err(format!("`{what}` is missing")),
        Some(NameOrNumber::Number(number)) => Ok(*number),
        Some(NameOrNumber::Name(name)) => of(name).ok_or_else(|| format!("there is no {what} {name:?}")),
    }
}
