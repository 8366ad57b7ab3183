//! AN-1: an operation hands out the values that it has read.

use crate::evidence::{Doing, Znodes, proves_nothing};
use crate::rule::prelude::*;

/// Judges a value that an operation hands out before it returns.
pub(super) fn judge(
    scene: &Scene<'_>,
    doing: &Doing,
    (seen, text, number): (Seen, Sym, u64),
    znodes: &Znodes,
    out: &mut Findings,
) {
    let Some(answers) = answers(scene.kind(doing.object), doing.verb, seen) else { return };
    out.premise(RuleId::An1, doing.object);
    let why = match answers {
        _ if seen == Seen::Line && !is_in_order(scene, doing, text, znodes) => {
            "it is not the order in which they came"
        }
        _ if seen == Seen::Results => match doing.given.get(2) {
            Some(asked) if *asked != text => "the results are not those of its operations, in their order",
            _ => return,
        },
        _ if seen == Seen::Line && !is_complete(scene, doing, text) => "the list that it has read has others",
        Answers::Truth => match untrue(scene, doing, (seen, text, number), znodes) {
            Some(why) => why,
            None => return,
        },
        Answers::Any if !doing.has_read(None) => {
            "no server has answered it since its call, or since the last value"
        }
        Answers::NoNode if !doing.has_read(Some(Code::NoNode)) => "no server has said so",
        _ => return,
    };
    if out.is_enough(RuleId::An1, doing.object) {
        return;
    }
    let what = match (seen, answers) {
        (_, Answers::NoNode) => "that there is none",
        (Seen::Vote, _) => "another site's vote",
        (Seen::Missing, _) => "that no vote is to come",
        (Seen::Name, _) => "that it has taken over",
        (Seen::Results, _) => "the results",
        _ => "a value",
    };
    let text = explain(format!("{} was told {what} at {}", doing.text(scene), scene.when(scene.now())))
        .because(why)
        .because(format!("it was called at {}", scene.when(doing.called)));
    out.fail(RuleId::An1, scene, doing.object, &[doing.called.index], text);
}

/// Whether it names all contenders of the list that it has read; a contender deleted meanwhile may be missing. A
/// priority lock has two lists.
fn is_complete(scene: &Scene<'_>, doing: &Doing, text: Sym) -> bool {
    if scene.view.protocol(doing.object).has_priorities() || scene.is_interfered_with(doing.object) {
        return true;
    }
    let Some(list) = scene.view.op(doing.id).list.filter(|list| list.zxid != 0) else { return true };
    let told = scene.text(text);
    let all = scene.view.contest(doing.object).from(0).filter_map(|number| scene.view.contender(number));
    all.filter(|contender| contender.is_in(list.zxid) && contender.is_alive())
        .all(|contender| told.split(',').any(|path| path == scene.text(contender.path)))
}

/// The contradiction to the servers' commits: for the values that a site or a coordinator learns during a transaction.
fn untrue(
    scene: &Scene<'_>,
    doing: &Doing,
    (seen, text, number): (Seen, Sym, u64),
    znodes: &Znodes,
) -> Option<&'static str> {
    if proves_nothing(scene, doing.object) {
        return None;
    }
    let is_decided = || {
        let record = format!("{}/decision", scene.text(scene.object(doing.object).path));
        znodes.named(scene, &record).is_some_and(|(_, znode)| znode.created.came())
    };
    match seen {
        Seen::Vote => match znodes.vote_of(doing.object, number) {
            None => Some("that site has cast no vote"),
            Some((_, cast)) => (cast != scene.digest(text)).then_some("that site has cast another one"),
        },
        Seen::Name => (!is_decided()).then_some("whoever takes over decides, and no decision is on record"),
        _ => {
            let told = doing.about.iter().filter(|(seen, _)| *seen == Seen::Vote).count();
            let others = scene.object(doing.object).size.saturating_sub(1);
            ((told as u32) < others && !is_decided())
                .then_some("not all votes were told, and no decision is on record")
        }
    }
}

/// Whether contenders are listed in the order of their creation. A priority lock has another order.
fn is_in_order(scene: &Scene<'_>, doing: &Doing, text: Sym, znodes: &Znodes) -> bool {
    if scene.view.protocol(doing.object).has_priorities() || scene.is_interfered_with(doing.object) {
        return true;
    }
    let listed = scene.text(text).split(',').filter(|path| !path.is_empty());
    let created =
        listed.map(|path| znodes.named(scene, path).map_or(u32::MAX, |(_, znode)| znode.created.index));
    created.is_sorted()
}

/// The replies that a value needs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Answers {
    Any,
    NoNode,
    /// The value must be true.
    Truth,
}

/// The reply that a value needs before it is handed out; `None` if an earlier operation may have read it.
fn answers(kind: Kind, verb: Verb, seen: Seen) -> Option<Answers> {
    match (kind, verb, seen) {
        // Rules of their own judge the values of a lookup or a follower; their absence is judged here.
        (Kind::Config, Verb::Follow | Verb::Get | Verb::Snapshot, Seen::Missing) => Some(Answers::NoNode),
        (Kind::Group, Verb::Watch, Seen::View) => Some(Answers::Any),
        (_, Verb::Contenders, Seen::Line) | (_, Verb::Transact, Seen::Results) => Some(Answers::Any),
        (Kind::Election, Verb::Observe, Seen::Leader | Seen::Vacant) => Some(Answers::Any),
        (Kind::TwoPhaseCommit, Verb::Decide, Seen::Vote | Seen::Missing | Seen::Name) => Some(Answers::Truth),
        _ => None,
    }
}
