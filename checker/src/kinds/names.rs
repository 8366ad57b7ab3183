//! Directories of names: each name is a znode.

use super::failures::never_asked;
use super::{Call, Recipe, child};
use crate::evidence::{Act, Effect, Evidence, Judged, wrong};
use crate::history::{Failure, Session, Verb};
use crate::view::Part;

pub(super) static NAMES: Recipe =
    Recipe::of_znodes(child, &[CALLS]).with_handle(Verb::Register, "registration");

const CALLS: &[Call] = &[
    Call::of(Verb::Register).costs(2, 2),
    Call::of(Verb::Unregister).costs(3, 2).done(is_unregistered),
    Call::of(Verb::Replace).costs(3, 2).done(|evidence| Some(evidence.is_replaced())),
    Call::of(Verb::Recall).costs(2, 1).done(is_recalled).fails(&[(Failure::Nothing, still_stands)]),
    Call::of(Verb::Resolve).costs(2, 1).done(is_as_fresh_as_asked),
    Call::of(Verb::Follow),
    Call::of(Verb::Unique).costs(1, 1).done(has_created),
];

/// The number of a lookup that must see at least everything that the leader has proposed.
const SYNCED: u64 = 1;

fn is_unregistered(evidence: &Evidence<'_>) -> Option<Judged> {
    let (path, znode) = evidence.child(evidence.argument(0)?)?;
    (znode.client == evidence.client).then(|| evidence.is_absent(path))
}

fn is_recalled(evidence: &Evidence<'_>) -> Option<Judged> {
    let (path, _) = evidence.child(evidence.argument(0)?)?;
    Some(evidence.exists(path))
}

fn is_as_fresh_as_asked(evidence: &Evidence<'_>) -> Option<Judged> {
    (evidence.number == SYNCED).then(|| match evidence.has_synced {
        true => Ok(()),
        false => wrong("it was to read behind a sync, and no sync of it was answered"),
    })
}

/// A unique name is a znode. Other operations that create a znode for their client have grant rules of their own.
fn has_created(evidence: &Evidence<'_>) -> Option<Judged> {
    let is_name = |effect: &Effect| effect.act == Act::Creates && effect.place.part == Part::Member;
    Some(match evidence.effects.iter().any(is_name) {
        true => Ok(()),
        false => wrong("it has created no znode"),
    })
}

/// A client that searches for its permanent registration has created the znode of that name.
fn still_stands(evidence: &Evidence<'_>) -> Option<String> {
    let missing = never_asked(evidence);
    if missing.is_some() || !evidence.is_conclusive() {
        return missing;
    }
    let own = evidence.child(evidence.argument(0)?)?;
    if own.1.owner == Session(0) { evidence.stands(own) } else { None }
}
