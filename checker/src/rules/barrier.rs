//! Barriers: BA-1 to BA-5.
//!
//! A wait must follow from the replies to its client: there is no barrier, or the barrier that it waited for is gone,
//! or another barrier stands. The servers' events show whether a wait passed a standing barrier, and whether it had to
//! pass.

mod cost;
mod passed;
mod progress;
mod waiters;

use super::wake_sources::{Doubts, Touched};
use crate::rule::prelude::*;
use crate::view::{Moment, NEVER};
use waiters::{Gate, Life, Waiter};

/// BA-1 to BA-5.
#[derive(Clone, Default)]
pub(crate) struct Barriers {
    /// By object.
    gates: Vec<Gate>,
    waiters: Vec<Waiter>,
    /// Waits without a wake source.
    doubts: Doubts,
    /// The request that is being answered, and the barriers that its reads found so far.
    serving: ReqId,
    found: Vec<(ReqId, Sym, bool)>,
    /// Whether a fault was injected.
    is_hostile: bool,
    /// The time of the next check for overdue waits: checking at every event would slow a long run down.
    next_look: u64,
    /// The notifications of the latest transactions: zxid, receiver, barrier, count.
    fired: Vec<(u64, Session, Conn, ObjectId, u32)>,
}

/// The interval between checks for overdue waits, in microseconds.
const LOOK: u64 = 100_000;

fn is_wait(verb: Verb) -> bool {
    matches!(verb, Verb::Wait | Verb::WaitDown)
}

impl Barriers {
    fn waiter(&mut self, op: OpId) -> Option<&mut Waiter> {
        self.waiters.iter_mut().find(|waiter| waiter.op == op)
    }

    /// The barrier of an object, if it was ever raised.
    fn gate(&self, object: ObjectId) -> Option<&Gate> {
        self.gates.get(usize::from(object.0))
    }
}

impl Rule for Barriers {
    const HEARS: Kinds = hears![
        Call, Return, Send, Reply, Lost, Notice, State, Created, Deleted, Served, Found, Arm, Fire, Disarm,
        Marked, Ended, Fault, Mended, Crash, Ceased, Sleep, Quiesce
    ];
    const ABOUT: &'static [Kind] = &[Kind::Barrier];

    fn pass_time(&mut self, scene: &Scene<'_>, out: &mut Findings) {
        if self.waiters.is_empty() {
            return;
        }
        self.unwoken(scene, out);
        if scene.at >= self.next_look {
            self.next_look = scene.at.saturating_add(LOOK);
            self.overdue(scene, out);
        }
    }

    fn event(&mut self, scene: &Scene<'_>, event: &Event, out: &mut Findings) {
        self.is_hostile |= matches!(event.what, What::Fault { .. });
        match event.what {
            What::Call { object, verb, .. } if is_wait(verb) => {
                out.premise(RuleId::Ba2, object);
                out.premise(RuleId::Ba3, object);
                self.waiters.push(Waiter::new(event.op, object));
            }
            What::Return { outcome, .. } => self.returned(scene, event.op, outcome, out),
            What::Created { zxid, path, .. } => {
                if let Some(object) = scene.object_at(Kind::Barrier, path) {
                    let (created, deleted) = (scene.view.now, Moment::NEVER);
                    slot(&mut self.gates, usize::from(object.0)).lives.push(Life {
                        czxid: zxid,
                        created,
                        gone: NEVER,
                        deleted,
                    });
                }
            }
            What::Deleted { zxid, path, .. } => {
                if let Some(object) = scene.object_at(Kind::Barrier, path) {
                    let now = scene.view.now;
                    if let Some(life) = slot(&mut self.gates, usize::from(object.0)).lives.last_mut() {
                        (life.gone, life.deleted) = (zxid, now);
                    }
                }
            }
            What::Served { req, .. } => self.serving = req,
            What::Found { code, path, .. }
                if self.waiter(event.op).is_some() && scene.object_at(Kind::Barrier, path).is_some() =>
            {
                self.found.push((self.serving, path, code == Code::Ok));
            }
            What::Send { .. } => self.sent(scene, event.op, out),
            What::Reply { req, code, zxid, .. } => {
                self.answered(scene, req, code, zxid);
            }
            What::Lost { req } => {
                self.found.retain(|(found, ..)| *found != req);
            }
            What::Notice { session, kind, path, .. } => {
                if let (Some(object), true) = (scene.object_at(Kind::Barrier, path), kind != Notify::Deleted)
                {
                    out.premise(RuleId::Ba5, object);
                }
                self.hears(scene, session, Some(path), event_name(kind));
            }
            What::State { session, .. } => {
                // A waiter may mistake a change of its own session's state for an opening; other waiters do not learn
                // of it.
                let hears = |waiter: &&Waiter| waiter.session_in(scene) == session;
                let waiting = self.waiters.iter().filter(hears).map(|waiter| waiter.object);
                waiting.for_each(|object| out.premise(RuleId::Ba5, object));
                self.hears(scene, session, None, "a change of its session's state");
            }
            What::Fire { session, path, zxid, conn, .. } => {
                // A notification from re-registration belongs to no transaction, and the low halves of zxids repeat in
                // each epoch.
                if let (Some(object), Who::Server(server), 1..) =
                    (scene.object_at(Kind::Barrier, path), event.who, zxid)
                    && !scene.view.has_left(session, conn)
                {
                    let zxid = scene.view.server(server).whole(zxid);
                    self.fired(scene, (session, conn), object, zxid, out);
                }
            }
            What::Crash { client } => {
                self.waiters.retain(|waiter| scene.view.op(waiter.op).client != client);
            }
            What::Sleep { deadline: false, .. } if self.waiter(event.op).is_some() => {
                let op = scene.view.op(event.op);
                let text = explain(format!(
                    "{} sleeps in order to look again while it waits",
                    scene.client(op.client)
                ))
                .because("a notification or the time limit wakes a waiter; polling is not allowed");
                out.fail(RuleId::Ba3, scene, op.object, &[op.called.index], text);
            }
            What::Quiesce if scene.view.is_sim() => self.left(scene, out),
            _ => {}
        }
        match Touched::by(scene, event) {
            Touched::Op(op) => self.look(scene, op, out),
            Touched::Session(session) => self.look_where(scene, out, |waiter| waiter.session == session),
            Touched::Client(client) => {
                self.look_where(scene, out, |waiter| scene.view.op(waiter.op).client == client);
            }
            Touched::All => self.look_where(scene, out, |_| true),
            Touched::Nothing | Touched::Other => {}
        }
    }

    fn finish(&mut self, scene: &Scene<'_>, out: &mut Findings) {
        for waiter in &self.waiters {
            let gate = self.gate(waiter.object);
            let stands = scene.view.is_sim() && gate.and_then(Gate::stands).is_some();
            if !stands && !waiter.is_told {
                out.unknown(RuleId::Ba2, waiter.object);
            }
        }
    }
}
