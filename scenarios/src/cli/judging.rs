//! `judge`: the rules, applied to a stored history.

use super::{Output, reporting};
use anyhow::{Context, anyhow};
use clap::Args;
use serde_json::json;
use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;
use std::process::ExitCode;
use zk_checker::{RuleSet, jsonl};
use zk_report::{Shown, Source};

#[derive(Args)]
pub(super) struct Judge {
    /// History as JSON lines
    file: PathBuf,
    #[command(flatten)]
    page: reporting::Page,
    #[command(flatten)]
    output: Output,
}

impl Judge {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        self.page.check()?;
        let file = File::open(&self.file).map_err(|e| anyhow!("cannot read {}: {e}", self.file.display()))?;
        let stored = jsonl::read(BufReader::new(file)).with_context(|| self.file.display().to_string())?;
        let report = zk_checker::judge_stored(&stored, &RuleSet::default());
        let name = self.file.display();
        let source = Source {
            title: name.to_string(),
            about: "a stored history, judged again".to_owned(),
            command: format!("cargo sim judge {name}"),
            plan: Some(stored.history.header.source.clone()).filter(|source| !source.is_empty()),
            ..Source::default()
        };
        let (history, verdict) = (&stored.history, report.verdict());
        let page =
            self.page.write(Shown { history, report: &report, verdict, source: &source, beside: None })?;
        if self.output.is_json() {
            for row in &report.rows {
                println!(
                    "{}",
                    json!({"kind": "rule", "id": row.rule.name(), "verdict": row.verdict.name(),
                        "premises": row.premises})
                );
            }
            let failed = u32::from(report.first().is_some());
            println!(
                "{}",
                json!({"kind": "summary", "verdict": report.verdict().name(), "runs": 1, "failed": failed})
            );
        } else {
            print!("{report}");
            reporting::say(page);
        }
        Ok(ExitCode::from(report.exit_status()))
    }
}
