//! Followers of a value, a group or a record: their wake sources, and the cost of a change.

use super::wake_sources::{self, Doubts, Source, Touched};
use crate::rule::prelude::*;
use crate::rule::{Kinds, hears};
use crate::view::Watch;

/// Whether a watch notifies of the next change of the followed object.
type Tells<'a> = &'a dyn Fn(ObjectId, &Watch) -> bool;

/// The events that [`Wakes`] needs.
pub(super) const HEARS: Kinds = hears![
    Return, Send, Reply, Lost, Notice, State, Arm, Fire, Disarm, Marked, Ended, Fault, Mended, Crash, Ceased
];

/// No lost wake-up for followers, judged when the last wake source disappears.
///
/// A follower is *idle* when it has no request and no notification in flight and its process runs. An idle follower
/// needs a watch on the followed znodes. Watches that the server lost with a connection count until the client has had
/// time to register them again.
#[derive(Clone)]
pub(super) struct Wakes {
    verb: Verb,
    doubts: Doubts,
}

impl Wakes {
    pub(super) fn new(verb: Verb) -> Wakes {
        Wakes { verb, doubts: Doubts::default() }
    }

    fn source(&self, scene: &Scene<'_>, id: OpId, tells: Tells<'_>) -> Source {
        let view = scene.view;
        let op = view.op(id);
        if op.verb != self.verb || op.sends == 0 {
            return Source::Busy;
        }
        let path = scene.object(op.object).path;
        let wakes = |watch: &Watch| watch.path == path && (!watch.armed || tells(op.object, watch));
        wake_sources::source(scene, id, view.client(op.client).session, wakes)
    }

    fn check(&mut self, scene: &Scene<'_>, id: OpId, tells: Tells<'_>, out: &mut Findings) {
        let source = self.source(scene, id, tells);
        if self.doubts.look(scene, id, &source) {
            let object = scene.view.op(id).object;
            out.premise(scene.rule(Property::SeenInTheEnd, object), object);
        }
    }

    /// Reports the followers that certainly have no wake source.
    pub(super) fn pass_time(&mut self, scene: &Scene<'_>, tells: Tells<'_>, out: &mut Findings) {
        let mut doubts = std::mem::take(&mut self.doubts);
        for doubt in doubts.certain(scene.at, |op| self.source(scene, op, tells)) {
            let op = scene.view.op(doubt.op);
            let path = scene.path(scene.object(op.object).path);
            let text = doubt.explain(scene, &format!("follows {path}")).because(format!(
                "{} has no watch that would tell it of the next change: its last read should have armed one",
                scene.client(op.client)
            ));
            let rule = scene.rule(Property::SeenInTheEnd, op.object);
            let found = Ruling::fail(rule, doubt.since.index);
            out.find(found, scene, Some(op.object), &[op.called.index], text);
        }
        self.doubts = doubts;
    }

    /// Takes in an event of [`HEARS`]. `tells`: whether an armed watch will notify of the next change.
    pub(super) fn event(&mut self, scene: &Scene<'_>, event: &Event, tells: Tells<'_>, out: &mut Findings) {
        let view = scene.view;
        if !view.is_sim() {
            return;
        }
        let client = match event.what {
            What::Reply { req, .. } | What::Lost { req } => view.request(req).map(|req| req.client),
            What::Send { .. } | What::Return { .. } if event.op != OpId(0) => Some(view.op(event.op).client),
            _ => match Touched::by(scene, event) {
                Touched::Session(session) => view.session(session).client,
                Touched::Client(client) => Some(client),
                Touched::All => {
                    for client in 0..view.clients.len() {
                        self.check_client(scene, client as u16, tells, out);
                    }
                    None
                }
                _ => None,
            },
        };
        if let Some(client) = client {
            self.check_client(scene, client, tells, out);
        }
    }

    fn check_client(&mut self, scene: &Scene<'_>, client: u16, tells: Tells<'_>, out: &mut Findings) {
        for op in &scene.view.client(client).open {
            if scene.view.op(*op).verb == self.verb {
                self.check(scene, *op, tells, out);
            }
        }
    }
}

/// Whether a follower has had enough time to learn of a change made at `changed`.
pub(super) fn had_time(scene: &Scene<'_>, id: OpId, changed: u64) -> bool {
    scene.view.healed && scene.had_time(id, changed)
}

/// The cost of a change: notifications for each follower, and requests for each notification.
#[derive(Clone, Default)]
pub(super) struct Cost {
    fired: Vec<(Session, Conn, Sym, u32, Table)>,
}

impl Cost {
    /// Counts a notification.
    pub(super) fn fired(
        &mut self,
        scene: &Scene<'_>,
        object: ObjectId,
        fire: (Session, Conn, Sym, u32, Table),
        out: &mut Findings,
    ) {
        let follows = scene.view.session(fire.0).client.is_some_and(|client| {
            let open = &scene.view.client(client).open;
            open.iter().any(|op| scene.view.op(*op).object == object)
        });
        if !follows || fire.3 == 0 {
            return;
        }
        let rule = scene.rule(Property::WakeUps, object);
        out.premise(rule, object);
        if self.fired.contains(&fire) {
            let (who, zxid) = (scene.session(fire.0), fire.3);
            let text = explain(format!("{who} is notified twice of one change (zxid …{zxid:#x})"))
                .because("one notification per follower and change is enough");
            out.fail(rule, scene, object, &[], text);
        }
        self.fired.push(fire);
        if self.fired.len() > 64 {
            self.fired.drain(..32);
        }
    }

    /// Judges the requests of a follower that has returned.
    pub(super) fn over(&self, scene: &Scene<'_>, id: OpId, out: &mut Findings) {
        let op = scene.view.op(id);
        if !op.calm {
            return;
        }
        let rule = scene.rule(Property::WakeUps, op.object);
        out.premise(rule, op.object);
        let allowed = 4 * (op.wakes + 1);
        if op.sends > allowed {
            let who = scene.client(op.client);
            let text = explain(format!(
                "{who} sent {} requests after {} wake-ups; {allowed} were allowed",
                op.sends, op.wakes
            ))
            .because("a follower reads when it is notified of a change, and not in between");
            out.fail(rule, scene, op.object, &[op.called.index], text);
        }
    }
}
