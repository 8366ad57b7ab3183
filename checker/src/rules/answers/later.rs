//! Findings that are reported at the end: another rule may find their cause, and takes precedence.

use crate::rule::prelude::*;

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

/// The maximal number of these findings, over all objects.
const TOLD: usize = 16;

impl Later {
    /// Keeps a finding, with the events that it cites.
    pub(super) fn keep(&mut self, rule: RuleId, object: ObjectId, seen: [u32; 2], text: Explanation) {
        if self.0.len() < TOLD {
            self.0.push(Kept { rule, object, seen, text });
        }
    }

    /// Reports the kept findings.
    pub(super) fn tell(&mut self, scene: &Scene<'_>, out: &mut Findings) {
        for Kept { rule, object, seen, text } in self.0.drain(..) {
            if !out.only_counts(rule, object) {
                out.fail(rule, scene, object, &seen, text);
            }
        }
    }
}
