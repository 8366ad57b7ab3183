//! `judge`: the rules, applied to a stored history.

use super::interrupt::Interrupt;
use super::lines::of_finding;
use super::{Output, reporting};
use clap::Args;
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;
use zk_checker::jsonl::Stored;
use zk_checker::{Report, RuleSet, Verdict};
use zk_hunt::packed;
use zk_report::{Shown, Source};
use zk_serve::Judged;

#[derive(Args)]
pub(super) struct Judge {
    /// History as JSON lines, which may be packed by gzip
    file: PathBuf,
    #[command(flatten)]
    page: reporting::Page,
    #[command(flatten)]
    output: Output,
}

/// A stored history, its judgement if it is of foreign clients, and the report.
type Outcome = (Stored, Option<Judged>, Report);

impl Judge {
    fn judged(&self) -> anyhow::Result<Outcome> {
        let stored = packed::read(&self.file)?;
        // For foreign clients the traffic is evidence, too.
        let served = stored.history.header.foreign_clients.then(|| Judged::stored(&stored));
        let report = match &served {
            Some(judged) => judged.report().clone(),
            None => zk_checker::judge_stored(&stored, &RuleSet::default()),
        };
        Ok((stored, served, report))
    }

    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        self.page.check()?;
        let name = self.file.display();
        let judgement = format!("the judgement of {name}");
        let (stored, served, report) =
            Interrupt::listen()?.or_nothing(&judgement, self.output, || self.judged())?;
        let source = Source {
            title: name.to_string(),
            about: "a stored history, judged again".to_owned(),
            command: format!("cargo sim judge {name}"),
            plan: Some(stored.history.header.source.clone()).filter(|source| !source.is_empty()),
            ..Source::default()
        };
        let verdict = served.as_ref().map_or(report.verdict(), Judged::verdict);
        let history = &stored.history;
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
            for finding in &report.findings {
                let mut line = of_finding(finding);
                line["kind"] = json!("finding");
                println!("{line}");
            }
            for finding in served.iter().flat_map(|judged| &judged.wire().findings) {
                println!(
                    "{}",
                    json!({"kind": "wire", "id": finding.rule.name(), "object": finding.directory,
                        "possible": finding.possible, "text": finding.text})
                );
            }
            let failed = u32::from(report.first().is_some() || verdict == Verdict::Fail);
            println!(
                "{}",
                json!({"kind": "summary", "verdict": verdict.name(), "runs": 1, "failed": failed})
            );
        } else {
            match &served {
                Some(judged) => print!("{judged}"),
                None => print!("{report}"),
            }
            reporting::say(page);
        }
        Ok(ExitCode::from(served.map_or(report.exit_status(), |judged| judged.exit_status())))
    }
}
