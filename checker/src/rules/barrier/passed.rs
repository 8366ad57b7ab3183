//! Waits that return: BA-1 and BA-5.

use super::Barriers;
use super::waiters::{Gate, Last};
use crate::rule::prelude::*;
use crate::view::Phase;

impl Barriers {
    /// Judges a wait that returns.
    pub(super) fn returned(&mut self, scene: &Scene<'_>, id: OpId, outcome: Outcome, out: &mut Findings) {
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
            // For a level-triggered wait, a notification of the deletion is only a reason to read again.
            Last::Event(event) => Some(event),
            _ => None,
        };
        if let Some(event) = event {
            let text = explain(format!("{who} passed at {when} on {event}"))
                .because("it did not read again after that");
            out.fail(RuleId::Ba5, scene, op.object, &seen, text);
        }
        // The reads of a foreign program are unknown.
        let is_reported = scene.object(op.object).manner.reported;
        if stood || event.is_none() && !is_reported {
            let mut text = explain(format!("{who} passed at {when}"));
            if !is_reported {
                text = text.because(told);
            }
            if stood {
                text = text.because("the barrier stood all the time");
            }
            out.fail(RuleId::Ba1, scene, op.object, &seen, text);
        }
    }

    /// Whether the barrier certainly existed from the call of a wait until now.
    fn stood_all_along(&self, scene: &Scene<'_>, id: OpId) -> bool {
        let (view, wait) = (scene.view, scene.view.op(id));
        if view.is_sim() {
            let gate = self.gate(wait.object);
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
}
