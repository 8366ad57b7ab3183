//! Generated traces: locks under contention, with all events of an ensemble of three servers.

use std::collections::VecDeque;
use std::fmt::Write;
use zk_checker::digest::{self, Digest, Stat};
use zk_checker::history::{History, Session};
use zk_checker::text;

/// Locks, and clients that repeatedly acquire each of them.
#[derive(Clone, Copy)]
pub struct Crowd {
    pub locks: usize,
    /// The number of clients of each lock.
    pub clients: usize,
    /// The minimal number of events.
    pub events: usize,
    /// The number of locks, the first ones, that have one holder throughout, and whose waiters do not leave.
    pub held: usize,
}

/// The trace of a crowd without a breach; or with grants before the release, from some share of the trace on. Locks
/// that are held throughout are released at the end.
pub fn lock_trace(crowd: Crowd, breach_at: Option<f64>) -> History {
    let mut tape = Tape::begin(crowd);
    let from = breach_at.map_or(usize::MAX, |share| (crowd.events as f64 * share) as usize);
    let mut lines: Vec<VecDeque<Place>> = Vec::new();
    for lock in 0..crowd.locks {
        lines.push(VecDeque::new());
        for client in 0..crowd.clients {
            tape.queue(lock, lock * crowd.clients + client, &mut lines[lock]);
        }
    }
    let mut lock = crowd.held;
    while tape.events < crowd.events {
        let line = &mut lines[lock];
        let left = tape.release(lock, line, tape.events >= from);
        tape.queue(lock, left, line);
        lock = if lock + 1 < crowd.locks { lock + 1 } else { crowd.held };
    }
    for (lock, line) in lines.iter_mut().enumerate().take(crowd.held) {
        tape.release(lock, line, breach_at.is_some());
    }
    text::parse(&tape.text).unwrap_or_else(|error| panic!("{error}"))
}

/// A contender.
struct Place {
    client: usize,
    op: usize,
    name: String,
    czxid: u64,
}

/// The state of a lock's directory.
#[derive(Clone, Default)]
struct Directory {
    stat: Stat,
    names: u64,
}

struct Tape {
    text: String,
    events: usize,
    ms: usize,
    op: usize,
    req: usize,
    zxid: u64,
    directories: Vec<Directory>,
}

impl Tape {
    fn begin(crowd: Crowd) -> Tape {
        let mut tape = Tape {
            text: String::new(),
            events: 0,
            ms: 0,
            op: 0,
            req: 0,
            zxid: 0,
            directories: vec![Directory::default(); crowd.locks],
        };
        let all = crowd.locks * crowd.clients;
        let names: Vec<String> = (0..all).map(|client| format!("c{client}")).collect();
        tape.text =
            format!("run sim timeout 4 tick 0.5 round_trip 0.002 settle 0.001 clients {}\n", names.join(" "));
        for lock in 0..crowd.locks {
            writeln!(tape.text, "lock /lock{lock} stop margin 0.4 fenced").expect("a text grows");
        }
        for lock in 0..crowd.locks {
            let zxid = tape.txn("", 0, "create");
            tape.say(&format!("server:0 created {zxid:#x} /lock{lock} s0"));
            tape.say("server:0 data 0 0x0");
            tape.applied();
            tape.directories[lock].stat = Stat { czxid: zxid, mzxid: zxid, pzxid: zxid, ..Stat::default() };
        }
        for client in 0..all {
            let session = client + 1;
            let zxid = tape.txn("", session, "connect");
            tape.say(&format!("server:0 opened s{session} timeout 4000 {zxid:#x}"));
            tape.applied();
            tape.say(&format!("c{client} state s{session} connected conn {session} server 1"));
        }
        tape
    }

    fn say(&mut self, words: &str) {
        writeln!(self.text, "{}.{:03} {words}", self.ms / 1000, self.ms % 1000).expect("a text grows");
        self.events += 1;
    }

    fn txn(&mut self, of: &str, session: usize, kind: &str) -> u64 {
        self.zxid += 1;
        let zxid = self.zxid;
        self.say(&format!("server:0 {of}txn {zxid:#x} s{session} {kind} ok"));
        zxid
    }

    fn applied(&mut self) {
        let zxid = self.zxid;
        self.say(&format!("server:1 applied {zxid:#x}"));
        self.say(&format!("server:2 applied {zxid:#x}"));
    }

    fn sends(&mut self, client: usize, op: usize, what: &str) -> usize {
        self.req += 1;
        let req = self.req;
        self.say(&format!("c{client} #{op} send r{req} {what}"));
        req
    }

    fn replies(&mut self, client: usize, op: usize, req: usize) {
        let (zxid, conn) = (self.zxid, client + 1);
        self.say(&format!("c{client} #{op} reply r{req} ok {zxid:#x} conn {conn}"));
    }

