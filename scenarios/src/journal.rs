//! Writes down what happens, as the checker reads it: from the simulated world, from the workload, and from the
//! recording wrapper around a real client, in one order.
//!
//! A rolling hash over everything that was written, texts included, says whether two runs were the same.

use sim_zk::fault::Fault;
use sim_zk::paths::{PathId, Paths};
use sim_zk::witness::{self, Happening, SessionNews, Witness};
use std::hash::{Hash, Hasher};
use xxhash_rust::xxh3::Xxh3;
use zk_checker::history::{
    Code, Event, FaultKind, Header, History, Names, Notify, Object, ObjectId, OpId, Outcome, ReqId, Request,
    Session, SessionState, Sym, Table, Verb, What, Who, Why,
};
use zk_recipes::zk::{EventKind, SessionId};

/// The journal of one run.
pub struct Journal {
    history: History,
    hash: Xxh3,
    hashed: usize,
    sessions: Vec<SessionId>,
    /// Of the world's paths, by their numbers.
    syms: Vec<Option<Sym>>,
    ops: u32,
    reqs: u32,
    /// Who believes, with which operation.
    beliefs: Vec<(u8, OpId)>,
    /// The largest token that each object's resource has seen.
    largest: Vec<u64>,
    /// What a script says it is about to do, and before which event.
    steps: Vec<(usize, String)>,
}

impl Journal {
    /// An empty journal of a run over these objects.
    pub fn new(header: Header, names: Names, objects: Vec<Object>) -> Self {
        let largest = vec![0; objects.len()];
        Journal {
            history: History { header, objects, names, events: Vec::with_capacity(1024) },
            hash: Xxh3::new(),
            hashed: 0,
            sessions: Vec::new(),
            syms: Vec::new(),
            ops: 0,
            reqs: 0,
            beliefs: Vec::new(),
            largest,
            steps: Vec::new(),
        }
    }

    /// What was written so far.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// What was written, and its hash.
    pub fn finish(mut self) -> (History, u128) {
        let names = self.history.events.len() as u64;
        self.hash.write_u64(names);
        let hash = self.hash.digest128();
        (self.history, hash)
    }

    /// A script says what comes next.
    pub fn step(&mut self, text: &str) {
        self.steps.push((self.history.events.len(), text.to_owned()));
    }

    /// What a script has said, and before which event.
    pub fn steps(&self) -> &[(usize, String)] {
        &self.steps
    }

    /// The clients' names, by number.
    pub fn name_client(&mut self, client: u8, name: &str) {
        let clients = &mut self.history.header.clients;
        if clients.len() <= usize::from(client) {
            clients.resize(usize::from(client) + 1, String::new());
        }
        clients[usize::from(client)] = name.to_owned();
    }

    fn write(&mut self, at: u64, who: Who, op: OpId, what: What) {
        let event = Event { at, op, who, what };
        event.hash(&mut self.hash);
        self.history.events.push(event);
    }

    /// The symbol of a text.
    pub fn sym(&mut self, text: &str) -> Sym {
        let sym = self.history.names.intern(text);
        if sym.0 as usize >= self.hashed {
            self.hashed = sym.0 as usize + 1;
            self.hash.write(text.as_bytes());
        }
        sym
    }

    fn path(&mut self, path: PathId, paths: &Paths) -> Sym {
        let index = path.0 as usize;
        if self.syms.len() <= index {
            self.syms.resize(index + 1, None);
        }
        if let Some(sym) = self.syms[index] {
            return sym;
        }
        let sym = self.sym(paths.text(path));
        self.syms[index] = Some(sym);
        sym
    }

    /// The journal's number of a session; zero for none.
    pub fn session(&mut self, id: SessionId) -> Session {
        if id == SessionId(0) {
            return Session(0);
        }
        let at = self.sessions.iter().rposition(|known| *known == id).unwrap_or_else(|| {
            self.sessions.push(id);
            self.sessions.len() - 1
        });
        Session(u16::try_from(at + 1).expect("a run has fewer than 65,535 sessions"))
    }

    // ── the workload ──

    /// A client begins an operation; `limit` in microseconds, or zero.
    pub fn call(&mut self, at: u64, client: u8, object: ObjectId, verb: Verb, limit: u32) -> OpId {
        self.ops += 1;
        let op = OpId(self.ops);
        self.write(at, Who::Client(client), op, What::Call { object, verb, limit });
        op
    }

    /// The operation is over.
    pub fn returned(&mut self, at: u64, client: u8, op: OpId, outcome: Outcome) {
        self.write(at, Who::Client(client), op, What::Return { outcome });
    }

