//! Choices: every decision of a run that is not forced.
//!
//! A run *is* its list of choices; a seed is only one way to produce the list. The world asks a [`Chooser`] to pick
//! one of `n` alternatives at a named [`Point`]. Alternative 0 is always the fault-free one, so a list that is too
//! short, or all zeros, is the fault-free run. Nothing else in the world draws random numbers.

use crate::fault::{Fault, InjectionPoint, Victim};
use crate::observer::Kind;
use rand::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// The kind of a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Point {
    /// The latency of a packet: 0 is the base latency, larger numbers grow quadratically.
    Latency,
    /// The fault to inject at this injection point: 0 is none.
    Fault(InjectionPoint),
    /// The duration of a fault, or the backoff of a client before it reconnects, on a scale that the world sets.
    Duration,
    /// The lag of server links, disks and apply stages from now on: 0 is the base lag.
    Lag,
    /// The operation of a transaction that is refused: 0 is the first that can be.
    Operation,
    /// The winner of a race between two events.
    Race,
    /// The first server that a client tries, and the direction in which it continues through the list.
    Server,
    /// A decision of client code, about which the world knows nothing.
    User,
    /// The next event among those in flight: 0 is the oldest. Drawn in interleaving mode only.
    Next,
}

/// A source of choices.
pub trait Chooser: Send {
    /// Picks one of `0..n`; `n` is at least 1, and 0 is the fault-free alternative.
    fn choose(&mut self, point: Point, n: u32) -> u32;

    /// Announces the victim of the choices that follow. A chooser that only draws can ignore it.
    fn about(&mut self, victim: Victim) {
        let _ = victim;
    }

    /// Announces the kind of the request of client code that is about to leave: the choice at
    /// [`InjectionPoint::Request`] follows. A chooser that only draws can ignore it.
    fn asks(&mut self, kind: Kind) {
        let _ = kind;
    }

    /// Returns whether the run continues from here. Called in interleaving mode only, whenever every task waits;
    /// `state` computes the fingerprint of the state that the run has reached.
    fn goes_on(&mut self, state: &mut dyn FnMut() -> u128) -> bool {
        let _ = state;
        true
    }
}

/// A chooser that always picks the fault-free alternative.
#[derive(Clone, Copy, Debug, Default)]
pub struct Calm;

impl Chooser for Calm {
    fn choose(&mut self, _: Point, _: u32) -> u32 {
        0
    }
}

/// The probability of each kind of fault per injection point, in units of 2^-32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rates([u32; Fault::ALL.len()]);

impl Rates {
    /// No faults.
    pub const NONE: Rates = Rates([0; Fault::ALL.len()]);

    /// Sets the probability of one kind of fault.
    #[must_use]
    pub fn with(mut self, fault: Fault, probability: f64) -> Self {
        self.0[fault as usize] = (probability.clamp(0.0, 0.25) * f64::from(u32::MAX)) as u32;
        self
    }

    /// Returns the probability of one kind of fault.
    pub fn of(&self, fault: Fault) -> f64 {
        f64::from(self.0[fault as usize]) / f64::from(u32::MAX)
    }
}

/// A chooser that draws from a seed.
#[derive(Clone, Debug)]
pub struct Seeded {
    rng: Xoshiro256PlusPlus,
    rates: Rates,
}

impl Seeded {
    /// Creates a chooser that injects faults at the given rates.
    pub fn new(seed: u64, rates: Rates) -> Self {
        Seeded { rng: Xoshiro256PlusPlus::seed_from_u64(seed), rates }
    }
}

impl Chooser for Seeded {
    fn choose(&mut self, point: Point, n: u32) -> u32 {
        let drawn = self.rng.next_u32();
        match point {
            Point::Fault(injection_point) => {
                let mut sum = 0u32;
                for (index, fault) in (1..).zip(injection_point.faults()) {
                    sum = sum.saturating_add(self.rates.0[*fault as usize]);
                    if drawn < sum {
                        return index;
                    }
                }
                0
            }
            // Multiply and shift is uniform enough for n far below 2^32, and avoids a division.
            _ => ((u64::from(drawn) * u64::from(n)) >> 32) as u32,
        }
    }
}

/// A chooser that replays a recorded list, and is fault-free after its end.
#[derive(Clone, Debug)]
pub struct Replay {
    choices: std::vec::IntoIter<u16>,
}

impl Replay {
    /// Creates a replay of `choices`.
    pub fn new(choices: Vec<u16>) -> Self {
        Replay { choices: choices.into_iter() }
    }
}

impl Chooser for Replay {
    fn choose(&mut self, _: Point, n: u32) -> u32 {
        u32::from(self.choices.next().unwrap_or(0)) % n
    }
}

/// A chooser that records the choices of another one.
#[derive(Clone, Debug)]
pub struct Recorder<C> {
    inner: C,
    choices: Vec<u16>,
}

impl<C: Chooser> Recorder<C> {
    /// Creates a recorder around `inner`.
    pub fn new(inner: C) -> Self {
        Recorder { inner, choices: Vec::with_capacity(1024) }
    }

    /// Returns the choices so far.
    pub fn choices(&self) -> &[u16] {
        &self.choices
    }

    /// Returns the inner chooser and the choices.
    pub fn into_parts(self) -> (C, Vec<u16>) {
        (self.inner, self.choices)
    }
}

impl<C: Chooser> Chooser for Recorder<C> {
    fn choose(&mut self, point: Point, n: u32) -> u32 {
        let choice = self.inner.choose(point, n);
        assert!(choice < n.max(1), "a choice is one of the alternatives");
        self.choices.push(u16::try_from(choice).expect("no point has more than 65,536 alternatives"));
        choice
    }

    fn about(&mut self, victim: Victim) {
        self.inner.about(victim);
    }

    fn goes_on(&mut self, state: &mut dyn FnMut() -> u128) -> bool {
        self.inner.goes_on(state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_is_a_list_of_choices() {
        let rates = Rates::NONE.with(Fault::ReplyLost, 0.2);
        let points = [Point::Latency, Point::Fault(InjectionPoint::Reply), Point::Duration];
        let mut seeded = Recorder::new(Seeded::new(7, rates));
        let first: Vec<u32> = points.iter().cycle().take(300).map(|p| seeded.choose(*p, 100)).collect();
        let mut replay = Replay::new(seeded.choices().to_vec());
        let second: Vec<u32> = points.iter().cycle().take(300).map(|p| replay.choose(*p, 100)).collect();
        assert_eq!(first, second);
        assert_eq!(replay.choose(Point::Latency, 100), 0, "calm after the end");
    }

    #[test]
    fn faults_strike_at_their_rate_and_only_where_they_fit() {
        let mut seeded = Seeded::new(1, Rates::NONE.with(Fault::ReplyLate, 0.1));
        let struck =
            (0..10_000).filter(|_| seeded.choose(Point::Fault(InjectionPoint::Reply), 3) == 2).count();
        assert!((900..1100).contains(&struck), "{struck} of 10,000 at a rate of one in ten");
        assert!((0..10_000).all(|_| seeded.choose(Point::Fault(InjectionPoint::Request), 3) == 0));
    }
}
