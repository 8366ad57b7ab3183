//! The cost of a contest: MX-13 (thundering herds: RW-5, LE-7, RV-4), and the counts of a report.

use crate::rule::prelude::*;
use crate::view::{Moment, Op};

/// The counts of a report, independent of the rules that are on.
#[derive(Clone, Default)]
pub(crate) struct Tally;

impl Tally {
    pub(crate) fn event(&mut self, scene: &Scene<'_>, event: &Event, out: &mut Findings) {
        let metrics = &mut out.metrics;
        match event.what {
            What::Send { cleanup, .. } if cleanup || event.op == OpId(0) => metrics.cleanup_requests += 1,
            What::Send { .. } => metrics.requests += 1,
            What::Fire { .. } if scene.view.is_sim() => metrics.notifications += 1,
            What::Notice { .. } if !scene.view.is_sim() => metrics.notifications += 1,
            What::Believe { .. } => {
                let op = scene.view.op(event.op);
                if op.granted.index == scene.index {
                    metrics.grants += 1;
                    metrics.waits += u32::from(op.found_somebody);
                    metrics.round_trips = metrics.round_trips.max(op.depth);
                }
            }
            _ => {}
        }
    }
}

/// MX-13: one deletion wakes one waiter, requests keep to the budget, no client polls.
#[derive(Clone, Default)]
pub(crate) struct Cost {
    /// The latest transactions that touched a contest, or notified one of its waiters.
    herds: Vec<Herd>,
    /// The index of the oldest of them.
    oldest: usize,
    unjudged: bool,
    /// In captures, by object.
    captures: Vec<Capture>,
}

/// The number of transactions that are kept: lagging servers fire late.
const REMEMBERED: usize = 32;

/// One transaction and one object: the waiters that it enables, and those that it wakes.
#[derive(Clone)]
struct Herd {
    zxid: u64,
    object: ObjectId,
    writer: Session,
    deletions: u32,
    creations: u32,
    enabled: u32,
    /// The number of waiters that it may wake.
    concerned: u32,
    /// Requests to release.
    asks: u32,
    /// The sessions of waiters to which it fired.
    woken: Vec<Session>,
    path: Sym,
    last: Moment,
    unjudged: bool,
}

#[derive(Clone, Default)]
struct Capture {
    acquires: u32,
    /// Deletes that were sent.
    deletes: u32,
    /// Waiters that were notified.
    woken: u32,
}

impl Cost {
    fn fail(scene: &Scene<'_>, id: OpId, out: &mut Findings, what: String, budget: String) {
        let op = scene.view.op(id);
        // Other operations release holds, too, and have budgets of their own.
        if !RuleId::Mx13.is_about(scene.kind(op.object)) {
            return;
        }
        let text =
            explain(format!("{} (called at {}) {what}", scene.client(op.client), scene.when(op.called)))
                .because(budget);
        out.fail(RuleId::Mx13, scene, op.object, &[op.called.index], text);
    }

    fn herd(&mut self, scene: &Scene<'_>, zxid: u64, object: ObjectId) -> Option<&mut Herd> {
        if let Some(at) = self.herds.iter().position(|herd| herd.zxid == zxid && herd.object == object) {
            return Some(&mut self.herds[at]);
        }
        let txn = scene.view.txn;
        if txn.zxid != zxid {
            return None;
        }
        let herd = Herd {
            zxid,
            object,
            writer: txn.session,
            deletions: 0,
            creations: 0,
            enabled: 0,
            concerned: 0,
            asks: 0,
            woken: Vec::new(),
            path: Sym(0),
            last: scene.view.now,
            unjudged: false,
        };
        if self.herds.len() < REMEMBERED {
            self.herds.push(herd);
            return self.herds.last_mut();
        }
        let at = self.oldest;
        self.oldest = (at + 1) % REMEMBERED;
        self.herds[at] = herd;
        Some(&mut self.herds[at])
    }

