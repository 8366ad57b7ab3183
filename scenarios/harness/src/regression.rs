//! The corpus: runs that are kept, each with its expected result.
//!
//! A run of a mutant is a canary: it must fail by its rule, or the checks have become weaker. Any other run once
//! failed, and must not fail again.

use crate::recording::{Expected, Recording, Regression};
use crate::run::Run;
use std::path::{Path, PathBuf};
use zk_checker::Verdict;
use zk_report::whole_file;

/// The folder of the corpus, relative to the root of the repository.
pub const FOLDER: &str = "scenarios/regressions";

/// Why a run was not kept.
#[derive(Debug, thiserror::Error)]
pub enum KeepError {
    /// The name is not allowed.
    #[error("{0:?} is not a name for a regression: use lower case letters, digits and hyphens")]
    Name(String),
    /// The name is taken.
    #[error("{0} exists already: choose another name")]
    Taken(String),
    /// The folder is missing.
    #[error("there is no folder {0} here: keep regressions at the root of the repository")]
    NoFolder(String),
    /// The file cannot be written.
    #[error("cannot write {0}: {1}")]
    Unwritable(String, std::io::Error),
}

impl Regression {
    /// The regression of a failing run. A mutant must keep failing; a correct recipe must pass once its bug is fixed.
    pub fn of(run: &Run, about: Option<String>) -> Regression {
        let what = run.what_failed();
        let title = run.report.first().map_or("the run does not end", |finding| finding.rule.title());
        let is_mutant = run.workload.is_mutant();
        let verdict = match run.verdict() {
            _ if !is_mutant => Expected::Pass,
            Verdict::Fail => Expected::Fail,
            _ => Expected::Unknown,
        };
        let rule = if is_mutant { what.clone() } else { String::new() };
        let about = about.unwrap_or_else(|| format!("{}: {what}, {title}", run.workload.name));
        Regression { about, verdict, rule }
    }

    /// The expected result, as text.
    pub fn expected(&self) -> String {
        match self.verdict {
            Expected::Pass => "not fail".to_owned(),
            Expected::Unknown | Expected::Fail => format!("fail by {}", self.rule),
        }
    }

    /// Compares a run with the expected result.
    ///
    /// # Errors
    ///
    /// The actual result.
    pub fn check(&self, run: &Run) -> Result<(), String> {
        let came = match run.verdict() {
            Verdict::Vacuous | Verdict::Pass | Verdict::Unavoidable => Expected::Pass,
            Verdict::Unknown => Expected::Unknown,
            Verdict::Fail => Expected::Fail,
        };
        let rule = if came == Expected::Pass { String::new() } else { run.what_failed() };
        match came == self.verdict && rule == self.rule {
            true => Ok(()),
            false if came == Expected::Pass => Err("it does not fail".to_owned()),
            false => Err(format!("it fails by {rule}")),
        }
    }
}

/// Adds a run to the corpus.
///
/// # Errors
///
/// If the name is invalid or taken, the folder is missing, or the file cannot be written.
pub fn keep(folder: &Path, name: &str, recorded: &Recording) -> Result<PathBuf, KeepError> {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if name.is_empty() || !name.chars().all(fits) {
        return Err(KeepError::Name(name.to_owned()));
    }
    if !folder.is_dir() {
        return Err(KeepError::NoFolder(folder.display().to_string()));
    }
    let path = folder.join(format!("{name}.json"));
    write_new(&path, &recorded.text())?;
    Ok(path)
}

/// Writes a new file.
///
/// # Errors
///
/// If the file exists or cannot be written.
pub fn write_new(path: &Path, text: &str) -> Result<(), KeepError> {
    let name = || path.display().to_string();
    whole_file::write_new(path, text).map_err(|error| {
        if error.is_there_already() {
            KeepError::Taken(name())
        } else {
            KeepError::Unwritable(name(), error.why)
        }
    })
}
