//! Barriers: BA-1 to BA-5.
//!
//! A wait must follow from what its client was served: that there is no barrier, that the barrier it waited for is
//! gone, or that another one stands. The servers' events show whether a wait was let in although the barrier stood,
//! and whether it had to be let in.

use super::wake_sources::{Doubts, Source, keeps_budget, source};
use crate::rules::prelude::*;
use crate::view::{Moment, NEVER, Phase, Watch};

/// BA-1 to BA-5.
#[derive(Default)]
pub(crate) struct Barriers {
    /// By object.
    gates: Vec<Gate>,
    waiters: Vec<Waiter>,
    /// Waits without a wake source.
    doubts: Doubts,
    /// The request that is being answered, and what its reads found at barriers so far.
    serving: ReqId,
    found: Vec<(ReqId, Sym, bool)>,
    /// A fault was injected.
    is_hostile: bool,
    /// The time of the next look at overdue waits: not every event, since a long run has many.
    next_look: u64,
    /// The notifications of the latest transactions: zxid, receiver, barrier, count.
    fired: Vec<(u64, Session, Conn, ObjectId, u32)>,
}

/// The interval between looks at overdue waits, in microseconds.
const LOOK: u64 = 100_000;

/// A barrier as the servers know it.
#[derive(Clone, Default)]
struct Gate {
    lives: Vec<Life>,
}

/// One incarnation of the barrier's znode.
#[derive(Clone)]
struct Life {
    czxid: u64,
    created: Moment,
    gone: u64,
    deleted: Moment,
}

impl Gate {
    /// The incarnation that exists in the state of a transaction.
    fn at(&self, zxid: u64) -> Option<&Life> {
        self.lives.iter().rev().find(|life| life.czxid <= zxid && zxid < life.gone)
    }

    fn stands(&self) -> Option<&Life> {
        self.lives.last().filter(|life| life.gone == NEVER)
    }
}

/// An open wait, and what its client has learned.
struct Waiter {
    op: OpId,
    object: ObjectId,
    session: Session,
    /// The incarnation that it waits for, if servers showed it, and the largest zxid of a read.
    first: Option<u64>,
    shown: u64,
    /// Whether it learned that there is no barrier (a level-triggered wait: by its last read); that the barrier it
    /// had read is gone; that another barrier stands.
    is_absent: bool,
    is_gone: bool,
    is_another: bool,
    last: Last,
    last_index: u32,
    is_told: bool,
}

/// The last thing that a waiter learned.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    Nothing,
    Absent,
    Stands,
    Event(&'static str),
}

impl Waiter {
    fn new(op: OpId, object: ObjectId) -> Waiter {
        Waiter {
            op,
            object,
            session: Session(0),
            first: None,
            shown: 0,
            is_absent: false,
            is_gone: false,
            is_another: false,
            last: Last::Nothing,
            last_index: u32::MAX,
            is_told: false,
        }
    }

    /// The session in which it waits: its client's, unless another one is known.
    fn session_in(&self, scene: &Scene<'_>) -> Session {
        match self.session {
            Session(0) => scene.view.client(scene.view.op(self.op).client).session,
            session => session,
        }
    }

    /// Whether it may pass.
    fn is_justified(&self, verb: Verb) -> bool {
        match verb {
            Verb::WaitDown => self.is_absent,
            _ => self.is_absent || self.is_gone || self.is_another,
        }
    }
}

fn is_wait(verb: Verb) -> bool {
    matches!(verb, Verb::Wait | Verb::WaitDown)
}

impl Barriers {
    fn waiter(&mut self, op: OpId) -> Option<&mut Waiter> {
        self.waiters.iter_mut().find(|waiter| waiter.op == op)
    }

    fn source(&self, scene: &Scene<'_>, id: OpId) -> Source {
        let Some(waiter) = self.waiters.iter().find(|waiter| waiter.op == id) else { return Source::Busy };
        if waiter.last == Last::Nothing {
            return Source::Busy;
        }
        let path = scene.object(waiter.object).path;
        let gate = self.gates.get(usize::from(waiter.object.0));
        let gone = gate.and_then(|gate| gate.lives.last()).map_or(NEVER, |life| life.gone);
        // The server of the watch has not applied the deletion yet: the notification will come.
        let to_come = |watch: &Watch| gone == NEVER || scene.view.server(watch.server).may_come_to(gone);
        // An edge-triggered wait that learned of the end of its barrier has nothing to wait for.
        let is_over = scene.view.op(id).verb == Verb::Wait && waiter.is_justified(Verb::Wait);
        let wakes = |watch: &Watch| watch.path == path && !is_over && (!watch.armed || to_come(watch));
        source(scene, id, waiter.session, wakes)
    }

