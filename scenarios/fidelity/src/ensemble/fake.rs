//! A fake ensemble with scripted replies, for tests of the player.
//!
//! Each request takes the next reply of its script, a millisecond later; the last reply is repeated. The fake logs
//! everything that is done to it.

use super::cluster::{Cluster, Link, MemberId, Micros, PipelineStage};
use crate::exchange::Arrival;
use crate::exchange::wire::{self, Hello};
use std::collections::{BTreeMap, VecDeque};

/// A scripted reply.
#[derive(Clone, Debug)]
pub(super) enum Says {
    /// This error, or 0 and an empty body.
    Error(i32),
    Data(&'static str),
    Names(&'static [&'static str]),
    Path(&'static str),
    /// The results of a transaction: errors.
    Errors(&'static [i32]),
    /// Notifications, with their types and paths, and then the reply.
    Behind(&'static [(i32, &'static str)], Box<Says>),
    Nothing,
    Close,
    Refuse,
    /// As a reply to a hello: there is no such session.
    Expired,
    /// Later by that many ms.
    Late(u64, Box<Says>),
    /// Not before the current fault ends.
    Held(Box<Says>),
}

/// A connection: its arrivals, and their times.
#[derive(Default)]
struct FakeConnection {
    arrivals: VecDeque<(Micros, Arrival)>,
    is_over: bool,
}

/// The fake. Its first leader is member 1, so that roles differ from indexes.
#[derive(Default)]
pub(super) struct Fake {
    now: Micros,
    script: BTreeMap<String, VecDeque<Says>>,
    lines: Vec<FakeConnection>,
    held: Vec<(usize, Arrival)>,
    zxid: i64,
    dead: Vec<MemberId>,
    paused: Vec<MemberId>,
    /// The log of requests and actions.
    pub(super) log: std::rc::Rc<std::cell::RefCell<Vec<String>>>,
}

const FOREVER: Micros = Micros::MAX;

impl Fake {
    pub(super) fn new() -> Self {
        let fake = Fake { zxid: 0x1_0000_0000, ..Fake::default() };
        fake.say("create /scenario", &[Says::Error(0)])
    }

    /// Its replies to successive requests, by operation and path, or to `connect` and the member's index.
    pub(super) fn say(mut self, request: &str, says: &[Says]) -> Self {
        self.script.insert(request.to_owned(), says.iter().cloned().collect());
        self
    }

    fn note(&self, what: String) {
        self.log.borrow_mut().push(format!("{:>6} {what}", self.now / 1000));
    }

    fn answer(&mut self, request: &str) -> Says {
        let Some(script) = self.script.get_mut(request) else { return Says::Error(0) };
        if script.len() > 1 { script.pop_front() } else { script.front().cloned() }.unwrap_or(Says::Nothing)
    }

    fn deliver(&mut self, line: usize, at: Micros, xid: i32, op: i32, says: Says) {
        let arrival = match says {
            Says::Nothing => return,
            Says::Late(ms, says) => return self.deliver(line, at + ms * 1000, xid, op, *says),
            Says::Held(says) => return self.deliver(line, FOREVER, xid, op, *says),
            Says::Behind(notices, says) => {
                for (event, path) in notices {
                    let mut body = frame(wire::NOTICE, -1, 0);
                    body.extend(event.to_be_bytes());
                    body.extend(3i32.to_be_bytes());
                    body.extend(text(path));
                    self.lines[line].arrivals.push_back((at, Arrival::Frame(body)));
                }
                return self.deliver(line, at, xid, op, *says);
            }
            Says::Close => Arrival::Closed,
            Says::Refuse => Arrival::Refused,
            Says::Expired => Arrival::Frame(welcome(0, 0)),
            Says::Error(0) if op == 0 => Arrival::Frame(welcome(4000, 0x77)),
            says => Arrival::Frame([frame(xid, self.zxid, error(&says)), body(op, &says)].concat()),
        };
        match at {
            FOREVER => self.held.push((line, arrival)),
            at => self.lines[line].arrivals.push_back((at, arrival)),
        }
    }

    fn undo(&mut self) {
        let at = self.now + 1000;
        for (line, arrival) in std::mem::take(&mut self.held) {
            self.lines[line].arrivals.push_back((at, arrival));
        }
    }
}

fn error(says: &Says) -> i32 {
    if let Says::Error(error) = says { *error } else { 0 }
}

fn frame(xid: i32, zxid: i64, error: i32) -> Vec<u8> {
    [&xid.to_be_bytes()[..], &zxid.to_be_bytes(), &error.to_be_bytes()].concat()
}

fn text(text: &str) -> Vec<u8> {
    [&(text.len() as i32).to_be_bytes()[..], text.as_bytes()].concat()
}

fn welcome(timeout: i32, session: i64) -> Vec<u8> {
    let password = [&16i32.to_be_bytes()[..], &[7; 16]].concat();
    [&[0; 4][..], &timeout.to_be_bytes(), &session.to_be_bytes(), &password, &[0]].concat()
}

