//! AN-1: who gives something back is told whether it lasted until then, and why not.

use super::doing::Doing;
use super::znodes::Znodes;
use crate::rules::prelude::*;

/// Judges how it ended, as the client was told.
pub(super) fn judge(scene: &Scene<'_>, doing: &Doing, told: &str, znodes: &Znodes, out: &mut Findings) {
    // Of several it is not known which was meant.
    let [own] = doing.gives_up[..] else { return };
    let znode = znodes.at(own);
    out.premise(RuleId::An1, doing.object);
    let session = scene.view.session(znode.owner);
    let (path, gone) = (scene.znode(own), scene.when(znode.deleted));
    let is_certain = !doing.is_disturbed;
    let was_gone = is_certain && znode.deleted.came() && znode.deleted.index < doing.called.index;
    let why = match told {
        "clean" if znodes.is_told_lost(znode.op) => "it had been told that it is lost".to_owned(),
        "clean" if was_gone => format!("{path} was deleted at {gone}, before the call"),
        "removed" if znode.is_alive => format!("{path} still exists"),
        "removed" if is_certain && znode.deleted_by == doing.id => format!("its own request deleted {path}"),
        "session_over" if !session.ended.came() => {
            format!("{} has not ended", scene.session(znode.owner))
        }
        "deadline_passed" if !session.suspended.came() => "it has been connected all the time".to_owned(),
        _ => return,
    };
    if out.is_enough(RuleId::An1, doing.object) {
        return;
    }
    let how = told.replace('_', " ");
    let text = explain(format!("{} was told at {}: {how}", doing.text(scene), scene.when(scene.now())))
        .because(why)
        .because(format!("it was called at {}", scene.when(doing.called)));
    out.fail(RuleId::An1, scene, doing.object, &[doing.called.index, znode.created.index], text);
}
