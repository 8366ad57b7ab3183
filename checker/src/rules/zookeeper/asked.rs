//! What was asked for, against what was done and answered: parts of ZK-3, ZK-8, ZK-9, ZK-10 and ZK-11.
//!
//! Every transaction of a client comes from one request, and from each comes one at the most. They are paired as they come:
//! a session's writes are carried out in the order in which they were sent, whether or not anybody still waits for them.

use super::super::{Kinds, Rule, hears};
use super::order::is_write;
use super::{party, slot, told};
use crate::history::{Code, Conn, Event, OpId, ReqId, Request, Session, Sym, What};
use crate::sink::{Scene, Sink, Story};
use crate::verdict::RuleId;
use crate::view::is_unjudged;

/// A write that no server has carried out yet.
#[derive(Clone, Copy)]
struct Sent {
    req: ReqId,
    op: OpId,
    kind: Request,
    path: Sym,
    index: u32,
    /// Its client no longer waits for it: the connection was lost.
    lost: bool,
}

/// What is known of a transaction.
#[derive(Clone, Copy, Default)]
struct Done {
    /// The request that it comes from, or none.
    req: ReqId,
    is_refused: bool,
}

/// The transaction in hand, if it comes from a request for a single change.
#[derive(Clone, Copy)]
struct Single {
    zxid: u64,
    kind: Request,
    path: Sym,
    sent: u32,
}

/// What was asked for.
#[derive(Default)]
pub(crate) struct Asked {
    /// By client.
    sent: Vec<Vec<Sent>>,
    /// By the number of the transaction.
    done: Vec<Done>,
    /// By session: where the last of its writes that was carried out had been sent.
    latest: Vec<u32>,
    single: Option<Single>,
    /// Whose transaction is in hand.
    session: Session,
    /// By request: what version it expects, plus one; zero is none.
    expected: Vec<u32>,
    last_sent: ReqId,
}

/// Whether a client asks for it and the leader gives it a place: a session's end comes without being asked for, too.
fn is_asked(kind: Request) -> bool {
    is_write(kind) && kind != Request::CloseSession
}

fn is_read(kind: Request) -> bool {
    matches!(kind, Request::Get | Request::Exists | Request::Children | Request::GetAcl | Request::MultiRead)
}

impl Asked {
    fn sent_by(&mut self, client: u8) -> &mut Vec<Sent> {
        slot(&mut self.sent, usize::from(client))
    }

    fn txn(&mut self, scene: &Scene<'_>, event: &Event, sink: &mut Sink) {
        let What::Txn { zxid, session, kind, code } = event.what else { return };
        (self.single, self.session) = (None, session);
        self.done.resize(scene.view.oracle.commits.len().max(1), Done::default());
        let of = scene.view.session(session);
        let Some(client) = of.client.filter(|_| is_asked(kind) && of.is_attached) else { return };
        let Some(all) = self.sent.get_mut(usize::from(client)) else { return };
        let is = |sent: &Sent| sent.kind == kind && sent.op == event.op;
        let rule = if kind == Request::Multi { RuleId::Zk11 } else { RuleId::Zk3 };
        sink.premise_of_all(rule);
        let Some(at) = all.iter().position(is) else {
            let word = crate::words::Word::word(kind);
            let story = Story::new(format!("zxid {zxid:#x} is a {word} of {}", party(scene, session)))
                .because("it has asked for none that was not carried out before");
            return sink.fail_all(rule, scene, &[], story);
        };
        let sent = all.remove(at);
        if let Some(done) = self.done.last_mut() {
            *done = Done { req: sent.req, is_refused: code != Code::Ok };
        }
        if code != Code::Ok {
            return self.refused(scene, sent, zxid, code, sink);
        }
        let latest = slot(&mut self.latest, usize::from(session.0));
        if sent.index < *latest {
            let story = Story::new(format!(
                "the write r{} of {} was carried out at zxid {zxid:#x}",
                sent.req.0,
                party(scene, session)
            ))
            .because(format!("e{latest}: one that was carried out before it had been sent after it"));
            sink.fail_all(RuleId::Zk3, scene, &[sent.index, *latest], story);
        }
        *latest = sent.index.max(*latest);
        if kind != Request::Multi {
            self.single = Some(Single { zxid, kind, path: sent.path, sent: sent.index });
        }
        self.condition(scene, sent, zxid, sink);
    }

