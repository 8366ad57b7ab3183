//! Waits that must return: BA-2.

use super::Barriers;
use super::waiters::{Last, Waiter};
use crate::rule::prelude::*;
use crate::rules::wake_sources::{Source, source};
use crate::view::{NEVER, Phase, Watch};

impl Barriers {
    fn source(&self, scene: &Scene<'_>, id: OpId) -> Source {
        let Some(waiter) = self.waiters.iter().find(|waiter| waiter.op == id) else { return Source::Busy };
        if waiter.last == Last::Nothing {
            return Source::Busy;
        }
        let path = scene.object(waiter.object).path;
        let gate = self.gate(waiter.object);
        let gone = gate.and_then(|gate| gate.lives.last()).map_or(NEVER, |life| life.gone);
        // The server of the watch has not applied the deletion yet: the notification will come.
        let to_come = |watch: &Watch| gone == NEVER || scene.view.server(watch.server).may_come_to(gone);
        // An edge-triggered wait that has learned of the end of its barrier waits for nothing.
        let is_over = scene.view.op(id).verb == Verb::Wait && waiter.is_justified(Verb::Wait);
        let wakes = |watch: &Watch| watch.path == path && !is_over && (!watch.armed || to_come(watch));
        source(scene, id, waiter.session, wakes)
    }

    pub(super) fn look(&mut self, scene: &Scene<'_>, id: OpId, out: &mut Findings) {
        if !scene.view.is_sim() {
            return;
        }
        let source = self.source(scene, id);
        if self.doubts.look(scene, id, &source) {
            out.premise(RuleId::Ba2, scene.view.op(id).object);
        }
    }

    /// Checks the wake sources of the waiters that match.
    pub(super) fn look_where(&mut self, scene: &Scene<'_>, out: &mut Findings, is: impl Fn(&Waiter) -> bool) {
        let ops: Vec<OpId> =
            self.waiters.iter().filter(|waiter| is(waiter)).map(|waiter| waiter.op).collect();
        ops.into_iter().for_each(|op| self.look(scene, op, out));
    }

    /// Reports the waits that certainly have no wake source.
    pub(super) fn unwoken(&mut self, scene: &Scene<'_>, out: &mut Findings) {
        let mut doubts = std::mem::take(&mut self.doubts);
        for doubt in doubts.certain(scene.at, |op| self.source(scene, op)) {
            let op = scene.view.op(doubt.op);
            let who = scene.client(op.client);
            let waits = format!("waits at {}", scene.place(op.object));
            let text = doubt.explain(scene, &waits).because(
                match self.waiters.iter().find(|waiter| waiter.op == doubt.op) {
                    Some(waiter) if op.verb == Verb::Wait && waiter.is_justified(op.verb) => {
                        format!(
                            "e{}: its read showed that the barrier is gone: it is {who} that should pass",
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
    }

    /// The time since which a wait should have returned, and the reason.
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
        let Some(gate) = self.gate(waiter.object) else { return Some(0) };
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

    /// Reports the waits that should have returned before the bound.
    pub(super) fn overdue(&mut self, scene: &Scene<'_>, out: &mut Findings) {
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
                "{} waits at {} since {}, and its call does not end",
                scene.client(op.client),
                scene.place(waiter.object),
                scene.when(op.called)
            ))
            .because(format!("{why}, {} ago; the limit is {}", ms(scene.at - since), ms(bound)));
            out.fail(RuleId::Ba2, scene, waiter.object, &[op.called.index, waiter.last_index], text);
            self.waiters[at].is_told = true;
        }
    }
}
