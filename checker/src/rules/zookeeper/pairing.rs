//! Requests against transactions and replies: parts of ZK-3, ZK-8, ZK-9, ZK-10 and ZK-11.
//!
//! Every transaction of a client comes from one request, and each request makes at most one transaction. A transaction
//! does not name its request: it is paired with an unpaired request of its kind, and its effects, or its reply, confirm
//! the pairing or replace it. A request whose reply was lost may make no transaction, or make it late.

use super::changes::is_worn;
use super::order::is_write;
use super::{client_of, zxid_of};
use crate::rule::prelude::*;
use crate::view::is_unjudged;
use std::collections::VecDeque;

/// The number of transactions that are kept: a reply arrives before so many later ones are applied.
const KEPT: usize = 4096;

/// A write that a client has sent.
#[derive(Clone, Copy)]
struct Sent {
    req: ReqId,
    op: OpId,
    kind: Request,
    path: Sym,
    index: u32,
    /// Its client's session at that time; a client with several sessions may have sent it in another one.
    session: Session,
    /// Whether its client has reported a connection loss and no longer waits.
    is_lost: bool,
    /// The version that it expects.
    expected: Option<i32>,
}

/// A transaction, and the request it is paired with.
#[derive(Clone, Copy)]
struct Done {
    from: Sent,
    zxid: u64,
    session: Session,
    is_refused: bool,
    is_certain: bool,
}

/// Requests to pair with transactions.
#[derive(Clone, Default)]
pub(crate) struct Pairing {
    /// By client: unpaired requests.
    open: Vec<VecDeque<Sent>>,
    /// The latest transactions, and the number of the first of them.
    done: VecDeque<Option<Done>>,
    first: usize,
    /// By client: transactions that may come from more than one request.
    hazy: Vec<Vec<u32>>,
    /// By client: whether one of its requests was throttled since it last waited for nothing.
    mixed: Vec<bool>,
    /// By session: the last sent request among the writes that were certainly applied, by its event, and the zxid.
    latest: Vec<(u32, u64)>,
    /// The client of the current transaction.
    session: Session,
    last_sent: ReqId,
}

/// Whether a client sends it and the leader orders it: a session may also end without a request.
fn is_asked(kind: Request) -> bool {
    is_write(kind) && kind != Request::CloseSession
}

fn is_read(kind: Request) -> bool {
    matches!(kind, Request::Get | Request::Exists | Request::Children | Request::GetAcl | Request::MultiRead)
}

/// Whether a client has only one session, so that its requests can be attributed.
fn is_alone(scene: &Scene<'_>, client: u16) -> bool {
    let lives =
        |session: &&crate::view::SessionView| session.client == Some(client) && !session.known_over.came();
    scene.view.sessions.iter().filter(lives).count() <= 1
}

/// Whether a request for one change may have created a path: its own, or with a number at the end.
fn may_make(scene: &Scene<'_>, sent: &Sent, made: Sym) -> bool {
    if sent.path == made {
        return true;
    }
    let name = |sym| scene.text(sym);
    let number = name(made).strip_prefix(name(sent.path)).filter(|_| sent.kind == Request::Create);
    // A negative number appears when the counter of the directory has run out.
    let digits = number.map(|number| number.strip_prefix('-').unwrap_or(number));
    digits.is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()))
}

impl Pairing {
    fn place(&self, number: u32) -> Option<usize> {
        (number as usize).checked_sub(self.first)
    }

    fn at(&self, number: u32) -> Option<Done> {
        self.place(number).and_then(|at| self.done.get(at).copied().flatten())
    }

    fn open_of(&mut self, client: u16) -> &mut VecDeque<Sent> {
        slot(&mut self.open, usize::from(client))
    }

