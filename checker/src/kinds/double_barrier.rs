//! Double barriers: participants are znodes in the directory of a generation, which its `ready` opens.

use super::{Call, ClaimedAs, Meaning, Recipe, ReportedEvent, failures};
use crate::evidence::{Evidence, Judged, wrong};
use crate::history::{Failure, Outcome, Seen, Verb};
use crate::view::Part;

pub(super) static DOUBLE_BARRIER: Recipe = Recipe::of_znodes(part, &[CALLS])
    .with_handle(Verb::Enter, "place")
    .reported(ClaimedAs::DoubleBarrier, &[REPORTED]);

const CALLS: &[Call] = &[
    Call::of(Verb::Enter).waits(8, 4).done(has_entered).fails(&[(Failure::ConnectionLoss, cannot_know)]),
    Call::of(Verb::Leave).waits(8, 4).done(|evidence| evidence.is_given_up()),
];

const REPORTED: &[ReportedEvent] = &[
    ReportedEvent::with("size", Meaning::Declares),
    ReportedEvent::of("enters", Meaning::Begins(Verb::Enter)),
    ReportedEvent::of("entered", Meaning::Closes(Verb::Enter, Outcome::Done)),
    ReportedEvent::of("leaves", Meaning::Begins(Verb::Leave)),
    ReportedEvent::of("left", Meaning::Closes(Verb::Leave, Outcome::Done)),
    ReportedEvent::of("refused", Meaning::Closes(Verb::Enter, Outcome::Refused)),
    ReportedEvent::of("refused", Meaning::Closes(Verb::Leave, Outcome::Refused)),
];

fn part(below: &str) -> Part {
    match below.split_once('/') {
        Some((_, "ready")) => Part::Opening,
        None if below == "ready" => Part::Opening,
        None => Part::Other,
        Some(_) => Part::Member,
    }
}

/// The znode that an enter reports as its own is its own.
fn has_entered(evidence: &Evidence<'_>) -> Option<Judged> {
    let (_, path) = evidence.about.iter().rfind(|(seen, _)| *seen == Seen::Name)?;
    if evidence.znodes.at(*path).op == evidence.id {
        return Some(Ok(()));
    }
    let path = evidence.scene.path(*path);
    Some(wrong(format!("it was told that {path} stands for it, which it has not created")))
}

/// A double barrier that foreign clients have deleted does not show whether it had opened.
fn cannot_know(evidence: &Evidence<'_>) -> Option<String> {
    match evidence.is_interfered_with() {
        true => None,
        false => failures::lacks(evidence, Failure::ConnectionLoss),
    }
}
