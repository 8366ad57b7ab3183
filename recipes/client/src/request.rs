//! Encoding of requests, and decoding of replies.
//!
//! A request is encoded at its call, so its size is known before it is sent: one that exceeds a server's limit is refused.
//! The future that waits for a reply decodes it.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use super::acl::Acl;
use super::effect::{Effect, PathNumber};
use zk_protocol::session::{List, Protocol, SessionError, Watching};
use zk_protocol::wire::jute::{In, LENGTH_BYTES, Out};
use zk_protocol::wire::{frame, number};
use zk_recipes::zk::{
    Code, CreateMode, Created, Data, Error, ErrorKind, EventKind, Listing, Op, OpResult, Stat, path,
};

/// The types of a real client's session machine.
#[derive(Clone, Copy, Debug)]
pub(super) enum Real {}

/// A request without its xid. Cloning is cheap.
#[derive(Clone, Debug)]
pub(super) enum Ask {
    /// What a user asks for.
    User(Arc<Request>),
    Ping,
    Close,
    SetWatches(Arc<Watching<Arc<str>>>),
    RemoveWatches(Arc<str>, i32),
}

/// A request of a user, encoded.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) op: i32,
    pub(super) body: Vec<u8>,
    /// The watch that it arms on success.
    pub(super) arms: Option<(List, Arc<str>)>,
    /// What it does to the session's ephemerals.
    pub(super) effect: Effect,
}

/// The body of a reply.
pub(super) type Body = Vec<u8>;

impl Protocol for Real {
    type Path = Arc<str>;
    type Conn = u32;
    type Ask = Ask;
    type Tag = ();
    type Answer = Body;
    type Refusal = i32;
    type Flaws = ();

    // Nobody reads it, and a connection may last for months.
    const TELLS_FORGOTTEN: bool = false;

    fn arms(ask: &Ask) -> Option<(List, Arc<str>)> {
        match ask {
            Ask::User(request) => request.arms.clone(),
            _ => None,
        }
    }

    fn is_write(_: &Ask) -> bool {
        // Only an injected bug needs it.
        false
    }

    fn is_close(ask: &Ask) -> bool {
        matches!(ask, Ask::Close)
    }

    fn is_absent(ask: &Ask, refusal: &i32) -> bool {
        *refusal == Code::NoNode.number() && matches!(ask, Ask::User(request) if request.op == number::EXISTS)
    }

    fn session_error(ask: Option<&Ask>, result: &Result<Body, i32>) -> Option<SessionError> {
        let of = |number| Code::from_number(number).and_then(SessionError::of);
        match (result, ask) {
            (Err(number), _) => of(*number),
            (Ok(body), Some(Ask::User(request))) => errors_of(request.op, body).find_map(of),
            _ => None,
        }
    }

    fn is_busy(refusal: &i32) -> bool {
        Code::from_number(*refusal).is_some_and(Code::is_passing)
    }

    fn ping() -> Ask {
        Ask::Ping
    }

    fn set_watches(watching: Watching<Arc<str>>) -> Ask {
        Ask::SetWatches(Arc::new(watching))
    }

    fn remove_watches(path: Arc<str>, kind: i32) -> Ask {
        Ask::RemoveWatches(path, kind)
    }

    fn own_tag() {}
}

/// The chroot of a session, which is the path at the end of its connect string, and the longest request.
#[derive(Clone, Debug)]
pub(super) struct Root {
    pub(super) path: String,
    max_request_bytes: usize,
}

impl Default for Root {
    fn default() -> Root {
        Root::new("")
    }
}

impl Root {
    /// `path` is empty, or a path without a slash at its end.
    pub(super) fn new(path: &str) -> Root {
        Root { path: path.to_owned(), max_request_bytes: path::MAX_REQUEST_BYTES }
    }

    /// Servers take requests of that size.
    pub(super) fn taking(self, max_request_bytes: usize) -> Root {
        Root { max_request_bytes, ..self }
    }

    pub(super) fn max_request_bytes(&self) -> usize {
        self.max_request_bytes
    }

    fn within_limit(&self, bytes: usize) -> Result<(), Error> {
        within_limit(self.max_request_bytes, bytes)
    }

    /// Refuses a request that exceeds a server's limit.
    fn bounded(&self, request: Request) -> Result<Request, Error> {
        self.within_limit(request.body.len() + HEADER_BYTES).map(|()| request)
    }