    fn look(&mut self, scene: &Scene<'_>, id: OpId, out: &mut Findings) {
        if !scene.view.is_sim() {
            return;
        }
        let source = self.source(scene, id);
        if self.doubts.look(scene, id, &source) {
            out.premise(RuleId::Ba2, scene.view.op(id).object);
        }
    }

    /// Looks for the wake sources of the waiters that match.
    fn look_where(&mut self, scene: &Scene<'_>, out: &mut Findings, is: impl Fn(&Waiter) -> bool) {
        let ops: Vec<OpId> =
            self.waiters.iter().filter(|waiter| is(waiter)).map(|waiter| waiter.op).collect();
        ops.into_iter().for_each(|op| self.look(scene, op, out));
    }

    /// Passes on what a reply told about a barrier to the waiter.
    fn answered(&mut self, scene: &Scene<'_>, req: ReqId, code: Code, zxid: u64) {
        let Some(of) = scene.view.request(req).copied() else { return };
        let reads =
            matches!(of.kind, Request::Exists | Request::Get | Request::Children | Request::MultiRead);
        let at = self.waiters.iter().position(|waiter| waiter.op == of.op);
        let path = at.map(|at| scene.object(self.waiters[at].object).path);
        // One reply may tell of several barriers.
        let told = self.found.iter().find(|(found, of, _)| *found == req && Some(*of) == path);
        let told = told.map(|(.., stands)| *stands);
        self.found.retain(|(found, ..)| *found != req);
        let (Some(at), Some(path)) = (at, path) else { return };
        let object = self.waiters[at].object;
        let stands = match told {
            Some(stands) => stands,
            _ if reads && of.path == path && code == Code::Ok => true,
            _ if reads && of.path == path && code == Code::NoNode => false,
            _ => return,
        };
        let state = if of.served == 0 { zxid } else { of.served };
        let life =
            self.gates.get(usize::from(object.0)).and_then(|gate| gate.at(state)).map(|life| life.czxid);
        let waiter = &mut self.waiters[at];
        waiter.session = of.session;
        waiter.last_index = scene.index;
        if !stands {
            (waiter.last, waiter.is_absent) = (Last::Absent, true);
            return;
        }
        waiter.is_another |= match (waiter.first, life) {
            (Some(first), Some(life)) => first != life,
            // A capture shows no incarnations, but a later one has a later zxid.
            _ => !scene.view.is_sim() && waiter.last != Last::Nothing && zxid > waiter.shown,
        };
        waiter.is_absent &= scene.view.op(of.op).verb != Verb::WaitDown;
        waiter.first = waiter.first.or(life);
        waiter.shown = waiter.shown.max(zxid);
        waiter.last = Last::Stands;
    }

    /// Passes a notification, or a change of the session's state, on to the waiters of a session.
    fn hears(&mut self, scene: &Scene<'_>, session: Session, path: Option<Sym>, event: &'static str) {
        let is_deletion = event == NODE_DELETED;
        let gates = &self.gates;
        for waiter in &mut self.waiters {
            let of = waiter.session_in(scene);
            let here = path.is_none_or(|path| scene.object(waiter.object).path == path);
            if of != session || !here || waiter.last == Last::Nothing {
                continue;
            }
            // It may be notified of an earlier incarnation, too.
            let gate = gates.get(usize::from(waiter.object.0));
            let of = gate.and_then(|gate| gate.lives.iter().find(|life| Some(life.czxid) == waiter.first));
            waiter.is_gone |= is_deletion && of.is_none_or(|life| life.gone != NEVER);
            waiter.last = Last::Event(event);
            waiter.last_index = scene.index;
        }
    }