    /// Server 1 answers a list.
    fn lists(&mut self, client: usize, req: usize, path: &str, found: Digest) {
        let (zxid, conn) = (self.zxid, client + 1);
        self.say(&format!("server:1 served r{req} {zxid:#x} conn {conn}"));
        self.say(&format!("server:1 found children ok {path} {:#x} {:#x}", found.content, found.stat));
    }

    fn look(&mut self, lock: usize, client: usize, op: usize, req: usize) {
        let Directory { stat, names } = self.directories[lock].clone();
        self.lists(client, req, &format!("/lock{lock}"), Digest::of_names(names, Some(&stat)));
        self.replies(client, op, req);
    }

    /// A client queues, and holds if no contender is ahead.
    fn queue(&mut self, lock: usize, client: usize, line: &mut VecDeque<Place>) {
        self.ms += 1;
        self.op += 1;
        let (op, session) = (self.op, client + 1);
        self.say(&format!("c{client} acquire#{op} call /lock{lock}"));
        let create = self.sends(client, op, &format!("create /lock{lock}/c{client}-"));
        let list = self.sends(client, op, &format!("children /lock{lock}"));
        let zxid = self.txn(&format!("#{op} "), session, "create");
        let directory = &mut self.directories[lock];
        let number = (directory.stat.cversion + directory.stat.num_children) / 2;
        let name = format!("c{client}-{number:010}");
        directory.stat.cversion += 1;
        directory.stat.num_children += 1;
        directory.stat.pzxid = zxid;
        directory.names = directory.names.wrapping_add(digest::name(&name));
        self.say(&format!("server:0 #{op} created {zxid:#x} /lock{lock}/{name} s{session}"));
        self.say("server:0 data 0 0x0");
        self.applied();
        self.ms += 1;
        self.replies(client, op, create);
        self.say(&format!("c{client} #{op} made /lock{lock}/{name} {zxid:#x}"));
        self.look(lock, client, op, list);
        let place = Place { client, op, name, czxid: zxid };
        if let Some(ahead) = line.back() {
            let path = format!("/lock{lock}/{}", ahead.name);
            let ahead = Stat {
                czxid: ahead.czxid,
                mzxid: ahead.czxid,
                pzxid: ahead.czxid,
                owner: Session(ahead.client as u16 + 1),
                ..Stat::default()
            };
            let watch = self.sends(client, op, &format!("children {path} watch"));
            self.lists(client, watch, &path, Digest::of_names(0, Some(&ahead)));
            self.say(&format!("server:1 arm s{session} child {path} conn {session}"));
            self.replies(client, op, watch);
        } else {
            self.hold(lock, &place);
        }
        line.push_back(place);
    }

    fn hold(&mut self, lock: usize, place: &Place) {
        let Place { client, op, czxid, .. } = place;
        self.say(&format!("c{client} #{op} believe /lock{lock} s{} token {czxid:#x}", client + 1));
        self.say(&format!("c{client} #{op} return done"));
    }

    /// The holder releases, and the next one holds. Returns the client that has left.
    fn release(&mut self, lock: usize, line: &mut VecDeque<Place>, is_early: bool) -> usize {
        self.ms += 1;
        self.op += 1;
        let held = line.pop_front().expect("somebody holds");
        let (op, client, session) = (self.op, held.client, held.client + 1);
        let path = format!("/lock{lock}/{}", held.name);
        if let (true, Some(next)) = (is_early, line.front()) {
            self.hold(lock, next);
        }
        self.say(&format!("c{client} #{} unbelieve released", held.op));
        self.say(&format!("c{client} release#{op} call /lock{lock}"));
        let delete = self.sends(client, op, &format!("delete {path}"));
        let zxid = self.txn(&format!("#{op} "), session, "delete");
        self.say(&format!("server:0 #{op} deleted {zxid:#x} {path} by s{session}"));
        let directory = &mut self.directories[lock];
        directory.stat.cversion += 1;
        directory.stat.num_children -= 1;
        directory.stat.pzxid = zxid;
        directory.names = directory.names.wrapping_sub(digest::name(&held.name));
        self.applied();
        let Some(next) = line.front() else { return client };
        let heir = next.client + 1;
        self.say(&format!("server:1 #{op} fire s{heir} deleted {path} {zxid:#x} conn {heir}"));
        self.ms += 1;
        self.replies(client, op, delete);
        self.say(&format!("c{client} #{op} return done"));
        if is_early {
            return client;
        }
        let (woken, waits) = (next.client, next.op);
        self.say(&format!("c{woken} #{waits} notice s{heir} deleted {path} conn {heir}"));
        let list = self.sends(woken, waits, &format!("children /lock{lock}"));
        self.ms += 1;
        self.look(lock, woken, waits, list);
        self.hold(lock, next);
        client
    }
}
