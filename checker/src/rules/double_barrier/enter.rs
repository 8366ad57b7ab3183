//! Enters: DB-1, DB-3, DB-4, DB-7, and DB-9 of enter.

use super::participants::{Id, Participants, Participation, Ready};
use crate::rule::prelude::*;
use crate::view::Part;

/// The number of participants.
fn size(scene: &Scene<'_>, part: &Participation) -> usize {
    scene.object(part.object).size as usize
}

/// Judges an enter that returns.
pub(super) fn returned(
    all: &Participants,
    scene: &Scene<'_>,
    op: OpId,
    outcome: Outcome,
    out: &mut Findings,
) {
    let Some(at) = all.part_of(op) else { return };
    match outcome {
        Outcome::Done => {
            together(all, scene, at, out);
            roster(all, scene, at, out);
            if scene.view.is_sim() {
                opening(all, scene, at, out);
            }
        }
        Outcome::Refused => refused(all, scene, at, out),
        Outcome::Unknown | Outcome::Cancelled => {}
    }
}

/// DB-1, by calls and returns alone: at some instant before this return enough enters were open or done, and none of
/// these had failed or left.
fn together(all: &Participants, scene: &Scene<'_>, at: usize, out: &mut Findings) {
    let part = &all.parts[at];
    out.premise(RuleId::Db1, part.object);
    let wanted = size(scene, part);
    let (sure, perhaps) = all.most_together(scene, at, (part.called.index, scene.index), None);
    if sure >= wanted {
        return;
    }
    let who = scene.client(part.client);
    let text = explain(format!(
        "{who} entered at {}, with at most {sure} of {wanted} participants at any time",
        scene.when(scene.view.now)
    ))
    .because(format!(
        "its call began at {}; participants that entered before, failed or left do not count",
        scene.when(part.called)
    ));
    if perhaps >= wanted {
        let text =
            text.excused("other participants had given up or died, and their znodes may still have existed");
        let found = Ruling::unavoidable(RuleId::Db1, scene.index);
        return out.find(found, scene, Some(part.object), &[part.called.index], text);
    }
    out.fail(RuleId::Db1, scene, part.object, &[part.called.index], text);
}

/// DB-1, by the servers: an enter that returns was registered itself, and enough were registered at once.
fn unregistered(all: &Participants, scene: &Scene<'_>, at: usize, out: &mut Findings) {
    let part = &all.parts[at];
    if all.members.iter().any(|member| member.object == part.object) {
        let (who, when) = (scene.client(part.client), scene.when(scene.view.now));
        let text = explain(format!("{who} entered at {when}"))
            .because("it never had a znode there, so no participant can have counted it");
        out.fail(RuleId::Db1, scene, part.object, &[part.called.index], text);
    }
}

/// Judges the roster of an enter: it contains the participant, and is complete.
fn roster(all: &Participants, scene: &Scene<'_>, at: usize, out: &mut Findings) {
    let part = &all.parts[at];
    let Some(roster) = part.roster.and_then(|roster| scene.tables.names.get(roster)) else { return };
    if roster.is_empty() {
        return;
    }
    let (who, when) = (scene.client(part.client), scene.when(scene.view.now));
    let ids: Vec<&str> = roster.split(',').filter(|id| !id.is_empty()).collect();
    out.premise(RuleId::Db3, part.object);
    if ids.len() < size(scene, part) {
        let text = explain(format!("{who} entered at {when} with a roster of {}: {roster}", ids.len()))
            .because(format!("the barrier is for {}", size(scene, part)));
        out.fail(RuleId::Db3, scene, part.object, &[part.called.index], text);
    }
    let Id::Named(own) = part.id else { return };
    out.premise(RuleId::Db4, part.object);
    let own = scene.text(own);
    if !ids.contains(&own) {
        let text = explain(format!("{who} entered at {when}, and the roster does not contain it: {roster}"))
            .because("the barrier opened for other participants");
        out.fail(RuleId::Db4, scene, part.object, &[part.called.index], text);
    }
    // Each participant in the roster had called enter, and had not failed or left before this call.
    for id in ids.iter().filter(|id| **id != own) {
        let known = all.parts.iter().filter(|other| {
            other.object == part.object
                && matches!(other.id, Id::Named(name) if scene.tables.names.get(name) == Some(*id))
        });
        let mut counted = known.peekable();
        // A participant without a name is unknown.
        if counted.peek().is_none() {
            continue;
        }
        let failed = |other: &Participation| {
            let went = |index: u32| index < part.called.index;
            let refused = other.outcome == Some(Outcome::Refused) && went(other.over.index);
            (refused && !Participants::was_denied(scene, other))
                || (other.left.came() && went(other.left.index))
        };
        if counted.all(failed) {
            let text = explain(format!("{who} entered at {when} with {id} in the roster: {roster}"))
                .because(format!("{id} had failed or left before {who} called"));
            out.fail(RuleId::Db3, scene, part.object, &[part.called.index], text);
        }
    }
}