    /// The client acts as holder from here on.
    pub fn believe(
        &mut self,
        at: u64,
        client: u8,
        op: OpId,
        object: ObjectId,
        session: SessionId,
        token: i64,
    ) {
        let session = self.session(session);
        self.beliefs.push((client, op));
        self.write(at, Who::Client(client), op, What::Believe { object, session, token: token as u64 });
    }

    /// It no longer does.
    pub fn unbelieve(&mut self, at: u64, client: u8, op: OpId, why: Why) {
        self.beliefs.retain(|belief| *belief != (client, op));
        self.write(at, Who::Client(client), op, What::Unbelieve { why });
    }

    /// The resource behind an object is asked to do something; it refuses tokens smaller than the largest it has seen.
    pub fn resource(&mut self, at: u64, client: u8, op: OpId, object: ObjectId, token: i64) -> bool {
        let token = token as u64;
        let largest = &mut self.largest[usize::from(object.0)];
        let accepted = token >= *largest || !self.history.objects[usize::from(object.0)].fenced;
        *largest = token.max(*largest);
        self.write(at, Who::Client(client), op, What::Resource { object, token, accepted });
        accepted
    }

    /// Nothing is open and nothing is on its way.
    pub fn quiesce(&mut self, at: u64) {
        self.write(at, Who::World, OpId(0), What::Quiesce);
    }

    /// The run was stopped at its limit of time.
    pub fn stopped(&mut self, at: u64) {
        self.write(at, Who::World, OpId(0), What::Stopped);
    }

    /// Anything else.
    pub fn note(&mut self, at: u64, who: Who, op: OpId, what: What) {
        self.write(at, who, op, what);
    }

    /// The number of a request that a recording wrapper is about to send.
    pub fn next_request(&mut self) -> ReqId {
        self.reqs += 1;
        ReqId(self.reqs)
    }

    fn crashed(&mut self, at: u64, process: u8) {
        let open: Vec<OpId> =
            self.beliefs.iter().filter(|(client, _)| *client == process).map(|(_, op)| *op).collect();
        for op in open {
            self.unbelieve(at, process, op, Why::Crashed);
        }
        self.write(at, Who::World, OpId(0), What::Crash { client: process });
    }
}

impl Witness for Journal {
    fn saw(&mut self, at: u64, happening: &Happening, paths: &Paths) {
        let client = Who::Client;
        let none = OpId(0);
        match *happening {
            Happening::Sent { process, req, op, kind, path, watch, cleanup } => {
                let path = self.path(path, paths);
                let what = What::Send { req: ReqId(req), kind: request(kind), watch, cleanup, path };
                self.write(at, client(process), OpId(op), what);
            }
            Happening::Replied { process, req, op, outcome, zxid, made } => {
                let what = What::Reply { req: ReqId(req), code: code(outcome), zxid: zxid as u64 };
                self.write(at, client(process), OpId(op), what);
                if let Some((path, czxid)) = made {
                    let path = self.path(path, paths);
                    self.write(at, client(process), OpId(op), What::Made { path, czxid: czxid as u64 });
                }
            }
            Happening::Lost { process, req, op } => {
                self.write(at, client(process), OpId(op), What::Lost { req: ReqId(req) });
            }
            Happening::Noticed { process, session, kind, path } => {
                let (session, path) = (self.session(session), self.path(path, paths));
                self.write(at, client(process), none, What::Notice { session, kind: notify(kind), path });
            }
            Happening::News { process, session, news } => {
                let session = self.session(session);
                let state = match news {
                    SessionNews::Connected => SessionState::Connected,
                    SessionNews::Suspended => SessionState::Suspended,
                    SessionNews::Expired => SessionState::Expired,
                    SessionNews::Closed => SessionState::Closed,
                };
                self.write(at, client(process), none, What::State { session, state });
            }
            Happening::Txn { server, zxid, session, op, kind, outcome } => {
                let session = self.session(session);
                let what = What::Txn { zxid: zxid as u64, session, kind: request(kind), code: code(outcome) };
                self.write(at, Who::Server(server), OpId(op), what);
            }
            Happening::Created { server, zxid, op, path, owner } => {
                let (path, owner) = (self.path(path, paths), self.session(owner));
                let what = What::Created { zxid: zxid as u64, path, owner };
                self.write(at, Who::Server(server), OpId(op), what);
            }
            Happening::Deleted { server, zxid, op, path, by } => {
                let (path, by) = (self.path(path, paths), self.session(by));
                self.write(at, Who::Server(server), OpId(op), What::Deleted { zxid: zxid as u64, path, by });
            }
            Happening::Written { server, zxid, op, path } => {
                let path = self.path(path, paths);
                self.write(at, Who::Server(server), OpId(op), What::Written { zxid: zxid as u64, path });
            }
            Happening::Armed { server, session, op, table: of, path } => {
                let (session, path) = (self.session(session), self.path(path, paths));
                let what = What::Arm { session, table: table(of), path };
                self.write(at, Who::Server(server), OpId(op), what);
            }
            Happening::Fired { server, session, op, kind, path, zxid } => {
                let (session, path) = (self.session(session), self.path(path, paths));
                let what = What::Fire { session, kind: notify(kind), path, zxid: zxid as u32 };
                self.write(at, Who::Server(server), OpId(op), what);
            }
            Happening::Disarmed { server, session, table: of, path } => {
                let (session, path) = (self.session(session), self.path(path, paths));
                self.write(at, Who::Server(server), none, What::Disarm { session, table: table(of), path });
            }
            Happening::Opened { server, session, timeout, zxid } => {
                let session = self.session(session);
                let what = What::Opened { session, timeout: (timeout / 1000) as u32, zxid: zxid as u64 };
                self.write(at, Who::Server(server), none, what);
            }
            Happening::Marked { server, session, heard } => {
                let session = self.session(session);
                self.write(at, Who::Server(server), none, What::Marked { session, heard });
            }
            Happening::Ended { server, session, zxid } => {
                let session = self.session(session);
                self.write(at, Who::Server(server), none, What::Ended { session, zxid: zxid as u64 });
            }
            Happening::Struck { fault, process, lasts } => {
                let what = What::Fault { kind: fault_kind(fault), client: process, lasts };
                self.write(at, Who::World, none, what);
            }
            Happening::Mended { fault, process } => {
                self.write(at, Who::World, none, What::Mended { kind: fault_kind(fault), client: process });
            }
            Happening::Crashed { process } => self.crashed(at, process),
            Happening::Began { process } => {
                self.write(at, Who::World, none, What::Start { client: process });
            }
            Happening::Healed => self.write(at, Who::World, none, What::Heal),
        }
    }
}

