//! A file of scenarios: first the ensemble on which they were recorded, then one scenario per line.
//!
//! An unknown field is an error, so that no part of a scenario is ignored. A line that cannot be played is reported,
//! and the others are played.

use super::scenario::{Meta, Outcome, Scenario};
use super::{check, written};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};

/// A scenario in its written form.
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

/// Why a file of scenarios, or a line of it, cannot be used.
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
        /// The mistake.
        why: String,
    },
    /// The file has no scenario.
    #[error("there is no scenario in {}", .0.display())]
    Empty(PathBuf),
    /// A line is not a scenario that can be played.
    #[error("line {line} of {} is not a scenario that can be played: {why}", .file.display())]
    Bad {
        /// The file.
        file: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The mistake.
        why: String,
    },
}

/// A scenario, with its file and line.
#[derive(Clone, Debug)]
pub struct Placed {
    /// The scenario.
    pub scenario: Scenario,
    /// The file.
    pub file: PathBuf,
    /// The line, from 1.
    pub line: usize,
}

/// The content of a file.
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
/// The file cannot be read, does not begin with the ensemble, or has no scenarios. Lines that are no scenarios are
/// listed in [`Suite::bad`].
pub fn read(file: &Path) -> Result<Suite, CaseError> {
    let text =
        std::fs::read_to_string(file).map_err(|why| CaseError::Unreadable { file: file.to_owned(), why })?;
    parse_suite(&text, file)
}

/// Reads the text of a file of scenarios; `file` is its name in errors.
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
        (_, 0) => Err("a tick must be longer than 0 ms".to_owned()),
        _ => Ok(meta),
    }
}

/// Reads one scenario, and checks that it can be played on such an ensemble.
///
/// # Errors
///
/// The mistake.
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

/// The message of serde, without the line, which is always the first.
fn told(error: &serde_json::Error) -> String {
    error.to_string().replace(" at line 1 column", ", at column")
}
