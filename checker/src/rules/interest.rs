//! The end of an operation: MX-12 (LE-8 of elections).

use crate::rule::prelude::*;
use crate::view::{Contender, Moment, Op, Phase};

/// MX-12: when an operation is over, its znode is deleted, its belief does not begin again, and its time limit is kept.
#[derive(Clone, Default)]
pub(crate) struct EndOfInterest {
    /// Operations whose znodes must be deleted, and the time since which they must.
    owed: Vec<(OpId, Moment)>,
    /// Open operations with a time limit.
    limited: Vec<OpId>,
}

/// The rule by which the object of an operation names the end of interest.
fn rule(scene: &Scene<'_>, op: &Op) -> RuleId {
    scene.rule(Property::EndOfInterest, op.object)
}

impl EndOfInterest {
    /// Reports znodes that are still there after the bound.
    fn overdue(&mut self, scene: &Scene<'_>, out: &mut Findings) {
        let view = scene.view;
        self.owed.retain(|(id, since)| {
            let op = view.op(*id);
            if op.live == 0 {
                return false;
            }
            let died = view.client(op.client).died.at_or_start();
            let from = since.at.max(view.calm_since).max(died);
            if scene.at <= from.saturating_add(view.bound(op.object)) {
                return true;
            }
            let left = Self::left(scene, *id);
            let text = explain(format!(
                "{} of {} still exists at {}",
                scene.contender(left),
                scene.client(op.client),
                scene.when(scene.now())
            ))
            .because(format!(
                "its acquire (called at {}) ended at {}",
                scene.when(op.called),
                scene.when(*since)
            ))
            .not_excused(format!(
                "there was no fault for {}, and the limit is {}",
                ms(scene.at - from),
                ms(view.bound(op.object))
            ));
            out.fail_in(
                Layer::Liveness,
                rule(scene, op),
                scene,
                op.object,
                &[op.called.index, since.index],
                text,
            );
            false
        });
    }

    /// The live znode of an operation.
    fn left(scene: &Scene<'_>, id: OpId) -> u32 {
        let (view, op) = (scene.view, scene.view.op(id));
        let mut all = view.contest(op.object).from(0);
        let mine = all.find(|n| view.contender(*n).is_some_and(|c| c.op == id && c.is_alive()));
        mine.unwrap_or(op.node)
    }

    /// Reports znodes that remain when nothing is in flight any more.
    fn quiesce(&mut self, scene: &Scene<'_>, out: &mut Findings) {
        for (id, since) in self.owed.drain(..) {
            let op = scene.view.op(id);
            if op.live == 0 {
                continue;
            }
            let left = Self::left(scene, id);
            if !scene.view.contender(left).is_some_and(|left| scene.view.is_leaked(left)) {
                continue;
            }
            let text =
                explain(format!("{} of {} is never deleted", scene.contender(left), scene.client(op.client)))
                    .because(format!(
                        "its acquire (called at {}) ended at {}",
                        scene.when(op.called),
                        scene.when(since)
                    ))
                    .not_excused(format!("at e{} no request was in flight any more", scene.index));
            out.fail_in(
                Layer::Liveness,
                rule(scene, op),
                scene,
                op.object,
                &[op.called.index, since.index],
                text,
            );
        }
    }

    /// Notes that the znode of an operation must be deleted. A capture does not show deletions, so its last listing
    /// decides (MX-11).
    fn owe(&mut self, scene: &Scene<'_>, id: OpId) {
        if !scene.view.is_sim() {
            return;
        }
        if self.owed.len() >= 32 {
            self.owed.retain(|(id, _)| scene.view.op(*id).live > 0);
        }
        self.owed.push((id, scene.view.now));
    }

    fn limits(&mut self, scene: &Scene<'_>, out: &mut Findings) {
        let view = scene.view;
        self.limited.retain(|id| {
            let op = view.op(*id);
            if op.phase != Phase::Open {
                return false;
            }
            let client = view.client(op.client);
            let resumed = client.resumed();
            let limit = op.called.at + client.stretch(op.limit.into());
            let limit = limit.max(resumed) + view.round_trip + view.settle;
            if client.is_paused() || scene.at <= limit {
                return true;
            }
            let text = explain(format!(
                "the acquire that {} called at {} is still open at {}",
                scene.client(op.client),
                scene.when(op.called),
                scene.when(scene.now())
            ))
            .because(format!("its time limit was {}", ms(op.limit.into())));
            out.fail(rule(scene, op), scene, op.object, &[op.called.index], text);
            false
        });
    }

