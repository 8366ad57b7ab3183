//! Lost wake-ups, judged when they happen: MX-7, and RW-4 for readers with no writer ahead.

use super::wake_sources::{Doubt, Doubts, Idle, Source, Touched};
use crate::rule::prelude::*;
use crate::view::{Contender, Op, Room};

/// MX-7: a waiting operation has a wake source.
///
/// A waiting operation is *idle* when it has no request and no notification in flight and its process runs. An idle
/// operation needs a watch on a live contender ahead (all of them must go, so any one will do), or on the directory.
/// Watches that the server lost with a connection count until the client has had time to register them again.
#[derive(Clone, Default)]
pub(crate) struct Wake {
    doubts: Doubts,
}

impl Wake {
    fn source(scene: &Scene<'_>, id: OpId) -> Source {
        let view = scene.view;
        let op = view.op(id);
        let Some(own) = view.contender(op.node) else { return Source::Busy };
        // A znode that is not ephemeral has no owner: the session that created it waits.
        let waits = if own.owner == Session(0) { own.creator } else { own.owner };
        let is_judged = op.is_waiting() && !op.verb.is_try() && op.answered;
        let Some(mut idle) = Idle::of(scene, id, waits).filter(|_| is_judged) else { return Source::Busy };
        if Self::has_no_reason(scene, op, own) {
            return idle.unwatched(scene);
        }
        // A waiter whose contender a foreign client deleted looks again when the contender that it watches is deleted;
        // that one may be newer than its own.
        let is_out = !own.is_alive() && own.by_foreign;
        for watch in view.watches.of(waits) {
            let ahead = view.contender_of(watch.path).and_then(|number| view.contender(number));
            // Whichever holder gives its permits back: a watch on one of them is not enough.
            let is_enough = |ahead: &Contender| !ahead.is_held || !view.protocol(op.object).has_permits();
            let ahead = ahead.filter(|ahead| {
                ahead.object == op.object && is_enough(ahead) && (is_out || ahead.stands_before(own))
            });
            // It is deleted, but not yet at the server of the watch: the notification will come.
            let server = view.server(watch.server);
            let to_come = |ahead: &Contender| ahead.is_alive() || server.may_come_to(ahead.gone);
            let on_dir = |to_come: &dyn Fn(&Contender) -> bool| {
                let is_child = ahead.is_none() && watch.table == Table::Child;
                is_child && Self::tells(scene, op, own, watch.path, to_come)
            };
            if watch.armed && (on_dir(&to_come) || ahead.is_some_and(to_come)) {
                return Source::Adequate;
            }
            // Registered again, it tells of a deletion of which no notification will come.
            if !watch.armed && (on_dir(&|_| true) || ahead.is_some()) {
                idle.registers(scene, watch);
            }
        }
        idle.unwatched(scene)
    }

    /// Whether its last list showed no contender ahead of it.
    fn has_no_reason(scene: &Scene<'_>, op: &Op, own: &Contender) -> bool {
        let view = scene.view;
        let Some(list) = op.list.filter(|_| !view.protocol(op.object).has_rooms()) else {
            return false;
        };
        list.zxid != 0 && own.is_in(list.zxid) && view.ahead_at(own, list.zxid).is_none()
    }

    /// Whether a child watch on this directory fires when a contender ahead is deleted; `to_come`: its deletion has not
    /// been delivered yet.
    fn tells(
        scene: &Scene<'_>,
        op: &Op,
        own: &Contender,
        dir: Sym,
        to_come: impl Fn(&Contender) -> bool,
    ) -> bool {
        let view = scene.view;
        let Some(room) = view.room_of_directory(scene.tables, op.object, dir) else { return false };
        let contest = view.contest(op.object);
        let blocks = |number: u32| {
            view.contender(number).is_some_and(|other| {
                other.is_held == (room == Room::Held) && other.stands_before(own) && to_come(other)
            })
        };
        !contest.protocol.has_rooms() || contest.from(0).any(blocks)
    }

