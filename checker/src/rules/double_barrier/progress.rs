//! Liveness of double barriers: DB-5 and DB-6.

use super::participants::{Id, Participants, Participation};
use crate::rule::prelude::*;
use crate::rules::wake_sources::{Doubts, Source, source};
use crate::view::{NEVER, Part};
use std::collections::BTreeSet;

/// Open operations, and those that were reported.
#[derive(Clone, Default)]
pub(super) struct Progress {
    doubts: Doubts,
    reported: Vec<OpId>,
}

/// The wake source of an enter or a leave.
fn waker(all: &Participants, scene: &Scene<'_>, op: OpId) -> Source {
    let Some(at) = all.part_of(op) else { return Source::Busy };
    let (part, view) = (&all.parts[at], scene.view);
    let Some(own) = all.own(at) else { return Source::Busy };
    let root = scene.object(part.object).path;
    let dir = scene.tables.names.find(&own.dir);
    // The server of the watch has not applied the change yet: the notification will come.
    let to_come = |watch: &crate::view::Watch, zxid: u64| view.server(watch.server).may_come_to(zxid);
    let here = |watch: &crate::view::Watch| {
        let ready = all.readies.iter().rfind(|ready| ready.path == watch.path);
        let lives = |gone: u64| gone == NEVER || to_come(watch, gone);
        if op == part.enter {
            let is_ready = scene.part(part.object, watch.path) == Some(Part::Opening);
            let unmade = ready.is_none_or(|ready| ready.gone != NEVER || to_come(watch, ready.czxid));
            return watch.path == root
                // An opening may write to its participants.
                || (watch.table == Table::Data && watch.path == own.path)
                || (watch.table == Table::Child && Some(watch.path) == dir)
                || (is_ready && unmade);
        }
        let is_dir = watch.table == Table::Child && (watch.path == root || Some(watch.path) == dir);
        let member = |path| {
            let of = all.members.iter().rfind(|member| member.path == path);
            of.is_some_and(|member| member.part != at && lives(member.gone))
        };
        let anybody = || all.members.iter().any(|member| member.dir == own.dir && lives(member.gone));
        member(watch.path) || ready.is_some_and(|ready| lives(ready.gone)) || (is_dir && anybody())
    };
    source(scene, op, part.session, |watch| !watch.armed || here(watch))
}

impl Progress {
    /// Checks an operation that an event touches.
    pub(super) fn look(&mut self, all: &Participants, scene: &Scene<'_>, op: OpId, out: &mut Findings) {
        let Some(at) = all.part_of(op).filter(|_| scene.view.is_sim() && all.open.contains(&op)) else {
            return;
        };
        let source = waker(all, scene, op);
        if self.doubts.look(scene, op, &source) {
            out.premise(RuleId::Db6, all.parts[at].object);
        }
    }

    /// Checks all open operations that match.
    pub(super) fn look_where(
        &mut self,
        all: &Participants,
        scene: &Scene<'_>,
        out: &mut Findings,
        is: impl Fn(&Participation) -> bool,
    ) {
        for op in &all.open {
            if all.part_of(*op).is_some_and(|at| is(&all.parts[at])) {
                self.look(all, scene, *op, out);
            }
        }
    }

    pub(super) fn pass_time(&mut self, all: &Participants, scene: &Scene<'_>, out: &mut Findings) {
        for doubt in self.doubts.certain(scene.at, |op| waker(all, scene, op)) {
            let op = scene.view.op(doubt.op);
            let who = scene.client(op.client);
            let text = doubt
                .explain(scene, &format!("waits to {} {}", op.verb.name(), scene.place(op.object)))
                .because(format!(
                    "{who} has no watch on {}, nor on a participant whose end would be its turn",
                    match op.verb {
                        Verb::Enter => "the opening",
                        _ => "the end of the barrier",
                    }
                ));
            out.fail(RuleId::Db6, scene, op.object, &[op.called.index, doubt.since.index], text);
        }
    }

    /// Reports the operations that could have returned for longer than the bound.
    pub(super) fn overdue(&mut self, all: &Participants, scene: &Scene<'_>, out: &mut Findings) {
        for op in &all.open {
            let Some(at) = all.part_of(*op).filter(|_| !self.reported.contains(op)) else {
                continue;
            };
            let part = &all.parts[at];
            let client = scene.view.client(part.client);
            if client.is_dead() || client.is_paused() || !Participants::is_open(scene, *op) {
                continue;
            }
            let owed = match *op == part.enter {
                true => enter_owed(all, scene, at),
                false => leave_owed(all, scene, at).map(|(since, why)| (RuleId::Db6, since, why)),
            };
            let Some((rule, since, why)) = owed else { continue };
            let since = since.max(scene.view.calm_since);
            let bound = scene.view.bound(part.object);
            if scene.at <= since.saturating_add(bound) {
                continue;
            }
            self.reported.push(*op);
            let what = scene.view.op(*op).verb.name();
            let who = scene.client(part.client);
            let called = scene.view.op(*op).called;
            let place = scene.place(part.object);
            let text = explain(format!("{who} waits to {what} {place} since {}", scene.when(called)))
                .because(why)
                .because(format!(
                    "nothing is in the way of {who} for {}; the limit is {}",
                    ms(scene.at - since),
                    ms(bound)
                ));
            out.fail(rule, scene, part.object, &[called.index], text);
        }
    }
}

