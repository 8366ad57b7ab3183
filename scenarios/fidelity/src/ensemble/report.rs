//! What many runs of a scenario showed: a table for eyes, or lines of JSON.

use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;

/// What the runs of a scenario came to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// What kind of line this is.
    pub kind: &'static str,
    /// The scenario's number.
    pub n: u32,
    /// What it is called.
    pub id: String,
    /// What it shows.
    pub about: String,
    /// `pass`, `fail`, or `vacuous` if there were no runs.
    pub verdict: &'static str,
    /// How many runs there were.
    pub runs: u64,
    /// What they showed, in the order of the first seeds.
    pub shown: Vec<Shown>,
    /// Those which could not be played to their end.
    pub stuck: Vec<StuckRuns>,
    /// What is allowed, and no run has shown.
    pub unreached: Vec<Unreached>,
}

impl Report {
    /// Whether every run came to its end and showed what is allowed.
    pub fn passes(&self) -> bool {
        self.verdict == "pass"
    }
}

/// Runs that showed the same.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Shown {
    /// How many.
    pub runs: u64,
    /// The first of their seeds.
    pub first_seed: u64,
    /// `allowed`, `outside` or `never`.
    pub verdict: &'static str,
    /// What is wrong with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// What they showed, as far as the scenario judges by it.
    pub results: BTreeMap<String, String>,
}

/// Runs that could not be played to their end, for the same reason.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StuckRuns {
    /// How many.
    pub runs: u64,
    /// The first of their seeds.
    pub first_seed: u64,
    /// Why.
    pub why: String,
}

/// What is allowed, and no run has shown.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Unreached {
    /// The allowed outcome, by its place from 1.
    pub outcome: usize,
    /// Of that outcome, this label; or the whole of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// What it says.
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