    fn touched(&mut self, scene: &Scene<'_>, deleted: bool, out: &mut Findings) {
        let view = scene.view;
        let Some(touched) = view.contender(view.touched) else { return };
        let (object, enabled, concerned) = (touched.object, view.enabled, view.concerned);
        let rule = scene.rule(Property::WakeUps, object);
        let zxid = if deleted { touched.gone } else { touched.czxid };
        if !view.contest(object).waiting.is_empty() {
            out.premise(rule, object);
        }
        let Some(herd) = self.herd(scene, zxid, object) else { return };
        if deleted {
            herd.deletions += 1;
            herd.enabled += enabled;
            herd.concerned += concerned;
        } else {
            herd.creations += 1;
        }
    }

    /// Notes a request to release, which may wake the contender's owner.
    fn asked(&mut self, scene: &Scene<'_>) {
        let view = scene.view;
        let Some(asked) = view.contender(view.asked) else { return };
        if let Some(herd) = self.herd(scene, view.txn.zxid, asked.object) {
            herd.asks += 1;
        }
    }

    fn fired(&mut self, scene: &Scene<'_>, server: Who, session: Session, path: Sym, half: u32) {
        let view = scene.view;
        let zxid = match server {
            Who::Server(number) => view.server(number).whole(half),
            Who::Client(_) | Who::World => view.txn.zxid,
        };
        // A notification from re-registration belongs to no transaction.
        if half == 0 {
            return;
        }
        let watch = view.watches.of(session).iter().find(|watch| watch.path == path);
        let op = match watch.map_or(OpId(0), |watch| watch.op) {
            OpId(0) => {
                let client = view.session(session).client.map(|client| view.client(client));
                let open = client.and_then(|client| client.open.first().copied());
                // A waiter may be notified about an object that it holds elsewhere.
                open.filter(|op| view.is_place(scene.tables, view.op(*op).object, path)).unwrap_or_default()
            }
            op => op,
        };
        // Every waiter may be notified of the deletion of its own znode.
        let on_own = view.contender_of(path).and_then(|number| view.contender(number));
        // A waiter whose znode is gone still watches until it learns of that, and does not count.
        let is_out = view.contender(view.op(op).node).is_some_and(|own| !own.is_alive());
        if !view.op(op).is_waiting() || is_out || on_own.is_some_and(|own| own.owner == session) {
            return;
        }
        let now = view.now;
        let Some(herd) = self.herd(scene, zxid, view.op(op).object) else { return };
        if herd.writer != session && !herd.woken.contains(&session) {
            herd.woken.push(session);
            herd.last = now;
            herd.path = path;
            herd.unjudged = true;
            self.unjudged = true;
        }
    }

    /// Judges a transaction whose effects are complete.
    fn judge_herds(&mut self, scene: &Scene<'_>, out: &mut Findings) {
        self.unjudged = false;
        for herd in self.herds.iter_mut().filter(|herd| herd.unjudged) {
            herd.unjudged = false;
            let woken = herd.woken.len() as u32;
            let index = woken / herd.enabled.max(1);
            out.metrics.herd_index = out.metrics.herd_index.max(index);
            let allowed = match (herd.deletions, herd.creations) {
                (0, 1..) => 0,
                (_, _) => herd.concerned.max(herd.enabled).max(1),
            };
            let rule = match herd.deletions {
                0 if herd.asks > 0 => RuleId::Rv4,
                _ => scene.rule(Property::WakeUps, herd.object),
            };
            if woken <= allowed || out.only_counts(rule, herd.object) {
                continue;
            }
            let what = match (herd.deletions, herd.creations) {
                (0, 0) => "change",
                (0, _) => "creation",
                _ => "deletion",
            };
            let text = explain(format!(
                "the {what} of zxid {:#x} notified {woken} waiters and enabled {}; at most {allowed} may be notified",
                herd.zxid, herd.enabled
            ))
            .because(format!("all of them watch {}", scene.path(herd.path)));
            out.find(
                Ruling::fail(rule, herd.last.index).in_layer(Layer::Cost),
                scene,
                Some(herd.object),
                &[],
                text,
            );
        }
    }