/// The time since which an enter has to return, and why.
fn enter_owed(all: &Participants, scene: &Scene<'_>, at: usize) -> Option<(RuleId, u64, String)> {
    let part = &all.parts[at];
    let object = scene.object(part.object);
    // The servers show that it was counted.
    if let Some(own) = all.own(at).filter(|own| !own.by_foreign)
        && let Some(opening) = all.opening_of(own)
        && opening.counted.iter().any(|member| all.members[*member].part == at)
    {
        return Some((RuleId::Db6, opening.created.at, "the barrier opened with it".to_owned()));
    }
    // The rosters of others show that it was counted, or there were no others. A foreign client may delete the opening
    // before every participant has read it, and then the others take part in the next one.
    let is_whole = !scene.is_interfered_with(part.object);
    let entered =
        |other: &&Participation| other.object == part.object && other.outcome == Some(Outcome::Done);
    if is_whole
        && let Some(other) = all.parts.iter().filter(entered).find(|other| counts(all, scene, at, other))
    {
        let why = format!("{} of its generation entered", scene.client(other.client));
        return Some((RuleId::Db6, other.over.at, why));
    }
    let before = |other: &&Participation| {
        other.over.index < part.called.index && !all.has_ended(object.path, other.over)
    };
    if object.manner.once
        && let Some(other) = all.parts.iter().filter(entered).find(before)
    {
        let why = format!("it was late: {} had entered before", scene.client(other.client));
        return Some((RuleId::Db5, other.over.at.max(part.called.at), why));
    }
    enough(all, scene, part.object).map(|since| {
        (RuleId::Db6, since, format!("{} live participants wait to enter, and none is inside", object.size))
    })
}

/// Whether a roster names another participant that was not counted.
fn counts(all: &Participants, scene: &Scene<'_>, at: usize, entered: &Participation) -> bool {
    let part = &all.parts[at];
    if part.called.index > entered.over.index {
        return false;
    }
    let roster = entered.roster.and_then(|roster| scene.tables.names.get(roster)).unwrap_or_default();
    let id = match part.id {
        Id::Named(id) => scene.text(id),
        Id::Only(_) => "",
    };
    if !roster.is_empty() {
        let alone =
            || all.parts.iter().filter(|other| other.id == part.id && !other.died.came()).count() == 1;
        return !id.is_empty() && roster.split(',').any(|other| other == id) && alone();
    }
    // Without `ready` and without a roster: both were registered when the count was first complete.
    let (Some(own), Some(other)) = (all.own(at), all.part_of(entered.enter).and_then(|at| all.own(at)))
    else {
        return false;
    };
    let size = scene.object(part.object).size as usize;
    let mut arrivals: Vec<u32> = all.members.iter().map(|member| member.created.index).collect();
    arrivals.retain(|index| *index >= other.created.index);
    let enough = arrivals.into_iter().find(|index| {
        all.members.iter().filter(|member| member.dir == own.dir && member.was_there(*index)).count() >= size
    });
    own.dir == other.dir && enough.is_some_and(|index| index < entered.over.index && own.was_there(index))
}

/// The time since which enough participants wait to enter, with no obstacle.
fn enough(all: &Participants, scene: &Scene<'_>, object: ObjectId) -> Option<u64> {
    // The data version of its znode is the generation: a foreign write strands the participants registered before.
    if scene.view.is_touched(scene.object(object).path) {
        return None;
    }
    let wanted = scene.object(object).size as usize;
    let mut since: Vec<(u64, Id)> = Vec::new();
    let mut free = 0;
    for part in all.parts.iter().filter(|part| part.object == object) {
        if part.is_inside() || part.is_leaving() {
            return None;
        }
        if part.is_entering() {
            since.push((part.called.at, part.id));
        } else if part.leave_over.came() {
            free = free.max(part.leave_over.at);
        }
    }
    since.sort_unstable();
    let mut ids = BTreeSet::new();
    since.into_iter().find(|(_, id)| ids.insert(*id) && ids.len() >= wanted).map(|(at, _)| at.max(free))
}

/// The time since which a leave has to return, and why.
fn leave_owed(all: &Participants, scene: &Scene<'_>, at: usize) -> Option<(u64, String)> {
    let part = &all.parts[at];
    let mut since = part.left.at;
    let why = "all other participants of its generation have left or died".to_owned();
    if let Some(opening) = all.own(at).and_then(|own| all.opening_of(own)) {
        for member in opening.counted.iter().map(|member| &all.members[*member]) {
            let of = &all.parts[member.part];
            match () {
                () if member.gone != NEVER => since = since.max(member.deleted.at),
                () if of.left.came() => since = since.max(of.left.at),
                () => since = since.max(of.done_with()?.at),
            }
        }
        return Some((since, why));
    }
    let generation = part.generation?;
    for (number, other) in all.parts.iter().enumerate() {
        if other.object != part.object || number == at {
            continue;
        }
        match other.generation {
            Some(of) if of != generation => {}
            _ if other.left.came() => since = since.max(other.left.at),
            Some(_) if !all.is_lost(scene, number) => return None,
            // A participant that has not entered may still belong to this generation.
            None if other.is_entering() && other.called.index < part.over.index => return None,
            _ => {}
        }
    }
    Some((since, why))
}
