//! A file of scenarios: first the ensemble that they were recorded on, then one scenario a line.
//!
//! Nothing in them is passed over: a field that is not known here is an error, so that no part of a scenario goes
//! unlooked at. A line that cannot be played is said, and does not keep the others from being played.

use super::expected::Expected;
use super::step::Step;
use super::{check, written};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The ensemble that the scenarios were recorded on.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Meta {
    /// The version of the form.
    pub meta: u32,
    /// How many members it has.
    pub members: usize,
    /// The `tickTime`, in ms. Scenarios count in ticks.
    pub tick_ms: u64,
    /// In how many ticks a follower has to have caught up with a new leader.
    #[serde(rename = "initLimit")]
    pub init_limit: u32,
    /// After how many ticks without a packet followers and leader give each other up.
    #[serde(rename = "syncLimit")]
    pub sync_limit: u32,
    /// A word about it.
    #[serde(default)]
    pub note: String,
}

impl Meta {
    /// The number of microseconds in so many ticks.
    pub fn micros(&self, ticks: f64) -> u64 {
        (ticks * self.tick_ms as f64 * 1000.0).round() as u64
    }

    /// The number of ticks in so many microseconds.
    pub fn ticks(&self, micros: u64) -> f64 {
        micros as f64 / (self.tick_ms as f64 * 1000.0)
    }
}

/// What a run may show, or must not: a value for each of some labels.
pub type Outcome = BTreeMap<String, Expected>;

/// One scenario.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Its number where it was recorded.
    pub n: u32,
    /// What it is called.
    pub id: String,
    /// What it shows.
    pub about: String,
    /// The facts that it bears on.
    pub semantics: String,
    /// What is done.
    pub steps: Vec<Step>,
    /// A run shows one of these.
    pub allowed: Vec<Outcome>,
    /// And none of these.
    pub never: Vec<Outcome>,
    /// Whether it was played on a real ensemble by the same steps.
    pub exec: bool,
    /// How often it was recorded; 0 if that is not said.
    pub runs: u32,
}

/// A scenario as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    #[serde(default)]
    n: u32,
    id: String,
    #[serde(default)]
    about: String,
    #[serde(default)]
    semantics: String,
    steps: Vec<Map<String, Value>>,
    allowed: Vec<Outcome>,
    #[serde(default)]
    never: Vec<Outcome>,
    #[serde(default = "yes")]
    exec: bool,
    #[serde(default)]
    runs: u32,
}

fn yes() -> bool {
    true
}

/// Why a file of scenarios is none, or a line of it no scenario.
#[derive(Debug, thiserror::Error)]
pub enum CaseError {
    /// It cannot be read.
    #[error("cannot read the scenarios in {}: {why}", .file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// Why.
        why: std::io::Error,
    },
    /// The first line does not describe the ensemble.
    #[error("line {line} of {} does not describe the ensemble, as the first one has to: {why}", .file.display())]
    NoMeta {
        /// The file.
        file: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        why: String,
    },
    /// There is no scenario in it.
    #[error("there is no scenario in {}", .0.display())]
    Empty(PathBuf),
    /// A line is not a scenario that can be played.
    #[error("line {line} of {} is not a scenario that can be played: {why}", .file.display())]
    Bad {
        /// The file.
        file: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        why: String,
    },
}

/// A scenario, and where it stands.
#[derive(Clone, Debug)]
pub struct Placed {
    /// The scenario.
    pub scenario: Scenario,
    /// The file.
    pub file: PathBuf,
    /// The line, from 1.
    pub line: usize,
}

/// What a file holds.
#[derive(Debug)]
pub struct Suite {
    /// The ensemble.
    pub meta: Meta,
    /// The scenarios that can be played.
    pub scenarios: Vec<Placed>,
    /// The lines that cannot.
    pub bad: Vec<CaseError>,
}

/// Reads a file of scenarios.
///
/// # Errors
///
/// It cannot be read, does not begin with the ensemble, or holds nothing else. Lines that are no scenarios are told in
/// [`Suite::bad`].
pub fn read(file: &Path) -> Result<Suite, CaseError> {
    let text =
        std::fs::read_to_string(file).map_err(|why| CaseError::Unreadable { file: file.to_owned(), why })?;
    parse_suite(&text, file)
}

/// Reads the text of a file of scenarios; `file` is what to call it.
///
/// # Errors
///
/// As [`read`].
pub fn parse_suite(text: &str, file: &Path) -> Result<Suite, CaseError> {
    let mut lines = (1..).zip(text.lines()).filter(|(_, text)| !text.trim().is_empty());
    let (line, first) = lines.next().ok_or_else(|| CaseError::Empty(file.to_owned()))?;
    let meta = parse_meta(first).map_err(|why| CaseError::NoMeta { file: file.to_owned(), line, why })?;
    let mut suite = Suite { meta, scenarios: Vec::new(), bad: Vec::new() };
    for (line, text) in lines {
        match parse(text, &suite.meta) {
            Ok(scenario) => suite.scenarios.push(Placed { scenario, file: file.to_owned(), line }),
            Err(why) => suite.bad.push(CaseError::Bad { file: file.to_owned(), line, why }),
        }
    }
    if suite.scenarios.is_empty() && suite.bad.is_empty() {
        return Err(CaseError::Empty(file.to_owned()));
    }
    Ok(suite)
}

fn parse_meta(text: &str) -> Result<Meta, String> {
    let meta: Meta = serde_json::from_str(text).map_err(|error| told(&error))?;
    match (meta.members, meta.tick_ms) {
        (0, _) => Err("it has no members".to_owned()),
        (_, 0) => Err("a tick of 0 ms is none".to_owned()),
        _ => Ok(meta),
    }
}

/// Reads one scenario, and sees to it that it can be played on such an ensemble.
///
/// # Errors
///
/// What is wrong with it.
pub fn parse(text: &str, meta: &Meta) -> Result<Scenario, String> {
    let written: Written = serde_json::from_str(text).map_err(|error| told(&error))?;
    let steps = (1..)
        .zip(written.steps)
        .map(|(number, step)| written::step(step).map_err(|why| format!("step {number}: {why}")));
    let scenario = Scenario {
        n: written.n,
        id: written.id,
        about: written.about,
        semantics: written.semantics,
        steps: steps.collect::<Result<_, _>>()?,
        allowed: written.allowed,
        never: written.never,
        exec: written.exec,
        runs: written.runs,
    };
    check::scenario(&scenario, meta)?;
    Ok(scenario)
}

/// What serde says, without the line, which is always the first.
fn told(error: &serde_json::Error) -> String {
    error.to_string().replace(" at line 1 column", ", at column")
}