/// Judges by the servers: the barrier opened while the enter was registered.
fn opening(all: &Participants, scene: &Scene<'_>, at: usize, out: &mut Findings) {
    let part = &all.parts[at];
    let Some(own) = all.own(at) else { return unregistered(all, scene, at, out) };
    out.premise(RuleId::Db4, part.object);
    out.premise(RuleId::Db9, part.object);
    let (who, when) = (scene.client(part.client), scene.when(scene.view.now));
    let registered = format!("e{}: it registered {}", own.created.index, scene.znode(own.path));
    if let Some(opening) = all.opening_of(own) {
        if !opening.counted.iter().any(|member| all.members[*member].part == at) {
            let text = explain(format!("{who} entered at {when}"))
                .because(registered)
                .because(format!("at the opening, {}, its znode did not exist", scene.when(opening.created)));
            out.fail(RuleId::Db4, scene, part.object, &[own.created.index, opening.created.index], text);
        }
        return names_all(all, scene, part, opening, out);
    }
    // A participant whose own count was right needs no other evidence; if it was wrong DB-3 reports it.
    let earlier = |ready: &&Ready| {
        !part.opens
            && ready.object == part.object
            && ready.created.index < own.created.index
            && (!ready.deleted.came() || ready.deleted.index > part.called.index)
    };
    if let Some(ready) = all.readies.iter().rfind(earlier) {
        let text = explain(format!("{who} entered at {when}")).because(registered).because(format!(
            "{} is of {}, before that: it opened for other participants",
            scene.znode(ready.path),
            scene.when(ready.created)
        ));
        out.fail(RuleId::Db4, scene, part.object, &[ready.created.index, own.created.index], text);
        return;
    }
    // Without an opening, only a right count of its own justifies the enter.
    let (_, most) = all.most_together(scene, at, (own.created.index, scene.index), Some(&own.dir));
    if let Some((index, what)) = part.last_event.filter(|_| most < size(scene, part)) {
        let text = explain(format!("{who} entered at {when} on {what}"))
            .because(registered)
            .because("the barrier has not opened since, and there were never enough participants");
        out.fail(RuleId::Db9, scene, part.object, &[own.created.index, index], text);
    }
}

/// DB-3: the roster names all participants whose znodes existed at the opening.
fn names_all(
    all: &Participants,
    scene: &Scene<'_>,
    part: &Participation,
    opening: &Ready,
    out: &mut Findings,
) {
    let told = part.roster.and_then(|roster| scene.tables.names.get(roster)).unwrap_or_default();
    if told.is_empty() {
        return;
    }
    let counted = opening.counted.iter().map(|member| &all.members[*member]);
    let missing = counted.filter_map(|member| match all.parts[member.part].id {
        Id::Named(id) if !told.split(',').any(|other| other == scene.text(id)) => Some((member, id)),
        _ => None,
    });
    for (member, id) in missing {
        let text = explain(format!(
            "{} entered at {} with a roster that lacks {}: {told}",
            scene.client(part.client),
            scene.when(scene.now()),
            scene.text(id)
        ))
        .because(format!(
            "{} was there when the barrier opened, at {}",
            scene.znode(member.path),
            scene.when(opening.created)
        ));
        out.fail(RuleId::Db3, scene, part.object, &[member.created.index, opening.created.index], text);
    }
}

