//! AN-3: an operation that reports that nothing was done has no remaining effect.

use crate::evidence::{Act, Doing, Effect, Evidence, Znodes};
use crate::rule::prelude::*;
use crate::view::Part;

/// Judges an operation that reported that nothing was done. Returns whether an effect remains.
///
/// A call may report this when its limit is over, although its leave has begun.
pub(super) fn judge(evidence: &Evidence<'_>, out: &mut Findings) -> bool {
    let Evidence { scene, doing, znodes } = *evidence;
    let proves_nothing = scene.kind(doing.object).recipe().proves_nothing(scene, doing.object);
    if proves_nothing || may_be_anothers(scene, doing, znodes) {
        return false;
    }
    out.premise(RuleId::An3, doing.object);
    let Some(left) = doing.effects.iter().find(|effect| is_left(doing, effect, znodes)) else { return false };
    if out.only_counts(RuleId::An3, doing.object) {
        return true;
    }
    let op = scene.view.op(doing.id);
    let what = match left.act {
        Act::Creates => "created",
        Act::Writes => "wrote",
        Act::Deletes => "deleted",
    };
    let text = explain(format!(
        "{} returned at {} that nothing was done",
        doing.text(scene),
        scene.when(if op.over.came() { op.over } else { scene.now() })
    ))
    .because(format!("at {} it {what} {}", scene.when(left.at), scene.path(left.path)))
    .not_excused("whoever cannot know whether a write was applied must say that the outcome is unknown");
    out.fail(RuleId::An3, scene, doing.object, &[doing.called.index, op.over.index, left.at.index], text);
    true
}

/// Whether its write may have met another incarnation of the expected znode, or been replaced itself: a foreign client
/// has deleted the value, and a server compares only versions.
fn may_be_anothers(scene: &Scene<'_>, doing: &Doing, znodes: &Znodes) -> bool {
    let is_replaced = |effect: &Effect| {
        let znode = znodes.at(effect.path);
        // The expected incarnation is no younger than the value that the writer was given.
        znode.is_made_after(effect.zxid) || (doing.number > 0 && znode.is_made_after(doing.number))
    };
    match doing.verb {
        Verb::Replace => scene.is_interfered_with(doing.object),
        Verb::CompareAndSet | Verb::Publish => {
            let mut writes = doing.effects.iter().filter(|effect| effect.act == Act::Writes);
            writes.any(is_replaced) && scene.is_interfered_with(doing.object)
        }
        _ => false,
    }
}

/// Whether a change was intended by the caller and remains. Directories, receipts and counters are not intended, and a
/// session's znodes are cleaned up in the background.
fn is_left(doing: &Doing, effect: &Effect, znodes: &Znodes) -> bool {
    let znode = znodes.at(effect.path);
    match (effect.act, effect.place.part) {
        (Act::Creates, Part::Itself | Part::Item) => {
            znode.is_alive && znode.op == doing.id && znode.owner == Session(0)
        }
        (_, Part::Guarded) => true,
        (Act::Writes, Part::Itself | Part::Record | Part::Site | Part::Along) => true,
        (Act::Writes, Part::Member) => doing.verb == Verb::Replace,
        (Act::Deletes, Part::Itself | Part::Item | Part::Record | Part::Site) => true,
        // Whoever finds no number makes the first one.
        (_, Part::Number) => doing.verb == Verb::Resize,
        (Act::Creates, Part::Record | Part::Along) => znode.is_alive && znode.op == doing.id,
        (Act::Deletes, Part::Claim) => doing.verb == Verb::GiveBack,
        (Act::Deletes, Part::Member) if gives_up(doing.verb) => !doing.is_late,
        (Act::Deletes, Part::Member) if doing.verb == Verb::Evict => true,
        (Act::Deletes, Part::Member) if doing.verb == Verb::Force => znode.client != doing.client,
        _ => false,
    }
}

/// Whether it deletes the znode of its client. A participant of a double barrier has left in any case: its leave only
/// may not know whether the others have left.
fn gives_up(verb: Verb) -> bool {
    matches!(verb, Verb::Release | Verb::Unregister)
}
