//! Consumers of an empty queue: QU-6, QU-7, QU-9.

use super::stock::{Change, Stock};
use super::{gets, is_below, is_queue};
use crate::rule::prelude::*;
use crate::rules::wake_sources::{self, Doubts, Source, Touched};
use crate::view::{Moment, Part, Phase};
use std::collections::BTreeMap;

/// QU-6: a waiting consumer has a wake source; QU-7: a put wakes one; QU-9: nothing is left behind.
///
/// A consumer is *idle* when it has no request and no notification in flight and its process runs. It needs a watch on
/// the queue, and one on the claims if all items are claimed; or a watch on an older znode of another waiting consumer.
#[derive(Clone, Default)]
pub(crate) struct IdleConsumers {
    stock: Stock,
    open: Vec<Waiting>,
    doubts: Doubts,
    /// Ephemerals of consumers that are no claims: waiters' znodes, and receipts.
    places: BTreeMap<Sym, ConsumerZnode>,
    herds: Vec<Herd>,
    oldest: usize,
    /// By object: the time since which items were available and none was taken.
    stuck: BTreeMap<ObjectId, Moment>,
    captures: BTreeMap<ObjectId, Capture>,
    /// The claimed items that each client has.
    held: BTreeMap<Sym, u16>,
    /// By object: the number of waiters' znodes that foreign clients have deleted.
    displaced: BTreeMap<ObjectId, u32>,
}

#[derive(Clone, Copy)]
struct Waiting {
    op: OpId,
    /// The session in which it waits.
    session: Session,
}

#[derive(Clone, Copy)]
struct ConsumerZnode {
    object: ObjectId,
    op: OpId,
    owner: Session,
    czxid: u64,
}

#[derive(Clone)]
struct Herd {
    zxid: u64,
    object: ObjectId,
    writer: Session,
    woken: Vec<Session>,
    reported: bool,
}

#[derive(Clone, Copy, Default)]
struct Capture {
    changes: u32,
    notices: u32,
    reported: bool,
}

/// The number of puts that are kept: lagging servers fire late.
const REMEMBERED: usize = 32;

/// The allowance in a capture for notifications of created directories, which no change of an item explains.
const UNEXPLAINED: u32 = 16;

impl IdleConsumers {
    fn source(&self, scene: &Scene<'_>, waiting: Waiting) -> Source {
        let view = scene.view;
        let op = view.op(waiting.op);
        let is_current = waiting.session != Session(0) && view.client(op.client).session == waiting.session;
        let idle = wake_sources::Idle::of(scene, waiting.op, waiting.session).filter(|_| is_current);
        let Some(mut idle) = idle else { return Source::Busy };
        let root = scene.object(op.object).path;
        let (mut on_root, mut on_claims) = (false, false);
        for watch in view.watches.of(waiting.session) {
            let is_root = watch.path == root && watch.table == Table::Child;
            let is_claims = self.is_of_claims(scene, op.object, watch.path);
            let ahead = self.is_ahead(scene, waiting, watch.path);
            if watch.armed {
                on_root |= is_root;
                on_claims |= is_claims;
                // The server of the watch has not applied the deletion yet: the notification will come.
                let behind = view.server(watch.server).may_come_to(view.txn.zxid);
                let text = scene.text(watch.path);
                if ahead || behind && is_below(scene.tables, text, op.object) {
                    return Source::Adequate;
                }
            } else {
                idle.registers(scene, watch);
            }
        }
        let behind = view.server(view.session(waiting.session).server).may_come_to(view.txn.zxid);
        if on_root && (on_claims || behind || !self.is_claimed(op.object)) {
            return Source::Adequate;
        }
        idle.unwatched(scene)
    }

    /// Whether a znode belongs to another waiting consumer and is older than one's own.
    fn is_ahead(&self, scene: &Scene<'_>, waiting: Waiting, path: Sym) -> bool {
        let object = scene.view.op(waiting.op).object;
        let mine = self.places.iter().filter(|(path, place)| {
            place.op == waiting.op && place.owner == waiting.session && !is_receipt(scene, object, **path)
        });
        let own = mine.map(|(_, place)| place.czxid).max();
        let other = self.places.get(&path).filter(|place| place.object == object && place.op != waiting.op);
        other.is_some_and(|other| own.is_none_or(|own| other.czxid < own)) && !is_receipt(scene, object, path)
    }

    fn is_of_claims(&self, scene: &Scene<'_>, object: ObjectId, path: Sym) -> bool {
        let text = scene.text(path);
        let claim = |claim: &super::stock::Claim| {
            let at = scene.text(claim.path);
            claim.path == path || at.rsplit_once('/').is_some_and(|(parent, _)| parent == text)
        };
        self.stock.there(object).any(|item| item.claim.as_ref().is_some_and(claim))
    }

