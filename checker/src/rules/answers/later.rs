//! Findings that are told at the end: another rule may know what led to them, and goes first.

use crate::rules::prelude::*;

/// The findings so far.
#[derive(Clone, Default)]
pub(super) struct Later(Vec<Kept>);

#[derive(Clone)]
struct Kept {
    rule: RuleId,
    object: ObjectId,
    seen: [u32; 2],
    text: Explanation,
}

/// How many are told, for all objects.
const TOLD: usize = 16;

impl Later {
    /// Keeps one, with the events that it cites.
    pub(super) fn keep(&mut self, rule: RuleId, object: ObjectId, seen: [u32; 2], text: Explanation) {
        if self.0.len() < TOLD {
            self.0.push(Kept { rule, object, seen, text });
        }
    }

    /// Tells them.
    pub(super) fn tell(&mut self, scene: &Scene<'_>, out: &mut Findings) {
        for Kept { rule, object, seen, text } in self.0.drain(..) {
            if !out.is_enough(rule, object) {
                out.fail(rule, scene, object, &seen, text);
            }
        }
    }
}
