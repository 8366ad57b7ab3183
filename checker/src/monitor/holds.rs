//! Locks, shared locks, semaphores, terms of office: whether holds meet that exclude each other.
//!
//! The *core* of a hold lasts from the return of its acquire to the call of its release, without end if there is none: the
//! object was held throughout. So cores that exclude each other must not meet. That is also enough: let each acquire take
//! effect at its return and each release at its call, and forget the acquires that never returned.

use super::breach::in_order;
use super::{Breach, Certificate, Judged, Monitor, Number, Operations, Step, Wrong};
use crate::history::Share;
use std::collections::BTreeMap;

/// What is asked of something that can be held. One process asks for one thing after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Locking {
    /// To hold it. Re-entrant: increments the depth.
    Acquire {
        /// How it gets on with others.
        share: Share,
        /// The fencing token that came with it, or zero.
        token: u64,
    },
    /// To give it back; the last of several that lie in each other ends the hold.
    Release,
}

impl Locking {
    /// To hold it alone.
    pub const EXCLUSIVE: Locking = Locking::Acquire { share: Share::Exclusive, token: 0 };
    /// To hold it as a reader, or one of so many permits.
    pub const SHARED: Locking = Locking::Acquire { share: Share::Shared, token: 0 };
}

/// Judges holds. Exclusive ones exclude all others; so many shared ones may be at once.
///
/// Where tokens are told, each must be larger than those of earlier holds that excluded it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holds {
    /// How many shared holds there may be at once.
    pub at_once: u32,
}

impl Holds {
    /// Of a lock, of a lock with readers and writers, of an office.
    pub const LOCK: Holds = Holds { at_once: u32::MAX };

    /// Of so many permits, each a shared hold.
    pub fn semaphore(permits: u32) -> Holds {
        Holds { at_once: permits }
    }
}

/// What a process holds.
#[derive(Clone, Copy)]
struct Held {
    depth: u32,
    share: Share,
    /// Its place among those that hold like it.
    place: u32,
}

/// Who holds, kind by kind, so that a conflict is seen at a glance.
#[derive(Default)]
struct Holders {
    exclusive: Vec<(Number, u32)>,
    shared: Vec<(Number, u32)>,
}

impl Holders {
    fn of(&mut self, share: Share) -> &mut Vec<(Number, u32)> {
        if share == Share::Exclusive { &mut self.exclusive } else { &mut self.shared }
    }

    /// Somebody that excludes a new one.
    fn against(&self, share: Share) -> Option<Number> {
        let shared = if share == Share::Exclusive { self.shared.last() } else { None };
        self.exclusive.last().or(shared).map(|(acquire, _)| *acquire)
    }
}

/// The largest token so far, and whose it was.
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
                        // One that never returned need not have happened.
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
    // A release in a gap comes before an acquire in it: the one was called where the gap begins, the other
    // returned where it ends.
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