    /// Whether an item of the queue is claimed.
    fn is_claimed(&self, object: ObjectId) -> bool {
        self.stock.there(object).any(|item| item.claim.is_some())
    }

    fn check(&mut self, scene: &Scene<'_>, waiting: Waiting, out: &mut Findings) {
        let source = self.source(scene, waiting);
        self.doubts.look(scene, waiting.op, &source);
        // A consumer that crashes or gives up before it certainly has no wake source proves nothing.
        if matches!(source, Source::Adequate) {
            out.premise(RuleId::Qu6, scene.view.op(waiting.op).object);
        }
    }

    fn look_all(&mut self, scene: &Scene<'_>, of: impl Fn(&Waiting) -> bool, out: &mut Findings) {
        for at in 0..self.open.len() {
            let waiting = self.open[at];
            if of(&waiting) {
                self.check(scene, waiting, out);
            }
        }
    }

    fn doubts_are_due(&mut self, scene: &Scene<'_>, out: &mut Findings) {
        let mut doubts = std::mem::take(&mut self.doubts);
        let waiting = |op| self.open.iter().copied().find(|waiting| waiting.op == op);
        let source = |op| waiting(op).map_or(Source::Busy, |waiting| self.source(scene, waiting));
        for doubt in doubts.certain(scene.at, source) {
            let op = scene.view.op(doubt.op);
            let text = doubt
                .explain(scene, "waits for an item")
                .because("it has no watch on the queue, nor on a consumer ahead of it");
            let found = Ruling::fail(RuleId::Qu6, doubt.since.index).in_layer(Layer::Safety);
            out.find(found, scene, Some(op.object), &[op.called.index], text);
        }
        self.doubts = doubts;
    }

    /// Starvation after the heal: there is an item, and a waiting consumer does not get it.
    fn progress(&mut self, scene: &Scene<'_>, out: &mut Findings) {
        let view = scene.view;
        for at in 0..scene.tables.objects.len() {
            let object = ObjectId(at as u16);
            if !is_queue(scene.tables, object) {
                continue;
            }
            let waits = |waiting: &&Waiting| {
                let op = view.op(waiting.op);
                let client = view.client(op.client);
                op.object == object && !client.is_dead() && !client.is_paused()
            };
            let waiting = self.open.iter().find(waits).copied();
            let free = self.stock.there(object).any(|item| item.claim.is_none());
            let (Some(waiting), true) = (waiting, free) else {
                self.stuck.remove(&object);
                continue;
            };
            let since = *self.stuck.entry(object).or_insert(view.now);
            let open = self.open.len() as u64;
            let bound = view.bound(object) + (open + 1) * 8 * view.round_trip + view.timeout;
            let from = since.at.max(view.calm_since);
            if scene.at > from.saturating_add(bound) {
                let text = explain(format!(
                    "the queue has an item and {} waits for one since {}, and no consumer has taken it for {}; the limit is {}",
                    scene.actor(waiting.op),
                    scene.when(view.op(waiting.op).called),
                    ms(scene.at - from),
                    ms(bound)
                ))
                .because(format!("both are so since {}", scene.when(since)))
                .not_excused("no fault is active any more");
                let seen = [view.op(waiting.op).called.index, since.index];
                out.fail(RuleId::Qu6, scene, object, &seen, text);
                self.stuck.insert(object, view.now);
            }
        }
    }

    fn fired(
        &mut self,
        scene: &Scene<'_>,
        server: Who,
        session: Session,
        path: Sym,
        half: u32,
        out: &mut Findings,
    ) {
        let Who::Server(number) = server else { return };
        let view = scene.view;
        let zxid = view.server(number).whole(half);
        // One transaction may put into several queues.
        let root = |object: ObjectId| scene.object(object).path;
        let is_of = |herd: &Herd| herd.zxid == zxid && root(herd.object) == path;
        let Some(at) = self.herds.iter().position(is_of) else { return };
        let object = self.herds[at].object;
        let waits = |waiting: &Waiting| waiting.session == session && view.op(waiting.op).object == object;
        let armed = view.watches.of(session).iter().find(|watch| watch.path == path);
        let is_open = |op: OpId| op == OpId(0) || view.op(op).phase == Phase::Open;
        if half == 0 || !self.open.iter().any(waits) || !armed.is_none_or(|w| is_open(w.op)) {
            return;
        }
        let herd = &mut self.herds[at];
        if herd.writer == session || herd.woken.contains(&session) {
            return;
        }
        herd.woken.push(session);
        let index = herd.woken.len() as u32;
        out.metrics.herd_index = out.metrics.herd_index.max(index);
        // Behind a deleted waiter's znode, two consumers may both believe to be the first.
        let allowed = 1 + self.displaced.get(&object).copied().unwrap_or(0);
        if index > allowed && !herd.reported && !scene.object(object).manner.textbook {
            herd.reported = true;
            let text =
                explain(format!("the put of zxid {zxid:#x} notified {index} idle consumers; 1 is allowed"))
                    .because(format!("all of them watch {}", scene.path(path)));
            out.fail(RuleId::Qu7, scene, object, &[], text);
        }
    }

