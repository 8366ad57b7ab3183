//! AN-1: an operation that returns done has had the effect that it reports.

use crate::evidence::{Evidence, wrong};
use crate::rule::prelude::*;

/// Judges an operation that returns done.
pub(super) fn judge(evidence: &Evidence<'_>, out: &mut Findings) {
    let (scene, doing) = (evidence.scene, evidence.doing);
    let recipe = scene.kind(doing.object).recipe();
    if recipe.proves_nothing(scene, doing.object) {
        return;
    }
    let judged = match doing.is_mistaken {
        true => Some(wrong("its input is bad, and nothing can have come of it")),
        false => recipe.call(doing.verb).and_then(|call| (call.done)(evidence)),
    };
    let Some(judged) = judged else { return };
    out.premise(RuleId::An1, doing.object);
    let Err((why, seen)) = judged else { return };
    // Another client may have undone or changed it in any way.
    if out.only_counts(RuleId::An1, doing.object) {
        return;
    }
    let text = explain(format!("{} returned done at {}", doing.text(scene), scene.when(scene.now())))
        .because(why)
        .because(format!("it was called at {}", scene.when(doing.called)));
    out.fail(RuleId::An1, scene, doing.object, &[doing.called.index, seen], text);
}
