//! What the rules say of a history of foreign clients.

use crate::recorder::Recorded;
use serde_json::{Value, json};
use zk_checker::{Report, RuleSet, Verdict};

/// A judged history.
#[derive(Clone, Debug)]
pub struct Judged {
    report: Report,
}

impl Judged {
    pub(crate) fn new(recorded: &Recorded) -> Self {
        let mut report = zk_checker::judge(&recorded.history, &RuleSet::all());
        // The rules hold for what was seen; the rest was not.
        report.unknown = recorded.full.clone().map(|why| format!("the end is missing: {why}"));
        Judged { report }
    }

    /// The verdict on everything.
    pub fn verdict(&self) -> Verdict {
        self.report.verdict()
    }

    /// The report of the rules.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// The answer of the control API.
    pub(crate) fn answer(&self) -> Value {
        let findings: Vec<Value> = self
            .report
            .findings
            .iter()
            .map(|finding| {
                json!({
                    "rule": finding.rule.name(),
                    "title": finding.rule.title(),
                    "object": finding.path,
                    "verdict": finding.verdict.name(),
                    "text": finding.text,
                })
            })
            .collect();
        json!({ "verdict": self.verdict().name(), "text": self.report.to_string(), "findings": findings })
    }
}
