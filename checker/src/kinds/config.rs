//! Configuration: a value is one znode, and so is the head of a set.

use super::{Call, Recipe, Value, itself};
use crate::evidence::{Act, Effect, Evidence, Judged, wrong};
use crate::history::{PARENTS_MUST_EXIST, Seen, Verb};
use crate::view::Part;

pub(super) static CONFIG: Recipe = Recipe::of_znodes(itself, &[CALLS]);

/// Rules of their own judge the values that are read; their absence is judged here.
const CALLS: &[Call] = &[
    Call::of(Verb::Follow).hands_out(&[Value::none(Seen::Missing)]),
    Call::of(Verb::Get).hands_out(&[Value::none(Seen::Missing)]),
    Call::of(Verb::Snapshot).hands_out(&[Value::none(Seen::Missing)]),
    Call::of(Verb::CompareAndSet).costs(1, 1).done(is_written),
    Call::of(Verb::Overwrite).costs(1, 1).done(is_written),
    Call::of(Verb::Publish).costs(1, 1).done(is_written),
];

/// A write has written its value, and has not created a directory that had to exist.
fn is_written(evidence: &Evidence<'_>) -> Option<Judged> {
    let must_exist = evidence.argument(1) == Some(PARENTS_MUST_EXIST);
    if let Some((directory, created)) = evidence.directory.filter(|_| must_exist) {
        let (when, path) = (evidence.scene.when(created), evidence.scene.path(directory));
        return Some(Err((format!("at {when} it has created {path}, which had to exist"), created.index)));
    }
    let written = |effect: &&Effect| effect.act != Act::Deletes && effect.place.part == Part::Itself;
    let Some(last) = evidence.effects.iter().rfind(written) else {
        return Some(wrong("it has written nothing"));
    };
    Some(match evidence.given.first() {
        Some(value) if evidence.verb != Verb::Publish && last.data.is_some() => {
            evidence.has_data(last, *value, "another value")
        }
        _ => Ok(()),
    })
}