/// The checker's word for a kind of request.
fn request(kind: witness::Kind) -> Request {
    match kind {
        witness::Kind::Create => Request::Create,
        witness::Kind::Delete => Request::Delete,
        witness::Kind::Exists => Request::Exists,
        witness::Kind::Get => Request::Get,
        witness::Kind::Set => Request::Set,
        witness::Kind::Children => Request::Children,
        witness::Kind::Multi => Request::Multi,
        witness::Kind::MultiRead => Request::MultiRead,
        witness::Kind::Sync | witness::Kind::Ping => Request::Sync,
        witness::Kind::RemoveWatches => Request::RemoveWatches,
        witness::Kind::SetWatches => Request::SetWatches,
        witness::Kind::Connect => Request::Connect,
        witness::Kind::CloseSession => Request::CloseSession,
    }
}

fn code(outcome: witness::Outcome) -> Code {
    match outcome {
        witness::Outcome::Ok => Code::Ok,
        witness::Outcome::NoNode => Code::NoNode,
        witness::Outcome::NodeExists => Code::NodeExists,
        witness::Outcome::BadVersion => Code::BadVersion,
        witness::Outcome::NotEmpty => Code::NotEmpty,
        witness::Outcome::NoChildrenForEphemerals => Code::NoChildrenForEphemerals,
        witness::Outcome::SessionExpired => Code::SessionExpired,
        witness::Outcome::Other => Code::Other,
    }
}

/// The checker's word for a kind of event.
pub fn notify(kind: EventKind) -> Notify {
    match kind {
        EventKind::NodeCreated => Notify::Created,
        EventKind::NodeDeleted => Notify::Deleted,
        EventKind::NodeDataChanged => Notify::DataChanged,
        EventKind::NodeChildrenChanged => Notify::ChildrenChanged,
    }
}

fn table(table: sim_zk::Table) -> Table {
    match table {
        sim_zk::Table::Data => Table::Data,
        sim_zk::Table::Child => Table::Child,
    }
}

/// The checker's word for a fault.
pub fn fault_kind(fault: Fault) -> FaultKind {
    match fault {
        Fault::RequestLost => FaultKind::RequestLost,
        Fault::ReplyLost => FaultKind::ReplyLost,
        Fault::ReplyLate => FaultKind::ReplyLate,
        Fault::Disconnect => FaultKind::Disconnect,
        Fault::SessionExpiry => FaultKind::SessionExpiry,
        Fault::ClientCrash => FaultKind::ClientCrash,
        Fault::ClientPause => FaultKind::ClientPause,
        Fault::Cancel => FaultKind::Cancel,
    }
}
