//! Durations of steps that are no part of a recipe.

use std::time::Duration;

/// Durations of steps. Real ensembles on a busy machine need other values than simulated ones.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// The shortest pause between two rounds.
    pub think: Duration,
    /// The shortest pause between two writes of a holder.
    pub work: Duration,
    /// The time that a write takes to reach the resource.
    pub write: Duration,
    /// The time limit of an impatient operation.
    pub limit: Duration,
    /// Whether time is real.
    is_real: bool,
}

impl Pace {
    /// For the simulation: a hold is some hundred milliseconds, a session several seconds.
    pub const SIMULATED: Pace = Pace {
        think: Duration::from_millis(10),
        work: Duration::from_millis(30),
        write: Duration::from_millis(5),
        limit: Duration::from_millis(400),
        is_real: false,
    };

    /// For a nearby real server: it answers in about a millisecond.
    pub const REAL: Pace = Pace {
        think: Duration::from_millis(1),
        work: Duration::from_millis(1),
        write: Duration::from_millis(1),
        limit: Duration::from_millis(20),
        is_real: true,
    };

    /// Whether time is real.
    pub fn is_real(self) -> bool {
        self.is_real
    }
}
