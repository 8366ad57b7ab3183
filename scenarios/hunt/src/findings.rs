//! Findings that are kept: a folder each, `PROGRAM/ID`, with the plan, what it shows, and the history of a try.

use crate::packed;
use crate::plan::Plan;
use crate::program::Promise;
use crate::rate::Rate;
use anyhow::{Context, anyhow};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use zk_checker::history::History;
use zk_checker::jsonl::Stored;
use zk_report::whole_file;

const PLAN: &str = "plan.jsonl";
const ABOUT: &str = "finding.json";
const HISTORY: &str = "history.jsonl.gz";

/// A finding.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The program.
    pub program: String,
    /// The name of its folder.
    pub id: String,
    /// What it shows.
    pub about: About,
    /// The smallest plan.
    pub plan: Plan,
    folder: PathBuf,
}

/// What a finding shows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct About {
    /// The scenario of the program.
    pub scenario: String,
    /// What happens, in a line.
    pub title: String,
    /// The promise that it breaks.
    pub promise: Promise,
    /// Cause and effect, in two or three sentences.
    pub happens: String,
    /// The number upstream, if it is known there.
    #[serde(default)]
    pub upstream: Option<String>,
    /// How certain the upstream number is.
    #[serde(default)]
    pub upstream_note: Option<String>,
    /// The rule that is broken.
    #[serde(default)]
    pub rule: Option<String>,
    /// How often the plan breaks it.
    #[serde(default)]
    pub rate: Option<Rate>,
    /// How long a try takes at most, in seconds.
    #[serde(default)]
    pub seconds: Option<u64>,
    /// How often our recipe breaks any rule under the same plan.
    #[serde(default)]
    pub ours: Option<Rate>,
    /// In how many of these tries all steps of the plan took effect: a fault may wait for a request that ours never sends.
    #[serde(default)]
    pub ours_struck: Option<Rate>,
    /// Our scenario that it was compared with.
    #[serde(default)]
    pub ours_scenario: Option<String>,
    /// The verdict on one try.
    #[serde(default)]
    pub said: Option<String>,
}

impl Finding {
    /// A finding that is not written yet.
    pub fn new(findings: &Path, program: &str, id: &str, about: About, plan: Plan) -> Finding {
        let folder = findings.join(program).join(id);
        Finding { program: program.to_owned(), id: id.to_owned(), about, plan, folder }
    }

    /// All findings below a folder, by program and id.
    ///
    /// # Errors
    ///
    /// A file cannot be read, or makes no sense.
    pub fn all(findings: &Path) -> anyhow::Result<Vec<Finding>> {
        let mut found = Vec::new();
        for program in folders(findings)? {
            for folder in folders(&program)? {
                found.push(Finding::read(&folder)?);
            }
        }
        Ok(found)
    }

    fn read(folder: &Path) -> anyhow::Result<Finding> {
        let text = |file: &str| {
            let path = folder.join(file);
            std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))
        };
        let about = serde_json::from_str(&text(ABOUT)?)
            .with_context(|| format!("{} is malformed", folder.join(ABOUT).display()))?;
        let plan =
            Plan::read(&text(PLAN)?).map_err(|why| anyhow!("{}: {why}", folder.join(PLAN).display()))?;
        let name = |path: Option<&Path>| {
            path.and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
        };
        let (program, id) = (name(folder.parent()), name(Some(folder)));
        Ok(Finding { program, id, about, plan, folder: folder.to_owned() })
    }

    /// Writes it into its folder.
    ///
    /// # Errors
    ///
    /// A file cannot be written.
    pub fn write(&self) -> anyhow::Result<()> {
        let about = format!("{}\n", serde_json::to_string_pretty(&self.about)?);
        std::fs::create_dir_all(&self.folder)
            .with_context(|| format!("cannot make {}", self.folder.display()))?;
        whole_file::write(&self.folder.join(ABOUT), about)?;
        whole_file::write(&self.folder.join(PLAN), self.plan.to_string())?;
        Ok(())
    }

    /// Keeps the history of a try that broke the rule.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn write_history(&self, history: &History) -> anyhow::Result<()> {
        packed::write(&self.folder.join(HISTORY), history)
    }

    /// The file with the history of a try that broke the rule, if one is kept.
    pub fn history_file(&self) -> Option<PathBuf> {
        Some(self.folder.join(HISTORY)).filter(|file| file.exists())
    }

    /// The history of a try that broke the rule, if one is kept.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or makes no sense.
    pub fn history(&self) -> anyhow::Result<Option<Stored>> {
        self.history_file().map(|file| packed::read(&file)).transpose()
    }

    /// Its folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

/// The folders in a folder, by name; none if it does not exist.
fn folders(of: &Path) -> anyhow::Result<Vec<PathBuf>> {
    if !of.exists() {
        return Ok(Vec::new());
    }
    let entries = std::fs::read_dir(of).with_context(|| format!("cannot read {}", of.display()))?;
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>()?;
    paths.retain(|path| path.is_dir());
    paths.sort();
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_is_written_and_read() {
        let folder = tempfile::tempdir().unwrap();
        let promise = Promise { quote: "never two".to_owned(), source: "its page".to_owned() };
        let about = About {
            scenario: "lock".to_owned(),
            title: "two".to_owned(),
            promise,
            happens: "It does.".to_owned(),
            upstream: None,
            upstream_note: None,
            rule: Some("MX-3".to_owned()),
            rate: Some(Rate { hits: 3, tries: 4 }),
            seconds: Some(9),
            ours: None,
            ours_struck: None,
            ours_scenario: None,
            said: None,
        };
        let plan = Plan::read(r#"{"at":"1s","verb":"elect"}"#).unwrap();
        let finding = Finding::new(folder.path(), "theirs", "two-holders", about, plan);
        finding.write().unwrap();
        assert_eq!(Finding::all(folder.path()).unwrap(), [finding]);
        assert_eq!(Finding::all(&folder.path().join("none")).unwrap(), []);
    }
}
