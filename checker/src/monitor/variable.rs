//! A variable into which each value is written once: the zones in which each value is current.
//!
//! For each value, f is the first return of its write and of its reads, and s the last call. If f comes before s, the
//! value is current from f to s: a *forward* zone. Otherwise it may be current only at one instant between s and f: a
//! *backward* zone. A history is explainable unless a read returned before its write was called, a read value was never
//! written, two forward zones overlap, or a backward zone lies within a forward one (Gibbons, Korach: Testing shared
//! memories, SIAM J. Comput. 1997).
//!
//! Overlapping and nested zones have one form: a forward zone begins before another one's s, and ends after its f.

use super::breach::in_order;
use super::values::dense;
use super::{Breach, Certificate, Judged, Monitor, Number, Operation, Operations, PENDING, Wrong};

/// An action on a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Register {
    /// Writes a value. No value is written twice.
    Write(u32),
    /// Reads the current value, or `None` for the initial one. The result of a read that has not returned is unknown,
    /// and does not matter.
    Read(Option<u32>),
}

/// Judges variables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Variable;

/// The zone of a value. Positions count from one: the initial value was written at zero.
#[derive(Clone, Copy)]
struct Zone {
    /// f, and the operation that returned there.
    first: (u32, Number),
    /// s, and the operation called there.
    last: (u32, Number),
    write: Number,
    write_called: u32,
}

impl Zone {
    const NONE: Zone = Zone {
        first: (PENDING, Number::NONE),
        last: (0, Number::NONE),
        write: Number::NONE,
        write_called: PENDING,
    };

    fn is_forward(&self) -> bool {
        self.first.0 < self.last.0
    }

    fn take_in(&mut self, number: Number, operation: &Operation<Register>) {
        let returned = if operation.is_done() { operation.returned + 1 } else { PENDING };
        self.first = self.first.min((returned, number));
        self.last = self.last.max((operation.called + 1, number));
    }

    fn first_number(&self) -> Option<Number> {
        Some(self.first.1).filter(|number| *number != Number::NONE)
    }
}

/// The zones of a history.
struct Zones {
    /// By value, the initial one first.
    zones: Vec<Zone>,
    /// Forward zones by f: f, s, and the zone.
    forward: Vec<(u32, u32, u32)>,
    breaches: Vec<Breach>,
    ids: super::values::Ids,
}

fn value_of(operation: &Operation<Register>) -> Option<u32> {
    match operation.action {
        Register::Write(value) => Some(value),
        Register::Read(value) => value.filter(|_| operation.is_done()),
    }
}

impl Zones {
    /// `None` if a value is written twice.
    fn of(history: &Operations<Register>) -> Option<Zones> {
        let (values, ids) = dense(history, value_of);
        let mut zones = vec![Zone::NONE; values + 1];
        zones[0].first = (0, Number::NONE);
        let mut breaches = Vec::new();
        for (number, operation) in history.iter() {
            match operation.action {
                Register::Write(value) => {
                    let zone = &mut zones[ids.of(number, value) + 1];
                    if zone.write != Number::NONE {
                        return None;
                    }
                    (zone.write, zone.write_called) = (number, operation.called);
                    zone.take_in(number, operation);
                }
                Register::Read(value) if operation.is_done() => {
                    zones[value.map_or(0, |value| ids.of(number, value) + 1)].take_in(number, operation);
                }
                Register::Read(_) => {}
            }
        }
        // Reads that returned before the call of their write are found once all writes are known.
        if zones[1..].iter().any(|zone| zone.first.0 < zone.write_called.saturating_add(1)) {
            for (number, operation) in history.iter().filter(|(_, operation)| operation.is_done()) {
                if let Register::Read(Some(value)) = operation.action
                    && operation.returned < zones[ids.of(number, value) + 1].write_called
                {
                    let at = operation.returned;
                    breaches.push(Breach { at, wrong: Wrong::Invented { get: number } });
                }
            }
        }
        let is_forward = |(_, zone): &(usize, &Zone)| zone.is_forward() && zone.is_written();
        let forward = zones.iter().enumerate().filter(is_forward);
        let mut forward: Vec<_> = forward.map(|(at, zone)| (zone.first.0, zone.last.0, at as u32)).collect();
        forward.sort_unstable();
        let mut all = Zones { zones, forward, breaches, ids };
        all.find_overlaps();
        all.find_nested();
        Some(all)
    }

