//! The verdict on a promise, or on a run.

use std::fmt;

/// What was found out about a promise, or about a run.
///
/// The verdict of several is the largest: [`Verdict::join`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// The promise was never put to the test.
    #[default]
    Vacuous,
    /// It was, at least once, and held.
    Pass,
    /// Something happened that no correct program could have avoided.
    Inherent,
    /// Evidence is missing.
    Unknown,
    /// The promise was broken.
    Fail,
}

impl Verdict {
    /// The larger one. Associative and commutative; [`Verdict::Vacuous`] changes nothing.
    #[must_use]
    pub fn join(self, other: Verdict) -> Verdict {
        self.max(other)
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Verdict::Vacuous => "vacuous",
            Verdict::Pass => "pass",
            Verdict::Inherent => "inherent",
            Verdict::Unknown => "unknown",
            Verdict::Fail => "fail",
        })
    }
}