    /// Step 1: pairs a transaction with a request of its kind.
    fn txn(&mut self, scene: &Scene<'_>, event: &Event, out: &mut Findings) {
        let What::Txn { zxid, session, kind, code } = event.what else { return };
        self.session = session;
        self.done.push_back(None);
        if self.done.len() > KEPT {
            self.done.pop_front();
            self.first += 1;
        }
        let of = scene.view.session(session);
        let Some(client) = of.client.filter(|_| is_asked(kind) && of.is_attached) else { return };
        let open = self.open_of(client);
        let is = |sent: &Sent| sent.kind == kind && sent.op == event.op;
        // Most likely it is a request of that session for which the client still waits.
        let is_likely = |sent: &Sent| is(sent) && sent.session == session && !sent.is_lost;
        let best = open.iter().position(is_likely).or_else(|| {
            let candidates = open.iter().enumerate().filter(|(_, sent)| is(sent));
            candidates.min_by_key(|(_, sent)| (sent.session != session, sent.is_lost)).map(|(at, _)| at)
        });
        let rule = if kind == Request::Multi { RuleId::Zk11 } else { RuleId::Zk3 };
        out.premise_of_all(rule);
        let Some(from) = best.and_then(|at| open.remove(at)) else {
            let before = self.done.iter().rev().nth(1).copied().flatten();
            let part = |before: Done| {
                before.session == session && before.from.kind == kind && before.zxid + 1 == zxid
            };
            if kind == Request::Multi && before.is_some_and(part) {
                return Self::in_parts(scene, zxid, session, out);
            }
            return Self::not_asked(scene, zxid, session, kind, out);
        };
        let is_refused = code != Code::Ok;
        if open.iter().any(is) && (is_refused || kind == Request::Multi) {
            let number = (self.first + self.done.len()) as u32 - 1;
            slot(&mut self.hazy, usize::from(client)).push(number);
        }
        if let Some(done) = self.done.back_mut() {
            *done = Some(Done { from, zxid, session, is_refused, is_certain: false });
        }
    }

    fn not_asked(scene: &Scene<'_>, zxid: u64, session: Session, kind: Request, out: &mut Findings) {
        let word = kind.name();
        let text = explain(format!("zxid {zxid:#x} is a {word} of {}", client_of(scene, session)))
            .because("every such request of this session had been carried out before");
        out.fail_all(RuleId::Zk3, scene, &[], text);
    }

    fn in_parts(scene: &Scene<'_>, zxid: u64, session: Session, out: &mut Findings) {
        let text = explain(format!("zxid {zxid:#x} is a multi of {}", client_of(scene, session)))
            .because("the transaction before is one too, and the session sent a single multi");
        out.fail_all(RuleId::Zk11, scene, &[], text);
    }

    /// Step 2: the effects show the request, if only one fits.
    fn effect(&mut self, scene: &Scene<'_>, event: &Event, out: &mut Findings) {
        self.owner(scene, event, out);
        let Some(path) = event.what.path() else { return };
        let Some(Some(done)) = self.done.back().copied() else { return };
        if done.from.kind == Request::Multi || done.is_certain || done.is_refused {
            return;
        }
        let client = scene.view.request(done.from.req).map_or(0, |req| req.client);
        let open = self.open_of(client);
        let like = |sent: &Sent| {
            (sent.kind, sent.op) == (done.from.kind, done.from.op) && may_make(scene, sent, path)
        };
        // Two candidates are as ambiguous as many.
        let others = open.iter().filter(|sent| like(sent)).take(2).count();
        let mut from = done.from;
        if !like(&from) {
            if let Some(at) = open.iter().position(like) {
                std::mem::swap(&mut open[at], &mut from);
            } else if !self.change_with_hazy(client, &mut from, like) {
                return Self::not_asked(scene, done.zxid, done.session, from.kind, out);
            }
        }
        let like = |number: &u32| {
            self.at(*number).is_some_and(|other| (other.from.kind, other.from.op) == (from.kind, from.op))
        };
        let is_hazy = self.hazy.get(usize::from(client)).is_some_and(|hazy| hazy.iter().any(like));
        let is_certain = !is_hazy && others == usize::from(from.req != done.from.req);
        if let Some(last) = self.done.back_mut() {
            *last = Some(Done { from, is_certain, ..done });
        }
        if !is_certain {
            let number = (self.first + self.done.len()) as u32 - 1;
            slot(&mut self.hazy, usize::from(client)).push(number);
        } else {
            self.certain(scene, Done { from, ..done }, path, out);
        }
    }

    /// Exchanges requests with a transaction without effects, which may come from this request instead.
    fn change_with_hazy(&mut self, client: u16, from: &mut Sent, like: impl Fn(&Sent) -> bool) -> bool {
        for number in self.hazy.get(usize::from(client)).into_iter().flatten() {
            let at = (*number as usize).checked_sub(self.first);
            let other = at.and_then(|at| self.done.get_mut(at)?.as_mut());
            if let Some(other) = other.filter(|other| like(&other.from)) {
                std::mem::swap(&mut other.from, from);
                return true;
            }
        }
        false
    }

