//! Leaves: DB-2, and DB-9 of leave.

use super::participants::{Last, Participants};
use crate::rule::prelude::*;
use crate::view::NEVER;

/// Judges a leave that returns.
pub(super) fn returned(
    all: &Participants,
    scene: &Scene<'_>,
    op: OpId,
    outcome: Outcome,
    out: &mut Findings,
) {
    let Some(at) = all.part_of(op).filter(|_| outcome == Outcome::Done) else { return };
    let part = &all.parts[at];
    out.premise(RuleId::Db2, part.object);
    out.premise(RuleId::Db9, part.object);
    let Some((why, witness)) = still_there(all, scene, at).or_else(|| registered(all, scene, at)) else {
        return;
    };
    let (who, when) = (scene.client(part.client), scene.when(scene.view.now));
    let hasty = match part.last {
        Last::Answer(_) => None,
        Last::Event(index, what) => Some((index, format!("{who} left at {when} on {what}"))),
        Last::Nothing => Some((part.left.index, format!("{who} left at {when} without a read"))),
    };
    if let Some((index, what)) = hasty {
        let text = explain(what).because("it did not read after that").because(why.clone());
        out.fail(RuleId::Db9, scene, part.object, &[index, witness], text);
    }
    let text = explain(format!("{who} left at {when}")).because(why);
    out.fail(RuleId::Db2, scene, part.object, &[part.left.index, witness], text);
}

/// By calls and returns alone: a participant of the same generation is inside, and has not called leave.
fn still_there(all: &Participants, scene: &Scene<'_>, at: usize) -> Option<(String, u32)> {
    let part = &all.parts[at];
    let generation = part.generation?;
    let same = |other: &super::participants::Participation| {
        other.object == part.object && other.generation == Some(generation) && other.is_inside()
    };
    let others = all.parts.iter().enumerate().filter(|(other, of)| *other != at && same(of));
    let mut others = others.filter(|(other, _)| !all.is_lost(scene, *other));
    let (_, other) = others.next()?;
    let (who, when) = (scene.client(other.client), scene.when(other.over));
    let why = format!("{who} entered generation {generation} at {when}, is alive, and has not called leave");
    Some((why, other.over.index))
}

/// By the servers: the znode of another participant of its opening exists.
fn registered(all: &Participants, scene: &Scene<'_>, at: usize) -> Option<(String, u32)> {
    let opening = all.opening_of(all.own(at)?)?;
    let mut counted = opening.counted.iter().map(|member| &all.members[*member]);
    let member = counted.find(|member| member.gone == NEVER)?;
    let (who, znode) = (scene.actor(all.parts[member.part].enter), scene.znode(member.path));
    Some((
        format!("{znode} of {who} was registered when the barrier opened, and still exists"),
        member.created.index,
    ))
}