    fn returned(&mut self, scene: &Scene<'_>, id: OpId, outcome: Outcome, out: &mut Findings) {
        let Some(at) = self.waiters.iter().position(|waiter| waiter.op == id) else { return };
        let waiter = self.waiters.remove(at);
        if outcome != Outcome::Done {
            return;
        }
        let op = scene.view.op(id);
        out.premise(RuleId::Ba1, op.object);
        if matches!(waiter.last, Last::Event(event) if event != NODE_DELETED) {
            out.premise(RuleId::Ba5, op.object);
        }
        if waiter.is_justified(op.verb) {
            return;
        }
        let who = scene.client(op.client);
        let when = scene.when(scene.view.now);
        let seen = [op.called.index, waiter.last_index];
        let stood = self.stood_all_along(scene, id);
        let told = match waiter.last {
            Last::Nothing => "it had read nothing about the barrier".to_owned(),
            Last::Stands => format!("e{}: its last read showed the barrier", waiter.last_index),
            Last::Absent => "its last read showed no barrier".to_owned(),
            Last::Event(event) => format!("e{}: the last it received was {event}", waiter.last_index),
        };
        let event = match waiter.last {
            // For a level-triggered wait a notification of the deletion is only a reason to read again.
            Last::Event(event) => Some(event),
            _ => None,
        };
        if let Some(event) = event {
            let text = explain(format!("{who} passed at {when} on {event}"))
                .because("it did not read again after that");
            out.fail(RuleId::Ba5, scene, op.object, &seen, text);
        }
        if stood || event.is_none() {
            let mut text = explain(format!("{who} passed at {when}")).because(told);
            if stood {
                text = text.because("the barrier stood all the time");
            }
            out.fail(RuleId::Ba1, scene, op.object, &seen, text);
        }
    }

    /// Whether the barrier certainly stood from the call of a wait until now.
    fn stood_all_along(&self, scene: &Scene<'_>, id: OpId) -> bool {
        let (view, wait) = (scene.view, scene.view.op(id));
        if view.is_sim() {
            let gate = self.gates.get(usize::from(wait.object.0));
            let stands = gate.and_then(Gate::stands);
            return stands.is_some_and(|life| life.created.index < wait.called.index);
        }
        // By calls alone: raised before, not lowered since, and its session cannot have ended.
        let of = |verb| view.ops.from(0).filter(move |op| op.object == wait.object && op.verb == verb);
        let was_raised = |raise: &&crate::view::Op| {
            let lives = view.client(raise.client);
            raise.phase == Phase::Over(Outcome::Done)
                && raise.over.index < wait.called.index
                && !lives.is_dead()
                && !view.session(lives.session).suspended.came()
                && !view.session(lives.session).is_over()
        };
        let raised = of(Verb::Raise).filter(was_raised).map(|raise| raise.called.index).max();
        let certain = |outcome| matches!(outcome, Outcome::Done | Outcome::Refused);
        raised.is_some_and(|raised| {
            of(Verb::Lower).all(|lower| {
                matches!(lower.phase, Phase::Over(outcome) if certain(outcome) && lower.over.index < raised)
            })
        })
    }

    /// The time since which a wait had to return.
    fn owed_since(&self, scene: &Scene<'_>, waiter: &Waiter) -> Option<(u64, &'static str)> {
        let view = scene.view;
        let op = view.op(waiter.op);
        let client = view.client(op.client);
        if op.phase != Phase::Open || client.is_dead() || client.is_paused() {
            return None;
        }
        let over = view.session(waiter.session_in(scene)).known_over;
        if over.came() && over.index > op.called.index {
            let ran = client.resumed();
            return Some((over.at.max(ran), "it knows that its session has ended"));
        }
        if !view.healed && self.is_hostile {
            return None;
        }
        let since = match view.is_sim() {
            true => self.down_since(waiter, op.verb)?,
            false => Self::lowered_since(scene, waiter.object)?,
        };
        Some((since.max(view.calm_since).max(op.called.at), "the barrier that it waits for was removed"))
    }

    fn down_since(&self, waiter: &Waiter, verb: Verb) -> Option<u64> {
        let Some(gate) = self.gates.get(usize::from(waiter.object.0)) else { return Some(0) };
        if let (Verb::Wait, Some(first)) = (verb, waiter.first) {
            let life = gate.lives.iter().find(|life| life.czxid == first)?;
            return (life.gone != NEVER).then_some(life.deleted.at);
        }
        match gate.lives.last() {
            None => Some(0),
            Some(life) => (life.gone != NEVER).then_some(life.deleted.at),
        }
    }

    /// By calls alone: the time since which no client may have raised it.
    fn lowered_since(scene: &Scene<'_>, object: ObjectId) -> Option<u64> {
        let of = |verb| scene.view.ops.from(0).filter(move |op| op.object == object && op.verb == verb);
        let raised = of(Verb::Raise).map(|raise| match raise.phase {
            Phase::Over(Outcome::Done | Outcome::Refused) => raise.over.index,
            _ => u32::MAX,
        });
        let raised = raised.max().unwrap_or(0);
        let lowered = of(Verb::Lower).filter(|lower| {
            lower.phase == Phase::Over(Outcome::Done) && lower.called.index > raised && raised != u32::MAX
        });
        lowered.map(|lower| lower.over.at).min()
    }

