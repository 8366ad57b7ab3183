//! Operations that are idle: nothing of them is on its way, and something has to wake them.

use crate::history::{OpId, Session};
use crate::sink::Scene;
use crate::view::{Moment, Phase, Watch};

/// What may wake an operation.
pub(super) enum Source {
    /// It is not idle, or not to be judged.
    Busy,
    /// Something will wake it.
    Adequate,
    /// Watches that the client should register again, until then.
    Promised(u64),
    /// Nothing.
    Nothing,
}

/// What may wake an open operation of a session, if all that counts is a watch that `is_adequate`.
pub(super) fn source(
    scene: &Scene<'_>,
    id: OpId,
    session: Session,
    is_adequate: impl Fn(&Watch) -> bool,
) -> Source {
    let view = scene.view;
    let op = view.op(id);
    let client = view.client(op.client);
    let of = view.session(session);
    let awake = !client.is_dead() && !client.is_paused() && !of.is_suspended && !of.is_over();
    if op.phase != Phase::Open || !awake || op.in_flight > 0 || of.undelivered > 0 {
        return Source::Busy;
    }
    let mut promised = 0;
    for watch in view.watches.of(session).iter().filter(|watch| is_adequate(watch)) {
        if watch.armed {
            return Source::Adequate;
        }
        if watch.registered {
            let lost = if watch.lost_at == u64::MAX { 0 } else { watch.lost_at };
            let connected = if of.connected.came() { of.connected.at } else { 0 };
            promised = promised.max(lost.max(connected) + 2 * view.timeout_of(session));
        }
    }
    if promised > scene.at { Source::Promised(promised) } else { Source::Nothing }
}

/// An operation that nothing seems to wake.
#[derive(Clone, Copy)]
pub(super) struct Doubt {
    pub(super) op: OpId,
    /// Where the last source went.
    pub(super) since: Moment,
    /// From when on it is certain.
    due: u64,
    /// Whether it must be looked at again then, since only a watch to be registered again speaks for it.
    only_promised: bool,
}

/// The operations that nothing seems to wake.
#[derive(Default)]
pub(super) struct Doubts {
    doubts: Vec<Doubt>,
    /// When the first is due.
    due: u64,
}

impl Doubts {
    /// Something has happened that touches an operation. Whether it is idle.
    pub(super) fn look(&mut self, scene: &Scene<'_>, op: OpId, source: &Source) -> bool {
        let at = self.doubts.iter().position(|doubt| doubt.op == op);
        let before = at.map(|at| self.doubts.swap_remove(at));
        let since = Moment { at: scene.at, index: scene.index };
        let doubt = match source {
            Source::Busy => return false,
            Source::Adequate => return true,
            Source::Promised(due) => Doubt { op, since, due: *due, only_promised: true },
            Source::Nothing => match before {
                Some(before) if !before.only_promised => before,
                _ => {
                    let due = scene.at.saturating_add(scene.view.settle);
                    Doubt { op, since, due, only_promised: false }
                }
            },
        };
        self.due = if self.doubts.is_empty() { doubt.due } else { self.due.min(doubt.due) };
        self.doubts.push(doubt);
        true
    }

    /// Those that are certain now, by another look at what may wake them.
    pub(super) fn certain(&mut self, at: u64, source: impl Fn(OpId) -> Source) -> Vec<Doubt> {
        if self.doubts.is_empty() || at <= self.due {
            return Vec::new();
        }
        let (due, kept) = self.doubts.iter().partition::<Vec<Doubt>, _>(|doubt| at > doubt.due);
        self.doubts = kept;
        self.due = self.doubts.iter().map(|doubt| doubt.due).min().unwrap_or(u64::MAX);
        let is_certain = |doubt: &Doubt| !matches!(source(doubt.op), Source::Busy | Source::Adequate);
        due.into_iter().filter(is_certain).collect()
    }
}