    /// The server's name of a path, in two pieces, which avoids an allocation.
    fn write(&self, out: &mut Out, path: &str) {
        match (self.path.is_empty(), path) {
            (true, _) => _ = out.text(path),
            (false, "/") => _ = out.text(&self.path),
            (false, _) => _ = out.text(&format!("{}{path}", self.path)),
        }
    }

    /// The bytes that a path takes in a request.
    pub(super) fn bytes_of(&self, path: &str) -> usize {
        let below = if path == "/" && !self.path.is_empty() { "" } else { path };
        LENGTH_BYTES + self.path.len() + below.len()
    }

    /// The most bytes by which a path is longer for the server.
    pub(super) fn added_bytes(&self) -> usize {
        self.path.len()
    }

    fn write_all(&self, out: &mut Out, paths: &[Arc<str>]) {
        out.list(paths, |out, path| self.write(out, path));
    }

    /// The client's name of a server's path.
    pub(super) fn strip<'a>(&self, path: &'a str) -> &'a str {
        match path.strip_prefix(&self.path) {
            Some("") => "/",
            Some(ours) => ours,
            // A path outside the chroot, which no valid reply has.
            None => path,
        }
    }

    fn request(
        &self,
        op: i32,
        path: &str,
        arms: Option<List>,
        rest: impl FnOnce(&mut Out),
    ) -> Result<Request, Error> {
        let at = |error: Error| error.at(number::name_of(op), path);
        path::validate(path).map_err(at)?;
        let mut out = Out::default();
        self.write(&mut out, path);
        rest(&mut out);
        if arms.is_some() {
            // A watch that could not be registered again would keep the session from every later connection.
            self.within_limit(REWATCH_BYTES + self.bytes_of(path)).map_err(at)?;
        }
        let arms = arms.map(|list| (list, path.into()));
        self.bounded(Request { op, body: out.done(), arms, effect: Effect::Nothing }).map_err(at)
    }

    pub(super) fn create(
        &self,
        path: &str,
        data: &[u8],
        mode: CreateMode,
        acl: &Acl,
    ) -> Result<Request, Error> {
        let op = if mode == CreateMode::Container { number::CREATE_CONTAINER } else { number::CREATE_2 };
        let effect = self.effect_of_create(path, mode);
        let mut out = Out::default();
        path::validate_size(self.max_request_bytes, path, data)
            .and_then(|()| self.write_create(&mut out, path, data, mode, acl))
            .and_then(|()| self.bounded(Request { op, body: out.done(), arms: None, effect }))
            .map_err(|error| error.at(number::name_of(op), path))
    }

    fn effect_of_create(&self, path: &str, mode: CreateMode) -> Effect {
        match mode.is_ephemeral() {
            true => Effect::creates(self.bytes_of(path), mode.is_sequential()),
            false => Effect::Nothing,
        }
    }

    fn effect_of_delete(&self, path: &str) -> Effect {
        Effect::Deletes(PathNumber::of(&self.path, path))
    }

    fn effect_of(&self, op: &Op) -> Effect {
        match op {
            Op::Create { path, mode, .. } => self.effect_of_create(path, *mode),
            Op::Delete { path, .. } => self.effect_of_delete(path),
            Op::Set { .. } | Op::Check { .. } => Effect::Nothing,
        }
    }

    fn write_create(
        &self,
        out: &mut Out,
        path: &str,
        data: &[u8],
        mode: CreateMode,
        acl: &Acl,
    ) -> Result<(), Error> {
        if mode.is_sequential() {
            // The name with its number must be valid: `/queue/` is a valid prefix.
            path::validate(&format!("{path}0"))?;
        } else {
            path::validate(path)?;
        }
        self.write(out, path);
        out.buffer(Some(data));
        acl.write(out);
        out.int(number::flags_of(mode));
        Ok(())
    }

    pub(super) fn delete(&self, path: &str, version: Option<i32>) -> Result<Request, Error> {
        let request = self.request(number::DELETE, path, None, |out| _ = out.int(any(version)))?;
        Ok(Request { effect: self.effect_of_delete(path), ..request })
    }

    pub(super) fn set(&self, path: &str, data: &[u8], version: Option<i32>) -> Result<Request, Error> {
        path::validate_size(self.max_request_bytes, path, data).map_err(|error| error.at("setData", path))?;
        self.request(number::SET_DATA, path, None, |out| _ = out.buffer(Some(data)).int(any(version)))
    }

    pub(super) fn exists(&self, path: &str, watch: bool) -> Result<Request, Error> {
        self.request(number::EXISTS, path, watch.then_some(List::Data), |out| _ = out.bool(watch))
    }

    pub(super) fn get(&self, path: &str, watch: bool) -> Result<Request, Error> {
        self.request(number::GET_DATA, path, watch.then_some(List::Data), |out| _ = out.bool(watch))
    }

    pub(super) fn children(&self, path: &str, watch: bool) -> Result<Request, Error> {
        self.request(number::GET_CHILDREN_2, path, watch.then_some(List::Child), |out| _ = out.bool(watch))
    }

    pub(super) fn sync(&self, path: &str) -> Result<Request, Error> {
        self.request(number::SYNC, path, None, |_| ())
    }

    pub(super) fn watch_tree(&self, path: &str) -> Result<Request, Error> {
        self.request(number::ADD_WATCH, path, Some(List::Recursive), |out| _ = out.int(RECURSIVE))
    }

    /// Reads of these znodes, in as many requests as the size limit needs (`multiRead`: ZooKeeper 3.6 or later).
    pub(super) fn get_many(&self, paths: &[String]) -> Result<Vec<Request>, Error> {
        let mut requests = Vec::new();
        let mut out = Out::default();
        for (at, path) in paths.iter().enumerate() {
            path::validate(path).map_err(|error| error.at("multiRead", path))?;
            if at > 0 && out.len() + self.bytes_of(path) > READ_BYTES {
                requests.push(self.read(std::mem::take(&mut out))?);
            }
            operation(&mut out, number::GET_DATA);
            self.write(&mut out, path);
            out.bool(false);
        }
        // An empty read keeps its place in the request order, and fails with its session.
        requests.push(self.read(out)?);
        Ok(requests)
    }

    fn read(&self, mut out: Out) -> Result<Request, Error> {
        end(&mut out);
        self.bounded(Request {
            op: number::MULTI_READ,
            body: out.done(),
            arms: None,
            effect: Effect::Nothing,
        })
    }

    pub(super) fn multi(&self, ops: &[Op], acl: &Acl) -> Result<Request, Error> {
        let mut out = Out::default();
        for op in ops {
            self.write_op(&mut out, op, acl).map_err(|error| error.at(op.name(), op.path()))?;
        }
        end(&mut out);
        let effect = Effect::several(ops.iter().map(|op| self.effect_of(op)));
        self.bounded(Request { op: number::MULTI, body: out.done(), arms: None, effect })
            .map_err(|e| ErrorKind::BadInput(format!("{} operations: {}", ops.len(), reason(&e))).into())
    }

    fn write_op(&self, out: &mut Out, op: &Op, acl: &Acl) -> Result<(), Error> {
        let mut checked = |number: i32, path: &str| {
            path::validate(path)?;
            operation(out, number);
            self.write(out, path);
            Ok::<(), Error>(())
        };
        match op {
            Op::Check { path, version } => {
                checked(number::CHECK, path)?;
                out.int(any(*version));
            }
            Op::Delete { path, version } => {
                checked(number::DELETE, path)?;
                out.int(any(*version));
            }
            Op::Set { path, data, version } => {
                checked(number::SET_DATA, path)?;
                out.buffer(Some(data)).int(any(*version));
            }
            Op::Create { path, data, mode } => {
                let container = *mode == CreateMode::Container;
                operation(out, if container { number::CREATE_CONTAINER } else { number::CREATE });
                self.write_create(out, path, data, *mode, acl)?;
            }
        }
        Ok(())
    }

    /// A write that changes nothing: what is sent behind it reads what all earlier requests have done.
    pub(super) fn settle() -> Request {
        let mut out = Out::default();
        operation(&mut out, number::CHECK);
        out.text("/").int(any(None));
        end(&mut out);
        Request { op: number::MULTI, body: out.done(), arms: None, effect: Effect::Nothing }
    }

    /// A read of the paths of all ephemerals of the session, in the server's names (`getEphemerals`: ZooKeeper 3.6 or later).
    pub(super) fn ephemerals() -> Request {
        let mut out = Out::default();
        out.text("/");
        Request { op: number::GET_EPHEMERALS, body: out.done(), arms: None, effect: Effect::Nothing }
    }

    /// The whole frame of a request, behind what is there already.
    pub(super) fn frame(&self, xid: i32, ask: &Ask, frames: &mut Vec<u8>) {
        let mut own = Out::default();
        let (op, body): (i32, &[u8]) = match ask {
            Ask::User(request) => (request.op, &request.body),
            Ask::Ping => (number::PING, &[]),
            Ask::Close => (number::CLOSE_SESSION, &[]),
            Ask::RemoveWatches(path, kind) => {
                self.write(&mut own, path);
                own.int(*kind);
                (number::REMOVE_WATCHES, own.as_bytes())
            }
            Ask::SetWatches(watching) => (self.write_watching(&mut own, watching), own.as_bytes()),
        };
        frame::header(frames, body.len() + HEADER_BYTES);
        frames.extend(xid.to_be_bytes());
        frames.extend(op.to_be_bytes());
        frames.extend(body);
    }

    /// A server before 3.6 does not know persistent watches, nor the request that registers them.
    fn write_watching(&self, out: &mut Out, watching: &Watching<Arc<str>>) -> i32 {
        let Watching { relative, data, exist, child, persistent, recursive } = watching;
        out.long(*relative);
        [data, exist, child].into_iter().for_each(|list| self.write_all(out, list));
        if persistent.is_empty() && recursive.is_empty() {
            return number::SET_WATCHES;
        }
        [persistent, recursive].into_iter().for_each(|list| self.write_all(out, list));
        number::SET_WATCHES_2
    }
}