    fn overdue(&mut self, scene: &Scene<'_>, out: &mut Findings) {
        for at in 0..self.waiters.len() {
            let waiter = &self.waiters[at];
            let Some((since, why)) = self.owed_since(scene, waiter).filter(|_| !waiter.is_told) else {
                continue;
            };
            let bound = scene.view.bound(waiter.object);
            if scene.at <= since.saturating_add(bound) {
                continue;
            }
            let op = scene.view.op(waiter.op);
            let text = explain(format!(
                "{} waits since {}, and its call does not end",
                scene.client(op.client),
                scene.when(op.called)
            ))
            .because(format!("{why}, {} ago; the limit is {}", ms(scene.at - since), ms(bound)));
            out.fail(RuleId::Ba2, scene, waiter.object, &[op.called.index, waiter.last_index], text);
            self.waiters[at].is_told = true;
        }
    }

    /// BA-3: one notification per waiter and transaction; a budget of requests per wake-up.
    ///
    /// Each connection counts for itself: a notification in flight when a connection breaks is repeated on the next
    /// one, by a server that may apply the change later.
    fn fired(
        &mut self,
        scene: &Scene<'_>,
        (session, conn): (Session, Conn),
        object: ObjectId,
        zxid: u64,
        out: &mut Findings,
    ) {
        let waiters = self.waiters.iter().filter(|waiter| {
            waiter.object == object
                && (waiter.session == session
                    || scene.view.client(scene.view.op(waiter.op).client).session == session)
        });
        let waiting = waiters.count() as u32;
        if waiting == 0 {
            return;
        }
        out.premise(RuleId::Ba3, object);
        self.fired.retain(|(other, ..)| zxid.abs_diff(*other) < 64);
        let same = |fired: &&mut (u64, Session, Conn, ObjectId, u32)| {
            (fired.0, fired.1, fired.2, fired.3) == (zxid, session, conn, object)
        };
        let count = match self.fired.iter_mut().find(same) {
            Some(fired) => {
                fired.4 += 1;
                fired.4
            }
            None => {
                self.fired.push((zxid, session, conn, object, 1));
                1
            }
        };
        if count == waiting + 1 {
            let who =
                scene.view.session(session).client.map_or("?".to_owned(), |client| scene.client(client));
            let text = explain(format!("zxid {zxid:#x} notified {who} {count} times"))
                .because(format!("{waiting} of its operations wait there"));
            out.fail(RuleId::Ba3, scene, object, &[], text);
        }
    }

    fn sent(&self, scene: &Scene<'_>, id: OpId, out: &mut Findings) {
        let op = scene.view.op(id);
        if !op.calm || !self.waiters.iter().any(|waiter| waiter.op == id) {
            return;
        }
        keeps_budget(RuleId::Ba3, scene, id, 2 + 2 * op.wakes, out);
    }

    /// BA-4: no watch is left of a wait that is over.
    fn left(&self, scene: &Scene<'_>, out: &mut Findings) {
        for (at, object) in scene.tables.objects.iter().enumerate() {
            let id = ObjectId(at as u16);
            let used = scene.view.ops.from(0).any(|op| op.object == id && is_wait(op.verb));
            if object.kind == Kind::Barrier && used {
                out.premise(RuleId::Ba4, id);
            }
        }
        let view = scene.view;
        for watch in view.watches.iter().filter(|watch| watch.armed) {
            let Some(object) = scene.object_at(Kind::Barrier, watch.path) else { continue };
            // Watches go with their connection.
            let suspended = view.session(watch.session).suspended;
            let is_old = suspended.came() && suspended.index > watch.armed_index;
            let Some(client) = view.present_client(watch.session).filter(|_| !is_old) else { continue };
            if view.client(client).open.iter().any(|op| view.op(*op).object == object) {
                continue;
            }
            let who = scene.client(client);
            let text = explain(format!("a watch of {who} on {} is still armed", scene.path(watch.path)))
                .because(format!("it was armed at e{}, and no operation of {who} waits", watch.armed_index));
            out.metrics.leaks += 1;
            out.fail(RuleId::Ba4, scene, object, &[watch.armed_index], text);
        }
    }
}

