//! The rules of the replicated state, through prepare, apply and read, on a leader without followers.

/// The context of a bench's server; a macro, so that the replica can be borrowed beside it.
macro_rules! env {
    ($bench:expr) => {
        ReplicaEnv {
            now: 0,
            server: 0,
            first: true,
            bug: None,
            settings: &$bench.settings,
            paths: &mut $bench.paths,
            observer: &mut $bench.seen,
            outbox: &mut $bench.sent,
        }
    };
}

mod access;
mod reading;
mod watching;
mod writing;

use super::*;
use crate::acl::{Acl, AclEntry};
use crate::message::{
    Answer, Ask, AskOp, Code, CreateForm, Creation, Down, Found, OpAnswer, ReadOp, Refusal, Tag, Watching,
};
use crate::observer::Kind;
use crate::txn::{Body, Origin, Txn};
use zk_recipes::zk::Stat;

/// A single server, its clients, and the packets that they have received.
struct Bench {
    replica: Replica,
    prep: Prep,
    paths: Paths,
    settings: Settings,
    /// The last zxid assigned.
    zxid: i64,
    /// The leader's wall clock.
    clock_ms: i64,
    seen: Seen,
    sent: Vec<(ConnId, Down)>,
}

/// The events of the observer, by the names of the variants.
#[derive(Default)]
struct Seen(Vec<String>);

impl Observer for Seen {
    fn on_event(&mut self, _: u64, event: &SimEvent<'_>, _: &Paths) {
        let text = format!("{event:?}");
        self.0.push(text.split(' ').next().unwrap_or_default().to_owned());
    }
}

impl Bench {
    fn new() -> Self {
        Bench {
            replica: Replica::new(),
            prep: Prep::default(),
            paths: Paths::default(),
            settings: Settings { extended_types: true, ..Settings::default() },
            zxid: 0,
            clock_ms: 1000,
            seen: Seen::default(),
            sent: Vec::new(),
        }
    }

    /// A bench with that many clients, named by their connections.
    fn with_clients<const N: usize>() -> (Self, [ConnId; N]) {
        let mut bench = Bench::new();
        let clients = std::array::from_fn(|n| bench.client(n as u32 + 1));
        (bench, clients)
    }

    /// Opens a session with the number of its connection.
    fn client(&mut self, number: u32) -> ConnId {
        let session = SessionId(i64::from(number));
        self.zxid += 1;
        let txn = self.order(session, Body::Open { timeout: 6_000_000 });
        assert_eq!(self.commit(&txn), Ok(Answer::Nothing));
        self.replica.welcome(ConnId(number), session);
        ConnId(number)
    }

    /// Returns a transaction with the last zxid assigned.
    fn order(&self, session: SessionId, body: Body) -> Txn {
        let origin = Origin { member: 0, number: 0 };
        Txn { zxid: self.zxid, time: self.clock_ms, session, origin, op: 0, kind: Kind::Other, body }
    }

    /// Prepares a write, and leaves it pending.
    fn propose(&mut self, conn: ConnId, ask: &Ask) -> Txn {
        self.zxid += 1;
        let session = self.replica.session_of(conn).expect("it is connected");
        let ids = self.replica.identities(conn);
        let body =
            self.prep.prepare(&self.replica, self.zxid, session, &ids, ask, &self.settings, &mut self.paths);
        self.order(session, body)
    }

    fn propose_create(&mut self, conn: ConnId, path: &str, flags: i32) -> Txn {
        let ask = Ask::Create(self.creation(CreateForm::Create, path, flags).into());
        self.propose(conn, &ask)
    }

    /// Applies a prepared transaction.
    fn commit(&mut self, txn: &Txn) -> Result<Answer, Refusal> {
        let mut env = env!(self);
        let result = self.replica.apply(txn, &mut env);
        self.prep.applied(txn.zxid);
        result
    }

    fn ask(&mut self, conn: ConnId, ask: Ask) -> Result<Answer, Refusal> {
        if ask.is_write() {
            let txn = self.propose(conn, &ask);
            return self.commit(&txn);
        }
        let mut env = env!(self);
        self.replica.read(conn, &ask, Tag::default(), &mut env)
    }

    fn propose_close(&mut self, session: i64) -> Txn {
        self.zxid += 1;
        let session = SessionId(session);
        let body = self.prep.close(&self.replica, self.zxid, session, &self.paths);
        self.order(session, body)
    }

