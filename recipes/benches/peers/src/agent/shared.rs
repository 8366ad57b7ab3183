//! What the peers in Rust measure alike.

use super::Measured;
use crate::clock::{micros, now};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// The hand-overs of a lock: from the call of a release until the next holder has it.
#[derive(Default)]
pub struct HandOvers {
    inside: AtomicUsize,
    violations: AtomicUsize,
    seen: Mutex<(Option<Instant>, Vec<f64>)>,
}

impl HandOvers {
    /// A client holds the lock.
    pub fn entered(&self) {
        let at = now();
        if self.inside.fetch_add(1, Ordering::SeqCst) != 0 {
            self.violations.fetch_add(1, Ordering::SeqCst);
        }
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(released) = seen.0.take() {
            seen.1.push(micros(released, at));
        }
    }

    /// The holder is about to release.
    pub fn leaving(&self) {
        self.inside.fetch_sub(1, Ordering::SeqCst);
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).0 = Some(now());
    }

    /// What was measured since the last call, for that many operations.
    pub fn take(&self, ops: usize) -> Measured {
        let (_, latencies) = std::mem::take(&mut *self.seen.lock().unwrap_or_else(PoisonError::into_inner));
        let violations = self.violations.swap(0, Ordering::SeqCst);
        Measured::of("hand-over", latencies).violations(violations).whole(ops)
    }
}

impl Measured {
    /// The rate over the measured latencies stays; requests are counted for all operations.
    fn whole(mut self, ops: usize) -> Measured {
        if self.ops > 0 {
            self.seconds *= ops as f64 / self.ops as f64;
        }
        self.ops = ops;
        self
    }
}

/// The slowest participant of each round, by step.
pub struct Rounds {
    steps: Vec<Mutex<Vec<f64>>>,
}

impl Rounds {
    pub fn new(steps: usize, rounds: usize) -> Rounds {
        Rounds { steps: (0..steps).map(|_| Mutex::new(vec![0.0; rounds])).collect() }
    }

    /// A participant took that long in a round's step.
    pub fn took(&self, step: usize, round: usize, latency: f64) {
        let mut slowest = self.steps[step].lock().unwrap_or_else(PoisonError::into_inner);
        slowest[round] = slowest[round].max(latency);
    }

    /// The slowest of each round.
    pub fn of(&self, step: usize) -> Vec<f64> {
        self.steps[step].lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