    /// Judges the number of requests of an acquire that is still waiting.
    fn sent(scene: &Scene<'_>, id: OpId, out: &mut Findings) {
        let op = scene.view.op(id);
        if !op.is_waiting() || !op.calm || Self::looks_at_worn(scene, op) {
            return;
        }
        let budget = &scene.object(op.object).budget;
        let allowed = budget.free_acquire + 1 + (op.wakes + Self::changes(scene, op)) * budget.per_wake_up;
        if op.sends == allowed + 1 && !out.only_counts(RuleId::Mx13, op.object) {
            let what = format!("sent {} requests, after {} wake-ups, and still waits", op.sends, op.wakes);
            Self::fail(scene, id, out, what, format!("its budget is {allowed}"));
        }
    }

    /// How often the number of permits was changed since it stands in line. The change refuses a grant that is under way.
    fn changes(scene: &Scene<'_>, op: &Op) -> u32 {
        let own = scene.view.contender(op.node);
        own.map_or(0, |own| scene.view.contest(op.object).changes_since(own.czxid))
    }

    /// Whether it must read other contenders to know their order, which no budget covers.
    fn looks_at_worn(scene: &Scene<'_>, op: &Op) -> bool {
        scene.view.contender(op.node).is_some_and(|own| scene.is_worn(own.path))
    }

    fn granted(&self, scene: &Scene<'_>, id: OpId, out: &mut Findings) {
        let op = scene.view.op(id);
        let alone = match scene.view.is_sim() {
            true => op.nodes == 1 && !op.found_somebody,
            false => self.captures.get(usize::from(op.object.0)).is_some_and(|capture| capture.acquires == 1),
        };
        // Another contender may have been granted the hold in between, or the number of permits changed.
        let alone = alone
            && Self::changes(scene, op) == 0
            && (!scene.view.protocol(op.object).has_rooms() || op.wakes == 0);
        if op.granted.index != scene.index || !op.calm || !alone || Self::looks_at_worn(scene, op) {
            return;
        }
        out.premise(RuleId::Mx13, op.object);
        let budget = &scene.object(op.object).budget;
        if op.sends > budget.free_acquire && !out.only_counts(RuleId::Mx13, op.object) {
            let what = format!("sent {} requests for a grant with no contender ahead", op.sends);
            Self::fail(scene, id, out, what, format!("its budget is {}", budget.free_acquire));
        }
        if op.depth > budget.free_round_trips && !out.only_counts(RuleId::Mx13, op.object) {
            let what = format!("took {} round trips for a grant with no contender ahead", op.depth);
            Self::fail(scene, id, out, what, format!("its budget is {}", budget.free_round_trips));
        }
    }

    fn released(scene: &Scene<'_>, id: OpId, op: &Op, out: &mut Findings) {
        if !op.calm {
            return;
        }
        out.premise(RuleId::Mx13, op.object);
        let allowed = scene.object(op.object).budget.release;
        if op.sends > allowed && !out.only_counts(RuleId::Mx13, op.object) {
            let what = format!("sent {} requests to release", op.sends);
            Self::fail(scene, id, out, what, format!("its budget is {allowed}"));
        }
    }

    fn capture(&mut self, object: ObjectId) -> &mut Capture {
        slot(&mut self.captures, usize::from(object.0))
    }

