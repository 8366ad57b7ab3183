//! Deletes that somebody announces as foreign acts.

use crate::rules::prelude::*;

/// Announcements whose delete was not seen yet, where the session that makes it does not tell that it is foreign.
#[derive(Clone, Debug, Default)]
pub(crate) struct Announced(u32);

impl Announced {
    /// Takes an announcement in.
    pub(crate) fn hears(&mut self, scene: &Scene<'_>, event: &Event) {
        if let What::Fault { kind: FaultKind::ForeignDelete, .. } = event.what {
            self.0 += u32::from(scene.view.is_due(event.who));
        }
    }

    /// Whether the current change was announced. Each announcement is for one change.
    pub(crate) fn take(&mut self) -> bool {
        let is_announced = self.0 > 0;
        self.0 -= u32::from(is_announced);
        is_announced
    }
}
