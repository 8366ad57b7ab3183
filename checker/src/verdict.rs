//! The verdict on a promise, or on a run.

use crate::named::named;
use std::fmt;

named! {
    /// What was found out about a promise, or about a run.
    ///
    /// The verdict of several is the largest: [`Verdict::join`].
    #[derive(Default)]
    pub enum Verdict = "a verdict" {
        /// The promise was never put to the test.
        #[default]
        Vacuous = "vacuous",
        /// It was, at least once, and held.
        Pass = "pass",
        /// Something happened that no correct program could have avoided.
        Unavoidable = "unavoidable",
        /// Evidence is missing.
        Unknown = "unknown",
        /// The promise was broken.
        Fail = "fail",
    }
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
        f.pad(self.name())
    }
}