    /// Judges a release that returned done: the znode must be deleted.
    fn released(scene: &Scene<'_>, release: OpId, hold: OpId, out: &mut Findings) {
        let view = scene.view;
        let op = view.op(hold);
        let session = view.session(op.session);
        // The clean-up may delete the znode of a hold past its deadline while disconnected.
        let object = scene.object(op.object);
        let past_deadline = session.suspended.came()
            && session.suspended.index > op.believed.index
            && scene.at >= session.suspended.at + view.patience(object, op.session);
        let clean = op.why == Why::Released
            && op.stop.instant().0 == u64::MAX
            && !session.is_over()
            && !past_deadline;
        if !view.is_sim() || !clean {
            return;
        }
        let rule = rule(scene, op);
        out.premise(rule, op.object);
        if view.contender(op.own).is_some_and(Contender::is_alive) && !out.only_counts(rule, op.object) {
            let text = explain(format!(
                "the release of {} returned done at {}, and {} still exists",
                scene.client(op.client),
                scene.when(view.now),
                scene.contender(op.own)
            ))
            .because("no client has deleted it");
            let seen = [op.granted.index, view.op(release).called.index];
            out.fail(rule, scene, op.object, &seen, text);
        }
    }

    fn believed_again(scene: &Scene<'_>, id: OpId, out: &mut Findings) {
        let op = scene.view.op(id);
        let again = op.granted != op.believed && op.why != Why::Suspect;
        let over = matches!(op.phase, Phase::Over(outcome) if outcome != Outcome::Done);
        if !again && !over {
            return;
        }
        let since = if again { op.unbelieved } else { op.over };
        let text = explain(format!(
            "{} believes at {} that it holds, by the acquire that it called at {}",
            scene.client(op.client),
            scene.when(op.believed),
            scene.when(op.called)
        ))
        .because(format!("that acquire had ended at {}", scene.when(since)));
        out.fail(rule(scene, op), scene, op.object, &[op.called.index, since.index], text);
    }
}

impl Rule for EndOfInterest {
    const JUDGES: &'static [Property] = &[Property::EndOfInterest];
    const HEARS: Kinds = hears![Call, Return, Believe, Unbelieve, Created, Quiesce];

    fn pass_time(&mut self, scene: &Scene<'_>, out: &mut Findings) {
        if !self.limited.is_empty() {
            self.limits(scene, out);
        }
        if !self.owed.is_empty() && scene.view.healed {
            self.overdue(scene, out);
        }
    }

    fn event(&mut self, scene: &Scene<'_>, event: &Event, out: &mut Findings) {
        let view = scene.view;
        let op = view.op(event.op);
        match event.what {
            What::Call { object, limit, verb } if verb.asks_for().is_some() && limit > 0 => {
                out.premise(scene.rule(Property::EndOfInterest, object), object);
                self.limited.push(event.op);
            }
            What::Believe { .. } => Self::believed_again(scene, event.op, out),
            What::Return { outcome, .. } if op.verb == Verb::Release => {
                if op.partner == OpId(0) {
                    return;
                }
                if outcome == Outcome::Done {
                    Self::released(scene, event.op, op.partner, out);
                }
                self.owe(scene, op.partner);
            }
            // The downgrade replaces the writer's hold, and deletes its znode.
            What::Return { outcome: Outcome::Done, .. } if op.verb == Verb::Downgrade => {
                out.premise(rule(scene, op), op.object);
                self.owe(scene, op.former);
            }
            What::Return { .. } if !op.is_acquire() => {}
            What::Return { outcome, .. } if outcome != Outcome::Done => {
                out.premise(rule(scene, op), op.object);
                self.owe(scene, event.op);
            }
            What::Unbelieve { why: Why::Dropped } => {
                out.premise(rule(scene, op), op.object);
                self.owe(scene, event.op);
            }
            What::Quiesce if view.is_sim() => self.quiesce(scene, out),
            // A create may be applied after its operation is over.
            What::Created { .. } if view.contender(view.touched).is_some() && op.is_done_with() => {
                self.owe(scene, event.op);
            }
            _ => {}
        }
    }
}
