//! Barriers: one znode, which stands while the barrier is raised.

use super::reported::done;
use super::{Call, ClaimedAs, Meaning, Recipe, ReportedEvent, itself};
use crate::evidence::{Evidence, Judged};
use crate::history::{Outcome, Session, Verb};

pub(super) static BARRIER: Recipe =
    Recipe::of_znodes(itself, &[CALLS]).reported(ClaimedAs::Barrier, &[REPORTED]);

const CALLS: &[Call] = &[
    Call::of(Verb::Raise).costs(1, 1).done(is_raised),
    Call::of(Verb::Lower).costs(1, 1).done(|evidence| Some(evidence.is_absent(evidence.declared().path))),
    Call::of(Verb::Wait).waits(2, 2),
    Call::of(Verb::WaitDown).waits(2, 2),
];

const REPORTED: &[ReportedEvent] = &[
    ReportedEvent::of("raises", Meaning::Begins(Verb::Raise)),
    ReportedEvent::of("raised", done(Verb::Raise)),
    ReportedEvent::of("lowers", Meaning::Begins(Verb::Lower)),
    ReportedEvent::of("lowered", done(Verb::Lower)),
    ReportedEvent::of("waits", Meaning::Begins(Verb::Wait)),
    ReportedEvent::of("passed", Meaning::Closes(Verb::Wait, Outcome::Done)),
    ReportedEvent::of("refused", Meaning::Closes(Verb::Wait, Outcome::Refused)),
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
