//! AN-1: an operation hands out the values that it has read.

use crate::evidence::Evidence;
use crate::rule::prelude::*;

/// Judges a value that an operation hands out before it returns. An earlier operation may have read other values.
pub(super) fn judge(evidence: &Evidence<'_>, (seen, text, number): (Seen, Sym, u64), out: &mut Findings) {
    let (scene, doing) = (evidence.scene, evidence.doing);
    let call = scene.kind(doing.object).recipe().call(doing.verb);
    let mut judged = call.into_iter().flat_map(|call| call.hands_out);
    let Some(value) = judged.find(|value| value.seen == seen) else { return };
    out.premise(RuleId::An1, doing.object);
    let Some(why) = (value.untrue)(evidence, text, number) else { return };
    if out.only_counts(RuleId::An1, doing.object) {
        return;
    }
    let what = value.what;
    let text = explain(format!("{} was told {what} at {}", doing.text(scene), scene.when(scene.now())))
        .because(why)
        .because(format!("it was called at {}", scene.when(doing.called)));
    out.fail(RuleId::An1, scene, doing.object, &[doing.called.index], text);
}