/// The xid and the number of the operation.
const HEADER_BYTES: usize = 8;

/// The size up to which a read of many znodes is not split.
const READ_BYTES: usize = 512 * 1024;

/// The number of the mode of a persistent recursive watch.
const RECURSIVE: i32 = 1;

/// The longest `setWatches2` without its paths: header, zxid, five lists.
const REWATCH_BYTES: usize = HEADER_BYTES + 8 + 5 * LENGTH_BYTES;

/// Refuses a request of so many bytes, if a server would hang up on it.
pub(super) fn within_limit(limit: usize, bytes: usize) -> Result<(), Error> {
    if bytes > limit {
        return Err(ErrorKind::BadInput(format!("a request of {bytes} bytes; a server takes {limit}")).into());
    }
    Ok(())
}

fn reason(error: &Error) -> String {
    match error.kind() {
        ErrorKind::BadInput(why) => why.clone(),
        _ => error.to_string(),
    }
}

/// A version as it is sent: -1 is any.
fn any(version: Option<i32>) -> i32 {
    version.unwrap_or(-1)
}

/// The header of an operation of several (`MultiHeader`).
fn operation(out: &mut Out, op: i32) {
    out.int(op).bool(false).int(-1);
}

/// What ends several operations.
fn end(out: &mut Out) {
    out.int(number::ERROR).bool(true).int(-1);
}

