//! Locks, shared locks, semaphores, terms of office: whether holds overlap that exclude each other.
//!
//! The *core* of a hold lasts from the return of its acquire to the call of its release, without end if there is none:
//! the object was held throughout. So cores that exclude each other must not overlap. That is also sufficient: let each
//! acquire take effect at its return and each release at its call, and ignore the acquires that never returned.

use super::breach::in_order;
use super::{Breach, Certificate, Judged, Monitor, Number, Operations, Step, Wrong};
use crate::history::Share;
use std::collections::BTreeMap;

/// An action on an object that can be held. A process asks for one thing at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Locking {
    /// Acquires the hold. Re-entrant: increments the depth.
    Acquire {
        /// Whether it excludes other holds.
        share: Share,
        /// The fencing token that came with it, or zero.
        token: u64,
    },
    /// Releases the hold. The outermost of several nested releases ends it.
    Release,
}

impl Locking {
    /// Acquires an exclusive hold.
    pub const EXCLUSIVE: Locking = Locking::Acquire { share: Share::Exclusive, token: 0 };
    /// Acquires a reader's hold, or one permit of a semaphore.
    pub const SHARED: Locking = Locking::Acquire { share: Share::Shared, token: 0 };
}

/// Judges holds. An exclusive hold excludes all others; `at_once` shared ones may overlap.
///
/// If tokens are recorded, each must be larger than those of earlier holds that excluded it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holds {
    /// The maximal number of simultaneous shared holds.
    pub at_once: u32,
}

impl Holds {
    /// A lock, a lock with readers and writers, a term of office.
    pub const LOCK: Holds = Holds { at_once: u32::MAX };

    /// A semaphore with this number of permits, each a shared hold.
    pub fn semaphore(permits: u32) -> Holds {
        Holds { at_once: permits }
    }
}

/// The hold of a process.
#[derive(Clone, Copy)]
struct Held {
    depth: u32,
    share: Share,
    /// Its index among the holds of its kind.
    place: u32,
}

/// The current holders by kind, so that finding a conflict takes constant time.
#[derive(Default)]
struct Holders {
    exclusive: Vec<(Number, u32)>,
    shared: Vec<(Number, u32)>,
}

impl Holders {
    fn of(&mut self, share: Share) -> &mut Vec<(Number, u32)> {
        if share == Share::Exclusive { &mut self.exclusive } else { &mut self.shared }
    }

    /// A holder that excludes a new one.
    fn against(&self, share: Share) -> Option<Number> {
        let shared = if share == Share::Exclusive { self.shared.last() } else { None };
        self.exclusive.last().or(shared).map(|(acquire, _)| *acquire)
    }
}

/// The largest token so far, with its acquire.
#[derive(Clone, Copy)]
struct Largest(u64, Number);

impl Largest {
    fn take_in(&mut self, token: u64, acquire: Number) {
        if token > self.0 {
            *self = Largest(token, acquire);
        }
    }
}

impl Monitor for Holds {
    type Action = Locking;

    fn judge(&self, history: &Operations<Locking>) -> Judged {
        let mut breaches = Vec::new();
        let (processes, ids) = super::values::dense(history, |operation| Some(operation.process));
        let mut held = vec![Held { depth: 0, share: Share::Shared, place: 0 }; processes];
        let mut holders = Holders::default();
        let (mut by_all, mut by_exclusive) = (Largest(0, Number::NONE), Largest(0, Number::NONE));
        for (at, step) in history.steps().enumerate() {
            let (Step::Call(number) | Step::Return(number)) = step else { continue };
            let process = ids.of(number, history[number].process);
            let mut wrong = |wrong| breaches.push(Breach { at: at as u32, wrong });
            match (step, history[number].action) {
                (Step::Return(acquire), Locking::Acquire { share, token }) => {
                    held[process].depth += 1;
                    if held[process].depth > 1 {
                        continue;
                    }
                    if let Some(first) = holders.against(share) {
                        wrong(Wrong::Together { first, second: acquire });
                    }
                    let list = holders.of(share);
                    (held[process].share, held[process].place) = (share, list.len() as u32);
                    list.push((acquire, process as u32));
                    if share == Share::Shared && list.len() > self.at_once as usize {
                        wrong(Wrong::TooMany { acquire });
                    }
                    let before = if share == Share::Exclusive { by_all } else { by_exclusive };
                    if token != 0 && token <= before.0 {
                        wrong(Wrong::Token { first: before.1, second: acquire });
                    }
                    by_all.take_in(token, acquire);
                    if share == Share::Exclusive {
                        by_exclusive.take_in(token, acquire);
                    }
                }
                (Step::Call(release), Locking::Release) => {
                    let Held { depth, share, place } = held[process];
                    if depth == 0 {
                        // A release that never returned need not have happened.
                        if history[release].is_done() {
                            wrong(Wrong::NotHeld { release });
                        }
                        continue;
                    }
                    held[process].depth -= 1;
                    if depth == 1 {
                        let list = holders.of(share);
                        list.swap_remove(place as usize);
                        if let Some((_, moved)) = list.get(place as usize) {
                            held[*moved as usize].place = place;
                        }
                    }
                }
                _ => {}
            }
        }
        Judged::of(history, breaches)
    }

    fn certify(&self, history: &Operations<Locking>, judged: &Judged) -> Certificate {
        judged.proof(|_| Vec::new(), || order(history))
    }
}

/// An order of effects of a history without a breach.
fn order(history: &Operations<Locking>) -> Certificate {
    // A release comes before an acquire in the same gap: the release was called at the start of the gap, and the
    // acquire returned at its end.
    let mut depth: BTreeMap<u32, u32> = BTreeMap::new();
    let effects = history.steps().filter_map(|step| {
        let (Step::Call(number) | Step::Return(number)) = step else { return None };
        let operation = &history[number];
        let depth = depth.entry(operation.process).or_default();
        match (step, operation.action) {
            (Step::Return(_), Locking::Acquire { .. }) => {
                *depth += 1;
                Some((operation.returned - 1, 1, number))
            }
            (Step::Call(_), Locking::Release) if *depth > 0 => {
                *depth -= 1;
                Some((operation.called, 0, number))
            }
            _ => None,
        }
    });
    in_order(effects.collect())
}
