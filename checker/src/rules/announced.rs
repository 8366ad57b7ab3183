//! Deletes that are announced as foreign acts.

use crate::rule::prelude::*;

/// Announced foreign deletes that have not been applied yet, and whose session does not identify them as foreign.
#[derive(Clone, Debug, Default)]
pub(crate) struct Announced(u32);

impl Announced {
    /// Takes in an announcement.
    pub(crate) fn note(&mut self, scene: &Scene<'_>, event: &Event) {
        if let What::Fault { kind: FaultKind::ForeignDelete, .. } = event.what {
            self.0 += u32::from(scene.view.is_due(event.who));
        }
    }

    /// Whether the current change was announced. Consumes the announcement.
    pub(crate) fn take(&mut self) -> bool {
        let is_announced = self.0 > 0;
        self.0 -= u32::from(is_announced);
        is_announced
    }
}
