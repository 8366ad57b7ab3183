//! What foreign programs report, told from the rest of a simulation's history.
//!
//! Their traffic is all there, but nobody knows which request belongs to which operation of theirs. So two judges share a history: one
//! judges the ensemble and our own recipes by everything but the reports; one judges what was reported as in a capture.

use crate::history::{Event, History, Mode, OpId, What};
use std::collections::BTreeSet;

/// Which operations of a history are reports.
pub(crate) struct Reports<'a> {
    history: &'a History,
    ops: BTreeSet<OpId>,
}

impl<'a> Reports<'a> {
    /// `None` if nothing was reported, or the whole history is a capture.
    pub(crate) fn of(history: &'a History) -> Option<Self> {
        let is_any = history.objects.iter().any(|object| object.manner.reported);
        (is_any && history.header.mode == Mode::Sim).then_some(Reports { history, ops: BTreeSet::new() })
    }

    /// Whether an event is evidence for the judge of everything else, and for that of the reports.
    pub(crate) fn is_evidence(&mut self, event: &Event) -> (bool, bool) {
        if let What::Call { object, .. } = event.what
            && self.history.objects.get(usize::from(object.0)).is_some_and(|object| object.manner.reported)
        {
            self.ops.insert(event.op);
        }
        if self.ops.contains(&event.op) {
            return (false, true);
        }
        let is_of_both = matches!(
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
        );
        (true, is_of_both)
    }
}
