//! AN-2: an operation that fails for a reason has met that reason.

use super::later::Later;
use crate::evidence::Evidence;
use crate::rule::prelude::*;

/// Judges the reason that an operation gave.
pub(super) fn judge(evidence: &Evidence<'_>, failure: Failure, later: &mut Later, out: &mut Findings) {
    if failure == Failure::None {
        return;
    }
    let (scene, doing) = (evidence.scene, evidence.doing);
    out.premise(RuleId::An2, doing.object);
    let Some(missing) = scene.kind(doing.object).recipe().lacks(evidence, failure) else { return };
    if out.only_counts(RuleId::An2, doing.object) {
        return;
    }
    let text =
        explain(format!("{} failed at {}: {}", doing.text(scene), scene.when(scene.now()), failure.text()))
            .because(missing)
            .because(format!("it was called at {}", scene.when(doing.called)));
    // Another client may have broken the recipe's rules before, and a site with a wrong decision cannot finish.
    let is_told_later = failure == Failure::Mismatch || doing.verb == Verb::Finish;
    if is_told_later {
        later.keep(RuleId::An2, doing.object, [doing.called.index, scene.index], text);
    } else {
        out.fail(RuleId::An2, scene, doing.object, &[doing.called.index], text);
    }
}