    fn owner(&self, scene: &Scene<'_>, event: &Event, out: &mut Findings) {
        if let What::Created { owner, path, .. } = event.what
            && owner != Session(0)
            && owner != self.session
            && scene.view.session(self.session).is_attached
        {
            let text = explain(format!("{} belongs to {}", scene.path(path), client_of(scene, owner)))
                .because(format!("{} created it", client_of(scene, self.session)));
            out.fail_all(RuleId::Zk9, scene, &[], text);
        }
    }

    /// Notes that the request of this transaction is certain.
    fn certain(&mut self, scene: &Scene<'_>, done: Done, made: Sym, out: &mut Findings) {
        self.in_order(scene, done, out);
        self.condition(scene, done, out);
        let Done { from, zxid, .. } = done;
        let Some(count) = scene.view.oracle.node_at(made, zxid).and_then(|node| node.number) else { return };
        if from.kind == Request::Create && made != from.path && !is_worn(count) {
            out.premise_of_all(RuleId::Zk8);
            let name = |sym| scene.text(sym);
            if name(made) != format!("{}{count:010}", name(from.path)) {
                let text = explain(format!("r{} created {}", from.req.0, scene.path(made))).because(format!(
                    "its parent had had {count} children before, which is the number to append"
                ));
                out.fail_all(RuleId::Zk8, scene, &[from.index], text);
            }
        }
    }

    /// ZK-3: a session's writes are applied in the order in which they were sent.
    fn in_order(&mut self, scene: &Scene<'_>, done: Done, out: &mut Findings) {
        let Done { from, zxid, session, .. } = done;
        let latest = slot(&mut self.latest, usize::from(session.0));
        if from.index >= latest.0 {
            *latest = (from.index, zxid);
        } else if zxid > latest.1 {
            let (later, before) = *latest;
            let who = client_of(scene, session);
            let text = explain(format!("the write r{} of {who} was applied at zxid {zxid:#x}", from.req.0))
                .because(format!("e{later}: the write at {before:#x} was sent later and applied earlier"));
            out.fail_all(RuleId::Zk3, scene, &[from.index, later], text);
        }
    }

    /// ZK-9: a write that succeeded found the expected version.
    fn condition(&self, scene: &Scene<'_>, done: Done, out: &mut Findings) {
        let Done { from, zxid, .. } = done;
        let before = scene.view.oracle.node_at(from.path, zxid.saturating_sub(1));
        let (Some(expected), Some(before)) = (from.expected, before) else { return };
        out.premise_of_all(RuleId::Zk9);
        if before.version != expected {
            let what = format!("{} was changed at zxid {zxid:#x} by r{}", scene.path(from.path), from.req.0);
            let because = format!(
                "e{}: the request expected version {expected}, and the znode had {}",
                from.index, before.version
            );
            out.fail_all(RuleId::Zk9, scene, &[from.index], explain(what).because(because));
        }
    }

    /// ZK-9: a write that was refused had a reason.
    fn refused(&self, scene: &Scene<'_>, done: Done, code: Code, out: &mut Findings) {
        let Done { from, zxid, .. } = done;
        if is_unjudged(scene.text(from.path)) {
            return;
        }
        let there = scene.view.oracle.node_at(from.path, zxid.saturating_sub(1));
        let why = match (code, from.kind, there) {
            (Code::NoNode, Request::Set | Request::Delete | Request::SetAcl, Some(_)) => {
                "the znode exists".to_owned()
            }
            (Code::BadVersion, Request::Set | Request::Delete, Some(node))
                if from.expected == Some(node.version) =>
            {
                format!("the znode has version {}", node.version)
            }
            _ => return,
        };
        let word = code.name();
        let what = format!("the write r{} to {} was refused: {word}", from.req.0, scene.path(from.path));
        let text = explain(what).because(format!("before zxid {zxid:#x} {why}"));
        out.fail_all(RuleId::Zk9, scene, &[from.index], text);
    }

