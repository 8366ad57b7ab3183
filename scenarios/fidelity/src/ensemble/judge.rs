//! Compares the results of a run with the allowed and the forbidden outcomes.

use super::expected::{Expected, Results};
use super::scenario::{Outcome, Scenario};
use std::fmt;

/// The verdict of a run.
#[derive(Clone, Debug, PartialEq)]
pub enum RunVerdict {
    /// The allowed outcomes that the run matches, by their indexes.
    Allowed(Vec<usize>),
    /// The run matches no allowed outcome.
    Outside(Outside),
    /// The run matches a forbidden outcome.
    Never(Forbidden),
}

impl RunVerdict {
    /// Whether a real ensemble has shown this.
    pub fn is_allowed(&self) -> bool {
        matches!(self, RunVerdict::Allowed(_))
    }

    /// The verdict in one word.
    pub fn word(&self) -> &'static str {
        match self {
            RunVerdict::Allowed(_) => "allowed",
            RunVerdict::Outside(_) => "outside",
            RunVerdict::Never(_) => "never",
        }
    }
}

impl fmt::Display for RunVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunVerdict::Allowed(_) => f.write_str("it is allowed"),
            RunVerdict::Outside(outside) => outside.fmt(f),
            RunVerdict::Never(forbidden) => forbidden.fmt(f),
        }
    }
}

/// The difference between a run and the nearest allowed outcome.
#[derive(Clone, Debug, PartialEq)]
pub struct Outside {
    /// The outcome, by its index.
    pub nearest: usize,
    /// The number of outcomes.
    pub of: usize,
    /// Every label that differs, its expected value, and its actual value.
    pub differences: Vec<(String, Expected, Option<String>)>,
}

impl fmt::Display for Outside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts = self.differences.iter().map(|(label, expected, told)| {
            format!("{label} should be {expected} and is {}", told.as_deref().unwrap_or("nothing"))
        });
        f.write_str(&texts.collect::<Vec<_>>().join("; "))?;
        match self.of {
            1 => Ok(()),
            of => write!(f, " (by the nearest of {of} outcomes, the one at place {})", self.nearest + 1),
        }
    }
}

/// A forbidden outcome that occurred.
#[derive(Clone, Debug, PartialEq)]
pub struct Forbidden {
    /// The outcome, by its index.
    pub place: usize,
    /// Its values.
    pub outcome: Outcome,
}

impl fmt::Display for Forbidden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts = self.outcome.iter().map(|(label, expected)| format!("{label} {expected}"));
        write!(f, "there must never be {}", texts.collect::<Vec<_>>().join(" with "))
    }
}

/// Judges a run. Forbidden outcomes come first: a run can match an allowed outcome in some labels and a forbidden one
/// in others.
pub fn judge(scenario: &Scenario, results: &Results) -> RunVerdict {
    if let Some((place, outcome)) = find(&scenario.never, results) {
        return RunVerdict::Never(Forbidden { place, outcome: outcome.clone() });
    }
    let matched: Vec<usize> = places(&scenario.allowed, results).collect();
    if !matched.is_empty() {
        return RunVerdict::Allowed(matched);
    }
    let all = (0..).zip(&scenario.allowed).map(|(place, outcome)| (place, differences(outcome, results)));
    let (nearest, differences) =
        all.min_by_key(|(_, differences)| differences.len()).expect("a scenario allows something");
    RunVerdict::Outside(Outside { nearest, of: scenario.allowed.len(), differences })
}

fn find<'a>(outcomes: &'a [Outcome], results: &Results) -> Option<(usize, &'a Outcome)> {
    places(outcomes, results).next().map(|place| (place, &outcomes[place]))
}

fn places(outcomes: &[Outcome], results: &Results) -> impl Iterator<Item = usize> {
    let matches =
        |outcome: &Outcome| outcome.iter().all(|(label, expected)| expected.matches(results.get(label)));
    (0..).zip(outcomes).filter(move |(_, outcome)| matches(outcome)).map(|(place, _)| place)
}

fn differences(outcome: &Outcome, results: &Results) -> Vec<(String, Expected, Option<String>)> {
    let differs = |(label, expected): (&String, &Expected)| {
        let told = results.get(label);
        let difference = || (label.clone(), expected.clone(), told.map(ToString::to_string));
        (!expected.matches(told)).then(difference)
    };
    outcome.iter().filter_map(differs).collect()
}