impl Rule for Barriers {
    const ID: RuleId = RuleId::Ba1;
    const ALSO: &'static [RuleId] = &[RuleId::Ba2, RuleId::Ba3, RuleId::Ba4, RuleId::Ba5];
    const HEARS: Kinds = hears![
        Call, Return, Send, Reply, Lost, Notice, State, Created, Deleted, Served, Found, Arm, Fire, Disarm,
        Marked, Ended, Fault, Mended, Crash, Ceased, Sleep, Quiesce
    ];
    const ABOUT: &'static [Kind] = &[Kind::Barrier];

    fn pass_time(&mut self, scene: &Scene<'_>, out: &mut Findings) {
        if self.waiters.is_empty() {
            return;
        }
        let mut doubts = std::mem::take(&mut self.doubts);
        for doubt in doubts.certain(scene.at, |op| self.source(scene, op)) {
            let op = scene.view.op(doubt.op);
            let who = scene.client(op.client);
            let text = doubt.explain(scene, "waits").because(
                match self.waiters.iter().find(|waiter| waiter.op == doubt.op) {
                    Some(waiter) if op.verb == Verb::Wait && waiter.is_justified(op.verb) => {
                        format!(
                            "e{}: its read showed that it may pass, and it still waits",
                            waiter.last_index
                        )
                    }
                    _ => format!("{who} has no watch on the barrier that will report the removal"),
                },
            );
            let seen = [op.called.index, doubt.since.index];
            out.fail(RuleId::Ba2, scene, op.object, &seen, text);
        }
        self.doubts = doubts;
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
            What::Return { outcome } => self.returned(scene, event.op, outcome, out),
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
                if let Some(req) = scene.view.request(req).filter(|req| req.depth != 0) {
                    self.look(scene, req.op, out);
                }
            }
            What::Lost { req } => {
                self.found.retain(|(found, ..)| *found != req);
                if let Some(req) = scene.view.request(req).filter(|req| req.depth != 0) {
                    self.look(scene, req.op, out);
                }
            }
            What::Notice { session, kind, path, .. } => {
                if let (Some(object), true) = (scene.object_at(Kind::Barrier, path), kind != Notify::Deleted)
                {
                    out.premise(RuleId::Ba5, object);
                }
                self.hears(scene, session, Some(path), event_name(kind));
                self.look_where(scene, out, |waiter| waiter.session == session);
            }
            What::State { session, .. } => {
                // A waiter may take a change of its own session for an opening; other waiters do not learn of it.
                let hears = |waiter: &&Waiter| waiter.session_in(scene) == session;
                let waiting = self.waiters.iter().filter(hears).map(|waiter| waiter.object);
                waiting.for_each(|object| out.premise(RuleId::Ba5, object));
                self.hears(scene, session, None, "a change of its session's state");
                self.look_where(scene, out, |waiter| waiter.session == session);
            }
            What::Fire { session, path, zxid, conn, .. } => {
                // A notification from registering again belongs to no transaction; and an epoch begins with the same
                // low halves.
                if let (Some(object), Who::Server(server), 1..) =
                    (scene.object_at(Kind::Barrier, path), event.who, zxid)
                    && !scene.view.has_left(session, conn)
                {
                    let zxid = scene.view.server(server).whole(zxid);
                    self.fired(scene, (session, conn), object, zxid, out);
                }
                self.look_where(scene, out, |waiter| waiter.session == session);
            }
            What::Arm { session, .. }
            | What::Disarm { session, .. }
            | What::Marked { session, .. }
            | What::Ended { session, .. } => {
                self.look_where(scene, out, |waiter| waiter.session == session);
            }
            What::Fault { victim: Victim::Process { client }, .. }
            | What::Mended { victim: Victim::Process { client }, .. } => {
                self.look_where(scene, out, |waiter| scene.view.op(waiter.op).client == client);
            }
            What::Crash { client } => {
                self.waiters.retain(|waiter| scene.view.op(waiter.op).client != client);
            }
            What::Ceased => self.look_where(scene, out, |_| true),
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
    }

    fn finish(&mut self, scene: &Scene<'_>, out: &mut Findings) {
        for waiter in &self.waiters {
            let gate = self.gates.get(usize::from(waiter.object.0));
            let stands = scene.view.is_sim() && gate.and_then(Gate::stands).is_some();
            if !stands && !waiter.is_told {
                out.unknown(RuleId::Ba2, waiter.object);
            }
        }
    }
}
