//! The verdict on a promise, or on a run.

use crate::named::named;
use std::fmt;

named! {
    /// The verdict on a promise, or on a run.
    ///
    /// Several verdicts join to the largest: [`Verdict::join`].
    #[derive(Default)]
    pub enum Verdict = "a verdict" {
        /// The promise was never put to the test.
        #[default]
        Vacuous = "vacuous",
        /// The promise was put to the test, and held.
        Pass = "pass",
        /// A breach that no correct program could have avoided.
        Unavoidable = "unavoidable",
        /// Evidence is missing.
        Unknown = "unknown",
        /// The promise was broken.
        Fail = "fail",
    }
}

impl Verdict {
    /// The larger verdict. Associative and commutative, with [`Verdict::Vacuous`] as its neutral element.
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