    fn version_before(scene: &Scene<'_>, path: Sym, zxid: u64) -> Option<i32> {
        scene.view.oracle.node_at(path, zxid.saturating_sub(1)).map(|node| node.version)
    }

    fn expected(&self, req: ReqId) -> Option<i32> {
        self.expected.get(req.0 as usize)?.checked_sub(1).map(|version| version as i32)
    }

    /// A write that was let through had found the version that it expects.
    fn condition(&self, scene: &Scene<'_>, sent: Sent, zxid: u64, sink: &mut Sink) {
        let Some(expected) = self.expected(sent.req) else { return };
        let Some(version) = Self::version_before(scene, sent.path, zxid) else { return };
        sink.premise_of_all(RuleId::Zk9);
        if version != expected {
            let story = Story::new(format!(
                "{} was changed at zxid {zxid:#x} by r{}",
                scene.path(sent.path),
                sent.req.0
            ))
            .because(format!("e{}: only version {expected} was to be, and it had {version}", sent.index));
            sink.fail_all(RuleId::Zk9, scene, &[sent.index], story);
        }
    }

    /// What was refused had a reason.
    fn refused(&self, scene: &Scene<'_>, sent: Sent, zxid: u64, code: Code, sink: &mut Sink) {
        if is_unjudged(scene.tables.names.get(sent.path).unwrap_or_default()) {
            return;
        }
        let there = scene.view.oracle.node_at(sent.path, zxid.saturating_sub(1));
        let why = match (code, sent.kind, there) {
            (Code::NoNode, Request::Set | Request::Delete | Request::SetAcl, Some(_)) => {
                "it is there".to_owned()
            }
            (Code::BadVersion, Request::Set | Request::Delete, Some(node)) => match self.expected(sent.req) {
                Some(expected) if expected == node.version => format!("it has version {expected}"),
                _ => return,
            },
            _ => return,
        };
        let word = crate::words::Word::word(code);
        let story =
            Story::new(format!("the write r{} to {} was refused: {word}", sent.req.0, scene.path(sent.path)))
                .because(format!("before zxid {zxid:#x} {why}"));
        sink.fail_all(RuleId::Zk9, scene, &[sent.index], story);
    }

    /// An effect is of the znode that was asked for.
    fn effect(&self, scene: &Scene<'_>, event: &Event, sink: &mut Sink) {
        if let What::Created { owner, path, .. } = event.what
            && owner != Session(0)
            && owner != self.session
            && scene.view.session(self.session).is_attached
        {
            let story = Story::new(format!("{} belongs to {}", scene.path(path), party(scene, owner)))
                .because(format!("{} has made it", party(scene, self.session)));
            sink.fail_all(RuleId::Zk9, scene, &[], story);
        }
        let (What::Created { zxid, path, .. }
        | What::Deleted { zxid, path, .. }
        | What::Written { zxid, path }
        | What::Restricted { zxid, path }) = event.what
        else {
            return;
        };
        let Some(single) = self.single.filter(|single| single.zxid == zxid && single.path != path) else {
            return;
        };
        let name = |sym| scene.tables.names.get(sym).unwrap_or_default();
        let number = name(path).strip_prefix(name(single.path)).filter(|_| single.kind == Request::Create);
        let wrong = |what: String| {
            Story::new(format!("{} of zxid {zxid:#x}", scene.path(path)))
                .because(format!("e{}: it was asked for {}", single.sent, scene.path(single.path)))
                .because(what)
        };
        let Some(number) = number else {
            let story = wrong("that is another one".to_owned());
            return sink.fail_all(RuleId::Zk11, scene, &[single.sent], story);
        };
        let Some(count) = scene.view.oracle.node_at(path, zxid).and_then(|node| node.number) else { return };
        sink.premise_of_all(RuleId::Zk8);
        if number != format!("{count:010}") {
            let story = wrong(format!("its parent had had {count} children before"));
            sink.fail_all(RuleId::Zk8, scene, &[single.sent], story);
        }
    }