/// A body with every part that a reader of that operation may need.
fn body(op: i32, says: &Says) -> Vec<u8> {
    let stat = vec![0; 68];
    match says {
        Says::Data(data) => [text(data), stat].concat(),
        Says::Names(names) => {
            let names: Vec<u8> = names.iter().flat_map(|name| text(name)).collect();
            let count = names_count(says);
            [count.to_be_bytes().to_vec(), names, stat].concat()
        }
        Says::Path(path) => [text(path), stat].concat(),
        Says::Errors(errors) => {
            let result =
                |error: &i32| [&(-1i32).to_be_bytes()[..], &[0], &[255; 4], &error.to_be_bytes()].concat();
            let end = [&[255u8; 4][..], &[1], &[255; 4]].concat();
            errors.iter().flat_map(result).chain(end).collect()
        }
        Says::Error(0) if op == 1 => text("/scenario/made"),
        Says::Error(0) if op == 9 => text("/"),
        Says::Error(0) if op == 14 => [&[255u8; 4][..], &[1], &[255; 4]].concat(),
        Says::Error(0) => stat,
        _ => Vec::new(),
    }
}

fn names_count(says: &Says) -> i32 {
    if let Says::Names(names) = says { names.len() as i32 } else { 0 }
}

/// The request in a frame: the operation, and the path if there is one.
fn asked(frame: &[u8]) -> (i32, i32, String) {
    let int = |at: usize| i32::from_be_bytes(frame[at..at + 4].try_into().expect("four bytes"));
    let (xid, op) = (int(0), int(4));
    let name = match op {
        1 => "create",
        2 => "delete",
        3 => "exists",
        4 => "getData",
        5 => "setData",
        8 => "getChildren",
        9 => "sync",
        11 => "ping",
        14 => "multi",
        101 => "setWatches",
        -11 => "closeSession",
        _ => "other",
    };
    let path = match op {
        1..=9 => {
            let length = int(8) as usize;
            format!(" {}", String::from_utf8_lossy(&frame[12..12 + length]))
        }
        101 => format!(" from {:x}", i64::from_be_bytes(frame[8..16].try_into().expect("eight bytes"))),
        _ => String::new(),
    };
    (xid, op, format!("{name}{path}"))
}

impl Cluster for Fake {
    type Connection = usize;

    fn now(&self) -> Micros {
        self.now
    }

    fn advance(&mut self, limit: Micros) {
        let next = self.lines.iter().flat_map(|line| line.arrivals.front()).map(|(at, _)| *at);
        let next = next.filter(|at| *at > self.now).min();
        self.now = next.map_or(limit, |at| at.min(limit));
    }

    fn members(&self) -> usize {
        3
    }

    fn leader(&self) -> Option<MemberId> {
        [MemberId(1), MemberId(2)].into_iter().find(|member| !self.dead.contains(member))
    }

    fn serving(&self) -> Vec<MemberId> {
        let serves = |member: &MemberId| !self.dead.contains(member) && !self.paused.contains(member);
        (0..3).map(MemberId).filter(serves).collect()
    }

    fn last_applied(&self, member: MemberId) -> Option<i64> {
        (!self.dead.contains(&member)).then_some(self.zxid)
    }

    fn open(&mut self, member: MemberId, hello: &Hello) -> usize {
        let name = format!("connect {}", member.0);
        self.note(format!("{name} session {:x} seen {:x}", hello.session, hello.last_zxid));
        self.lines.push(FakeConnection::default());
        let line = self.lines.len() - 1;
        let says = if self.dead.contains(&member) { Says::Refuse } else { self.answer(&name) };
        self.deliver(line, self.now + 1000, 0, 0, says);
        line
    }

    fn send(&mut self, line: &usize, frame: Vec<u8>) {
        let (xid, op, request) = asked(&frame);
        self.note(format!("{line}: {request}"));
        if self.lines[*line].is_over {
            return;
        }
        if matches!(op, 1 | 2 | 5 | 14) {
            self.zxid += 1;
        }
        let says = self.answer(&request);
        self.deliver(*line, self.now + 1000, xid, op, says);
    }

    fn receive(&mut self, line: &usize) -> Arrival {
        let (now, line) = (self.now, &mut self.lines[*line]);
        assert!(!line.is_over, "nobody listens after the end");
        match line.arrivals.pop_front_if(|(at, _)| *at <= now) {
            Some((_, arrival)) => {
                line.is_over = matches!(arrival, Arrival::Closed | Arrival::Refused);
                arrival
            }
            None => Arrival::Nothing,
        }
    }

    fn cut(&mut self, line: &usize) {
        self.note(format!("{line}: cut"));
        self.lines[*line].is_over = true;
    }

    fn hold(&mut self, link: Link) {
        self.note(format!("hold {}->{}", link.from.0, link.to.0));
    }

    fn release(&mut self, link: Link) {
        self.note(format!("release {}->{}", link.from.0, link.to.0));
        self.undo();
    }

    fn lose(&mut self, link: Link) {
        self.note(format!("lose {}->{}", link.from.0, link.to.0));
    }

    fn heal(&mut self, link: Link) {
        self.note(format!("heal {}->{}", link.from.0, link.to.0));
        self.undo();
    }

    fn kill(&mut self, member: MemberId) {
        self.note(format!("kill {}", member.0));
        self.dead.push(member);
    }

    fn start(&mut self, member: MemberId) {
        self.note(format!("start {}", member.0));
        self.dead.retain(|dead| *dead != member);
    }

    fn pause(&mut self, member: MemberId) {
        self.note(format!("pause {}", member.0));
        self.paused.push(member);
    }

    fn resume(&mut self, member: MemberId) {
        self.note(format!("resume {}", member.0));
        self.paused.retain(|paused| *paused != member);
    }

    fn stall(&mut self, member: MemberId, stage: PipelineStage) {
        self.note(format!("stall {} {stage:?}", member.0));
    }

    fn unstall(&mut self, member: MemberId, stage: PipelineStage) {
        self.note(format!("unstall {} {stage:?}", member.0));
        self.undo();
    }
}