    fn put(&mut self, scene: &Scene<'_>, object: ObjectId, out: &mut Findings) {
        let txn = scene.view.txn;
        if self.open.iter().any(|waiting| scene.view.op(waiting.op).object == object) {
            out.premise(RuleId::Qu7, object);
        }
        if self.herds.iter().any(|herd| herd.zxid == txn.zxid && herd.object == object) {
            return;
        }
        let herd = Herd { zxid: txn.zxid, object, writer: txn.session, woken: Vec::new(), reported: false };
        if self.herds.len() < REMEMBERED {
            self.herds.push(herd);
        } else {
            self.herds[self.oldest] = herd;
            self.oldest = (self.oldest + 1) % REMEMBERED;
        }
    }

    /// In a capture: each change of the queue notifies one consumer.
    fn noticed(&mut self, scene: &Scene<'_>, client: u16, path: Sym, out: &mut Findings) {
        let of = |waiting: &&Waiting| scene.view.op(waiting.op).client == client;
        let Some(waiting) = self.open.iter().find(of) else { return };
        let object = scene.view.op(waiting.op).object;
        let declared = scene.object(object);
        if declared.path != path || declared.manner.textbook {
            return;
        }
        out.premise(RuleId::Qu7, object);
        let capture = self.captures.entry(object).or_default();
        capture.notices += 1;
        if capture.notices > capture.changes + UNEXPLAINED && !capture.reported {
            capture.reported = true;
            let (notices, changes) = (capture.notices, capture.changes);
            let text = explain(format!("{notices} notifications woke idle consumers, for {changes} changes"))
                .because("a change may wake one");
            out.fail(RuleId::Qu7, scene, object, &[], text);
        }
    }

    /// Reports the znodes that remain when nothing is in flight.
    fn leaks(&self, scene: &Scene<'_>, out: &mut Findings) {
        let view = scene.view;
        let is_open = |object, session| {
            let of = |w: &Waiting| w.session == session && view.op(w.op).object == object;
            self.open.iter().any(of)
        };
        for (path, place) in &self.places {
            out.premise(RuleId::Qu9, place.object);
            if is_receipt(scene, place.object, *path) || view.op(place.op).phase == Phase::Open {
                continue;
            }
            if let Some(client) = view.present_client(place.owner) {
                let text =
                    explain(format!("{} of {} still exists", scene.znode(*path), scene.client(client)))
                        .because(format!("its operation ended at {}", scene.when(view.op(place.op).over)));
                out.leak(RuleId::Qu9, scene, place.object, &[], text);
            }
        }
        for item in self.stock.items.iter().filter(|item| !item.claimants.is_empty()) {
            out.premise(RuleId::Qu9, item.object);
            let Some(claim) = item.claim else { continue };
            let Some(client) = view.present_client(claim.owner) else { continue };
            if is_open(item.object, claim.owner) || self.holds(client, item.text) {
                continue;
            }
            // The claim's data were overwritten, so its consumer does not recognize it.
            if view.is_interfered_with(scene.tables, claim.path) {
                continue;
            }
            let text = explain(format!(
                "the claim of {} to item {} still exists",
                scene.client(client),
                scene.path(item.text)
            ))
            .because("the item was not returned to the caller, or the caller is done with it");
            out.leak(RuleId::Qu9, scene, item.object, &[item.made.index], text);
        }
        for (watch, client) in view.watches_left() {
            let object = view.op(watch.op).object;
            let is_ours = view.op(watch.op).phase != Phase::Unborn && is_queue(scene.tables, object);
            if !is_ours || is_open(object, watch.session) {
                continue;
            }
            let (who, path) = (scene.client(client), scene.path(watch.path));
            let text = explain(format!("a watch of {who} on {path} is still armed"));
            out.leak(RuleId::Qu9, scene, object, &[watch.armed_index], text);
        }
    }

    fn holds(&self, client: u16, text: Sym) -> bool {
        self.held.get(&text) == Some(&client)
    }