    /// Finds forward zones that overlap: compares each with the longest-lasting one before it.
    fn find_overlaps(&mut self) {
        let mut longest: Option<(u32, u32)> = None;
        for (first, last, at) in &self.forward {
            if let Some((end, before)) = longest
                && *first < end
            {
                let breach = between(&self.zones[before as usize], &self.zones[*at as usize]);
                self.breaches.push(breach);
            }
            longest = longest.max(Some((*last, *at)));
        }
    }

    /// Backward zones within a forward one.
    fn find_nested(&mut self) {
        let mut longest = self.forward.clone();
        for at in 1..longest.len() {
            if longest[at - 1].1 > longest[at].1 {
                (longest[at].1, longest[at].2) = (longest[at - 1].1, longest[at - 1].2);
            }
        }
        for zone in self.zones.iter().filter(|zone| zone.is_written() && !zone.is_forward()) {
            let began = longest.partition_point(|(first, ..)| *first < zone.last.0);
            if let Some((_, end, around)) = began.checked_sub(1).map(|at| longest[at])
                && zone.first.0 < end
            {
                self.breaches.push(between(&self.zones[around as usize], zone));
            }
        }
    }

    /// The forward zone that covers a gap, if there is one.
    fn standing(&self, gap: u32) -> Option<&Zone> {
        let began = self.forward.partition_point(|(first, ..)| *first <= gap);
        let zone = began.checked_sub(1).map(|at| &self.zones[self.forward[at].2 as usize]);
        zone.filter(|zone| gap < zone.last.0)
    }
}

impl Zone {
    /// Whether the value exists: it was written, or it is the initial value and was read.
    fn is_written(&self) -> bool {
        let is_initial = self.first == (0, Number::NONE);
        is_initial && self.last.1 != Number::NONE || self.write != Number::NONE
    }
}

fn between(one: &Zone, other: &Zone) -> Breach {
    let wrong =
        Wrong::Between { one: (one.first_number(), one.last.1), other: (other.first_number(), other.last.1) };
    // The breach shows once one value is current, and the other is current before or after.
    let shows = |zone: &Zone| zone.first.0.max(zone.last.0);
    Breach { at: shows(one).max(shows(other)) - 1, wrong }
}

impl Monitor for Variable {
    type Action = Register;

    fn judge(&self, history: &Operations<Register>) -> Judged {
        match Zones::of(history) {
            Some(zones) => Judged::of(history, zones.breaches),
            None => Judged::unknown("a value is written twice"),
        }
    }

    fn certify(&self, history: &Operations<Register>, judged: &Judged) -> Certificate {
        let order = || Zones::of(history).map_or(Certificate::Nothing, |all| order(history, &all));
        judged.proof(|_| Vec::new(), order)
    }
}

/// The order within one gap: reads of the current value, backward zones one by one, the value that begins.
const STANDS: u8 = 0;
const ALONE: u8 = 1;
const BEGINS: u8 = 2;

/// An order of effects of a history without a breach.
fn order(history: &Operations<Register>, all: &Zones) -> Certificate {
    let effects = history.iter().filter_map(|(number, operation)| {
        let (value, is_read) = match operation.action {
            Register::Write(value) => (all.ids.of(number, value) + 1, false),
            Register::Read(_) if !operation.is_done() => return None,
            Register::Read(value) => (value.map_or(0, |value| all.ids.of(number, value) + 1), true),
        };
        let zone = &all.zones[value];
        if zone.first.0 == PENDING {
            // A write that never returned, and whose value was never read.
            return None;
        }
        // Gaps count from one here, too.
        let (gap, place) = if !zone.is_forward() {
            (all.standing(zone.last.0).map_or(zone.last.0, |around| around.last.0), ALONE)
        } else if is_read && operation.called + 1 >= zone.first.0 {
            (operation.called + 1, STANDS)
        } else {
            (zone.first.0 - 1, BEGINS)
        };
        Some((gap - 1, (place, value, is_read), number))
    });
    in_order(effects.collect())
}