    /// Whether it is a reader with no writer ahead.
    fn is_free_reader(scene: &Scene<'_>, op: &Op) -> bool {
        let shared = scene.view.protocol(op.object).has_readers();
        let own = scene.view.contender(op.node).filter(|_| shared && op.share == Share::Shared);
        own.is_some_and(|own| own.is_alive() && scene.view.ahead_now(own).is_none())
    }

    fn check_waiter(&mut self, scene: &Scene<'_>, id: OpId, out: &mut Findings) {
        let source = Self::source(scene, id);
        if self.doubts.look(scene, id, &source) {
            out.premise(RuleId::Mx7, scene.view.op(id).object);
        }
        Self::premise_of_readers(scene, id, out);
    }

    /// Counts a test of RW-4 for each reader that is granted, or waits.
    fn premise_of_readers(scene: &Scene<'_>, id: OpId, out: &mut Findings) {
        let op = scene.view.op(id);
        let reads = op.is_acquire() && op.share == Share::Shared;
        if reads && scene.view.protocol(op.object).has_readers() {
            out.premise(RuleId::Rw4, op.object);
        }
    }

    fn look_client(&mut self, scene: &Scene<'_>, client: u16, out: &mut Findings) {
        for op in &scene.view.client(client).open {
            self.check_waiter(scene, *op, out);
        }
    }

    fn report(scene: &Scene<'_>, doubt: Doubt, out: &mut Findings) {
        let view = scene.view;
        let op = view.op(doubt.op);
        let who = scene.client(op.client);
        let mut at = doubt.since;
        let roles = &scene.kind(op.object).recipe().roles;
        let waits = format!("waits to {} with {}", roles.holds, scene.contender(op.node));
        let mut text = doubt.explain(scene, &waits);
        let own = view.contender(op.node);
        let first = own.and_then(|own| view.ahead_now(own));
        text = match (own.filter(|own| own.is_alive()), first) {
            (None, _) => text.because("its own znode no longer exists"),
            (_, Some(first)) => {
                let of = view.contender(first).map_or("?".to_owned(), |first| scene.actor(first.op));
                let ahead = scene.contender(first);
                text.because(format!("{ahead} of {of} is ahead, and {who} has no watch that its end fires"))
            }
            (_, None) => text
                .because(format!("no {} is ahead: it is {who} that should {}", roles.contender, roles.holds)),
        };
        if doubt.only_promised {
            at = view.session(own.map_or(Session(0), |own| own.owner)).connected;
            text =
                text.because(format!("{who} has not registered its watches again since {}", scene.when(at)));
        }
        let list = op.list.map_or(u32::MAX, |list| list.reply);
        let at = if at.came() { at.index } else { doubt.since.index };
        let rule = if Self::is_free_reader(scene, op) { RuleId::Rw4 } else { RuleId::Mx7 };
        out.find(Ruling::fail(rule, at), scene, Some(op.object), &[op.called.index, list], text);
    }
}

impl Rule for Wake {
    const JUDGES: &'static [Property] = &[Property::WakeUpToCome, Property::ReadersTogether];
    const HEARS: Kinds = hears![
        Return, Believe, Send, Reply, Lost, Notice, State, Arm, Fire, Disarm, Marked, Ended, Fault, Mended,
        Crash, Ceased
    ];

    fn pass_time(&mut self, scene: &Scene<'_>, out: &mut Findings) {
        for doubt in self.doubts.certain(scene.at, |op| Self::source(scene, op)) {
            Self::report(scene, doubt, out);
        }
    }

    fn event(&mut self, scene: &Scene<'_>, event: &Event, out: &mut Findings) {
        if !scene.view.is_sim() {
            return;
        }
        match Touched::by(scene, event) {
            Touched::Op(op) => self.check_waiter(scene, op, out),
            Touched::Session(session) => {
                if let Some(client) = scene.view.session(session).client {
                    self.look_client(scene, client, out);
                }
            }
            Touched::Client(client) => self.look_client(scene, client, out),
            Touched::All => {
                for client in 0..scene.view.clients.len() {
                    self.look_client(scene, client as u16, out);
                }
            }
            Touched::Other if event.op != OpId(0) => self.check_waiter(scene, event.op, out),
            Touched::Other | Touched::Nothing => {}
        }
    }
}
