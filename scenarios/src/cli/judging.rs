//! `judge`: a stored history, held against the rules again.

use super::{Output, word};
use anyhow::{Context, anyhow};
use clap::Args;
use serde_json::json;
use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;
use std::process::ExitCode;
use zk_checker::{RuleSet, jsonl};

#[derive(Args)]
pub(super) struct Judge {
    /// A history as JSON lines
    file: PathBuf,
    #[command(flatten)]
    output: Output,
}

impl Judge {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let file = File::open(&self.file).map_err(|e| anyhow!("cannot read {}: {e}", self.file.display()))?;
        let stored = jsonl::read(BufReader::new(file)).with_context(|| self.file.display().to_string())?;
        let report = zk_checker::judge_stored(&stored, &RuleSet::default());
        if self.output.is_json() {
            for row in &report.rows {
                println!(
                    "{}",
                    json!({"kind": "rule", "id": row.rule.name(), "verdict": word(row.verdict),
                        "premises": row.premises})
                );
            }
            let failed = u32::from(report.first().is_some());
            println!(
                "{}",
                json!({"kind": "summary", "verdict": word(report.verdict()), "runs": 1, "failed": failed})
            );
        } else {
            print!("{report}");
        }
        Ok(ExitCode::from(report.exit_status()))
    }
}
