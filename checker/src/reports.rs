//! What foreign programs report, told from the rest of a simulation's history.
//!
//! Their traffic is all there, but nobody knows which request belongs to which operation of theirs. So two judges share a history: one
//! judges the ensemble and our own recipes by everything but the reports; one judges what was reported as in a capture.

use crate::history::{Event, ObjectId, Tables, What};

/// Whether an object is declared of which programs report.
pub(crate) fn are_in(tables: Tables<'_>) -> bool {
    tables.objects.iter().any(|object| object.manner.reported)
}

/// Whether an event begins an operation that a program reports.
pub(crate) fn is_call(tables: Tables<'_>, event: &Event) -> bool {
    let is_reported =
        |object: ObjectId| tables.objects.get(usize::from(object.0)).is_some_and(|of| of.manner.reported);
    matches!(event.what, What::Call { object, .. } if is_reported(object))
}

/// Whether an event is evidence for the judge of everything else, and for that of the reports.
pub(crate) fn is_of_both(event: &Event) -> bool {
    matches!(
        event.what,
        What::State { .. }
            | What::Opened { .. }
            | What::Marked { .. }
            | What::Ended { .. }
            | What::Fault { .. }
            | What::Mended { .. }
            | What::Start { .. }
            | What::Crash { .. }
            | What::Heal
            | What::Quiesce
            | What::Stopped
            | What::Elapsed
    )
}