    /// Step 3: a reply shows the request.
    fn replied(&mut self, scene: &Scene<'_>, event: &Event, out: &mut Findings) {
        let What::Reply { req: id, code, zxid, .. } = event.what else { return };
        let (Some(req), Some(zxid)) = (scene.view.request(id), zxid_of(zxid)) else { return };
        if code == Code::Throttled {
            return self.came_to_nothing(id, req.client);
        }
        let is_served = req.served != 0 || code.tells_nothing();
        if is_read(req.kind) && scene.view.session(req.session).is_attached && !is_served {
            let what = format!("the read r{} of {} was answered", id.0, client_of(scene, req.session));
            let text = explain(what).because("no server has served it yet");
            return out.fail_all(RuleId::Zk3, scene, &[req.sent.index], text);
        }
        let Some(number) = scene.view.oracle.number_of(zxid).filter(|_| is_asked(req.kind)) else { return };
        let Some(before) = self.at(number) else {
            // Requests that are not recorded in full are not paired.
            let open = self.open_of(req.client);
            if let Some(at) = open.iter().position(|sent| sent.req == id) {
                open.remove(at);
            }
            return;
        };
        let text = || {
            explain(format!(
                "the write r{} of {} was answered with {zxid:#x}",
                id.0,
                client_of(scene, req.session)
            ))
        };
        if before.from.req != id && !self.exchange(number, id, req.client) {
            if is_alone(scene, req.client) {
                let text = text().because(format!("that is the result of r{}", before.from.req.0));
                out.fail_all(RuleId::Zk3, scene, &[req.sent.index], text);
            }
            return;
        }
        if let Some(hazy) = self.hazy.get_mut(usize::from(req.client)) {
            hazy.retain(|other| *other != number);
        }
        let Some(Some(done)) = self.place(number).and_then(|at| self.done.get_mut(at)) else { return };
        let was_certain = std::mem::replace(&mut done.is_certain, true);
        let done = *done;
        match (code == Code::Ok, done.is_refused) {
            (true, true) => {
                let text = text().because("the reply says success, and the server refused the write");
                out.fail_all(RuleId::Zk10, scene, &[req.sent.index], text);
            }
            (false, false) => {
                let text = text().because("the reply says refused, and the server applied the write");
                out.fail_all(RuleId::Zk11, scene, &[req.sent.index], text);
            }
            (false, true) => self.refused(scene, done, code, out),
            (true, false) if !was_certain => {
                self.in_order(scene, done, out);
                self.condition(scene, done, out);
            }
            (true, false) => {}
        }
    }

    /// Pairs a transaction with another request, if possible.
    fn exchange(&mut self, number: u32, id: ReqId, client: u16) -> bool {
        let Some(done) = self.at(number) else { return false };
        let like = |sent: &Sent| sent.req == id && (sent.kind, sent.op) == (done.from.kind, done.from.op);
        // The client that waits for the other request waits for another transaction, unless a lost request may be
        // confused with them.
        if done.is_certain || !done.from.is_lost && !self.mixes_up(done, client) {
            return false;
        }
        let open = slot(&mut self.open, usize::from(client));
        let mut from = done.from;
        if let Some(at) = open.iter().position(like) {
            std::mem::swap(&mut open[at], &mut from);
        } else {
            let other =
                |other: &Option<Done>| other.is_some_and(|other| like(&other.from) && !other.is_certain);
            let Some(at) = (0..self.done.len()).rev().find(|at| other(&self.done[*at])) else { return false };
            if let Some(other) = &mut self.done[at] {
                std::mem::swap(&mut other.from, &mut from);
            }
        }
        if let Some(at) = self.place(number) {
            self.done[at] = Some(Done { from, ..done });
        }
        true
    }

    /// Notes that a request was not processed: its paired transaction came from another request.
    fn came_to_nothing(&mut self, id: ReqId, client: u16) {
        let open = slot(&mut self.open, usize::from(client));
        if let Some(at) = open.iter().position(|sent| sent.req == id) {
            open.remove(at);
            return;
        }
        let paired = self.done.iter_mut().rev().flatten().find(|done| done.from.req == id);
        if let Some(done) = paired.filter(|done| !done.is_certain) {
            let like = |sent: &Sent| (sent.kind, sent.op) == (done.from.kind, done.from.op);
            if let Some(at) = open.iter().position(like) {
                done.from = open.remove(at).unwrap_or(done.from);
            }
        }
    }

    /// Whether the throttled one of a client's requests is unknown.
    fn is_mixed(&self, client: u16) -> bool {
        self.mixed.get(usize::from(client)).is_some_and(|mixed| *mixed)
    }

