//! AN-1: a release reports whether the hold or membership lasted until then, and if not, why.

use crate::evidence::{Act, Doing, Effect, Evidence, Znodes};
use crate::rule::prelude::*;
use crate::view::Part;

/// Judges the reported ending.
pub(super) fn judge(evidence: &Evidence<'_>, told: &str, out: &mut Findings) {
    let Evidence { scene, doing, znodes } = *evidence;
    let own = match doing.gives_up[..] {
        [] => None,
        [own] => Some(own),
        // With several of them, the intended one is unknown.
        _ => return,
    };
    out.premise(RuleId::An1, doing.object);
    // Another client may have had the name since.
    if own.is_some_and(|own| znodes.at(own).client != doing.client) {
        return;
    }
    let Some(why) = wrong(scene, doing, told, own, znodes) else { return };
    if out.only_counts(RuleId::An1, doing.object) {
        return;
    }
    let how = told.replace('_', " ");
    let text = explain(format!("{} was told at {}: {how}", doing.text(scene), scene.when(scene.now())))
        .because(why)
        .because(format!("it was called at {}", scene.when(doing.called)));
    out.fail(RuleId::An1, scene, doing.object, &[doing.called.index], text);
}

/// The contradiction in the report. `own`: the client's znode at the time of the call.
fn wrong(scene: &Scene<'_>, doing: &Doing, told: &str, own: Option<Sym>, znodes: &Znodes) -> Option<String> {
    let session = scene.view.session(doing.session);
    // After a lost reply, the author of the delete is unknown.
    let is_certain = !doing.is_disturbed;
    let deletes = |effect: &Effect| effect.act == Act::Deletes && effect.place.part == Part::Member;
    match (told, own) {
        ("clean", None) if is_certain && !doing.effects.iter().any(deletes) => {
            Some("no znode stood for it when it was called".to_owned())
        }
        ("clean", Some(own)) if znodes.is_told_lost(znodes.at(own).op) => {
            Some("it had been told that it is lost".to_owned())
        }
        // No request is served in a session that has ended, so none can have deleted it.
        ("clean", None) if session.ended.came() && session.ended.index < doing.called.index => {
            Some(format!("{} ended at {}", scene.session(doing.session), scene.when(session.ended)))
        }
        ("clean", Some(own)) if znodes.went_with_its_session(scene, own) => {
            Some(format!("{} was deleted with its session", scene.znode(own)))
        }
        ("removed", Some(own)) if znodes.at(own).is_alive => {
            Some(format!("{} still exists", scene.znode(own)))
        }
        ("removed", Some(own)) if is_certain && znodes.at(own).deleted_by == doing.id => {
            Some(format!("its own request deleted {}", scene.znode(own)))
        }
        ("session_over", Some(own)) if !scene.view.session(znodes.at(own).owner).is_over() => {
            Some(format!("it has not learned that {} is over", scene.session(znodes.at(own).owner)))
        }
        // A pause, a drifting clock or a silent server can also make the deadline pass.
        ("deadline_passed", _) if scene.view.calm_since == 0 && !session.suspended.came() => {
            Some("it has been connected all the time, and no fault has struck".to_owned())
        }
        _ => None,
    }
}
