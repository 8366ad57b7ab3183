//! AN-1: an operation hands out what it has read.

use super::doing::Doing;
use super::znodes::Znodes;
use crate::rules::prelude::*;

/// Judges a value that an operation hands to its caller while it goes on, or right before it returns.
pub(super) fn judge(
    scene: &Scene<'_>,
    doing: &Doing,
    (seen, text): (Seen, Sym),
    znodes: &Znodes,
    out: &mut Findings,
) {
    let Some(answers) = answers(scene.kind(doing.object), doing.verb, seen) else { return };
    out.premise(RuleId::An1, doing.object);
    let why = match answers {
        _ if seen == Seen::Line && !is_in_order(scene, doing, text, znodes) => {
            "it is not the order in which they came"
        }
        Answers::Any if !doing.has_read(None) => {
            "no server has answered it since its call, or since the last value"
        }
        Answers::NoNode if !doing.has_read(Some(Code::NoNode)) => "no server has said so",
        _ => return,
    };
    if out.is_enough(RuleId::An1, doing.object) {
        return;
    }
    let what = if answers == Answers::NoNode { "that there is none" } else { "a value" };
    let text = explain(format!("{} was told {what} at {}", doing.text(scene), scene.when(scene.now())))
        .because(why)
        .because(format!("it was called at {}", scene.when(doing.called)));
    out.fail(RuleId::An1, scene, doing.object, &[doing.called.index], text);
}

/// Whether contenders are listed in the order in which their znodes were created. That of a priority lock is another one.
fn is_in_order(scene: &Scene<'_>, doing: &Doing, text: Sym, znodes: &Znodes) -> bool {
    if scene.is_of(Kind::PriorityLock, doing.object) || scene.is_interfered_with(doing.object) {
        return true;
    }
    let listed = scene.text(text).split(',').filter(|path| !path.is_empty());
    let created =
        listed.map(|path| znodes.named(scene, path).map_or(u32::MAX, |(_, znode)| znode.created.index));
    created.is_sorted()
}

/// The answers of a server that a value needs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Answers {
    Any,
    NoNode,
}

/// What must have been answered before a value is handed out; `None` if it may have been read by an earlier operation.
fn answers(kind: Kind, verb: Verb, seen: Seen) -> Option<Answers> {
    match (kind, verb, seen) {
        // The values of a look-up or a follower have rules of their own; that there is none has not.
        (Kind::Config, Verb::Follow | Verb::Snapshot, Seen::Missing) => Some(Answers::NoNode),
        (Kind::Group, Verb::Watch, Seen::View) => Some(Answers::Any),
        (_, Verb::Contenders, Seen::Line) => Some(Answers::Any),
        (Kind::Election, Verb::Observe, Seen::Leader | Seen::Vacant) => Some(Answers::Any),
        _ => None,
    }
}
