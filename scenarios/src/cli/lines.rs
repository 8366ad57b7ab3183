//! Results as JSON lines: to stdout, into a new file, or both, in an order that does not depend on threads.

use super::Output;
use anyhow::anyhow;
use clap::Args;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use zk_checker::Finding;
use zk_report::whole_file::{NotWritten, WholeFile};

/// Files for the results, in addition to stdout.
#[derive(Args)]
pub(super) struct Files {
    /// Write JSON lines, the input of `merge`, to this file, which must not exist
    #[arg(long, value_name = "FILE")]
    pub(super) out: Option<PathBuf>,
    /// Write a JUnit report to this file, which must not exist
    #[arg(long, value_name = "FILE")]
    pub(super) junit: Option<PathBuf>,
}

/// The destinations of the lines.
pub(super) struct Lines {
    to_stdout: bool,
    file: Option<WholeFile>,
}

/// Creates a new file before the work, so that an error comes early. It gets its name when it is finished.
pub(super) fn new_file(path: &Path) -> anyhow::Result<WholeFile> {
    WholeFile::new(path).map_err(not_written)
}

/// Explains what to do about an existing file.
pub(super) fn not_written(error: NotWritten) -> anyhow::Error {
    if error.is_there_already() { there_already(&error.path) } else { error.into() }
}

/// Refuses an existing file before the work.
pub(super) fn not_yet(path: &Path) -> anyhow::Result<()> {
    if path.exists() { Err(there_already(path)) } else { Ok(()) }
}

fn there_already(path: &Path) -> anyhow::Error {
    anyhow!("{} exists already; remove it, or choose another name", path.display())
}

/// A finding as a part of a run's line.
pub(super) fn of_finding(finding: &Finding) -> Value {
    json!({
        "rule": finding.rule.name(), "verdict": finding.verdict.name(), "object": finding.path, "text": finding.text,
    })
}

impl Lines {
    /// Opens stdout for JSON output, and a new file if a path is given.
    pub(super) fn open(output: Output, path: Option<&Path>) -> anyhow::Result<Lines> {
        let file = path.map(new_file).transpose()?;
        Ok(Lines { to_stdout: output.is_json(), file })
    }

    /// Whether lines have a destination.
    pub(super) fn are_wanted(&self) -> bool {
        self.to_stdout || self.file.is_some()
    }

    /// Writes a line.
    pub(super) fn write(&mut self, line: impl std::fmt::Display) -> anyhow::Result<()> {
        if self.to_stdout {
            println!("{line}");
        }
        match &mut self.file {
            Some(file) => Ok(writeln!(file, "{line}").map_err(|why| file.not_written(why))?),
            None => Ok(()),
        }
    }

    /// Gives the file its name.
    pub(super) fn finish(self) -> anyhow::Result<()> {
        self.file.map_or(Ok(()), |file| file.finish().map_err(not_written))
    }
}

/// Puts the lines of several threads into the order of their numbers.
pub(super) struct InOrder {
    next: u64,
    step: u64,
    early: BTreeMap<u64, Option<String>>,
}

impl InOrder {
    /// Numbers from `first` on, every `step`-th.
    pub(super) fn new(first: u64, step: u64) -> InOrder {
        InOrder { next: first, step, early: BTreeMap::new() }
    }

    /// Accepts a number with its line, if any, and returns the lines that are next in order.
    pub(super) fn put(&mut self, number: u64, line: Option<String>) -> Vec<String> {
        self.early.insert(number, line);
        let mut ready = Vec::new();
        while let Some(line) = self.early.remove(&self.next) {
            ready.extend(line);
            self.next += self.step;
        }
        ready
    }

    /// The remaining lines, after a sweep that stopped early.
    pub(super) fn rest(self) -> impl Iterator<Item = String> {
        self.early.into_values().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_in_the_order_of_their_numbers() {
        let mut order = InOrder::new(1, 3);
        let line = |text: &str| Some(text.to_owned());
        assert_eq!(order.put(7, line("seven")), [""; 0]);
        assert_eq!(order.put(1, line("one")), ["one"]);
        assert_eq!(order.put(4, None), ["seven"]);
        assert_eq!(order.put(13, line("thirteen")), [""; 0]);
        assert_eq!(order.rest().collect::<Vec<_>>(), ["thirteen"]);
    }
}