    /// Ends a session, and returns its deleted ephemerals in order.
    fn close(&mut self, session: i64) -> Vec<String> {
        let txn = self.propose_close(session);
        self.commit(&txn).expect("an end is not refused");
        let Body::Close { ephemerals, .. } = &txn.body else { panic!("an end is an end") };
        ephemerals.iter().map(|path| self.paths.text(*path).to_owned()).collect()
    }

    fn forget(&mut self, conn: ConnId) {
        let mut env = env!(self);
        self.replica.forget(conn, &mut env);
    }

    /// Takes the notifications of a connection since the last call.
    fn told(&mut self, conn: ConnId) -> Vec<String> {
        let mut told = Vec::new();
        let paths = &self.paths;
        self.sent.retain(|(to, packet)| {
            if let (true, Down::Notify { kind, path }) = (*to == conn, packet) {
                told.push(format!("{kind:?} {}", paths.text(*path)));
            }
            *to != conn
        });
        told
    }

    fn path(&mut self, text: &str) -> PathId {
        self.paths.intern(text)
    }

    fn stat(&mut self, path: &str) -> Stat {
        let path = self.path(path);
        self.replica.tree.get(path).expect("it is there").stat()
    }

    // ── asking ──

    fn creation(&mut self, form: CreateForm, path: &str, flags: i32) -> Creation {
        let data = Some(b"".as_slice().into());
        Creation { form, path: self.path(path), data, acl: Acl::Open, flags, ttl: 0 }
    }

    /// Creates a znode with these flags, and returns its path.
    fn create(&mut self, conn: ConnId, path: &str, flags: i32) -> Result<String, Code> {
        let creation = self.creation(CreateForm::Create, path, flags);
        self.created(conn, creation)
    }

    fn created(&mut self, conn: ConnId, creation: Creation) -> Result<String, Code> {
        match self.ask(conn, Ask::Create(creation.into())) {
            Ok(Answer::Path(path) | Answer::Created { path, .. }) => Ok(self.paths.text(path).to_owned()),
            Err(Refusal::All(code)) => Err(code),
            other => panic!("no answer to a create: {other:?}"),
        }
    }

    fn made(&mut self, conn: ConnId, paths: &[&str]) {
        for path in paths {
            self.create(conn, path, 0).expect("nothing is in the way");
        }
    }

    fn delete(&mut self, conn: ConnId, path: &str) -> Result<Answer, Refusal> {
        let path = self.path(path);
        self.ask(conn, Ask::Delete { path, version: -1 })
    }

    fn set(&mut self, conn: ConnId, path: &str, data: &str, version: i32) -> Result<Answer, Refusal> {
        let (path, data) = (self.path(path), Some(data.as_bytes().into()));
        self.ask(conn, Ask::Set { path, data, version })
    }

    fn set_acl(&mut self, conn: ConnId, path: &str, acl: Acl, version: i32) -> Result<Answer, Refusal> {
        let path = self.path(path);
        self.ask(conn, Ask::SetAcl { path, acl, version })
    }

    fn exists(&mut self, conn: ConnId, path: &str, watch: bool) -> Result<Answer, Refusal> {
        let path = self.path(path);
        self.ask(conn, Ask::Exists { path, watch })
    }

    fn get(&mut self, conn: ConnId, path: &str, watch: bool) -> Result<Answer, Refusal> {
        let path = self.path(path);
        self.ask(conn, Ask::Get { path, watch })
    }

    fn children(&mut self, conn: ConnId, path: &str, watch: bool) -> Result<Answer, Refusal> {
        let path = self.path(path);
        self.ask(conn, Ask::Children { path, watch, stat: false })
    }

    fn names(&mut self, conn: ConnId, path: &str) -> Vec<String> {
        match self.children(conn, path, false) {
            Ok(Answer::Children(children, None)) => {
                children.iter().map(|child| self.paths.name(*child).to_owned()).collect()
            }
            other => panic!("no listing: {other:?}"),
        }
    }

    fn add_watch(&mut self, conn: ConnId, path: &str, mode: i32) {
        let path = self.path(path);
        assert_eq!(self.ask(conn, Ask::AddWatch { path, mode }), Ok(Answer::Nothing));
    }
}

fn refused(code: Code) -> Result<Answer, Refusal> {
    Err(Refusal::All(code))
}

fn acl(entries: &[(i32, &str, &str)]) -> Acl {
    let entry = |(perms, scheme, id): &(i32, &str, &str)| AclEntry {
        perms: *perms,
        scheme: (*scheme).into(),
        id: (*id).into(),
    };
    Acl::List(entries.iter().map(entry).collect())
}