/// DB-7: a participant that was counted does not learn that it was not.
fn refused(all: &Participants, scene: &Scene<'_>, at: usize, out: &mut Findings) {
    let part = &all.parts[at];
    let Some(own) = all.own(at).filter(|own| !own.by_foreign) else { return };
    let Some(opening) = all.opening_of(own) else { return };
    if !opening.counted.iter().any(|member| all.members[*member].part == at) {
        return;
    }
    // An access list or a failing server may keep it from reading the opening.
    if scene.view.op(part.enter).refused >= opening.created.at {
        return;
    }
    // Znodes that a foreign client has overwritten cannot be read: the opening, its record in the round, and the round.
    let root = scene.object(part.object).path;
    let records = [Some(root), scene.tables.names.find(&own.dir)];
    if scene.view.is_interfered_with(scene.tables, opening.path)
        || records.into_iter().flatten().any(|path| scene.view.is_touched(path))
    {
        return;
    }
    let text = explain(format!(
        "the enter of {} was refused at {}, although it had been counted",
        scene.client(part.client),
        scene.when(scene.view.now)
    ))
    .because(format!(
        "the barrier opened at {} with its {} registered",
        scene.when(opening.created),
        scene.znode(own.path)
    ));
    out.fail(RuleId::Db7, scene, part.object, &[opening.created.index], text);
}

/// DB-3, when `ready` is created: its creator has seen enough participants registered at once, all of this round and
/// each counted once.
pub(super) fn opened(all: &Participants, scene: &Scene<'_>, out: &mut Findings) {
    let Some(ready) = all.readies.last() else { return };
    out.premise(RuleId::Db3, ready.object);
    for member in &ready.counted {
        if all.parts[all.members[*member].part].is_entering() {
            out.premise(RuleId::Db7, ready.object);
        }
    }
    if let Some(at) = all.part_of(ready.creator) {
        counted(all, scene, at, out);
    }
}

/// Notes a request to create `ready`.
pub(super) fn opens(all: &Participants, scene: &Scene<'_>, op: OpId, path: Sym, out: &mut Findings) {
    let Some(at) = all.part_of(op).filter(|at| all.parts[*at].enter == op) else { return };
    if scene.part(all.parts[at].object, path) == Some(Part::Opening) && scene.view.is_sim() {
        counted(all, scene, at, out);
    }
}

/// Whether enough participants were registered at once for the creator of `ready` to see them.
fn counted(all: &Participants, scene: &Scene<'_>, at: usize, out: &mut Findings) {
    let part = &all.parts[at];
    let Some(own) = all.own(at) else { return };
    let (from, wanted) = (own.created.index, size(scene, part));
    let (_, most) = all.most_together(scene, at, (from, scene.index), Some(&own.dir));
    if most >= wanted {
        return;
    }
    let others = all.members.iter().filter(|other| other.dir == own.dir && other.was_there(scene.index));
    let names: Vec<String> = others.map(|other| scene.actor(all.parts[other.part].enter)).collect();
    let who = scene.client(part.client);
    let text = explain(format!(
        "{who} opened the barrier at {} for {wanted}, with at most {most} registered in this round",
        scene.when(scene.view.now)
    ))
    .because(format!("the znodes of participants are those of [{}]", names.join(", ")));
    out.fail(RuleId::Db3, scene, part.object, &[part.called.index, from], text);
}