/// A reply: its body, or the number of an error.
pub(super) type Said = Result<Body, i32>;

/// An invalid reply leaves the outcome unknown.
fn nonsense(of: &str) -> Error {
    ErrorKind::Unexpected(format!("the answer to {of} cannot be read")).into()
}

fn body(said: Said) -> Result<Body, Error> {
    said.map_err(Error::from_code_number)
}

pub(super) fn nothing(_: &Request, _: &Root, said: Said) -> Result<(), Error> {
    body(said).map(drop)
}

pub(super) fn created(_: &Request, root: &Root, said: Said) -> Result<Created, Error> {
    let body = body(said)?;
    let mut from = In::new(&body);
    let read =
        |from: &mut In<'_>| Some(Created { path: root.strip(&from.text()??).to_owned(), stat: from.stat()? });
    read(&mut from).ok_or_else(|| nonsense("create"))
}

pub(super) fn stat(_: &Request, _: &Root, said: Said) -> Result<Stat, Error> {
    In::new(&body(said)?).stat().ok_or_else(|| nonsense("setData"))
}

pub(super) fn maybe_stat(_: &Request, _: &Root, said: Said) -> Result<Option<Stat>, Error> {
    match body(said) {
        Ok(body) => In::new(&body).stat().map(Some).ok_or_else(|| nonsense("exists")),
        Err(e) if e.is_no_node() => Ok(None),
        Err(e) => Err(e),
    }
}

pub(super) fn data(_: &Request, _: &Root, said: Said) -> Result<Data, Error> {
    read_data(&mut In::new(&body(said)?)).ok_or_else(|| nonsense("getData"))
}

fn read_data(from: &mut In<'_>) -> Option<Data> {
    let data = from.buffer()?.unwrap_or_default().to_vec();
    Some(Data { data, stat: from.stat()? })
}

