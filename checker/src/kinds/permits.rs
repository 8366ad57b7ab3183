//! Semaphores of the library: waiters below `line`, holders below `held`, and there a znode whose name tells the number of permits.

use super::lock::{ASKS, GUARD, has_its_data};
use super::{Call, Recipe, SeenAs, Value, failures};
use crate::evidence::{Act, Effect, Evidence, Judged, wrong};
use crate::history::{Failure, Seen, Verb};
use crate::view::{Order, Part, Protocol, Room};

pub(super) static PERMITS: Recipe = Recipe::of_holds(
    Protocol {
        part,
        rooms: &[("line", Room::Waiting), ("held", Room::Held)],
        order: Order::Permits,
        is_revoked_by: |_| false,
        watches_own: false,
        permits,
    },
    &[TAKES, ASKS, NUMBER, GUARD],
)
.seen_as(SeenAs::Nothing);

/// A request for more permits than there are fails, also if their number becomes smaller meanwhile.
const TAKES: &[Call] = &[
    Call::of(Verb::Acquire).done(has_its_data).fails(&[(Failure::BadInput, there_are_enough)]),
    Call::of(Verb::TryAcquire).done(has_its_data).fails(&[(Failure::BadInput, there_are_enough)]),
];

/// The operations on the number of permits.
const NUMBER: &[Call] = &[
    Call::of(Verb::Get).costs(1, 1).hands_out(&[Value::read(Seen::Value)]),
    Call::of(Verb::Resize).done(is_resized),
];

fn part(below: &str) -> Part {
    match permits(below) {
        Some(_) => Part::Number,
        None if below.contains('/') => Part::Member,
        None => Part::Other,
    }
}

fn permits(below: &str) -> Option<u32> {
    below.strip_prefix("held/permits-")?.parse().ok()
}

/// The znode that tells the number was created, or was there.
fn is_resized(evidence: &Evidence<'_>) -> Option<Judged> {
    let makes = |effect: &&Effect| effect.act == Act::Creates && effect.place.part == Part::Number;
    let number = evidence.given.first().map(|given| evidence.scene.text(*given))?;
    let is_it = |effect: &Effect| evidence.scene.path(effect.path).ends_with(&format!("/permits-{number}"));
    Some(match evidence.effects.iter().rfind(makes) {
        Some(made) if is_it(made) => Ok(()),
        Some(made) => Err((format!("it was to be {number}"), made.at.index)),
        None if evidence.has_read(None) => Ok(()),
        None => wrong("it has neither changed the number, nor read it"),
    })
}

/// Ever since it stands in line there were as many permits as it wants.
fn there_are_enough(evidence: &Evidence<'_>) -> Option<String> {
    let view = evidence.scene.view;
    let op = view.op(evidence.id);
    let Some(own) = view.contender(op.node).filter(|_| !evidence.is_mistaken) else {
        return failures::lacks(evidence, Failure::BadInput);
    };
    let fewest = view.contest(evidence.object).fewest_permits_since(own.czxid)?;
    (own.permits <= fewest).then(|| format!("it wants {}, and there were {fewest} or more", own.permits))
}