    /// Counts the znodes that a request may delete, in a capture.
    fn may_delete(&mut self, scene: &Scene<'_>, event: &Event, kind: Request, path: Sym) {
        let view = scene.view;
        match kind {
            Request::Delete | Request::Multi => {
                for at in 0..view.contests.len() {
                    let object = ObjectId(at as u16);
                    if view.is_place(scene.tables, object, path) {
                        self.capture(object).deletes += 1;
                    }
                }
            }
            Request::CloseSession => {
                for op in view.ops.from(0).filter(|op| op.is_acquire() && Who::Client(op.client) == event.who)
                {
                    self.capture(op.object).deletes += 1;
                }
            }
            _ => {}
        }
    }

    /// In a capture, judges whether each notified waiter has a possible deletion, counted by the deletes that clients
    /// sent.
    fn noticed(&mut self, scene: &Scene<'_>, out: &mut Findings) {
        let view = scene.view;
        let op = view.op(view.woken);
        // One deletion wakes several readers, and a capture does not show how many.
        if !op.is_waiting() || view.excusable || !view.contest(op.object).is_plain {
            return;
        }
        let object = op.object;
        let rule = scene.rule(Property::WakeUps, object);
        out.premise(rule, object);
        let deaths = view.contest(object).deaths;
        let capture = self.capture(object);
        capture.woken += 1;
        let allowed = capture.deletes + deaths;
        if capture.woken <= allowed {
            return;
        }
        let woken = capture.woken;
        capture.woken = allowed;
        let text = explain(format!(
            "the notification at {} is number {woken} to a waiter, and there can have been {allowed} deletions",
            scene.when(view.now)
        ))
        .because("a deletion notifies one waiter, a creation none");
        out.fail(rule, scene, object, &[], text);
    }
}

impl Rule for Cost {
    const JUDGES: &'static [Property] = &[Property::Budget, Property::WakeUps, Property::RequestIsNoGrant];
    const HEARS: Kinds =
        hears![Call, Return, Believe, Sleep, Send, Txn, Created, Deleted, Data, Fire, Notice];

    fn pass_time(&mut self, scene: &Scene<'_>, out: &mut Findings) {
        if self.unjudged {
            self.judge_herds(scene, out);
        }
    }

    fn event(&mut self, scene: &Scene<'_>, event: &Event, out: &mut Findings) {
        let view = scene.view;
        match event.what {
            What::Call { object, verb, .. } if verb.asks_for().is_some() && !view.is_sim() => {
                self.capture(object).acquires += 1;
            }
            What::Return { outcome: Outcome::Done, .. } if view.op(event.op).verb == Verb::Release => {
                Self::released(scene, event.op, view.op(event.op), out);
            }
            What::Believe { .. } => self.granted(scene, event.op, out),
            What::Sleep { deadline: false, .. } if view.op(event.op).is_waiting() => {
                let budget =
                    "a notification or the time limit wakes a waiter; polling is not allowed".to_owned();
                Self::fail(
                    scene,
                    event.op,
                    out,
                    "sleeps in order to look again while it waits".to_owned(),
                    budget,
                );
            }
            What::Send { kind, cleanup, path, .. } => {
                if !cleanup {
                    Self::sent(scene, event.op, out);
                }
                if !view.is_sim() {
                    self.may_delete(scene, event, kind, path);
                }
            }
            What::Txn { .. } if self.unjudged => self.judge_herds(scene, out),
            What::Created { .. } => self.touched(scene, false, out),
            What::Deleted { .. } => self.touched(scene, true, out),
            What::Data { .. } => self.asked(scene),
            // The client does not read notifications on a connection that it left.
            What::Fire { session, conn, .. } if view.has_left(session, conn) => {}
            What::Fire { session, path, zxid, .. } => self.fired(scene, event.who, session, path, zxid),
            // A change of data is a request to release, and needs no deletion.
            What::Notice { kind, .. } if !view.is_sim() && kind != Notify::DataChanged => {
                self.noticed(scene, out);
            }
            _ => {}
        }
    }

    fn finish(&mut self, scene: &Scene<'_>, out: &mut Findings) {
        self.judge_herds(scene, out);
    }
}