    /// Notes a znode that is created below a queue, or deleted.
    fn changed(&mut self, scene: &Scene<'_>, event: &Event, out: &mut Findings) {
        let change = self.stock.event(scene, event);
        match (change, event.what) {
            (Change::Made(at), _) => {
                let object = self.stock.items[at].object;
                self.stuck.remove(&object);
                self.put(scene, object, out);
                self.look_all(scene, |_| true, out);
            }
            (Change::Gone(at) | Change::Claimed(at) | Change::Unclaimed(at, _), _) => {
                self.stuck.remove(&self.stock.items[at].object);
                self.look_all(scene, |_| true, out);
            }
            (_, What::Created { path, owner, zxid }) if owner != Session(0) => {
                let op = scene.view.op(event.op);
                if gets(op.verb) && is_queue(scene.tables, op.object) {
                    let place = ConsumerZnode { object: op.object, op: event.op, owner, czxid: zxid };
                    self.places.insert(path, place);
                }
            }
            (_, What::Deleted { path, by, .. }) if self.places.contains_key(&path) => {
                if let Some(place) = self.places.remove(&path)
                    && scene.view.is_foreign(by)
                {
                    *self.displaced.entry(place.object).or_default() += 1;
                }
                self.look_all(scene, |_| true, out);
            }
            _ => {}
        }
    }

    fn called(&mut self, scene: &Scene<'_>, id: OpId) {
        let op = scene.view.op(id);
        if gets(op.verb) {
            self.open.push(Waiting { op: id, session: Session(0) });
        }
    }

    fn speaks(&mut self, scene: &Scene<'_>, req: ReqId, out: &mut Findings) {
        let Some(req) = scene.view.request(req).filter(|req| req.depth != 0) else { return };
        let Some(waiting) = self.open.iter_mut().find(|waiting| waiting.op == req.op) else { return };
        waiting.session = req.session;
        let waiting = *waiting;
        self.check(scene, waiting, out);
    }
}

fn is_receipt(scene: &Scene<'_>, object: ObjectId, path: Sym) -> bool {
    scene.part(object, path) == Some(Part::Receipt)
}

impl Rule for IdleConsumers {
    const JUDGES: &'static [Property] =
        &[Property::WaitersAreServed, Property::WakeUps, Property::NothingLeft];
    const HEARS: Kinds = hears![
        Call, Return, Given, Observed, Reply, Lost, Notice, State, Created, Data, Deleted, Applied, Arm,
        Fire, Disarm, Marked, Ended, Fault, Mended, Crash, Ceased, Quiesce
    ];
    const ABOUT: &'static [Kind] = &[Kind::Queue, Kind::PriorityQueue];

    fn pass_time(&mut self, scene: &Scene<'_>, out: &mut Findings) {
        self.doubts_are_due(scene, out);
        if scene.view.healed && scene.view.is_sim() && !self.open.is_empty() {
            self.progress(scene, out);
        }
    }

    fn event(&mut self, scene: &Scene<'_>, event: &Event, out: &mut Findings) {
        match event.what {
            What::Call { object, .. } if is_queue(scene.tables, object) => self.called(scene, event.op),
            What::Given { text, .. } => {
                let op = scene.view.op(event.op);
                if matches!(op.verb, Verb::Confirm | Verb::GiveBack) {
                    self.held.remove(&text);
                }
                self.stock.event(scene, event);
            }
            What::Observed { text, .. } => {
                let op = scene.view.op(event.op);
                if op.verb == Verb::Claim {
                    self.held.insert(text, op.client);
                }
            }
            What::Return { .. } => {
                let op = scene.view.op(event.op);
                if !scene.view.is_sim() && matches!(op.verb, Verb::Put | Verb::Take | Verb::Confirm) {
                    // An operation may put or take several items.
                    self.captures.entry(op.object).or_default().changes += 8;
                }
                self.open.retain(|waiting| waiting.op != event.op);
                self.doubts.forget(|op| op == event.op);
            }
            What::Notice { path, .. } if !scene.view.is_sim() => {
                if let Who::Client(client) = event.who {
                    self.noticed(scene, client, path, out);
                }
            }
            _ if !scene.view.is_sim() => {}
            What::Created { .. } | What::Data { .. } | What::Deleted { .. } => {
                self.changed(scene, event, out)
            }
            What::Reply { req, .. } | What::Lost { req } => self.speaks(scene, req, out),
            What::Fire { session, conn, .. } if scene.view.has_left(session, conn) => {}
            What::Fire { session, path, zxid, .. } => {
                self.fired(scene, event.who, session, path, zxid, out);
                self.look_all(scene, |waiting| waiting.session == session, out);
            }
            What::Crash { client } => {
                self.open.retain(|waiting| scene.view.op(waiting.op).client != client);
                self.doubts.forget(|op| scene.view.op(op).client == client);
            }
            What::Applied { .. } => self.look_all(scene, |_| true, out),
            What::Quiesce => self.leaks(scene, out),
            _ => match Touched::by(scene, event) {
                Touched::Session(session) => {
                    self.look_all(scene, |waiting| waiting.session == session, out);
                }
                Touched::Client(client) => {
                    self.look_all(scene, |waiting| scene.view.op(waiting.op).client == client, out);
                }
                Touched::All => self.look_all(scene, |_| true, out),
                Touched::Op(_) | Touched::Nothing | Touched::Other => {}
            },
        }
    }
}
