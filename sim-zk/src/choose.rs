//! Every decision that is not forced.
//!
//! A run *is* its list of choices; a seed is only a way to make one. The world asks a [`Chooser`] to pick one of `n`
//! alternatives at a named [`Point`]; 0 is always the calm one, so that a list that is too short, or all zeros, is the
//! calm run. Nothing else in the world draws.

use crate::fault::{Fault, InjectionPoint, Victim};
use rand::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// What is being decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Point {
    /// How long a packet is under way: 0 is the calm latency, others grow with the square of the number.
    Latency,
    /// Which fault strikes here: 0 is none.
    Fault(InjectionPoint),
    /// How long a fault lasts, or how long a client waits before it connects again, on a scale of the world's own.
    Duration,
    /// How fast servers are to each other, to their disks and to their trees from here on: 0 is the calm lag.
    Lag,
    /// Which of two things that race comes first.
    Race,
    /// Which server a client tries first, and which way round it goes on.
    Server,
    /// Something that the world does not know: how the user of a client goes on.
    User,
    /// Which of the things under way happens next: 0 is the oldest. Asked in interleaving mode only.
    Next,
}

/// Decides.
pub trait Chooser: Send {
    /// Picks one of `0..n`; `n` is at least 1, and 0 is the calm alternative.
    fn choose(&mut self, point: Point, n: u32) -> u32;

    /// Says whom the choices from here on concern. Who only draws need not know.
    fn about(&mut self, victim: Victim) {
        let _ = victim;
    }

    /// Whether the run is to go on from here. Asked in interleaving mode only, whenever every task waits; `state` says by
    /// a digest where the run has got to.
    fn goes_on(&mut self, state: &mut dyn FnMut() -> u128) -> bool {
        let _ = state;
        true
    }
}

/// Always the calm alternative.
#[derive(Clone, Copy, Debug, Default)]
pub struct Calm;

impl Chooser for Calm {
    fn choose(&mut self, _: Point, _: u32) -> u32 {
        0
    }
}

/// How often each kind of fault strikes where it can, in parts of 2^32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rates([u32; Fault::ALL.len()]);

impl Rates {
    /// No faults.
    pub const NONE: Rates = Rates([0; Fault::ALL.len()]);

    /// The rate of one kind, as a probability.
    #[must_use]
    pub fn with(mut self, fault: Fault, probability: f64) -> Self {
        self.0[fault as usize] = (probability.clamp(0.0, 0.25) * f64::from(u32::MAX)) as u32;
        self
    }

    /// The rate of one kind, as a probability.
    pub fn of(&self, fault: Fault) -> f64 {
        f64::from(self.0[fault as usize]) / f64::from(u32::MAX)
    }
}

/// Draws from a seed.
#[derive(Clone, Debug)]
pub struct Seeded {
    rng: Xoshiro256PlusPlus,
    rates: Rates,
}

impl Seeded {
    /// A chooser whose faults strike at the given rates.
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
            // Multiply and shift: uniform enough for n far below 2^32, and without a division.
            _ => ((u64::from(drawn) * u64::from(n)) >> 32) as u32,
        }
    }
}

/// Follows a recorded list, and is calm after its end.
#[derive(Clone, Debug)]
pub struct Replay {
    choices: std::vec::IntoIter<u16>,
}

impl Replay {
    /// Follows `choices`.
    pub fn new(choices: Vec<u16>) -> Self {
        Replay { choices: choices.into_iter() }
    }
}

impl Chooser for Replay {
    fn choose(&mut self, _: Point, n: u32) -> u32 {
        u32::from(self.choices.next().unwrap_or(0)) % n
    }
}

/// Lets another decide, and remembers.
#[derive(Clone, Debug)]
pub struct Recording<C> {
    inner: C,
    choices: Vec<u16>,
}

impl<C: Chooser> Recording<C> {
    /// Remembers what `inner` decides.
    pub fn new(inner: C) -> Self {
        Recording { inner, choices: Vec::with_capacity(1024) }
    }

    /// What was decided so far.
    pub fn choices(&self) -> &[u16] {
        &self.choices
    }

    /// Who decided, and what.
    pub fn into_parts(self) -> (C, Vec<u16>) {
        (self.inner, self.choices)
    }
}

impl<C: Chooser> Chooser for Recording<C> {
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
        let mut seeded = Recording::new(Seeded::new(7, rates));
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
