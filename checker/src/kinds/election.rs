//! Elections: candidates are contenders, and `leader` is the record of the leader that has begun.

use super::lock::{self, ASKS, GUARD};
use super::reported::holds;
use super::{Call, ClaimedAs, Recipe, ReportedEvent, Roles, Value, child};
use crate::evidence::{Act, Effect, Evidence, Judged, wrong};
use crate::history::{Seen, Verb};
use crate::view::{Part, Protocol};

pub(super) static ELECTION: Recipe =
    Recipe::of_holds(Protocol { part, watches_own: true, ..lock::PROTOCOL }, &[CALLS, ASKS, GUARD])
        .with_roles(ROLES)
        .reported(ClaimedAs::Holds, &[REPORTED]);

const ROLES: Roles = Roles {
    holder: "leader",
    contender: "candidate",
    holds: "lead",
    is: "the leader",
    is_free: "nobody leads",
};

const REPORTED: &[ReportedEvent] = &holds(Verb::Stand, "leader", "deposed");

const CALLS: &[Call] = &[
    Call::of(Verb::Acknowledge).costs(1, 1).done(is_on_record),
    Call::of(Verb::Observe).hands_out(&[Value::read(Seen::Leader), Value::read(Seen::Vacant)]),
];

fn part(below: &str) -> Part {
    if below == "leader" { Part::Record } else { child(below) }
}

/// An acknowledgement has recorded the leader, now or before.
fn is_on_record(evidence: &Evidence<'_>) -> Option<Judged> {
    let own = |effect: &Effect| effect.act != Act::Deletes && effect.place.part == Part::Record;
    if evidence.effects.iter().any(own) {
        return Some(Ok(()));
    }
    Some(match evidence.child("leader") {
        Some((_, record)) if record.client == evidence.client && record.existed_since(evidence.called) => {
            Ok(())
        }
        Some((_, record)) if record.is_alive => {
            let owner = evidence.scene.session(record.owner);
            Err((format!("the record is that of {owner}"), record.created.index))
        }
        _ => wrong("there is no record of it"),
    })
}
