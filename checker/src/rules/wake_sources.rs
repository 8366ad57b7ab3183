//! Operations that are idle: nothing of them is on its way, and something has to wake them.

use crate::rules::prelude::*;
use crate::view::{Moment, Phase, Watch};

/// What may wake an operation.
pub(super) enum Source {
    /// It is not idle, or not to be judged.
    Busy,
    /// Something will wake it.
    Adequate,
    /// The client itself until then: it registers its watches again, or repeats what was refused.
    Promised(u64),
    /// Nothing.
    Nothing,
}

/// An operation that is idle, and what its client will do without being woken.
pub(super) struct Idle {
    /// Until when the client has time for it.
    promised: u64,
}

impl Idle {
    /// An open operation that speaks for a session, unless something of it is on its way, or its process or its session
    /// stands still.
    pub(super) fn of(scene: &Scene<'_>, id: OpId, session: Session) -> Option<Idle> {
        let view = scene.view;
        let op = view.op(id);
        let client = view.client(op.client);
        let of = view.session(session);
        let awake = !client.is_dead() && !client.is_paused() && !of.is_suspended && !of.is_over();
        if op.phase != Phase::Open || !awake || op.in_flight > 0 || of.undelivered > 0 {
            return None;
        }
        Some(Idle { promised: op.pauses_until })
    }

    /// A watch that is not armed, but that the client registers again when it is connected.
    pub(super) fn registers(&mut self, scene: &Scene<'_>, watch: &Watch) {
        if !watch.registered {
            return;
        }
        let of = scene.view.session(watch.session);
        let lost = if watch.lost_at == u64::MAX { 0 } else { watch.lost_at };
        let connected = if of.connected.came() { of.connected.at } else { 0 };
        self.promised = self.promised.max(lost.max(connected) + 2 * scene.view.timeout_of(watch.session));
    }

    /// No watch that is armed wakes it.
    pub(super) fn unwatched(self, scene: &Scene<'_>) -> Source {
        if self.promised > scene.at { Source::Promised(self.promised) } else { Source::Nothing }
    }
}

/// What may wake an open operation of a session, if all that counts is a watch that `is_adequate`.
pub(super) fn source(
    scene: &Scene<'_>,
    id: OpId,
    session: Session,
    is_adequate: impl Fn(&Watch) -> bool,
) -> Source {
    let Some(mut idle) = Idle::of(scene, id, session) else { return Source::Busy };
    for watch in scene.view.watches.of(session).iter().filter(|watch| is_adequate(watch)) {
        if watch.armed {
            return Source::Adequate;
        }
        idle.registers(scene, watch);
    }
    idle.unwatched(scene)
}

/// An operation that nothing seems to wake.
#[derive(Clone, Copy)]
pub(super) struct Doubt {
    pub(super) op: OpId,
    /// Where the last source went.
    pub(super) since: Moment,
    /// From when on it is certain.
    due: u64,
    /// Whether it must be looked at again then, since only what the client has yet to do speaks for it.
    pub(super) only_promised: bool,
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
        let since = scene.now();
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

    /// Forgets operations that are over.
    pub(super) fn forget(&mut self, is_over: impl Fn(OpId) -> bool) {
        self.doubts.retain(|doubt| !is_over(doubt.op));
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
