//! The reports of foreign programs, separated from the rest of a simulation's history.
//!
//! Their traffic is in the history, but the operation behind each request is unknown. So two judges share a history:
//! one judges the ensemble and our own recipes by everything but the reports; the other judges the reports as in a
//! capture.

use crate::history::{Event, ObjectId, Tables, What};

/// Whether an object is declared whose operations foreign programs report.
pub(crate) fn are_in(tables: Tables<'_>) -> bool {
    tables.objects.iter().any(|object| object.manner.reported)
}

/// Whether an event begins an operation that a program reports.
pub(crate) fn is_call(tables: Tables<'_>, event: &Event) -> bool {
    let is_reported =
        |object: ObjectId| tables.objects.get(usize::from(object.0)).is_some_and(|of| of.manner.reported);
    matches!(event.what, What::Call { object, .. } if is_reported(object))
}

/// Whether an event is evidence for both judges.
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