pub(super) fn listing(_: &Request, _: &Root, said: Said) -> Result<Listing, Error> {
    let body = body(said)?;
    let mut from = In::new(&body);
    let read = |from: &mut In<'_>| {
        let names = from.list(|from| Some(from.text()??.into_owned()))?.unwrap_or_default();
        Some(Listing { names, stat: from.stat()? })
    };
    read(&mut from).ok_or_else(|| nonsense("getChildren"))
}

pub(super) fn many(asked: &Request, root: &Root, said: Said) -> Result<Vec<Option<Data>>, Error> {
    let body = body(said)?;
    let mut from = In::new(&body);
    let mut found = Vec::new();
    loop {
        let Some((op, is_done, error)) = result_header(&mut from) else { return Err(nonsense("multiRead")) };
        if is_done {
            return Ok(found);
        }
        found.push(match op {
            number::ERROR if from.int().is_none() => return Err(nonsense("multiRead")),
            number::ERROR if error == Code::NoNode.number() => None,
            number::ERROR => {
                let error = Error::from_code_number(error);
                return Err(asked.explain_operation(root, found.len(), error));
            }
            _ => Some(read_data(&mut from).ok_or_else(|| nonsense("multiRead"))?),
        });
    }
}

pub(super) fn results(asked: &Request, root: &Root, said: Said) -> Result<Vec<OpResult>, Error> {
    read_results(root, said).map_err(|error| match error.into_kind() {
        ErrorKind::Multi { index, cause } => {
            Error::multi(index, asked.explain_operation(root, index, *cause))
        }
        kind => kind.into(),
    })
}

/// The same, of which an error does not name its operation.
pub(super) fn read_results(root: &Root, said: Said) -> Result<Vec<OpResult>, Error> {
    let body = body(said)?;
    let mut from = In::new(&body);
    let (mut done, mut refused) = (Vec::new(), Vec::new());
    loop {
        let read = result_header(&mut from).and_then(|(op, is_done, error)| {
            if !is_done {
                match op {
                    number::ERROR => refused.push(from.int().map(|_| error)?),
                    _ => done.push(read_result(root, op, &mut from)?),
                }
            }
            Some(is_done)
        });
        match read {
            Some(true) => break,
            Some(false) => {}
            None => return Err(nonsense("multi")),
        }
    }
    // A refused transaction reports each operation: 0 before the refused one, its error, and -2 behind.
    match refused.iter().position(|error| *error != 0) {
        Some(index) => Err(Error::multi(index, Error::from_code_number(refused[index]))),
        None => Ok(done),
    }
}

/// The errors of the operations of an answer to several; none of any other answer. Nothing is copied.
fn errors_of(op: i32, body: &[u8]) -> impl Iterator<Item = i32> + '_ {
    let mut from = In::new(body);
    std::iter::from_fn(move || {
        if !matches!(op, number::MULTI | number::MULTI_READ) {
            return None;
        }
        loop {
            match result_header(&mut from)? {
                (_, true, _) => return None,
                (number::ERROR, false, error) => return from.int().map(|_| error),
                (number::GET_DATA, false, _) => _ = (from.buffer()?, from.stat()?),
                // A transaction that was applied has no errors.
                _ => return None,
            }
        }
    })
}

/// The number of an operation, whether it is none but the end, and its error.
fn result_header(from: &mut In<'_>) -> Option<(i32, bool, i32)> {
    Some((from.int()?, from.bool()?, from.int()?))
}

fn read_result(root: &Root, op: i32, from: &mut In<'_>) -> Option<OpResult> {
    Some(match op {
        number::CHECK => OpResult::Checked,
        number::DELETE => OpResult::Deleted,
        number::SET_DATA => OpResult::Set(from.stat()?),
        number::CREATE => OpResult::Created(root.strip(&from.text()??).to_owned()),
        number::CREATE_2 | number::CREATE_CONTAINER => {
            let path = root.strip(&from.text()??).to_owned();
            from.stat()?;
            OpResult::Created(path)
        }
        _ => return None,
    })
}

/// Decodes a notification (`WatcherEvent`); none for one about the session, which clients detect themselves.
pub(super) fn notification(root: &Root, body: &[u8]) -> Option<(EventKind, Arc<str>)> {
    let mut from = In::new(body);
    let (kind, _state, path) = (from.int()?, from.int()?, from.text()??);
    let kind = match kind {
        1 => EventKind::NodeCreated,
        2 => EventKind::NodeDeleted,
        3 => EventKind::NodeDataChanged,
        4 => EventKind::NodeChildrenChanged,
        _ => return None,
    };
    Some((kind, root.strip(&path).into()))
}
