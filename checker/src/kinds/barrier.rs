//! Barriers: one znode, which stands while the barrier is raised.

use super::{Call, Recipe, itself};
use crate::evidence::{Evidence, Judged};
use crate::history::{Session, Verb};

pub(super) static BARRIER: Recipe = Recipe::of_znodes(itself, &[CALLS]);

const CALLS: &[Call] = &[
    Call::of(Verb::Raise).costs(1, 1).done(is_raised),
    Call::of(Verb::Lower).costs(1, 1).done(|evidence| Some(evidence.is_absent(evidence.declared().path))),
    Call::of(Verb::Wait).waits(2, 2),
    Call::of(Verb::WaitDown).waits(2, 2),
];

/// A raised barrier exists, and lives as long as the session, or permanently, as requested.
fn is_raised(evidence: &Evidence<'_>) -> Option<Judged> {
    let path = evidence.declared().path;
    Some(evidence.exists(path).and_then(|()| {
        let znode = evidence.znodes.at(path);
        let why = match (evidence.argument(0), znode.owner != Session(0)) {
            (Some("session"), false) => "it was to be deleted with its session, and is permanent",
            (Some("permanent"), true) => "it was to be permanent, and is deleted with its session",
            _ => return Ok(()),
        };
        if znode.op != evidence.id || !znode.is_alive {
            return Ok(());
        }
        Err((format!("{}: {why}", evidence.scene.path(path)), znode.created.index))
    }))
}
