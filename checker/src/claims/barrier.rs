//! Barriers: PR-1 for clients that wait although the barrier is down. BA-1 judges clients that pass too early.

use super::{Call, Context, Step};
use crate::findings::Findings;
use crate::history::{Outcome, Verb};
use crate::rule_id::RuleId;
use crate::view::Moment;
use std::collections::BTreeMap;

#[derive(Clone, Default)]
pub(super) struct Barrier {
    waiting: BTreeMap<String, Call>,
    /// The time of the last lower, unless the barrier was or may have been raised since.
    lowered: Option<Moment>,
}

impl Barrier {
    pub(super) fn step(&mut self, at: &Context<'_, '_>, call: &Call, step: Step) {
        match (call.verb, step) {
            (Verb::Raise, _) => self.lowered = None,
            (Verb::Lower, Step::Returns(Outcome::Done)) => self.lowered = Some(at.scene.now()),
            (Verb::Lower, _) => {}
            (_, Step::Begins) => {
                self.waiting.insert(call.process.clone(), call.clone());
            }
            _ => {
                self.waiting.remove(&call.process);
            }
        }
    }

    pub(super) fn stopped(&mut self, at: &Context<'_, '_>, out: &mut Findings) {
        let Some(lowered) = self.lowered else { return };
        for call in self.waiting.values().filter(|call| at.world.lives(call.client)) {
            out.premise(RuleId::Pr1, at.object);
            if !at.is_still(lowered.at.max(call.at.at)) {
                continue;
            }
            let text = at.still_waits(&call.process, "", call.at).because(format!(
                "the barrier was lowered at {}, {} ago",
                at.scene.when(lowered),
                at.for_long(lowered.at)
            ));
            out.fail(RuleId::Pr1, at.scene, at.object, &[call.at.index, lowered.index], text);
        }
    }
}