    fn replied(&mut self, scene: &Scene<'_>, event: &Event, sink: &mut Sink) {
        let What::Reply { req: id, code, zxid, conn } = event.what else { return };
        let (Some(req), Some(zxid)) = (scene.view.request(id), told(zxid)) else { return };
        if conn.is_none() {
            return;
        }
        let session = || party(scene, req.session);
        if is_read(req.kind) {
            if scene.view.session(req.session).is_attached && req.served == 0 {
                let story = Story::new(format!("the read r{} of {} was answered", id.0, session()))
                    .because("no server has answered it yet");
                sink.fail_all(RuleId::Zk3, scene, &[req.sent.index], story);
            }
            return;
        }
        if !is_asked(req.kind) {
            return;
        }
        let done = scene.view.oracle.number_of(zxid).and_then(|at| self.done.get(at as usize));
        let Some(done) = done.copied().filter(|done| done.req != ReqId(0)) else { return };
        let story =
            || Story::new(format!("the write r{} of {} was answered with {zxid:#x}", id.0, session()));
        if done.req != id {
            let story = story().because(format!("that is what came of r{}", done.req.0));
            return sink.fail_all(RuleId::Zk3, scene, &[req.sent.index], story);
        }
        match (code == Code::Ok, done.is_refused) {
            (true, true) => {
                let story = story().because("as made, and it was refused");
                sink.fail_all(RuleId::Zk10, scene, &[req.sent.index], story);
            }
            (false, false) => {
                let story = story().because("as refused, and it was made");
                sink.fail_all(RuleId::Zk11, scene, &[req.sent.index], story);
            }
            _ => {}
        }
    }

    /// A read waits for the writes of its session that were sent before it, on the same connection.
    fn served(&mut self, scene: &Scene<'_>, id: ReqId, conn: Conn, sink: &mut Sink) {
        let Some(read) = scene.view.request(id).filter(|read| scene.view.session(read.session).is_attached)
        else {
            return;
        };
        let Some(all) = self.sent.get(usize::from(read.client)) else { return };
        let waits = |sent: &&Sent| sent.index < read.sent.index && !sent.lost;
        let Some(write) = all.iter().find(waits) else { return };
        // With two sessions at a time nobody can tell whose write it is.
        let own = |session: &&crate::view::SessionView| {
            session.client == Some(read.client) && !session.known_over.came()
        };
        if scene.view.sessions.iter().filter(own).count() == 1
            && scene.view.session(read.session).conn == conn
        {
            let story =
                Story::new(format!("the read r{} of {} is answered", id.0, party(scene, read.session)))
                    .because(format!(
                        "e{}: its write r{} before that has not been carried out",
                        write.index, write.req.0
                    ));
            sink.fail_all(RuleId::Zk3, scene, &[write.index], story);
        }
    }

    fn lost(&mut self, scene: &Scene<'_>, id: ReqId) {
        let Some(req) = scene.view.request(id) else { return };
        if let Some(sent) = self.sent_by(req.client).iter_mut().find(|sent| sent.req == id) {
            sent.lost = true;
        }
    }
}

impl Rule for Asked {
    const ID: RuleId = RuleId::Zk3;
    const ALSO: &'static [RuleId] = &[RuleId::Zk8, RuleId::Zk9, RuleId::Zk10, RuleId::Zk11];
    const HEARS: Kinds = hears::Send
        | hears::Expects
        | hears::Lost
        | hears::Reply
        | hears::Served
        | hears::Txn
        | hears::Created
        | hears::Deleted
        | hears::Written
        | hears::Restricted;

    fn event(&mut self, scene: &Scene<'_>, event: &Event, sink: &mut Sink) {
        if !scene.view.is_sim() {
            return;
        }
        match event.what {
            What::Send { req, kind, path, .. } => {
                self.last_sent = req;
                let Some(known) = scene.view.request(req).filter(|_| is_asked(kind)) else { return };
                let sent = Sent { req, op: event.op, kind, path, index: scene.index, lost: false };
                self.sent_by(known.client).push(sent);
            }
            What::Expects { version } => {
                let req = self.last_sent.0 as usize;
                *slot(&mut self.expected, req) = (version as u32).wrapping_add(1);
            }
            What::Lost { req } => self.lost(scene, req),
            What::Txn { .. } => self.txn(scene, event, sink),
            What::Reply { .. } => self.replied(scene, event, sink),
            What::Served { req, conn, .. } => self.served(scene, req, conn, sink),
            _ => self.effect(scene, event, sink),
        }
    }
}
