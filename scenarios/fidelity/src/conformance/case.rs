//! A recorded case: steps, and the real server's behaviour at each.
//!
//! Cases are JSON, one per line. An unknown field is an error, so that no part of an expectation is ignored.

use crate::exchange::form::{Expect, Request};
use crate::exchange::wire;
use serde::Deserialize;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// One case.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// Its number in the recording.
    #[serde(default)]
    pub n: u32,
    /// Its name.
    pub id: String,
    /// What it shows.
    #[serde(default)]
    pub about: String,
    /// The name of the server's configuration.
    pub config: String,
    /// Whether the server has to be empty and unused.
    #[serde(default)]
    pub fresh: bool,
    /// Whether, or how, the real server itself is nondeterministic.
    #[serde(default)]
    pub race: Option<Race>,
    /// The steps.
    pub steps: Vec<Request>,
    /// The expected result of each step.
    pub expect: Vec<Expect>,
    /// How often it was recorded.
    #[serde(default)]
    pub runs: u32,
}

/// Whether, or how, the real server itself is nondeterministic.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Race {
    /// Whether it is.
    Whether(bool),
    /// The description of how.
    How(String),
}

impl Case {
    /// Whether the real server itself is nondeterministic.
    pub fn is_race(&self) -> bool {
        self.race.as_ref().is_some_and(|race| !matches!(race, Race::Whether(false)))
    }

    /// Whether one of its steps stops the server and starts it again.
    pub fn restarts(&self) -> bool {
        self.steps.iter().any(|step| step.op == "restart_server")
    }
}

/// Why a file of cases cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CaseError {
    /// It cannot be read.
    #[error("cannot read the cases in {}: {why}", .file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// Why.
        why: std::io::Error,
    },
    /// The file has no cases.
    #[error("there is no case in {}", .0.display())]
    Empty(PathBuf),
    /// A line is not a case.
    #[error("line {line} of {} is not a case: {why}", .file.display())]
    Bad {
        /// The file.
        file: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The mistake.
        why: String,
    },
}

/// A case, with its file and line.
#[derive(Clone, Debug)]
pub struct Placed {
    /// The case.
    pub case: Case,
    /// The file.
    pub file: PathBuf,
    /// The line, from 1.
    pub line: usize,
}

/// The content of a file of recorded behaviour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Cases.
    Cases,
    /// Scenarios of an ensemble, after a first line that describes the ensemble.
    Scenarios,
}

/// Returns the content of a file, by its first line.
///
/// # Errors
///
/// The file cannot be read.
pub fn content(file: &Path) -> Result<Content, CaseError> {
    let text = text(file)?;
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let first: Option<serde_json::Value> = serde_json::from_str(first).ok();
    let is_meta = first.is_some_and(|line| line.get("meta").is_some());
    Ok(if is_meta { Content::Scenarios } else { Content::Cases })
}

fn text(file: &Path) -> Result<String, CaseError> {
    std::fs::read_to_string(file).map_err(|why| CaseError::Unreadable { file: file.to_owned(), why })
}

/// Reads a file of cases.
///
/// # Errors
///
/// The first line that is not a case, and the reason.
pub fn read(file: &Path) -> Result<Vec<Placed>, CaseError> {
    let text = text(file)?;
    let mut cases = Vec::new();
    for (line, text) in (1..).zip(text.lines()).filter(|(_, text)| !text.trim().is_empty()) {
        let case = parse(text).map_err(|why| CaseError::Bad { file: file.to_owned(), line, why })?;
        cases.push(Placed { case, file: file.to_owned(), line });
    }
    if cases.is_empty() { Err(CaseError::Empty(file.to_owned())) } else { Ok(cases) }
}

/// Reads one case, and checks that it can be played.
///
/// # Errors
///
/// The mistake.
pub fn parse(text: &str) -> Result<Case, String> {
    let case: Case = serde_json::from_str(text)
        .map_err(|error| error.to_string().replace(" at line 1 column", ", at column"))?;
    if case.steps.len() != case.expect.len() {
        return Err(format!("it has {} steps and {} expectations", case.steps.len(), case.expect.len()));
    }
    let mut opened = BTreeSet::new();
    for (number, step) in (1..).zip(&case.steps) {
        playable(step, &mut opened).map_err(|why| format!("step {number}, {}: {why}", step.op))?;
    }
    Ok(case)
}

/// The time limit of a step, in ms: an hour.
const LONGEST_MS: u64 = 3_600_000;

fn playable<'a>(step: &'a Request, opened: &mut BTreeSet<&'a str>) -> Result<(), String> {
    if step.ms.max(step.timeout_ms).is_some_and(|ms| ms > LONGEST_MS) {
        return Err("it takes longer than an hour".to_owned());
    }
    match step.op.as_str() {
        "zxid" | "restart_server" => return Ok(()),
        "wait" => return step.ms.map(drop).ok_or_else(|| "`ms` is missing".to_owned()),
        _ => {}
    }
    let session = step.session.as_deref().ok_or("`session` is missing")?;
    if step.op == "connect" {
        opened.insert(session);
        return Ok(());
    }
    if !opened.contains(session) {
        return Err(format!("session {session} was never opened"));
    }
    match step.op.as_str() {
        "reconnect" | "drop" | "close" | "quiet" | "unquiet" => Ok(()),
        "poll" => step.ms.map(drop).ok_or_else(|| "`ms` is missing".to_owned()),
        "pipeline" => step.ops.iter().try_for_each(|op| wire::request(op, 0, 0).map(drop)),
        _ => wire::request(step, 0, 0).map(drop),
    }
}
