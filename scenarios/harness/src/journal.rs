//! Writes the history that the checker reads: events of the simulated world, of the workload, and of the recording
//! wrapper around a real client, in one order.
//!
//! A rolling hash of everything written, texts included, shows whether two runs were the same.

mod in_use;
mod observer;
mod remembered;
mod words;

pub use in_use::Forgotten;
pub use words::{code, failure, fault_kind, notify, request};

use in_use::InUse;
use remembered::Remembered;
use sim_zk::paths::{PathId, Paths};
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher};
use xxhash_rust::xxh3::Xxh3;
use zk_checker::digest;
use zk_checker::history::{
    Event, Failure, Header, History, Names, Object, ObjectId, OpId, Outcome, ReqId, Seen, Session, Sym, Verb,
    What, Who, Why,
};
use zk_recipes::zk::{SessionId, Stat};

/// The number of recent sessions that are searched linearly before the map.
const RECENT: usize = 8;

/// The journal of one run.
pub struct Journal {
    history: History,
    hash: Xxh3,
    /// The bytes of one event, hashed in one piece.
    bytes: Vec<u8>,
    hashed: usize,
    sessions: Vec<SessionId>,
    /// The number of each session, by its id.
    numbers: BTreeMap<SessionId, u16>,
    /// The symbols of the world's paths, by their numbers.
    syms: Vec<Option<Sym>>,
    /// The digests of the names of these paths, computed on demand.
    names: Vec<Option<u64>>,
    ops: u32,
    reqs: u32,
    /// The holds under which clients act, or may act again.
    beliefs: Vec<Belief>,
    /// The largest token that the resource of each object has seen.
    largest: Vec<u64>,
    /// The steps of a script, each with the index of the next event.
    steps: Vec<(usize, String)>,
    /// The `sometimes!` conditions that were reached.
    sometimes: BTreeSet<&'static str>,
    /// Present for runs that are cut short in a visited state.
    remembered: Option<Remembered>,
    /// Present for runs without an end.
    in_use: Option<InUse>,
}

/// Collects what a value writes into its hash.
struct Collected<'a>(&'a mut Vec<u8>);

impl Hasher for Collected<'_> {
    fn write(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    fn finish(&self) -> u64 {
        unreachable!("only the hash of the journal is finished")
    }
}

/// A hold as its client sees it.
#[derive(Debug)]
struct Belief {
    client: u16,
    op: OpId,
    object: ObjectId,
    token: i64,
    /// Whether the client has stopped, and may begin again.
    is_suspect: bool,
}

impl Journal {
    /// An empty journal of a run over these objects.
    pub fn new(header: Header, names: Names, objects: Vec<Object>) -> Self {
        let largest = vec![0; objects.len()];
        Journal {
            history: History { header, objects, names, events: Vec::with_capacity(1024) },
            hash: Xxh3::new(),
            bytes: Vec::new(),
            hashed: 0,
            sessions: Vec::new(),
            numbers: BTreeMap::new(),
            syms: Vec::new(),
            names: Vec::new(),
            ops: 0,
            reqs: 0,
            beliefs: Vec::new(),
            largest,
            steps: Vec::new(),
            sometimes: BTreeSet::new(),
            remembered: None,
            in_use: None,
        }
    }

    /// The same, for a run without an end: it tracks the names that may still be mentioned.
    #[must_use]
    pub fn without_end(self) -> Self {
        Journal { in_use: Some(InUse::default()), ..self }
    }

    /// Drops the events from an index on, after the caller has processed them.
    pub fn drop_from(&mut self, index: usize) {
        self.history.events.truncate(index);
    }

    /// Keeps the present names for ever, since kept events mention them.
    pub fn keep_names(&mut self) {
        self.history.names.keep_all();
    }

    /// Forgets the names that no later event can mention, in a run [without an end](Self::without_end).
    pub fn forget_names(&mut self) -> Forgotten {
        match &mut self.in_use {
            Some(in_use) => in_use.forget(&mut self.history.names),
            None => Forgotten::default(),
        }
    }

    /// The same, for interleaving mode: it keeps a digest of the past that rules may still depend on.
    #[must_use]
    pub fn remembering(self) -> Self {
        Journal { remembered: Some(Remembered::default()), ..self }
    }

    /// The history so far.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// The history and its hash.
    pub fn finish(mut self) -> (History, u128) {
        let names = self.history.events.len() as u64;
        self.hash.write_u64(names);
        let hash = self.hash.digest128();
        (self.history, hash)
    }

    /// Records a step of a script.
    pub fn step(&mut self, text: &str) {
        self.steps.push((self.history.events.len(), text.to_owned()));
    }

    /// The steps of a script, each with the index of the next event.
    pub fn steps(&self) -> &[(usize, String)] {
        &self.steps
    }

