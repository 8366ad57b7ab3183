//! The results of many runs of a scenario: a table, or lines of JSON.

use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;

/// The results of a scenario's runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// The kind of this line.
    pub kind: &'static str,
    /// The scenario's number.
    pub n: u32,
    /// Its name.
    pub id: String,
    /// What it shows.
    pub about: String,
    /// `pass`, `fail`, or `vacuous` if there were no runs.
    pub verdict: &'static str,
    /// The number of runs.
    pub runs: u64,
    /// The results, in the order of their first seeds.
    pub shown: Vec<Shown>,
    /// The runs that could not be played to their end.
    pub stuck: Vec<StuckRuns>,
    /// Allowed outcomes that no run has shown.
    pub unreached: Vec<Unreached>,
}

impl Report {
    /// Whether every run finished and showed an allowed outcome.
    pub fn passes(&self) -> bool {
        self.verdict == "pass"
    }
}

/// Runs with the same results.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Shown {
    /// Their number.
    pub runs: u64,
    /// The first of their seeds.
    pub first_seed: u64,
    /// `allowed`, `outside` or `never`.
    pub verdict: &'static str,
    /// The reason, unless it is allowed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The results on which the scenario's verdict depends.
    pub results: BTreeMap<String, String>,
}

/// Runs that could not be played to their end, for the same reason.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StuckRuns {
    /// Their number.
    pub runs: u64,
    /// The first of their seeds.
    pub first_seed: u64,
    /// The reason.
    pub why: String,
}

/// An allowed outcome that no run has shown.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Unreached {
    /// The allowed outcome, by its index from 1.
    pub outcome: usize,
    /// The label within that outcome; `None` for the whole outcome.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Its value.
    pub what: String,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Report { verdict, id, about, runs, .. } = self;
        writeln!(f, "{verdict:<7} {id}: {runs} runs\n        {about}")?;
        for Shown { runs, first_seed, verdict, why, results } in &self.shown {
            let texts: Vec<String> = results.iter().map(|(label, told)| format!("{label} {told}")).collect();
            writeln!(f, "  {runs:>6}  {verdict:<8} from seed {first_seed:<6} {}", texts.join(", "))?;
            if let Some(why) = why {
                writeln!(f, "                  {why}")?;
            }
        }
        for StuckRuns { runs, first_seed, why } in &self.stuck {
            writeln!(f, "  {runs:>6}  stuck    from seed {first_seed:<6} {why}")?;
        }
        for Unreached { outcome, label, what } in &self.unreached {
            match label {
                Some(label) => writeln!(f, "       0  allowed  at place {outcome}: {label} {what}")?,
                None => writeln!(f, "       0  allowed  at place {outcome}: {what}")?,
            }
        }
        Ok(())
    }
}