    /// Whether a lost or throttled request may be confused with this one.
    fn mixes_up(&self, done: Done, client: u16) -> bool {
        if self.is_mixed(client) {
            return true;
        }
        let lost = |sent: &Sent| sent.is_lost && (sent.kind, sent.op) == (done.from.kind, done.from.op);
        let paired = |other: &Done| other.session == done.session && !other.is_certain && lost(&other.from);
        let open = self.open.get(usize::from(client));
        open.is_some_and(|open| open.iter().any(lost)) || self.done.iter().rev().flatten().any(paired)
    }

    /// ZK-3: a read waits for the writes that its session sent before it on the same connection.
    fn served(&mut self, scene: &Scene<'_>, id: ReqId, conn: Conn, out: &mut Findings) {
        let Some(read) = scene.view.request(id) else { return };
        let session = scene.view.session(read.session);
        if !session.is_attached || session.conn != conn {
            return;
        }
        let waits = |sent: &&Sent| sent.index < read.sent.index && !sent.is_lost;
        let open = self.open.get(usize::from(read.client));
        let Some(write) = open.and_then(|open| open.iter().find(waits)) else { return };
        if is_alone(scene, read.client) && !self.is_mixed(read.client) {
            let what = format!("the read r{} of {} is answered", id.0, client_of(scene, read.session));
            let because =
                format!("e{}: its earlier write r{} has not been carried out", write.index, write.req.0);
            out.fail_all(RuleId::Zk3, scene, &[write.index], explain(what).because(because));
        }
    }

    /// Notes that one of the requests that a client has just sent will be throttled. The fault does not name the
    /// request.
    fn throttled(&mut self, kind: FaultKind, victim: Victim) {
        if let (FaultKind::Throttled, Victim::Process { client }) = (kind, victim) {
            self.open_of(client).iter_mut().for_each(|sent| sent.is_lost = true);
            *slot(&mut self.mixed, usize::from(client)) = true;
        }
    }

    /// Notes that the client no longer waits for a request, paired or not.
    fn lost(&mut self, scene: &Scene<'_>, id: ReqId) {
        let Some(req) = scene.view.request(id).filter(|req| is_asked(req.kind)) else { return };
        if let Some(sent) = self.sent(req.client, id) {
            sent.is_lost = true;
        }
    }

    /// A request, whether it is paired or not.
    fn sent(&mut self, client: u16, id: ReqId) -> Option<&mut Sent> {
        let open = slot(&mut self.open, usize::from(client));
        if let Some(sent) = open.iter_mut().rev().find(|sent| sent.req == id) {
            return Some(sent);
        }
        let done = self.done.iter_mut().rev().flatten().find(|done| done.from.req == id);
        done.map(|done| &mut done.from)
    }
}

impl Rule for Pairing {
    const JUDGES: &'static [Property] = {
        use Property::*;
        &[SessionOrder, SequenceNumbers, Conditions, Durability, WholeTransactions]
    };
    const HEARS: Kinds =
        hears![Send, Expects, Lost, Reply, Served, Txn, Created, Deleted, Written, Restricted, Fault];

    fn event(&mut self, scene: &Scene<'_>, event: &Event, out: &mut Findings) {
        if !scene.view.is_sim() {
            return;
        }
        match event.what {
            What::Send { req, kind, path, .. } => {
                self.last_sent = req;
                let Some(known) = scene.view.request(req).filter(|_| is_asked(kind)) else { return };
                let (op, index, session) = (event.op, scene.index, known.session);
                let sent = Sent { req, op, kind, path, index, session, is_lost: false, expected: None };
                let client = usize::from(known.client);
                let is_at_rest =
                    slot(&mut self.open, client).is_empty() && slot(&mut self.hazy, client).is_empty();
                *slot(&mut self.mixed, client) &= !is_at_rest;
                self.open_of(known.client).push_back(sent);
            }
            What::Expects { version } => {
                let req = self.last_sent;
                let client = scene.view.request(req).map(|req| req.client);
                if let Some(sent) = client.and_then(|client| self.sent(client, req)) {
                    sent.expected = Some(version);
                }
            }
            What::Lost { req } => self.lost(scene, req),
            // The client library answers by itself, because the session is over.
            What::Reply { req, conn, .. } if conn.is_none() => self.lost(scene, req),
            What::Txn { .. } => self.txn(scene, event, out),
            What::Reply { .. } => self.replied(scene, event, out),
            What::Served { req, conn, .. } => self.served(scene, req, conn, out),
            What::Fault { kind, victim, .. } => self.throttled(kind, victim),
            _ => self.effect(scene, event, out),
        }
    }
}