    /// Records a `sometimes!` condition. It is no event, and does not affect the run or its hash.
    pub fn reach(&mut self, what: &'static str) {
        self.sometimes.insert(what);
    }

    /// The conditions reached so far.
    pub fn sometimes(&self) -> &BTreeSet<&'static str> {
        &self.sometimes
    }

    /// The clients' names, by number.
    pub fn name_client(&mut self, client: u16, name: &str) {
        let clients = &mut self.history.header.clients;
        if clients.len() <= usize::from(client) {
            clients.resize(usize::from(client) + 1, String::new());
        }
        clients[usize::from(client)] = name.to_owned();
    }

    fn write(&mut self, at: u64, who: Who, op: OpId, what: What) {
        if let Some(remembered) = &mut self.remembered {
            remembered.note(at, who, op, &what);
        }
        let event = Event { at, op, who, what };
        self.bytes.clear();
        event.hash(&mut Collected(&mut self.bytes));
        self.hash.write(&self.bytes);
        if let Some(in_use) = &mut self.in_use {
            in_use.note(&event);
        }
        self.history.events.push(event);
    }

    /// The symbol of a text. It is never forgotten.
    pub fn sym(&mut self, text: &str) -> Sym {
        let sym = self.intern(text);
        if let Some(in_use) = &mut self.in_use {
            in_use.texts.insert(sym);
        }
        sym
    }

    fn intern(&mut self, text: &str) -> Sym {
        let sym = self.history.names.intern(text);
        if sym.0 as usize >= self.hashed {
            self.hashed = sym.0 as usize + 1;
            self.hash.write(text.as_bytes());
        }
        sym
    }

    /// The symbol of a path of the world.
    pub fn path(&mut self, path: PathId, paths: &Paths) -> Sym {
        let index = path.0 as usize;
        if self.syms.len() <= index {
            self.syms.resize(index + 1, None);
        }
        let sym = match self.syms[index] {
            // The symbol may have been forgotten.
            Some(sym) if self.in_use.is_none() || self.history.names.get(sym) == Some(paths.text(path)) => {
                sym
            }
            _ => self.intern(paths.text(path)),
        };
        self.syms[index] = Some(sym);
        if let Some(in_use) = &mut self.in_use {
            in_use.mention(sym);
        }
        sym
    }

    /// Forgets the symbols of paths whose numbers are reused for other paths.
    fn forget(&mut self, paths: &[PathId]) {
        for path in paths {
            let index = path.0 as usize;
            self.syms.get_mut(index).map(Option::take);
            self.names.get_mut(index).map(Option::take);
        }
    }

    /// The journal's number of a session; zero for none.
    pub fn session(&mut self, id: SessionId) -> Session {
        if id == SessionId(0) {
            return Session(0);
        }
        // Most look-ups are for a recent session.
        let last = self.sessions.len().saturating_sub(RECENT);
        if let Some(at) = self.sessions[last..].iter().rposition(|known| *known == id) {
            return Session((last + at + 1) as u16);
        }
        if let Some(number) = self.numbers.get(&id) {
            return Session(*number);
        }
        self.sessions.push(id);
        let number = u16::try_from(self.sessions.len()).expect("a run has fewer than 65,535 sessions");
        self.numbers.insert(id, number);
        Session(number)
    }

    /// The owner of a znode. Container and TTL znodes have a special owner value that is not a session.
    fn owner(&mut self, id: SessionId) -> Session {
        if id.0 < 0 { Session(0) } else { self.session(id) }
    }

    fn stat(&mut self, stat: &Stat) -> digest::Stat {
        digest::Stat {
            czxid: stat.czxid as u64,
            mzxid: stat.mzxid as u64,
            pzxid: stat.pzxid as u64,
            version: stat.version,
            cversion: stat.cversion,
            aversion: stat.aversion,
            owner: self.owner(stat.ephemeral_owner),
            data_length: stat.data_length,
            num_children: stat.num_children,
        }
    }

    /// The digest of the names in a list.
    fn list(&mut self, list: &[PathId], paths: &Paths) -> u64 {
        let mut sum = 0u64;
        for path in list {
            let index = path.0 as usize;
            if self.names.len() <= index {
                self.names.resize(index + 1, None);
            }
            let name = *self.names[index].get_or_insert_with(|| digest::name(paths.name(*path)));
            sum = sum.wrapping_add(name);
        }
        sum
    }

    // ── the workload ──

    /// Records that a client begins an operation; `limit` in microseconds, or zero.
    pub fn call(&mut self, at: u64, client: u16, object: ObjectId, verb: Verb, limit: u32) -> OpId {
        self.ops += 1;
        let op = OpId(self.ops);
        self.write(at, Who::Client(client), op, What::Call { object, verb, limit });
        op
    }

    /// Records that the operation has ended, without a reason.
    pub fn returned(&mut self, at: u64, client: u16, op: OpId, outcome: Outcome) {
        self.returned_for(at, client, op, outcome, Failure::None);
    }

    /// Records that the operation has ended; `failure` is the reason that it gave if it was not done.
    pub fn returned_for(&mut self, at: u64, client: u16, op: OpId, outcome: Outcome, failure: Failure) {
        self.write(at, Who::Client(client), op, What::Return { outcome, failure });
    }

    /// Records that the caller passed bad input and expects a refusal.
    pub fn mistaken(&mut self, at: u64, client: u16, op: OpId) {
        self.write(at, Who::Client(client), op, What::Mistaken);
    }

    /// Records an argument of the operation.
    pub fn given(&mut self, at: u64, client: u16, op: OpId, text: &str, number: u64) {
        let text = self.sym(text);
        self.write(at, Who::Client(client), op, What::Given { text, number });
    }

    /// Records a result of the operation.
    #[allow(clippy::too_many_arguments, reason = "an event has so many fields")]
    pub fn observed(
        &mut self,
        at: u64,
        client: u16,
        op: OpId,
        object: ObjectId,
        seen: Seen,
        text: &str,
        number: u64,
    ) {
        let text = self.sym(text);
        self.write(at, Who::Client(client), op, What::Observed { object, seen, text, number });
    }

    /// Records that the client acts as holder from here on.
    pub fn believe(
        &mut self,
        at: u64,
        client: u16,
        op: OpId,
        object: ObjectId,
        session: SessionId,
        token: i64,
    ) {
        let session = self.session(session);
        self.beliefs.retain(|belief| (belief.client, belief.op) != (client, op));
        self.beliefs.push(Belief { client, op, object, token, is_suspect: false });
        self.write(at, Who::Client(client), op, What::Believe { object, session, token: token as u64 });
    }

    /// Records that the client no longer acts as holder.
    pub fn unbelieve(&mut self, at: u64, client: u16, op: OpId, why: Why) {
        self.beliefs.retain_mut(|belief| {
            let is_it = (belief.client, belief.op) == (client, op);
            belief.is_suspect |= is_it;
            !is_it || why == Why::Suspect
        });
        self.write(at, Who::Client(client), op, What::Unbelieve { why });
    }

    /// Records that the client drops a guard without a release, if it had stopped because the hold might be lost, and so might have
    /// acted again.
    pub fn drops(&mut self, at: u64, client: u16, object: ObjectId, token: i64) {
        let is_it = |belief: &Belief| {
            belief.is_suspect && (belief.client, belief.object, belief.token) == (client, object, token)
        };
        while let Some(belief) = self.beliefs.iter().find(|belief| is_it(belief)) {
            self.unbelieve(at, client, belief.op, Why::Dropped);
        }
    }

    /// Records a write to the resource behind an object. The resource refuses tokens smaller than the largest it has
    /// seen.
    pub fn resource(&mut self, at: u64, client: u16, op: OpId, object: ObjectId, token: i64) -> bool {
        let token = token as u64;
        let largest = &mut self.largest[usize::from(object.0)];
        let accepted = token >= *largest || !self.history.objects[usize::from(object.0)].fenced;
        *largest = token.max(*largest);
        self.write(at, Who::Client(client), op, What::Resource { object, token, accepted });
        accepted
    }

    /// Records that faults have ended.
    pub fn calm(&mut self, at: u64) {
        self.write(at, Who::World, OpId(0), What::Heal);
    }

    /// Records that no operation is open and no packet is in flight.
    pub fn quiesce(&mut self, at: u64) {
        self.write(at, Who::World, OpId(0), What::Quiesce);
    }

    /// Records that time has passed without an event.
    pub fn elapsed(&mut self, at: u64) {
        self.write(at, Who::World, OpId(0), What::Elapsed);
    }

    /// Records that the run was stopped at its time limit.
    pub fn stopped(&mut self, at: u64) {
        self.write(at, Who::World, OpId(0), What::Stopped);
    }

    /// Declares an object during the run.
    pub fn declare(&mut self, object: Object) -> ObjectId {
        self.history.objects.push(object);
        self.largest.push(0);
        ObjectId((self.history.objects.len() - 1) as u16)
    }

    /// Records any other event.
    pub fn note(&mut self, at: u64, who: Who, op: OpId, what: What) {
        self.write(at, who, op, what);
    }

    /// The number of a request that a recording wrapper is about to send.
    pub fn next_request(&mut self) -> ReqId {
        self.reqs += 1;
        ReqId(self.reqs)
    }

    fn crashed(&mut self, at: u64, process: u16) {
        let open: Vec<OpId> = self
            .beliefs
            .extract_if(.., |belief| belief.client == process)
            .filter(|belief| !belief.is_suspect)
            .map(|belief| belief.op)
            .collect();
        for op in open {
            self.unbelieve(at, process, op, Why::Crashed);
        }
        self.write(at, Who::World, OpId(0), What::Crash { client: process });
    }
}
